// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * State of a worker for the sending steps, embedded in struct worker, and accounts that all
 * workers share. Each section belongs to the file of its name.
 */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/defs.h"
#include "base/mono.h"
#include "fwd/frame.h"
#include "io/udp.h"
#include "wire/datagram/parity.h"

struct frame;
struct snap_node;
struct worker;

/* --- shaper.c: the budget ---
 * The budget of second copies: a token bucket of bits for the whole node, shared by all workers
 * without locks. Stored as the time until which the taken bits are paid for. Pure except for the
 * atomic; workers.
 */

/* Depth of the bucket in time, at least two full Ethernet frames. */
#define BUDGET_BURST_NS	   (NS_PER_S / 4)
#define BUDGET_BURST_BYTES 3028

struct budget {
	_Atomic int64_t paid_ns; /* on the clock of mono_t */
};

/* Used share of the bucket in percent; 0 without a limit. */
unsigned budget_used_percent(const struct budget *b, uint32_t kbits, mono_t now);
/* Takes bytes from the bucket; returns false and takes nothing if there are too few. kbits 0: no
 * limit. */
bool budget_take(struct budget *b, uint32_t kbits, size_t bytes, mono_t now);

/* --- shaper.c ---
 * Shaping to the rate of a line: one virtual-time account (GCRA) for all workers. Sent bytes occupy
 * the line until `paid_ns`; queued frames wait for this time. Traffic that does not wait (relayed
 * datagrams, floods, second copies) can keep this time in the future. Queued frames therefore wait
 * at most until `least_ns`, a second account at a sixteenth of the rate. Pure except for the
 * atomics; any worker.
 */

struct shaper {
	_Atomic int64_t paid_ns, least_ns;
};

/* End of the transmission of all charged bytes. */
static inline mono_t shaper_paid(const struct shaper *s)
{
	return (mono_t){ load_relaxed(&s->paid_ns) };
}

/* Queued bytes that may be sent now; 0: none yet. `sparse`: a sparse flow is next, which need not
 * wait for recent transmissions of other workers. */
size_t shaper_room(const struct shaper *s, uint32_t kbits, bool sparse, mono_t now);
/* Time at which queued bytes may be sent. */
mono_t shaper_due(const struct shaper *s, bool sparse);
/* Charges sent bytes (IP packets). */
void shaper_pay(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now);
/* Notes that queued bytes were sent; they are charged in addition. */
void shaper_served(struct shaper *s, uint32_t kbits, size_t bytes, mono_t now);
/* Adds microseconds to the backlog, which stays at least 0. Control thread. */
void shaper_correct(struct shaper *s, int64_t us, mono_t now);

/* --- bundling.c ---
 * Step: puts small frames of one batch for the same node into one datagram
 * (wire/datagram/leon.h). The cost of a datagram in kernels, on the wire and for packet-counting
 * devices far exceeds the cost of the bytes of a small frame. No frame is delayed: the bundle is
 * sent at the end of its batch, and a single frame is sent without a bundle. The order to a node is
 * kept. Worker-owned.
 */

#define BUNDLE_FRAMES 64 /* limit per datagram */
#define BUNDLE_OPEN   16 /* limit of nodes with an open bundle */

struct bundle_item {
	uint8_t *data;
	uint16_t len;
	uint8_t flags; /* LEON_FLAGS_FRAME */
	/* the buffer is not needed afterwards: a LEON header may precede the frame in place */
	bool own;
};
struct bundle {
	uint16_t slot;
	uint16_t class; /* traffic class of all frames */
	unsigned n, n_copies;
	size_t len; /* payload length */
	struct bundle_item item[BUNDLE_FRAMES];
};

/*
 * Adds a frame that is no super-frame; the frame must not change until the flush. Returns false if
 * the frame is too large; the bundle of this node is flushed then, and the caller may send the
 * frame. copy, last: as for encap_send().
 */
bool bundle_add(struct worker *w, const struct frame *f, uint16_t slot, bool copy, bool last);
/* Sends the open bundle of the node before later datagrams. */
void bundle_flush_to(struct worker *w, uint16_t slot);
/* Sends all open bundles. */
void bundle_flush(struct worker *w);

/* --- protect.c: sums of the parities ---
 * The parities of blocks of critical frames (wire/datagram/parity.h) that are being sent. Each
 * symbol is added to all parities at once, so no frame is stored. protect.c opens and closes the
 * blocks. Worker-owned.
 */

/* Blocks of different nodes at a time. Another node takes the place of an earlier node, and the
 * block of the latter ends early. */
#define CODING_BLOCKS 16

struct coding_block {
	bool open;
	uint16_t slot; /* of the destination */
	node_id_t id;
	uint64_t base; /* counter of the first symbol */
	mono_t since;
	uint8_t symbols;
	uint8_t first;	/* index of the first symbol of the frame */
	uint16_t class; /* of the last frame, fwd/send/send_steps.h */
	size_t longest; /* length of the longest symbol */
	size_t used;	/* bytes of the rows that are not 0 */
	uint8_t row[PARITY_ROWS][PARITY_SYMBOL_MAX];
};

struct coding {
	struct coding_block *block; /* [CODING_BLOCKS], by slot; pages are used on demand */
	unsigned n_open;
	uint8_t *symbol;
};

void coding_init(struct coding *c);
void coding_fini(struct coding *c);
/* Begins an empty block. */
void coding_open(struct coding *c, struct coding_block *b, uint64_t base, mono_t now);
/* Header of the next symbol. */
struct parity_hdr coding_header(const struct coding_block *b, unsigned worker, uint8_t kind);

/* Payload of a datagram in two pieces. */
struct coding_payload {
	const uint8_t *head, *body;
	size_t head_len, body_len; /* together at most PARITY_PAYLOAD_MAX */
};
/* Adds the next symbol. flags: LEON_FLAGS_FRAME. */
void coding_add(struct coding *c, struct coding_block *b, uint8_t kind, uint8_t flags,
		const struct coding_payload *p);

/* --- resend.c ---
 * Step: recent sealed datagrams to nodes with a second pair of lines. After a pair failed, the
 * worker sends the datagrams again that the failed pair may have lost, so that hosts need no
 * retransmission timer. The receiver drops datagrams that did arrive as replays. Memory is fixed;
 * the pages of a node without pairs are never touched. doc/decisions/080. Worker-owned.
 */

#define RESEND_BYTES   (1u << 20)
#define RESEND_ENTRIES 2048
#define RESEND_MS      1000 /* maximum age */
/* Interval in which a worker without other work looks for a failed pair. */
#define RESEND_POLL_MS 10

struct resend_entry {
	mono_t sent;
	node_id_t id; /* of the first hop */
	uint32_t at;  /* position in the ring */
	uint32_t failures;
	uint16_t slot, len, class;
};

struct resend {
	uint8_t *ring;
	struct resend_entry *entry;
	uint32_t first, next; /* entries in use, modulo RESEND_ENTRIES */
	uint32_t at;	      /* next free byte of the ring */
	uint32_t failures;    /* of the snapshot at the last look */
};

void resend_init(struct resend *r);
void resend_fini(struct resend *r);
static inline bool resend_waits(const struct resend *r)
{
	return r->first != r->next;
}
/* Keeps a datagram that was sent to this first hop. */
void resend_keep(struct worker *w, uint16_t slot, const uint8_t *data, size_t len);
/* Between batches: sends datagrams of failed pairs again, and forgets old ones. */
void resend_look(struct worker *w);

/* --- tx.c ---
 * Step: transmission of datagrams. Every producer (encap, tso, splitting, flood, relay) passes
 * single datagrams. Consecutive datagrams of equal length and class to the same node leave as one
 * UDP_SEGMENT message if GSO works. A batch leaves with as few system calls as possible. The order
 * to a node is kept. Worker-owned.
 */

#define TX_MESSAGES 128
#define TX_PIECES   2048
/* Scratch bytes for headers that do not precede their payload in memory, and for sealed datagrams.
 * Together with the receive buffers they should fit a core's cache. */
#define TX_SCRATCH (256u << 10)
/* Time without GSO messages to a node after its route refused one. */
#define TX_NO_GSO_S 10

/* Length of IP and UDP headers on an underlay of this family, 4 or 6. */
static inline size_t tx_around(uint8_t family)
{
	return family == 6 ? 48 : 28;
}

/* Families 4, 6 and IP_STREAM, 8, of the first line; then 4 and 6 of the second one. */
#define TX_FAMILIES 5
static inline unsigned tx_index(const struct endpoint *ep)
{
	return ep->ip.family / 2u - 2 + 3u * ep->line;
}

struct tx_family {
	struct udp_tx *tx;
	int fd; /* -1: no socket of this family */
	/* Current message, if it can take another datagram. */
	bool open, second;
	uint16_t slot;
	uint16_t class;
	size_t segment; /* length of its first datagram */
	size_t len;
	unsigned n;
	/* Counters since the last flush. */
	uint64_t datagrams, bytes;
};
struct tx {
	struct tx_family family[TX_FAMILIES]; /* tx_index() */
	unsigned families;		      /* in use: 3 without a second line */
	struct tx_family *current;
	/* Class of subsequent datagrams, fwd/send/send_steps.h. */
	uint16_t class;
	bool second; /* subsequent datagrams use the second pair of lines, spread.c */
	uint8_t *scratch;
	size_t scratch_used;
	uint32_t *
		/* by slot: end of the time without GSO, in seconds of the worker's clock; 0: GSO
		 * works */
		no_gso_s;
};

void tx_init(struct worker *w, uint16_t slots_maximum);
void tx_fini(struct worker *w);

/* Reserves room for a datagram with this number of pieces and scratch bytes. The caller may write
 * to the returned scratch address before the datagram begins. NULL if nothing can be sent there
 * (the caller counts). May flush. */
uint8_t *tx_prepare(struct worker *w, uint16_t slot, unsigned pieces, size_t scratch);
/*
 * Begins a datagram of `len` bytes directly to node `slot`; tx_scratch() and tx_piece() fill it
 * next. Returns false if nothing can be sent there (the caller counts). May flush.
 */
bool tx_begin(struct worker *w, uint16_t slot, size_t len, unsigned pieces, size_t scratch);
/* Returns the next n bytes of the datagram, which the caller writes before the flush. */
uint8_t *tx_scratch(struct worker *w, size_t n);
/* Adds the next bytes of the datagram; they must not change until the flush. */
void tx_piece(struct worker *w, const void *data, size_t len);
/* Sends all messages. */
void tx_flush(struct worker *w);

/* --- spread.c ---
 * Step: distribution of bulk datagrams to a node over two pairs of lines, by the earliest arrival
 * (EDPF; doc/decisions/080). Each line has an account, which all workers charge: sent bytes occupy
 * the line for their transmission time. The control thread sets rates and delays. Workers.
 */

/* A shorter frame stays on the pair in use, and is not delayed by the order. */
#define SPREAD_FRAME 1000
/* Longest time of consecutive datagrams on one line. */
#define SPREAD_TRAIN_US 2000

struct spread_line {
	struct shaper shaper;
	_Atomic uint32_t kbits; /* of the line; 0: unknown */
	_Atomic uint32_t delay_us;
};
/* By node: the pair in use and the second one. */
struct spread_account {
	struct spread_line line[LINES_MAX];
};

/* State of a worker: line of the current train. */
struct spread {
	uint16_t slot;
	bool second;
	size_t left; /* bytes of the train */
};

/* Time until the line has sent its bytes. */
int64_t spread_backlog_us(const struct spread_line *l, mono_t now);
/* Returns true if a datagram on the second line arrives earlier. */
bool spread_prefers_second(const struct spread_account *a, mono_t now);
void spread_pay(struct spread_line *l, size_t bytes, mono_t now);

/* Long frames without a DSCP, or with one of the lowest tier. */
bool spread_is_bulk(const struct frame *f);
/* Selects the line of the next datagram of `len` bytes to the slot. */
bool spread_takes_second(struct worker *w, uint16_t slot, size_t len);

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Seals data end to end, see seal.h. The control thread creates and frees; workers seal and open,
 * each with its own contexts. Never allocates, logs or waits on the packet path.
 */
#include "crypto/seal.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/log.h"
#include "base/mem.h"
#include "wire/bytes.h"

/* Bits of a cipher offer. */
#define OFFER_SEAL     0x01 /* requires sealing */
#define OFFER_AES_FAST 0x02
#define OFFER_AES_ONLY 0x04
#define OFFER_CHACHA   0x08
#define OFFER_P256     0x10

#define EPOCH_SHIFT  60
#define WORKER_SHIFT 52
#define COUNTER_MASK ((1ULL << WORKER_SHIFT) - 1)

/*
 * Replay window for one worker of the sender. Counters form blocks of 32. Word i serves the blocks
 * with number i modulo WINDOW_WORDS. For the newest of these blocks it holds the turn of the table
 * (upper half) and a bit per received counter (lower half).
 *
 * A word only moves to a later turn, and within a turn it only gains bits. An accepted counter is
 * therefore refused for ever, in any order in which several workers change the words.
 */
#define BLOCK	     32
#define WINDOW_WORDS 128
struct replay_window {
	_Atomic uint64_t word[WINDOW_WORDS];
};

static_assert(SEAL_WINDOW == (WINDOW_WORDS - 1) * BLOCK, "whole blocks behind the newest");
static_assert(SEAL_COUNTER_MAX / BLOCK / WINDOW_WORDS == UINT32_MAX, "turns fit half a word");

/* Per-worker state; no other worker touches it. */
struct channel {
	struct aead *aead;
	/* Written by the worker, read by the control thread. */
	_Atomic uint64_t counter;
} attr_cacheline;

struct seal {
	unsigned refs; /* control thread */
	enum seal_cipher cipher;
	uint8_t epoch;
	unsigned n_workers; /* 0: nothing is sealed */
	uint64_t tx_link, rx_link;
	struct channel *channel;      /* indexed by worker */
	struct replay_window *window; /* indexed by worker of the sender */
};

const char *seal_cipher_name(enum seal_cipher c)
{
	static const char *const name[] = { [SEAL_NONE] = "none",
					    [SEAL_AES_256_GCM] = "aes256gcm",
					    [SEAL_CHACHA20_POLY1305] = "chacha20poly1305" };

	return name[c];
}

uint8_t seal_offer(enum seal_choice choice, enum dh_curve curve, bool disable, bool aes_is_fast)
{
	uint8_t offer = disable ? 0 : OFFER_SEAL;

	offer |= aes_is_fast ? OFFER_AES_FAST : 0;
	offer |= choice == SEAL_CHOICE_AES_256_GCM ? OFFER_AES_ONLY : 0;
	offer |= choice == SEAL_CHOICE_CHACHA20_POLY1305 ? OFFER_CHACHA : 0;
	offer |= curve == DH_P256 ? OFFER_P256 : 0;
	return offer;
}

enum dh_curve seal_offer_curve(uint8_t offer)
{
	return offer & OFFER_P256 ? DH_P256 : DH_X25519;
}

enum seal_cipher seal_agree(uint8_t offer, uint8_t other)
{
	uint8_t either = offer | other, both = offer & other;

	if (!(either & OFFER_SEAL))
		return SEAL_NONE;
	if (either & OFFER_CHACHA)
		return SEAL_CHACHA20_POLY1305;
	if (either & OFFER_AES_ONLY)
		return SEAL_AES_256_GCM;
	return both & OFFER_AES_FAST ? SEAL_AES_256_GCM : SEAL_CHACHA20_POLY1305;
}

struct seal *seal_new(const struct seal_secrets *secrets, enum seal_cipher cipher, uint8_t epoch,
		      unsigned n_workers)
{
	struct seal *s = x_new(struct seal);

	if (n_workers == 0 || n_workers > SEAL_WORKERS_MAX || epoch > 15)
		bug("seal_new: %u workers, epoch %u", n_workers, epoch);
	s->refs = 1;
	s->cipher = cipher;
	s->epoch = epoch;
	s->tx_link = secrets->tx_link;
	s->rx_link = secrets->rx_link;
	if (cipher == SEAL_NONE)
		return s;
	s->n_workers = n_workers;
	s->channel = x_calloc_aligned(n_workers, sizeof(s->channel[0]));
	s->window = x_calloc_aligned(SEAL_WORKERS_MAX, sizeof(s->window[0]));
	for (unsigned i = 0; i < n_workers; i++)
		s->channel[i].aead = aead_new_pair(
			cipher == SEAL_AES_256_GCM ? AEAD_AES_256_GCM : AEAD_CHACHA20_POLY1305,
			secrets->tx_key, secrets->rx_key);
	return s;
}

struct seal *seal_ref(struct seal *s)
{
	if (s)
		s->refs++;
	return s;
}

void seal_unref(struct seal *s)
{
	if (!s || --s->refs)
		return;
	for (unsigned i = 0; i < s->n_workers; i++)
		aead_free(s->channel[i].aead);
	free(s->channel);
	free(s->window);
	x_wipe(s, sizeof(*s));
	free(s);
}

uint64_t seal_sent(const struct seal *s)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < s->n_workers; i++)
		sum += load_relaxed(&s->channel[i].counter);
	return sum;
}

enum seal_cipher seal_cipher(const struct seal *s)
{
	return s->cipher;
}

uint8_t seal_epoch(const struct seal *s)
{
	return s->epoch;
}

uint64_t seal_tx_link(const struct seal *s)
{
	return s->tx_link;
}

uint64_t seal_rx_link(const struct seal *s)
{
	return s->rx_link;
}

static void set_nonce(uint8_t nonce[AEAD_NONCE_LEN], const uint8_t *field)
{
	memset(nonce, 0, AEAD_NONCE_LEN - SEAL_NONCE_LEN);
	memcpy(nonce + AEAD_NONCE_LEN - SEAL_NONCE_LEN, field, SEAL_NONCE_LEN);
}

/* The associated data omits the nonce field because it is the nonce. */
static int seal_field(struct aead *a, const uint8_t *field, const void *aad, size_t aad_len,
		      const struct aead_piece *in, unsigned n_in, uint8_t *out)
{
	uint8_t nonce[AEAD_NONCE_LEN];

	set_nonce(nonce, field);
	return aead_seal_pieces(a, nonce, aad, aad_len, in, n_in, out);
}

int seal_data(struct seal *s, unsigned worker, const void *aad, size_t aad_len,
	      const struct aead_piece *in, unsigned n_in, uint8_t *out)
{
	struct channel *c = &s->channel[worker];
	uint64_t counter;
	size_t len = 0;

	if (unlikely(worker >= s->n_workers))
		return -EIO;
	counter = load_relaxed(&c->counter) + 1;
	for (unsigned i = 0; i < n_in; i++)
		len += in[i].len;
	if (unlikely(counter > SEAL_COUNTER_MAX))
		return -EKEYEXPIRED;
	if (unlikely(len > INT_MAX - SEAL_OVERHEAD))
		return -EIO;
	/* The counter advances before any failure, so no nonce is used twice. */
	store_relaxed(&c->counter, counter);
	put_u64(out,
		(uint64_t)s->epoch << EPOCH_SHIFT | (uint64_t)worker << WORKER_SHIFT | counter);
	if (unlikely(seal_field(c->aead, out, aad, aad_len, in, n_in, out + SEAL_NONCE_LEN)))
		return -EIO;
	return (int)(len + SEAL_OVERHEAD);
}

uint64_t seal_data_counter(const uint8_t *data)
{
	return get_u64(data);
}

struct replay_place {
	_Atomic uint64_t *word;
	uint32_t turn, bit;
};

static struct replay_place place_of(struct replay_window *w, uint64_t counter)
{
	uint64_t block = counter / BLOCK;

	return (struct replay_place){ &w->word[block % WINDOW_WORDS],
				      (uint32_t)(block / WINDOW_WORDS), 1u << counter % BLOCK };
}

static bool is_new(uint64_t word, const struct replay_place *p)
{
	uint32_t turn = (uint32_t)(word >> 32);

	return p->turn > turn || (p->turn == turn && !((uint32_t)word & p->bit));
}

/* Records the counter. Returns false if another worker has recorded the counter, or the word has
 * advanced. */
static bool take_counter(const struct replay_place *p)
{
	uint64_t word = load_relaxed(p->word), next;

	do {
		if (!is_new(word, p))
			return false;
		next = word >> 32 == p->turn ? word | p->bit : (uint64_t)p->turn << 32 | p->bit;
	} while (!atomic_compare_exchange_weak_explicit(p->word, &word, next, memory_order_relaxed,
							memory_order_relaxed));
	return true;
}

int seal_open(struct seal *s, unsigned worker, const void *aad, size_t aad_len, uint8_t *data,
	      size_t len)
{
	uint8_t nonce[AEAD_NONCE_LEN], *text = data + SEAL_NONCE_LEN;
	uint64_t field, counter, sender;
	struct replay_place p;

	if (unlikely(len < SEAL_OVERHEAD || len > INT_MAX || worker >= s->n_workers))
		return -EBADMSG;
	field = get_u64(data);
	counter = field & COUNTER_MASK;
	sender = field >> WORKER_SHIFT & 0xff;
	if (unlikely(field >> EPOCH_SHIFT != s->epoch || sender >= SEAL_WORKERS_MAX || !counter ||
		     counter > SEAL_COUNTER_MAX))
		return -EBADMSG;
	p = place_of(&s->window[sender], counter);
	if (unlikely(!is_new(load_relaxed(p.word), &p)))
		return -EALREADY;
	set_nonce(nonce, data);
	if (unlikely(aead_open(s->channel[worker].aead, nonce, aad, aad_len, text,
			       len - SEAL_NONCE_LEN, text)))
		return -EBADMSG;
	if (unlikely(!take_counter(&p)))
		return -EALREADY;
	return (int)(len - SEAL_OVERHEAD);
}

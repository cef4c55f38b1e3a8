// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UDP sockets: one pair (IPv4, IPv6) per worker on one port. They have DF set, segmentation offload
 * in both directions, receive timestamps and an error queue. A batch receives or sends with one
 * system call. The control thread opens and closes the sockets; failures are logged here. A batch
 * belongs to one worker; batches never log and never allocate.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "base/addr.h"

#define UDP_SOCKETS_MAX 8
/* Limits of one GSO send: 64 segments before Linux 6.9, and the payload of one datagram. */
#define UDP_GSO_SEGMENTS 64
#define UDP_GSO_BYTES	 65000

/* --- sockets --- */
struct udp_config {
	unsigned n;  /* sockets per family, 1..UDP_SOCKETS_MAX */
	bool v4, v6; /* requested families; a failure of a requested family is an error */
	struct ip_addr source4, source6; /* family 0: any address */
	uint16_t port;			 /* 0: the kernel chooses one, the same for all sockets */
	const char *device;		 /* SO_BINDTODEVICE: interface or VRF, or NULL */
	/* buffer of each socket and direction in bytes; 0: 4 MiB */
	int buffer_bytes;
	/* Address and device may be missing now: the sockets cannot send until they return. */
	bool late;
	/* Another socket set of this program may have the port at a wider address. */
	bool shared;
};
/* IP header fields of sent datagrams; 0: the host's default. */
struct udp_marking {
	uint8_t tos, ttl, tclass, hoplimit;
	bool df_unset;
	uint32_t fwmark; /* SO_MARK */
};
struct udp {
	unsigned n;
	int fd4[UDP_SOCKETS_MAX], fd6[UDP_SOCKETS_MAX]; /* -1 if the family was not requested */
	uint16_t port;
	bool gso;	 /* UDP_SEGMENT works */
	bool gro;	 /* UDP_GRO works */
	bool gro_used;	 /* UDP_GRO is on */
	bool timestamps; /* SO_TIMESTAMPNS is on */
	struct udp_marking marking;
	/* granted buffer sizes in bytes as the kernel counts them, minimum of all sockets */
	int rcvbuf, sndbuf;
};
/*
 * Returns 0 or -errno: -EADDRINUSE: another socket has the port (also one with SO_REUSEPORT);
 * -EADDRNOTAVAIL: the source address is not local; -ENODEV; -EPERM.
 */
int udp_open(struct udp *u, const struct udp_config *c);
void udp_close(struct udp *u);
/*
 * Replaces all sockets behind their descriptors, because a device was deleted and created again. A
 * socket that is bound to a device can be bound to another one only with CAP_NET_RAW. The marking
 * remains. udp_use_gro() has to be applied again. A poll() that runs may overlook the new socket
 * once. Returns 0 or -errno.
 */
int udp_reopen(struct udp *u, const struct udp_config *c);
/* Sets all fields for all future datagrams of all sockets, also after a failure. Returns 0, or
 * -errno of a field that the kernel refused, after logging it. */
int udp_set_marking(struct udp *u, const struct udp_marking *m);
/* Turns UDP_GRO on, if possible, or off. Any time. The kernel reports no segment size for merged
 * datagrams that are in the sockets already, so these are lost when it is turned off. */
void udp_use_gro(struct udp *u, bool on);

/* --- single datagrams, control thread --- */
/*
 * Sends through fd4 or fd6, selected by the family of `to`. Clears a pending error of an earlier
 * datagram and sends again. Returns 0 or -errno; -EAFNOSUPPORT: no socket of this family;
 * -EMSGSIZE: larger than the interface MTU.
 */
int udp_send(int fd4, int fd6, const struct endpoint *to, const void *data, size_t len);
/* Sends one datagram with this TOS or traffic class instead of the value of udp_set_marking(). */
int udp_send_class(int fd4, int fd6, const struct endpoint *to, const void *data, size_t len,
		   uint8_t class);

struct cmsghdr;
/* Builds the control message that sets TOS or traffic class; needs CMSG_SPACE(sizeof(int))
 * bytes. */
void udp_put_class(struct cmsghdr *c, bool v6, uint8_t class);

/* --- receiving in batches --- */
struct udp_rx;
struct udp_rx_msg {
	uint8_t *data; /* writable; valid until the next udp_rx_read() */
	size_t len;
	/* Segment length: `data` holds several datagrams of this length, the last may be shorter.
	 * Equals `len` for a single datagram. Never 0. */
	size_t segment;
	bool truncated; /* the buffer was too small */
	struct sockaddr_storage *from;
	uint8_t class;	    /* TOS of IPv4 or traffic class of IPv6, equal for all segments */
	int64_t rx_real_ns; /* CLOCK_REALTIME of the arrival; 0: unknown */
};
struct udp_rx *udp_rx_new(unsigned n_messages, size_t buffer_bytes);
void udp_rx_free(struct udp_rx *rx); /* NULL ok */
/* Reads at most `most` messages. Returns the number of messages, 0 if nothing is pending, or -errno
 * (never -EAGAIN). */
int udp_rx_read(struct udp_rx *rx, int fd, unsigned most);
const struct udp_rx_msg *udp_rx_get(const struct udp_rx *rx, unsigned i);

/* Error-queue entry: an ICMP error about a datagram of this socket. */
struct udp_error {
	struct endpoint to; /* destination of the datagram that caused the error */
	int error;	    /* errno value, for example EMSGSIZE */
	uint32_t mtu;	    /* MTU that a router reported with EMSGSIZE */
};
/* Removes one entry from the error queue and clears the socket's pending error. Returns false if
 * the queue is empty. */
bool udp_error_next(int fd, struct udp_error *e);

/* --- sending in batches --- */
/*
 * Send batch. Collects messages, each gathered from pieces that stay valid until udp_tx_flush().
 * Passes messages to the kernel in order, with as few system calls as possible.
 */
struct udp_tx;
struct udp_tx *udp_tx_new(unsigned n_messages, unsigned n_pieces);
void udp_tx_free(struct udp_tx *tx); /* NULL ok */
/* Returns true if the batch has room for a message of `pieces` pieces. */
bool udp_tx_has_room(const struct udp_tx *tx, unsigned pieces);
/* Begins a message. sa must stay valid until the flush. A failure report contains tag. */
void udp_tx_begin(struct udp_tx *tx, const void *sa, unsigned sa_len, uint32_t tag);
/* Adds a piece to the current message; merges it with the previous piece if they are adjacent in
 * memory. */
void udp_tx_add(struct udp_tx *tx, const void *data, size_t len);
/* Makes the current message a GSO message with this segment size; 0: a single datagram. */
void udp_tx_set_segment(struct udp_tx *tx, uint16_t segment);
/* Sets the TOS or traffic class of the current message in place of the value of
 * udp_set_marking(). */
void udp_tx_set_class(struct udp_tx *tx, bool v6, uint8_t class);
unsigned udp_tx_messages(const struct udp_tx *tx);

struct udp_tx_ops {
	/* The kernel refused this message of `n` datagrams. error > 0 is the errno; EAGAIN: the
	 * socket buffer stayed full. */
	void (*failed)(void *arg, uint32_t tag, int error, unsigned n, size_t len);
	/* The route refused a GSO message, and its segments were sent one by one. The caller should
	 * avoid GSO for this tag for a while. */
	void (*gso_refused)(void *arg, uint32_t tag);
};
struct udp_tx_result {
	unsigned calls; /* number of system calls */
	/* messages accepted by the kernel; each segment sent singly counts as one */
	unsigned messages;
};
/*
 * Sends all messages and empties the batch. If the socket buffer is full, waits once, at most
 * UDP_TX_WAIT_MS, then drops the remainder. A GSO message that the route refuses (EIO, EINVAL:
 * IPsec, no checksum offload) is sent segment by segment. ops NULL: failures are not reported.
 */
#define UDP_TX_WAIT_MS 2
struct udp_tx_result udp_tx_flush(struct udp_tx *tx, int fd, const struct udp_tx_ops *ops,
				  void *arg);

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * ceiling: the minimal work of a user-space program that moves Ethernet frames from one TAP through
 * UDP to another, with the techniques of leond only. One fixed peer, IPv4, TCP super-frames only.
 * No table, path, check, key or counter. With this program bench_fwd.py determines which part of
 * the difference to VXLAN is the price of user space. The tool accepts every datagram and has no
 * other use. One thread. Runs until it is killed.
 *
 *   node whole|once TAP LOCAL REMOTE PORT   carries frames; prints "ready" when the TAP exists.
 *   relay LOCAL A B PORT                    forwards datagrams between A and B.
 *
 * `whole`: each segment of a super-frame is a frame, as in leond. `once`: the inner headers travel
 * once for each super-frame (as in the SCLP paper). The loss of a segment is then the loss of the
 * super-frame, and reordering is not detected.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <netinet/udp.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define WIRE	      1472 /* UDP payload that fills an MTU of 1500 */
#define GSO_SEGMENTS  64
#define GSO_BYTES     65000
#define RX_MESSAGES   32
#define RX_BYTES      65536
#define TX_MESSAGES   128
#define TX_PIECES     2048
#define TX_SCRATCH    (256 << 10)
#define TAP_FRAMES    64
#define TAP_ARENA     (320 << 10)
#define TAP_FRAME_MAX (65536 + 128)
#define HEADROOM      16 /* with the vnet header, the IP header is at a multiple of 4 */
#define SOCKET_BUFFER (4 << 20)
#define ETH	      14
#define IP_HDR	      20
#define L4	      (ETH + IP_HDR)
#define TCP_SEQ	      4
#define TCP_DOFF      12
#define TCP_FLAGS     13
#define TCP_CHECKSUM  16
#define TCP_FIN	      0x01
#define TCP_PSH	      0x08
#define TCP_ACK	      0x10

enum kind { FRAME, FRAME_PARTIAL, PART };
enum part_flags { PART_FIRST = 1, PART_LAST = 2 };

/* Header of each datagram. Its size puts the IP header of a frame at a multiple of 4. */
struct header {
	uint8_t kind, flags;
};
#define HDR sizeof(struct header)

/* Messages to send, made of pieces, with many segments in a message. */
struct tx {
	struct mmsghdr mm[TX_MESSAGES];
	_Alignas(struct cmsghdr) uint8_t control[TX_MESSAGES][CMSG_SPACE(sizeof(uint16_t))];
	struct iovec iov[TX_PIECES];
	uint8_t scratch[TX_SCRATCH];
	unsigned n, pieces, used;
	/* State of the last message. */
	size_t segment, bytes;
	unsigned segments;
	bool open;
};

struct rx {
	struct mmsghdr mm[RX_MESSAGES];
	struct iovec iov[RX_MESSAGES];
	struct sockaddr_in from[RX_MESSAGES];
	_Alignas(struct cmsghdr) uint8_t control[RX_MESSAGES][CMSG_SPACE(sizeof(int))];
	uint8_t data[RX_MESSAGES][RX_BYTES];
};

/* The super-frame under construction for the TAP. */
struct unit {
	struct virtio_net_hdr vnet;
	struct iovec iov[2 + GSO_SEGMENTS];
	unsigned n; /* pieces including the vnet header; 0: none */
	uint8_t *frame;
	size_t len, hdr_len, size;
	uint32_t next_seq;
	bool push;
};

static struct {
	int tap, udp;
	bool once;
	struct tx tx;
	struct rx rx;
	struct unit unit;
	/* Parts of a super-frame that is incomplete at the end of a batch. */
	size_t held;
	_Alignas(16) uint8_t hold[TAP_FRAME_MAX];
	_Alignas(16) uint8_t arena[TAP_ARENA];
} c;

static void die(const char *what)
{
	fprintf(stderr, "ceiling: %s: %s\n", what, strerror(errno));
	exit(1);
}

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static void put32(uint8_t *p, uint32_t v)
{
	put16(p, v >> 16);
	put16(p + 2, v);
}

static void ip_finish(uint8_t *ip, size_t len)
{
	uint32_t sum = 0;

	put16(ip + 2, len);
	put16(ip + 10, 0);
	for (unsigned i = 0; i < IP_HDR; i += 2)
		sum += get16(ip + i);
	sum = (sum >> 16) + (sum & 0xffff);
	put16(ip + 10, (uint16_t) ~(sum + (sum >> 16)));
}

/* --- sending --- */

static void tx_flush(void)
{
	for (unsigned i = 0; i < c.tx.n;) {
		int n = sendmmsg(c.udp, &c.tx.mm[i], c.tx.n - i, 0);

		/* Refused messages are lost. */
		i += n > 0 ? (unsigned)n : 1;
	}
	c.tx.n = c.tx.pieces = c.tx.used = 0;
	c.tx.open = false;
}

static void set_segment(unsigned i, size_t segment)
{
	struct msghdr *mh = &c.tx.mm[i].msg_hdr;
	struct cmsghdr *cm = (struct cmsghdr *)c.tx.control[i];
	uint16_t size = (uint16_t)segment;

	mh->msg_control = cm;
	mh->msg_controllen = sizeof(c.tx.control[i]);
	cm->cmsg_level = IPPROTO_UDP;
	cm->cmsg_type = UDP_SEGMENT;
	cm->cmsg_len = CMSG_LEN(sizeof(size));
	memcpy(CMSG_DATA(cm), &size, sizeof(size));
}

static void tx_message(struct sockaddr_in *to)
{
	if (c.tx.n == TX_MESSAGES)
		tx_flush();
	c.tx.mm[c.tx.n++].msg_hdr = (struct msghdr){ .msg_name = to,
						     .msg_namelen = to ? sizeof(*to) : 0,
						     .msg_iov = &c.tx.iov[c.tx.pieces] };
}

static void tx_piece(void *data, size_t len)
{
	c.tx.iov[c.tx.pieces++] = (struct iovec){ data, len };
	c.tx.mm[c.tx.n - 1].msg_hdr.msg_iovlen++;
}

/* Begins a datagram of `len` bytes. The caller writes the first `head` bytes at the returned
 * position. */
static uint8_t *tx_datagram(size_t len, size_t head)
{
	struct tx *t = &c.tx;
	uint8_t *p;

	if (t->pieces + 2 > TX_PIECES || t->used + head > TX_SCRATCH)
		tx_flush();
	if (t->open && len <= t->segment && t->segments < GSO_SEGMENTS &&
	    t->bytes + len <= GSO_BYTES) {
		if (t->segments == 1)
			set_segment(t->n - 1, t->segment);
		t->segments++;
		t->bytes += len;
		t->open = len == t->segment;
	} else {
		tx_message(NULL);
		t->open = true;
		t->segments = 1;
		t->segment = t->bytes = len;
	}
	p = t->scratch + t->used;
	t->used += (unsigned)head;
	if (head)
		tx_piece(p, head);
	return p;
}

/* --- from the TAP --- */

/* Sends a TCP super-frame as frames of wire size. */
static void send_whole(uint8_t *f, size_t len, size_t gso_size)
{
	size_t hdr_len = L4 + (f[L4 + TCP_DOFF] >> 4) * 4u;
	size_t room = WIRE - HDR - hdr_len, size = gso_size < room ? gso_size : room;
	uint32_t seq = get32(f + L4 + TCP_SEQ);
	uint16_t id = get16(f + ETH + 4);

	for (size_t at = hdr_len; at < len; at += size) {
		size_t n = len - at < size ? len - at : size;
		uint8_t *p = tx_datagram(HDR + hdr_len + n, HDR + hdr_len);

		*(struct header *)p = (struct header){ .kind = FRAME_PARTIAL };
		p += HDR;
		memcpy(p, f, hdr_len);
		put16(p + ETH + 4, id++);
		ip_finish(p + ETH, hdr_len - ETH + n);
		put32(p + L4 + TCP_SEQ, seq + (uint32_t)(at - hdr_len));
		if (at + n < len)
			p[L4 + TCP_FLAGS] &= (uint8_t) ~(TCP_PSH | TCP_FIN);
		tx_piece(f + at, n);
	}
}

/* Sends vnet header and super-frame unchanged, divided at any position. */
static void send_parts(uint8_t *data, size_t len)
{
	size_t size = WIRE - HDR;

	for (size_t at = 0; at < len; at += size) {
		size_t n = len - at < size ? len - at : size;
		uint8_t *p = tx_datagram(HDR + n, HDR);

		*(struct header *)p = (struct header){
			PART, (uint8_t)((at ? 0 : PART_FIRST) | (at + n == len ? PART_LAST : 0))
		};
		tx_piece(data + at, n);
	}
}

static void send_frame(uint8_t *data, size_t len)
{
	struct virtio_net_hdr h;
	uint8_t *f = data + sizeof(h);

	memcpy(&h, data, sizeof(h));
	if (h.gso_type != VIRTIO_NET_HDR_GSO_NONE) {
		if (c.once)
			send_parts(data, len);
		else
			send_whole(f, len - sizeof(h), h.gso_size);
		return;
	}
	/* The header replaces the vnet header, and the datagram is a single piece. */
	tx_datagram(HDR + len - sizeof(h), 0);
	((struct header *)f)[-1] =
		(struct header){ .kind = h.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM ? FRAME_PARTIAL
									       : FRAME };
	tx_piece(f - HDR, HDR + len - sizeof(h));
}

static void from_tap(void)
{
	size_t used = 0;

	for (unsigned i = 0; i < TAP_FRAMES && TAP_ARENA - used >= HEADROOM + TAP_FRAME_MAX; i++) {
		uint8_t *p = c.arena + used + HEADROOM;
		ssize_t len = read(c.tap, p, TAP_FRAME_MAX);

		if (len <= (ssize_t)(sizeof(struct virtio_net_hdr) + ETH))
			break;
		send_frame(p, (size_t)len);
		used += HEADROOM + (((size_t)len + 15) & ~(size_t)15);
	}
	tx_flush();
}

/* --- to the TAP --- */

static void unit_write(void)
{
	struct unit *u = &c.unit;

	if (u->n > 2 && u->frame) {
		u->vnet.gso_type = VIRTIO_NET_HDR_GSO_TCPV4;
		u->vnet.gso_size = (uint16_t)u->size;
		u->vnet.hdr_len = (uint16_t)u->hdr_len;
		ip_finish(u->frame + ETH, u->len - ETH);
		if (u->push)
			u->frame[L4 + TCP_FLAGS] |= TCP_PSH;
	}
	/* A frame that the TAP refuses is lost. */
	if (u->n && writev(c.tap, u->iov, (int)u->n) < 0)
		errno = 0;
	u->n = 0;
}

static void unit_piece(void *data, size_t len)
{
	c.unit.iov[c.unit.n++] = (struct iovec){ data, len };
}

static bool is_tcp(const uint8_t *f, size_t len)
{
	return len > L4 + 20 && get16(f + 12) == 0x0800 && f[ETH] == 0x45 &&
	       f[ETH + 9] == IPPROTO_TCP;
}

/* Returns whether this segment follows the segments of the unit. */
static bool continues(const struct unit *u, const uint8_t *f, size_t len)
{
	const uint8_t *a = u->frame + L4, *b = f + L4;

	return u->n && u->frame && u->size && !u->push && u->n < 1 + GSO_SEGMENTS &&
	       len > u->hdr_len && len - u->hdr_len <= u->size &&
	       u->len + len - u->hdr_len <= 65535 && get32(b + TCP_SEQ) == u->next_seq &&
	       memcmp(u->frame + ETH + 12, f + ETH + 12, IP_HDR - 12 + TCP_SEQ) == 0 &&
	       memcmp(a + 8, b + 8, 5) == 0 && (b[TCP_FLAGS] & ~TCP_PSH) == TCP_ACK &&
	       memcmp(a + 20, b + 20, u->hdr_len - L4 - 20) == 0;
}

static void take_frame(uint8_t *f, size_t len, bool partial)
{
	struct unit *u = &c.unit;
	bool tcp = is_tcp(f, len);
	size_t size;

	if (tcp && continues(u, f, len)) {
		size = len - u->hdr_len;
		unit_piece(f + u->hdr_len, size);
		u->len += size;
	} else {
		unit_write();
		*u = (struct unit){ .frame = f, .len = len };
		if (partial)
			u->vnet = (struct virtio_net_hdr){ .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
							   .csum_start = L4,
							   .csum_offset = tcp ? TCP_CHECKSUM : 6 };
		unit_piece(&u->vnet, sizeof(u->vnet));
		unit_piece(f, len);
		if (!tcp || (f[L4 + TCP_FLAGS] & ~TCP_PSH) != TCP_ACK)
			return;
		u->hdr_len = L4 + (f[L4 + TCP_DOFF] >> 4) * 4u;
		size = u->size = len - u->hdr_len;
	}
	u->next_seq = get32(f + L4 + TCP_SEQ) + (uint32_t)size;
	u->push = f[L4 + TCP_FLAGS] & TCP_PSH || size < u->size;
}

static void take_part(uint8_t *data, size_t len, uint8_t flags)
{
	if (flags & PART_FIRST) {
		unit_write();
		c.unit.frame = NULL;
		c.held = 0;
	} else if (!c.unit.n || c.unit.n == 2 + GSO_SEGMENTS) {
		c.unit.n = 0;
		return;
	}
	unit_piece(data, len);
	if (flags & PART_LAST)
		unit_write();
}

static void hold_parts(void)
{
	for (unsigned i = 0; i < c.unit.n; i++) {
		struct iovec *v = &c.unit.iov[i];

		if (v->iov_base == c.hold)
			continue;
		if (c.held + v->iov_len > sizeof(c.hold)) {
			c.unit.n = 0;
			return;
		}
		memcpy(c.hold + c.held, v->iov_base, v->iov_len);
		c.held += v->iov_len;
	}
	c.unit.iov[0] = (struct iovec){ c.hold, c.held };
	c.unit.n = 1;
}

static int rx_read(void)
{
	for (unsigned i = 0; i < RX_MESSAGES; i++) {
		c.rx.iov[i] = (struct iovec){ c.rx.data[i], RX_BYTES };
		c.rx.mm[i].msg_hdr = (struct msghdr){ .msg_name = &c.rx.from[i],
						      .msg_namelen = sizeof(c.rx.from[i]),
						      .msg_iov = &c.rx.iov[i],
						      .msg_iovlen = 1,
						      .msg_control = c.rx.control[i],
						      .msg_controllen = sizeof(c.rx.control[i]) };
	}
	return recvmmsg(c.udp, c.rx.mm, RX_MESSAGES, MSG_DONTWAIT, NULL);
}

/* Returns the length of each datagram of a message. */
static size_t rx_segment(unsigned i)
{
	struct cmsghdr *cm = CMSG_FIRSTHDR(&c.rx.mm[i].msg_hdr);
	int size = 0;

	if (cm && cm->cmsg_level == IPPROTO_UDP && cm->cmsg_type == UDP_GRO)
		memcpy(&size, CMSG_DATA(cm), sizeof(size));
	return size > 0 ? (size_t)size : c.rx.mm[i].msg_len;
}

static void from_net(void)
{
	int n = rx_read();

	for (int i = 0; i < n; i++) {
		size_t size = rx_segment((unsigned)i), all = c.rx.mm[i].msg_len;

		for (size_t at = 0; at < all; at += size) {
			uint8_t *p = c.rx.data[i] + at;
			size_t len = all - at < size ? all - at : size;
			struct header *h = (struct header *)p;

			if (len <= HDR)
				continue;
			if (h->kind == PART)
				take_part(p + HDR, len - HDR, h->flags);
			else
				take_frame(p + HDR, len - HDR, h->kind == FRAME_PARTIAL);
		}
	}
	if (c.unit.n && !c.unit.frame)
		hold_parts();
	else
		unit_write();
}

/* --- relaying --- */

static void relay(struct sockaddr_in peer[2])
{
	int n = rx_read();

	for (int i = 0; i < n; i++) {
		size_t size = rx_segment((unsigned)i), len = c.rx.mm[i].msg_len;
		bool from_a = c.rx.from[i].sin_addr.s_addr == peer[0].sin_addr.s_addr;
		size_t most = size ? GSO_BYTES / size * size : 0;

		/* A single piece, except for a message above the size limit. */
		for (size_t at = 0; at < len; at += most) {
			size_t part = len - at < most ? len - at : most;

			tx_message(&peer[from_a]);
			if (part > size)
				set_segment(c.tx.n - 1, size);
			tx_piece(c.rx.data[i] + at, part);
		}
	}
	tx_flush();
}

/* --- start --- */

static struct sockaddr_in address(const char *ip, const char *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
				   .sin_port = htons((uint16_t)strtoul(port, NULL, 10)) };

	if (inet_pton(AF_INET, ip, &sin.sin_addr) != 1)
		die(ip);
	return sin;
}

static void open_udp(struct sockaddr_in local)
{
	int on = 1, bytes = SOCKET_BUFFER;

	c.udp = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (c.udp < 0 || bind(c.udp, (struct sockaddr *)&local, sizeof(local)) < 0 ||
	    setsockopt(c.udp, IPPROTO_UDP, UDP_GRO, &on, sizeof(on)) < 0 ||
	    setsockopt(c.udp, SOL_SOCKET, SO_RCVBUFFORCE, &bytes, sizeof(bytes)) < 0 ||
	    setsockopt(c.udp, SOL_SOCKET, SO_SNDBUFFORCE, &bytes, sizeof(bytes)) < 0)
		die("socket");
}

static void open_tap(const char *name)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR };

	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", name);
	c.tap = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (c.tap < 0 || ioctl(c.tap, TUNSETIFF, &ifr) < 0 ||
	    ioctl(c.tap, TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4) < 0)
		die(name);
	puts("ready");
	fflush(stdout);
}

static void run_node(char **argv)
{
	struct sockaddr_in remote = address(argv[5], argv[6]);
	struct pollfd pfd[2];

	c.once = strcmp(argv[2], "once") == 0;
	open_udp(address(argv[4], argv[6]));
	if (connect(c.udp, (struct sockaddr *)&remote, sizeof(remote)) < 0)
		die("connect");
	open_tap(argv[3]);
	pfd[0] = (struct pollfd){ .fd = c.tap, .events = POLLIN };
	pfd[1] = (struct pollfd){ .fd = c.udp, .events = POLLIN };
	while (poll(pfd, 2, -1) > 0) {
		if (pfd[0].revents)
			from_tap();
		if (pfd[1].revents)
			from_net();
	}
}

static void run_relay(char **argv)
{
	struct sockaddr_in peer[2] = { address(argv[3], argv[5]), address(argv[4], argv[5]) };
	struct pollfd pfd = { .events = POLLIN };

	open_udp(address(argv[2], argv[5]));
	pfd.fd = c.udp;
	while (poll(&pfd, 1, -1) > 0)
		relay(peer);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	prctl(PR_SET_PDEATHSIG, 9, 0, 0, 0);
	if (strcmp(what, "node") == 0 && argc == 7)
		run_node(argv);
	else if (strcmp(what, "relay") == 0 && argc == 6)
		run_relay(argv);
	else
		fprintf(stderr, "usage: ceiling node|relay ...; see ceiling.c\n");
	return 2;
}

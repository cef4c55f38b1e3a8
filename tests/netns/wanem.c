// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * wanem: a wide area network in one process, for kernels without netem. Each site has one TAP in
 * its network namespace. Each ordered pair of sites has a link with delay, jitter, loss, rate, MTU,
 * duplication and reordering, which can change at run time. wanem is an Ethernet switch: frames go
 * by destination MAC, group addresses to all other sites, and every copy uses its own link. A frame
 * that a link cannot carry is lost, as on the Internet. One thread. Owns all state.
 * tests/netns/wan.py starts and controls wanem.
 *
 * Each line of standard input is a command, and each line of standard output an answer, "ok ..." or
 * "error ...". The end of input ends the program and the TAPs.
 *
 *   site NAME NETNS IFNAME MTU     NETNS is a path; the site's MAC is 02:4c:00:00:00:<index>.
 *   link FROM TO [KEY VALUE]...    FROM and TO may be "*"; keys below, in link_set().
 *   count FROM TO                  counters of the frames of this link, and the present waiting
 *                                  time of its rate limit.
 *   late                           largest delay of a frame since the previous request.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/if.h>
#include <linux/if_ether.h>
#include <linux/if_tun.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define SITES_MAX	 250
#define FRAME_MAX	 16384
#define QUEUED_BYTES_MAX (256u << 20)
#define READ_BATCH	 64
#define WORDS_MAX	 32
#define NS_PER_S	 1000000000LL
#define HOLD_BACK_NS	 5000000LL /* time for which a reordered frame is held */

struct frame {
	unsigned refs;
	unsigned len;
	uint8_t data[];
};

/* The link from one site to another. Probabilities are 0 to 1. */
struct link {
	int64_t delay_ns, jitter_ns, queue_ns;
	int64_t mark_ns; /* delay above which frames with ECN are marked; 0: never */
	double loss, duplicate, reorder;
	double burst; /* mean number of losses in a row (Gilbert); at most 1: independent */
	bool losing;
	uint64_t rate_kbit;  /* 0: no limit */
	unsigned mtu;	     /* bytes of the IP packet; 0: no limit */
	bool up, drops_data; /* a middle box that passes only LEON's control datagrams */
	bool shares_line;    /* all such links into a site share the rate of its access link */
	int64_t busy_until, last_out; /* end of the last transmission; arrival of its frame */
	uint64_t delivered, bytes, lost, down, too_big, overflow, duplicated, reordered, marked;
};

struct site {
	char name[32];
	uint8_t mac[ETH_ALEN];
	int tap;
	int64_t busy_until; /* of the access link into the site */
};

struct due {
	int64_t at;
	uint64_t order; /* of arrival, so that equal times stay in order */
	struct frame *frame;
	unsigned from, to;
};

struct wan {
	struct site site[SITES_MAX];
	unsigned n_sites;
	struct link *link; /* [from * SITES_MAX + to] */
	struct due *heap;
	size_t n_due, heap_room;
	uint64_t order;
	size_t queued_bytes;
	int64_t late_ns;
	uint64_t random;
	int home_ns, epoll;
	char input[65536];
	size_t input_len;
};

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NS_PER_S + ts.tv_nsec;
}

/* xorshift64*: uniform in [0, 1), reproducible with one seed. */
static double chance(struct wan *w)
{
	w->random ^= w->random >> 12;
	w->random ^= w->random << 25;
	w->random ^= w->random >> 27;
	return (double)((w->random * 0x2545f4914f6cdd1dULL) >> 11) / (double)(1ULL << 53);
}

static bool happens(struct wan *w, double probability)
{
	return probability > 0 && chance(w) < probability;
}

static struct link *link_at(struct wan *w, unsigned from, unsigned to)
{
	return &w->link[from * SITES_MAX + to];
}

/* --- the queue: a binary heap by time of arrival --- */

static bool earlier(const struct due *a, const struct due *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void heap_push(struct wan *w, struct due d)
{
	size_t i = w->n_due++;

	if (w->n_due > w->heap_room) {
		w->heap_room = w->heap_room ? w->heap_room * 2 : 4096;
		w->heap = realloc(w->heap, w->heap_room * sizeof(*w->heap));
		if (!w->heap)
			abort();
	}
	while (i && earlier(&d, &w->heap[(i - 1) / 2])) {
		w->heap[i] = w->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->heap[i] = d;
}

static struct due heap_pop(struct wan *w)
{
	struct due top = w->heap[0], last = w->heap[--w->n_due];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= w->n_due)
			break;
		if (child + 1 < w->n_due && earlier(&w->heap[child + 1], &w->heap[child]))
			child++;
		if (!earlier(&w->heap[child], &last))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
	return top;
}

static void frame_put(struct frame *f)
{
	if (--f->refs == 0)
		free(f);
}

/* --- transmission of a frame --- */

static void enqueue(struct wan *w, struct frame *f, unsigned from, unsigned to, int64_t at)
{
	f->refs++;
	w->queued_bytes += f->len;
	heap_push(w, (struct due){ at, w->order++, f, from, to });
}

/* A LEON datagram with data (protocol 2.1: version 1, then the kind), in UDP over IPv4 or IPv6. */
static bool is_leon_data(const struct frame *f)
{
	const uint8_t *ip = f->data + ETH_HLEN;
	size_t left = f->len - ETH_HLEN, at = 40;

	if (left < 40 + 8 + 1)
		return false;
	if (ip[0] >> 4 == 4)
		at = (ip[0] & 15) * 4u;
	if ((ip[0] >> 4 == 4 ? ip[9] : ip[6]) != IPPROTO_UDP)
		return false;
	/* Kind 4 is control, all other kinds are data. */
	return ip[at + 8] >> 4 == 1 && (ip[at + 8] & 15) != 4;
}

/* Sets congestion experienced (RFC 3168), as a router with AQM. Returns true if the frame permits
 * the mark. */
static bool mark(struct frame *f)
{
	uint8_t *ip = f->data + ETH_HLEN;
	uint32_t sum;

	if (f->len < ETH_HLEN + 40u)
		return false;
	if (ip[0] >> 4 == 6 && ip[1] & 0x30) {
		ip[1] |= 0x30;
		return true;
	}
	if (ip[0] >> 4 != 4 || !(ip[1] & 3))
		return false;
	ip[1] |= 3;
	ip[10] = ip[11] = 0;
	sum = 0;
	for (unsigned i = 0; i < (ip[0] & 15) * 4u; i += 2)
		sum += (uint32_t)(ip[i] << 8 | ip[i + 1]);
	sum = (sum & 0xffff) + (sum >> 16);
	sum = ~(sum + (sum >> 16));
	ip[10] = (uint8_t)(sum >> 8);
	ip[11] = (uint8_t)sum;
	return true;
}

/* Returns the end of the last transmission at this rate. */
static int64_t *busy_until(struct wan *w, struct link *l, unsigned to)
{
	return l->shares_line ? &w->site[to].busy_until : &l->busy_until;
}

/* Loses frames independently, or in bursts of geometric length (Gilbert 1960), with one mean. */
static bool loses(struct wan *w, struct link *l)
{
	if (l->burst <= 1)
		return happens(w, l->loss);
	if (l->losing)
		l->losing = !happens(w, 1 / l->burst);
	else
		l->losing = happens(w, l->loss / ((1 - l->loss) * l->burst));
	return l->losing;
}

/* Computes the time of arrival of a copy, or loses the copy. */
static void transmit(struct wan *w, struct frame *f, unsigned from, unsigned to, int64_t now)
{
	struct link *l = link_at(w, from, to);
	int64_t at = now;

	if (!l->up) {
		l->down++;
		return;
	}
	if (l->mtu && f->len > l->mtu + ETH_HLEN) {
		l->too_big++;
		return;
	}
	if (loses(w, l) || (l->drops_data && is_leon_data(f))) {
		l->lost++;
		return;
	}
	if (l->rate_kbit) {
		int64_t *busy = busy_until(w, l, to), start = *busy > now ? *busy : now;

		if (start - now > l->queue_ns) {
			l->overflow++;
			return;
		}
		/* Copies of a group frame share their memory and cannot be marked. */
		if (l->mark_ns && start - now > l->mark_ns && !(f->data[0] & 1))
			l->marked += mark(f);
		*busy = start + (int64_t)(f->len * 8ULL * 1000000ULL / l->rate_kbit);
		at = *busy;
	}
	if (w->queued_bytes + f->len > QUEUED_BYTES_MAX) {
		l->overflow++;
		return;
	}
	at += l->delay_ns + (int64_t)((double)l->jitter_ns * chance(w));
	if (happens(w, l->reorder)) {
		l->reordered++;
		at += HOLD_BACK_NS;
	} else {
		/* Jitter stretches a stream without reordering, as queues in routers do. */
		if (at < l->last_out)
			at = l->last_out;
		l->last_out = at;
	}
	enqueue(w, f, from, to, at);
	if (happens(w, l->duplicate)) {
		l->duplicated++;
		enqueue(w, f, from, to, at);
	}
}

static void switch_frame(struct wan *w, struct frame *f, unsigned from, int64_t now)
{
	bool group = f->data[0] & 1;

	for (unsigned to = 0; to < w->n_sites; to++) {
		if (to == from)
			continue;
		if (group || !memcmp(f->data, w->site[to].mac, ETH_ALEN))
			transmit(w, f, from, to, now);
	}
}

static void read_site(struct wan *w, unsigned from)
{
	static uint8_t buf[FRAME_MAX];

	for (int i = 0; i < READ_BATCH; i++) {
		ssize_t n = read(w->site[from].tap, buf, sizeof(buf));
		struct frame *f;

		if (n < ETH_HLEN)
			return;
		f = malloc(sizeof(*f) + (size_t)n);
		if (!f)
			abort();
		f->refs = 1;
		f->len = (unsigned)n;
		memcpy(f->data, buf, (size_t)n);
		switch_frame(w, f, from, now_ns());
		frame_put(f);
	}
}

static void deliver_due(struct wan *w)
{
	int64_t now = now_ns();

	while (w->n_due && w->heap[0].at <= now) {
		struct due d = heap_pop(w);
		struct link *l = link_at(w, d.from, d.to);

		if (now - d.at > w->late_ns)
			w->late_ns = now - d.at;
		w->queued_bytes -= d.frame->len;
		/* A link that goes down loses the frames in flight. */
		if (!l->up) {
			l->down++;
		} else if (write(w->site[d.to].tap, d.frame->data, d.frame->len) > 0) {
			l->delivered++;
			l->bytes += d.frame->len;
		} else {
			l->overflow++;
		}
		frame_put(d.frame);
		now = now_ns();
	}
}

/* --- commands --- */

static int answer(const char *text)
{
	printf("%s\n", text);
	fflush(stdout);
	return 0;
}

static int find_site(const struct wan *w, const char *name)
{
	for (unsigned i = 0; i < w->n_sites; i++)
		if (!strcmp(w->site[i].name, name))
			return (int)i;
	return -1;
}

/* Sets MAC and MTU of the interface, and the state up. The caller is in the namespace of the
 * interface. */
static int configure_tap(const char *ifname, const uint8_t *mac, int mtu)
{
	struct ifreq ifr = { 0 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), rc = -1;

	if (fd < 0)
		return -1;
	snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
	ifr.ifr_hwaddr.sa_family = 1; /* ARPHRD_ETHER */
	memcpy(ifr.ifr_hwaddr.sa_data, mac, ETH_ALEN);
	if (ioctl(fd, SIOCSIFHWADDR, &ifr) < 0)
		goto out;
	ifr.ifr_mtu = mtu;
	if (ioctl(fd, SIOCSIFMTU, &ifr) < 0)
		goto out;
	if (ioctl(fd, SIOCGIFFLAGS, &ifr) < 0)
		goto out;
	ifr.ifr_flags = (short)(ifr.ifr_flags | IFF_UP);
	rc = ioctl(fd, SIOCSIFFLAGS, &ifr);
out:
	close(fd);
	return rc;
}

/* A TAP belongs to the namespace in which /dev/net/tun was opened. */
static int open_tap(struct wan *w, const char *netns, const char *ifname, const uint8_t *mac,
		    int mtu)
{
	struct ifreq ifr = { .ifr_flags = IFF_TAP | IFF_NO_PI };
	int ns = open(netns, O_RDONLY | O_CLOEXEC), fd = -1;

	if (ns < 0)
		return -1;
	if (setns(ns, CLONE_NEWNET) == 0) {
		fd = open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC);
		snprintf(ifr.ifr_name, sizeof(ifr.ifr_name), "%s", ifname);
		if (fd >= 0 &&
		    (ioctl(fd, TUNSETIFF, &ifr) < 0 || configure_tap(ifname, mac, mtu) < 0)) {
			close(fd);
			fd = -1;
		}
	}
	if (setns(w->home_ns, CLONE_NEWNET) < 0)
		abort();
	close(ns);
	return fd;
}

static int command_site(struct wan *w, char **word, unsigned n)
{
	struct site *s = &w->site[w->n_sites];
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = w->n_sites };

	if (n != 5 || strlen(word[1]) >= sizeof(s->name) || find_site(w, word[1]) >= 0)
		return answer("error: site NAME NETNS IFNAME MTU, with a name not yet in use");
	if (w->n_sites == SITES_MAX)
		return answer("error: too many sites");
	snprintf(s->name, sizeof(s->name), "%s", word[1]);
	memcpy(s->mac, (uint8_t[]){ 0x02, 0x4c, 0, 0, 0, (uint8_t)w->n_sites }, ETH_ALEN);
	s->tap = open_tap(w, word[2], word[3], s->mac, (int)strtol(word[4], NULL, 10));
	if (s->tap < 0) {
		printf("error: %s: %s\n", word[3], strerror(errno));
		fflush(stdout);
		return 0;
	}
	if (epoll_ctl(w->epoll, EPOLL_CTL_ADD, s->tap, &ev) < 0)
		abort();
	for (unsigned i = 0; i <= w->n_sites; i++) {
		struct link fresh = { .up = true, .queue_ns = 200000000 };

		*link_at(w, i, w->n_sites) = fresh;
		*link_at(w, w->n_sites, i) = fresh;
	}
	w->n_sites++;
	return answer("ok");
}

static bool link_set(struct link *l, const char *key, const char *value)
{
	char *end;
	double v = strtod(value, &end);

	if (*end || end == value || v < 0)
		return false;
	if (!strcmp(key, "delay_us"))
		l->delay_ns = (int64_t)(v * 1000);
	else if (!strcmp(key, "jitter_us"))
		l->jitter_ns = (int64_t)(v * 1000);
	else if (!strcmp(key, "queue_us"))
		l->queue_ns = (int64_t)(v * 1000);
	else if (!strcmp(key, "mark_us"))
		l->mark_ns = (int64_t)(v * 1000);
	else if (!strcmp(key, "loss_permille"))
		l->loss = v / 1000;
	else if (!strcmp(key, "burst"))
		l->burst = v;
	else if (!strcmp(key, "duplicate_permille"))
		l->duplicate = v / 1000;
	else if (!strcmp(key, "reorder_permille"))
		l->reorder = v / 1000;
	else if (!strcmp(key, "rate_kbit"))
		l->rate_kbit = (uint64_t)v;
	else if (!strcmp(key, "mtu"))
		l->mtu = (unsigned)v;
	else if (!strcmp(key, "up"))
		l->up = v != 0;
	else if (!strcmp(key, "drops_data"))
		l->drops_data = v != 0;
	else if (!strcmp(key, "shares_line"))
		l->shares_line = v != 0;
	else
		return false;
	return true;
}

static int command_link(struct wan *w, char **word, unsigned n)
{
	int from = -1, to = -1;

	if (n < 5 || n % 2 == 0)
		return answer("error: link FROM TO KEY VALUE...");
	if (strcmp(word[1], "*") && (from = find_site(w, word[1])) < 0)
		return answer("error: no such site to come from");
	if (strcmp(word[2], "*") && (to = find_site(w, word[2])) < 0)
		return answer("error: no such site to go to");
	for (unsigned i = 0; i < w->n_sites; i++) {
		for (unsigned j = 0; j < w->n_sites; j++) {
			struct link *l = link_at(w, i, j);

			if ((from >= 0 && i != (unsigned)from) || (to >= 0 && j != (unsigned)to))
				continue;
			for (unsigned k = 3; k < n; k += 2)
				if (!link_set(l, word[k], word[k + 1]))
					return answer("error: unknown key or bad value");
			/* A change takes effect at once. */
			l->last_out = l->busy_until = 0;
		}
	}
	return answer("ok");
}

static int command_count(struct wan *w, char **word, unsigned n)
{
	int from = n == 3 ? find_site(w, word[1]) : -1, to = n == 3 ? find_site(w, word[2]) : -1;
	struct link *l;
	int64_t waits_us;

	if (from < 0 || to < 0)
		return answer("error: count FROM TO");
	l = link_at(w, (unsigned)from, (unsigned)to);
	waits_us = (*busy_until(w, l, (unsigned)to) - now_ns()) / 1000;
	printf("ok {\"delivered\": %llu, \"bytes\": %llu, \"lost\": %llu, \"down\": %llu, \"too_big\": %llu, "
	       "\"overflow\": %llu, \"duplicated\": %llu, \"reordered\": %llu, \"marked\": %llu, "
	       "\"waits_us\": %lld}\n",
	       (unsigned long long)l->delivered, (unsigned long long)l->bytes,
	       (unsigned long long)l->lost, (unsigned long long)l->down,
	       (unsigned long long)l->too_big, (unsigned long long)l->overflow,
	       (unsigned long long)l->duplicated, (unsigned long long)l->reordered,
	       (unsigned long long)l->marked, (long long)(waits_us > 0 ? waits_us : 0));
	fflush(stdout);
	return 0;
}

static int command_late(struct wan *w)
{
	printf("ok %lld\n", (long long)(w->late_ns / 1000));
	fflush(stdout);
	w->late_ns = 0;
	return 0;
}

static void command(struct wan *w, char *line)
{
	char *word[WORDS_MAX], *next;
	unsigned n = 0;

	while (n < WORDS_MAX && (next = strsep(&line, " ")))
		if (*next)
			word[n++] = next;
	if (n && !strcmp(word[0], "site"))
		command_site(w, word, n);
	else if (n && !strcmp(word[0], "link"))
		command_link(w, word, n);
	else if (n && !strcmp(word[0], "count"))
		command_count(w, word, n);
	else if (n && !strcmp(word[0], "late"))
		command_late(w);
	else
		answer("error: unknown command");
}

/* Returns false at the end of input. */
static bool read_commands(struct wan *w)
{
	char *line = w->input, *newline;
	ssize_t n = read(STDIN_FILENO, w->input + w->input_len, sizeof(w->input) - w->input_len);

	if (n <= 0)
		return n < 0 && errno == EINTR;
	w->input_len += (size_t)n;
	while ((newline = memchr(line, '\n', w->input_len - (size_t)(line - w->input)))) {
		*newline = '\0';
		command(w, line);
		line = newline + 1;
	}
	w->input_len -= (size_t)(line - w->input);
	memmove(w->input, line, w->input_len);
	return w->input_len < sizeof(w->input);
}

static void run(struct wan *w)
{
	struct epoll_event ev[64];

	for (;;) {
		struct timespec ts = { 0 }, *timeout = NULL;
		int n;

		deliver_due(w);
		if (w->n_due) {
			int64_t wait = w->heap[0].at - now_ns();

			if (wait > 0) {
				ts.tv_sec = wait / NS_PER_S;
				ts.tv_nsec = wait % NS_PER_S;
			}
			timeout = &ts;
		}
		n = epoll_pwait2(w->epoll, ev, 64, timeout, NULL);
		for (int i = 0; i < n; i++) {
			if (ev[i].data.u32 != SITES_MAX)
				read_site(w, ev[i].data.u32);
			else if (!read_commands(w))
				return;
			deliver_due(w);
		}
	}
}

int main(int argc, char **argv)
{
	struct wan *w = calloc(1, sizeof(*w));
	struct epoll_event ev = { .events = EPOLLIN, .data.u32 = SITES_MAX };
	struct sched_param fifo = { .sched_priority = 10 };

	if (!w || !(w->link = calloc(SITES_MAX * SITES_MAX, sizeof(*w->link))))
		abort();
	w->random = 0x9e3779b97f4a7c15ULL;
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--fifo"))
			/* Ordinary users lack this permission. The delays are then slightly less
			 * exact. */
			(void)sched_setscheduler(0, SCHED_FIFO, &fifo);
		else if (!strncmp(argv[i], "--seed=", 7))
			w->random ^= strtoull(argv[i] + 7, NULL, 10) << 1;
	}
	prctl(PR_SET_TIMERSLACK, 1UL);
	w->home_ns = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (w->home_ns < 0 || w->epoll < 0 ||
	    epoll_ctl(w->epoll, EPOLL_CTL_ADD, STDIN_FILENO, &ev) < 0) {
		fprintf(stderr, "wanem: %s\n", strerror(errno));
		return 1;
	}
	run(w);
	while (w->n_due)
		frame_put(heap_pop(w).frame);
	for (unsigned i = 0; i < w->n_sites; i++)
		close(w->site[i].tap);
	free(w->heap);
	free(w->link);
	free(w);
	return 0;
}

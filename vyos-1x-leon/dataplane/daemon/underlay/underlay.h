// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The underlay: sockets, addresses of this node and of others, rates, the state of peers, and the
 * use of links. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/json/jsonw.h"
#include "base/mono.h"
#include "fwd/fwd.h"
#include "io/udp.h"
#include "proto/overlay_seeds.h"
#include "state/rates/autorate.h"

struct conf;
struct leond;
struct nl_event;

/* --- ipsec.c: IPsec state of addresses, as reported by the IPsec manager --- */
/* A report expires, so that displayed state is never older. This module decides nothing about
 * datagrams: the kernel's firewall table does. */

#define IPSEC_REPORT_S 30 /* lifetime of a report */

#define IPSEC_TEXT_LEN 200

/* Reason why an address is not protected, as one sentence. */
struct ipsec_problem {
	struct ip_addr ip; /* family 0: concerns all addresses */
	char text[IPSEC_TEXT_LEN];
};

struct ipsec_report {
	size_t n, n_problems;
	struct ip_addr *ip; /* sorted */
	struct ipsec_problem *problem;
	mono_t at; /* MONO_NEVER: no report yet */
};

/* Takes the allocated array and sorts it. Clears the problems of the previous report. */
void ipsec_report_set(struct ipsec_report *r, struct ip_addr *ip, size_t n, mono_t now);
/* Sets the problems of the last report; takes the allocated array. */
void ipsec_report_problems(struct ipsec_report *r, struct ipsec_problem *problem, size_t n);
/* Returns the recent problem of an address; NULL: none. ip of family 0: the first problem of all
 * addresses. */
const char *ipsec_problem(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now);
bool ipsec_protects(const struct ipsec_report *r, const struct ip_addr *ip, mono_t now);
void ipsec_report_free(struct ipsec_report *r);

/* --- cache.c: the member cache, last endpoints of other members beside the control socket --- */
/* A restarted daemon can then rejoin if its configured peers are dead. */

#define MEMBERS_MAX	  32
#define MEMBERS_ENDPOINTS 4
#define MEMBERS_FILE_MAX  65536

struct member_entry {
	node_id_t node;
	unsigned n;
	struct endpoint ep[MEMBERS_ENDPOINTS];
};
struct member_list {
	unsigned n;
	struct member_entry member[MEMBERS_MAX];
};

/* Returns 0, or -EINVAL with one sentence in err: wrong content, or another overlay. */
int members_parse(const char *text, size_t len, uint32_t vni, struct member_list *out, char *err,
		  size_t err_len);
void members_write(const struct member_list *l, uint32_t vni, struct jsonw *w);

/* --- resolve.c: asynchronous name resolution by a helper thread that calls getaddrinfo() --- */
/* The control thread posts requests and is woken through a descriptor; seeds.c schedules the
 * requests. */

#define RESOLVE_ADDRS_MAX 8
#define RESOLVE_HOST_LEN  254

struct resolve_answer {
	uint64_t id;	 /* id of resolver_request() */
	char error[128]; /* empty: resolved */
	unsigned n;
	struct endpoint ep[RESOLVE_ADDRS_MAX];
};

/* Returns a descriptor for the other functions, readable if an answer is pending, or -errno.
 * close() does not wait for an unresponsive name server. Signals must be blocked already. */
int resolver_open(void);
/* Returns false if too many requests wait; the caller retries later. */
bool resolver_request(int fd, uint64_t id, const char *host, uint16_t port);
/* Returns the next answer; false if none is pending. */
bool resolver_next(int fd, struct resolve_answer *out);

/* --- lines.c: the lines of this site (decisions/080) --- */
/* Opens the sockets of all lines, instead of those of the source-address. Returns 0 or -errno. */
int lines_open(struct leond *d, bool v6);
/* Sets header fields and fwmark of sent datagrams for all sockets; workers may send at that time.
 * Returns 0, or -errno after logging. */
int lines_mark(struct leond *d);
void lines_apply_conf(struct leond *d);
/* Announces the lines to the protocol, before its start. */
void lines_hand_over(struct leond *d);
void lines_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
/* Repeats a failed bind. */
void lines_second(struct leond *d, mono_t now);
/* Number of links that use this line. */
unsigned lines_links(struct leond *d, uint8_t line);
/* The sockets of this line; n 0: the site has no second line. */
struct udp *lines_udp(struct leond *d, uint8_t line);

/* --- locators.c: addresses of this node --- */
void locators_start(struct leond *d);
void locators_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */
void locators_update(struct leond *d);

/* --- source.c: loss and return of the source-address or source-interface --- */
void source_start(struct leond *d);
void source_changed(struct leond *d, const struct nl_event *ev); /* life/watch.c */

/* --- seeds.c: addresses of the configured peers --- */
int seeds_start(struct leond *d);
void seeds_stop(struct leond *d); /* also without seeds_start() */
/* The list of peers changed. */
void seeds_reset(struct leond *d);
/* The stream to configured peer i; family 0: none. */
void seeds_set_stream(struct leond *d, uint32_t i, const struct endpoint *stream);
void seeds_run(struct leond *d, mono_t now); /* called once a second */

/* The member cache in its file. */
void cache_load(struct leond *d);
void cache_append_to(const struct leond *d, struct conf *c);
/* Returns the i-th appended entry. */
const struct member_entry *cache_member(const struct leond *d, uint32_t i);
void cache_save(struct leond *d, mono_t now);
void cache_periodic(struct leond *d, mono_t now); /* called once a second */
void cache_free(struct leond *d);

/* --- senders.c: ingress shaping (decisions/039) --- */
void senders_start(struct leond *d);
void senders_free(struct leond *d);
/* Applies the configuration; called after a reload and before senders_start(). */
void senders_apply_conf(struct leond *d);
/* Direct arrival rate from the node in kbit/s of IP packets; 0 without measurement. */
uint32_t senders_kbits(const struct leond *d, uint16_t slot);

/* --- state of the configured peers and of the lines, for the files of this folder --- */
/* A configured or cached peer, indexed like conf->peer. */
struct seed_host {
	mono_t request_at;  /* earliest next resolution */
	uint32_t backoff_s; /* wait after the next resolution */
	bool asking;	    /* a resolution is pending */
	bool failing;	    /* the failure was reported */
	unsigned n;	    /* number of addresses of the last resolution */
	struct endpoint ep[RESOLVE_ADDRS_MAX];
	struct endpoint stream; /* fallback.c; family 0: none */
	mono_t resolved_at;	/* last answer with addresses */
	char error[128];	/* error of the last answer; empty: none */
	/* State of reach.c. */
	uint64_t name; /* hash of the peer's definition; survives a reload */
	bool reached;  /* last known state */
	bool reported; /* its absence was reported */
	mono_t since;  /* time of the last change of `reached` */
};

/* NULL: no such peer. */
struct seed_host *seeds_host(const struct leond *d, uint32_t i);

struct line {
	int index;	  /* of its interface; 0: none, or missing */
	int bind_error;	  /* errno of the last request or bind; 0: none */
	const char *lost; /* reason why it cannot be used; NULL: none */
};

struct line_states {
	struct line line[LINES_MAX];
	struct udp second; /* sockets of the second line */
};

/* --- reach.c: reachability of configured peers, with the reason --- */
struct reach {
	const struct conf_peer *peer;
	struct overlay_seed seed;
	const char *state; /* "reached", "trying", "unresolved", "self", "disabled" */
	mono_t since;
	mono_t resolved_at;	   /* last answer with addresses */
	const char *resolve_error; /* of the last answer; empty: none */
	enum seed_diagnosis best;  /* most specific diagnosis of its addresses */
	int error;
};
void reach_look(struct leond *d, uint32_t i, struct reach *out);
const char *reach_diagnosis_name(enum seed_diagnosis f);
#define REACH_TEXT_LEN 160
const char *reach_diagnosis_text(enum seed_diagnosis f, int error, char buf[REACH_TEXT_LEN]);
/* Returns a sentence; NULL if the peer is reached or disabled. */
const char *reach_reason(const struct reach *r, char buf[REACH_TEXT_LEN]);
/* Returns true if the peer has another wire version or another curve, and the sentence. */
bool reach_is_impossible(struct leond *d, uint32_t i, char buf[REACH_TEXT_LEN]);
void reach_run(struct leond *d, mono_t now); /* called once a second */

/* --- usage.c: links with data traffic --- */
/* A link at the last look. */
struct link_use {
	uint64_t link_tx, directed;
	unsigned looks; /* successive ones that saw data */
};
enum use { USE_NONE, USE_FLOODS, USE_DATA };

void usage_start(struct leond *d);
void usage_free(struct leond *d);
/* Evaluates the counters of a look. A stream of flooded frames counts as data. */
enum use usage_look(struct link_use *u, const struct fwd_use *t);

/* --- bottleneck.c: rate limits (decisions/039, 041) --- */
/* Access link: configured (shaper egress), automatic (shaper automatic), or the lower of both.
 * Direct traffic to each node: configured (shaper per-peer), requested by the node (its shaper
 * ingress), or the lower of both. */
void bottleneck_start(struct leond *d);
/* Applies the configuration; called after a reload and before bottleneck_start(). */
void bottleneck_apply_conf(struct leond *d);

/* Passes the rates of all present nodes to the workers; called with each snapshot. */
void bottleneck_notify_peers(struct leond *d);
/* The rate limit that one node requests has changed. */
void bottleneck_notify_peer(struct leond *d, uint16_t slot);

/* State of the access link for show commands. */
struct bottleneck_view {
	uint32_t limit_kbits; /* effective limit; 0: none */
	struct autorate rate;
	struct site_load load; /* by the last PINGs */
};
struct bottleneck_view bottleneck_view(const struct leond *d);

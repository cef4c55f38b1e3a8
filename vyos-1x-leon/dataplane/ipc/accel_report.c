// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reports of leon-accel to leond as JSON, see accel_report.h.
 */
#include "ipc/accel_report.h"

#define AS_WORD(id, word, sentence)	word,
#define AS_SENTENCE(id, word, sentence) sentence,

static const char *const reason_words[] = { ACCEL_REASON_TABLE(AS_WORD) };
static const char *const reason_sentences[] = { ACCEL_REASON_TABLE(AS_SENTENCE) };
static const char *const misuse_words[] = { ACCEL_MISUSES(AS_WORD) };
static const char *const fault_words[] = { ACCEL_FAULTS(AS_WORD) };

const char *accel_reason_word(enum accel_reason reason)
{
	return reason < ACCEL_N_REASONS ? reason_words[reason] : NULL;
}

const char *accel_reason_sentence(enum accel_reason reason)
{
	return reason < ACCEL_N_REASONS ? reason_sentences[reason] : NULL;
}

const char *accel_misuse_word(enum accel_misuse m)
{
	return misuse_words[m];
}

const char *accel_fault_word(enum accel_fault f)
{
	return fault_words[f];
}

/* --- totals --- */

void accel_totals_write(const struct accel_totals *t, struct jsonw *w)
{
#define AS_WRITE(member, key) jsonw_u64(w, key, t->member);
	ACCEL_GAUGES(AS_WRITE)
	jsonw_object(w, "counters");
	ACCEL_COUNTERS(AS_WRITE)
#undef AS_WRITE
	for (enum accel_misuse i = 0; i < ACCEL_N_MISUSES; i++)
		jsonw_u64(w, accel_misuse_word(i), t->misuse[i]);
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS; i++)
		jsonw_u64(w, accel_fault_word(i), t->fault[i]);
	jsonw_end(w);
	jsonw_object(w, "plain");
	for (enum accel_reason i = ACCEL_REASON_NONE + 1; i < ACCEL_N_REASONS; i++)
		jsonw_u64(w, accel_reason_word(i), t->plain[i]);
	jsonw_end(w);
}

static void read_number(struct jsonr_node *from, const char *key, uint64_t *out)
{
	*out = 0;
	jsonr_u64(from, key, 0, UINT64_MAX, out);
}

static void read_misuse(struct jsonr_node *from, uint64_t n[ACCEL_N_MISUSES])
{
	for (enum accel_misuse i = 0; i < ACCEL_N_MISUSES; i++)
		read_number(from, accel_misuse_word(i), &n[i]);
}

bool accel_totals_read(struct jsonr_node *root, struct accel_totals *t)
{
	struct jsonr_node *counters = jsonr_object(root, "counters");
	struct jsonr_node *plain = jsonr_object(root, "plain");

	*t = (struct accel_totals){ 0 };
	if (!counters || !plain)
		return false;
#define AS_READ(member, key) read_number(root, key, &t->member);
	ACCEL_GAUGES(AS_READ)
#undef AS_READ
#define AS_READ(member, key) read_number(counters, key, &t->member);
	ACCEL_COUNTERS(AS_READ)
#undef AS_READ
	read_misuse(counters, t->misuse);
	for (enum accel_fault i = 0; i < ACCEL_N_FAULTS; i++)
		read_number(counters, accel_fault_word(i), &t->fault[i]);
	for (enum accel_reason i = ACCEL_REASON_NONE + 1; i < ACCEL_N_REASONS; i++)
		read_number(plain, accel_reason_word(i), &t->plain[i]);
	return true;
}

/* --- nodes --- */

#define NODE_VALUES(VALUE)                                                                         \
	VALUE(intercepted_now, "connections")                                                      \
	VALUE(intercepted, "intercepted")                                                          \
	VALUE(returned, "released")                                                                \
	VALUE(reset, "reset")                                                                      \
	VALUE(refused, "refused")

static void write_id(node_id_t id, struct jsonw *w)
{
	jsonw_str(w, "node", NODE_ID_TEXT(id));
}

static bool read_id(struct jsonr_node *from, node_id_t *id)
{
	const char *text;

	return jsonr_str(from, "node", &text) && node_id_parse(text, id) == 0;
}

void accel_node_write(const struct accel_node *n, struct jsonw *w)
{
	write_id(n->id, w);
	jsonw_bool(w, "reached", n->reached);
#define AS_WRITE(member, key) jsonw_u64(w, key, n->member);
	NODE_VALUES(AS_WRITE)
#undef AS_WRITE
	for (enum accel_misuse i = 0; i < ACCEL_N_MISUSES; i++)
		if (n->misuse[i])
			jsonw_u64(w, accel_misuse_word(i), n->misuse[i]);
}

bool accel_node_read(struct jsonr_node *node, struct accel_node *n)
{
	*n = (struct accel_node){ 0 };
	if (!read_id(node, &n->id))
		return false;
	jsonr_bool(node, "reached", &n->reached);
#define AS_READ(member, key) read_number(node, key, &n->member);
	NODE_VALUES(AS_READ)
#undef AS_READ
	read_misuse(node, n->misuse);
	return true;
}

/* --- connections --- */

#define CONN_VALUES(VALUE)                                                                         \
	VALUE(serial, "serial")                                                                    \
	VALUE(since_ms, "since_ms")                                                                \
	VALUE(held, "held_frames")                                                                 \
	VALUE(undelivered, "undelivered_bytes")                                                    \
	VALUE(times, "times_intercepted")                                                          \
	VALUE(bytes.out, "bytes_from_near")                                                        \
	VALUE(bytes.in, "bytes_from_far")                                                          \
	VALUE(bytes.carried_out, "interproxy_bytes_out")                                           \
	VALUE(bytes.carried_in, "interproxy_bytes_in")                                             \
	VALUE(time.with_ms, "with_ms")                                                             \
	VALUE(time.without_ms, "without_ms")

static void write_endpoint(struct jsonw *w, const char *key, const struct endpoint *ep)
{
	jsonw_str(w, key, ENDPOINT_TEXT(ep));
}

static bool read_endpoint(struct jsonr_node *from, const char *key, struct endpoint *ep)
{
	const char *text;

	return jsonr_str(from, key, &text) && endpoint_parse(text, 0, ep) == 0;
}

void accel_conn_write_name(const struct accel_conn *c, struct jsonw *w)
{
	jsonw_u64(w, "vlan", c->vlan);
	write_endpoint(w, "near", &c->near);
	write_endpoint(w, "far", &c->far);
	write_id(c->node, w);
	jsonw_str(w, "state", c->state);
}

void accel_conn_write(const struct accel_conn *c, struct jsonw *w)
{
	accel_conn_write_name(c, w);
	if (c->reason)
		jsonw_str(w, "reason", c->reason);
#define AS_WRITE(member, key) jsonw_u64(w, key, c->member);
	CONN_VALUES(AS_WRITE)
#undef AS_WRITE
}

bool accel_conn_read(struct jsonr_node *node, struct accel_conn *c)
{
	*c = (struct accel_conn){ 0 };
	if (!read_endpoint(node, "near", &c->near) || !read_endpoint(node, "far", &c->far) ||
	    !read_id(node, &c->node) || !jsonr_str(node, "state", &c->state))
		return false;
	read_number(node, "vlan", &c->vlan);
	jsonr_str(node, "reason", &c->reason);
#define AS_READ(member, key) read_number(node, key, &c->member);
	CONN_VALUES(AS_READ)
#undef AS_READ
	return true;
}

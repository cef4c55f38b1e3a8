// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leonctl/status/status: answers of the daemon give findings with cause, remedy and command, the
 * text and JSON of the findings, and the exit code.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "status/status.h"

#define STATISTICS                                                                                 \
	"\"interface\":\"leon0\",\"node_id\":\"10.0.0.1\",\"name\":\"fujisawa\",\"vni\":1,"        \
	"\"port\":5366,\"daemon_version\":\"0.2.0\",\"uptime_seconds\":70,"
#define SEALED "{" STATISTICS "\"authenticated\":true}"
#define SELF                                                                                       \
	"{\"node_id\":\"10.0.0.1\",\"name\":\"fujisawa\",\"state\":\"self\",\"duplicate\":null}"
#define NODE(id, name, state, more)                                                                \
	"{\"node_id\":\"" id "\",\"name\":\"" name "\",\"state\":\"" state                         \
	"\",\"since_seconds\":99" more "}"
#define UP    ",\"link\":\"up\",\"secret\":\"own\",\"duplicate\":null"
#define INAGI NODE("10.0.0.2", "inagi", "reachable", UP)
#define PEER(state, since, result)                                                                 \
	"{\"name\":\"seoul\",\"address\":\"seoul.example\",\"state\":\"" state                     \
	"\",\"since_seconds\":" since ",\"node_id\":null,\"reason\":\"it is so\","                 \
	"\"addresses\":[{\"endpoint\":\"[2001:db8::3]:5367\",\"result\":\"nothing\","              \
	"\"text\":\"other\"},{\"endpoint\":\"198.18.0.3:5366\",\"result\":\"" result               \
	"\",\"text\":\"it is so\"}]}"
#define EVENT_OF(word, age, node, other, detail)                                                   \
	"{\"event\":\"" word "\",\"age_seconds\":" age ",\"node_id\":" node ",\"other\":" other    \
	",\"detail\":" detail
#define EVENT(word, age, node, text)                                                               \
	EVENT_OF(word, age, node, "null", "null") ",\"text\":\"" text "\"}"
#define LOSS(age, other)                                                                           \
	EVENT_OF("data-loss", age, "\"10.0.0.3\"", other, "null") ",\"text\":\"x\"}"
#define LOSS_OVER(age, other)                                                                      \
	EVENT_OF("data-loss-over", age, "\"10.0.0.3\"", other, "null") ",\"text\":\"y\"}"
#define SOURCE(word, age, address)                                                                 \
	EVENT_OF("source-" word, age, "null", "null", "\"" address "\"") ",\"text\":\"x\"}"

struct sample {
	const char *statistics, *nodes, *peers, *events, *lines; /* NULL: a healthy answer */
	const char *want;					 /* "id level;" of each finding */
	const char *fragment;					 /* of the text; NULL: none */
};

struct answers {
	struct jsonr *doc[5];
	struct status_input in;
};

static struct jsonr_node *parse(struct answers *a, int i, const char *text)
{
	a->doc[i] = jsonr_parse(text, strlen(text), JSONR_USUAL_MAX);
	return jsonr_root(a->doc[i]);
}

static struct jsonr_node *parse_list(struct answers *a, int i, const char *key, const char *items)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct jsonr_node *root;

	fprintf(f, "{\"interface\":\"leon0\",\"%s\":[%s]}", key, items);
	fclose(f);
	root = parse(a, i, text);
	free(text);
	return root;
}

static void make(struct answers *a, const struct sample *s)
{
	a->in.statistics = parse(a, 0, s->statistics ? s->statistics : SEALED);
	a->in.nodes = parse_list(a, 1, "nodes", s->nodes ? s->nodes : SELF "," INAGI);
	a->in.peers = parse_list(a, 2, "peers", s->peers ? s->peers : "");
	a->in.events = parse_list(a, 3, "events", s->events ? s->events : "");
	a->in.lines = parse(a, 4, s->lines ? s->lines : "{\"lines\":[],\"pairs\":[]}");
}

static void drop(struct answers *a)
{
	for (int i = 0; i < 5; i++) {
		assert_null(jsonr_error(a->doc[i]));
		jsonr_free(a->doc[i]);
	}
}

static void check(const struct sample *s)
{
	struct status *status = calloc(1, sizeof(*status));
	struct answers a;
	char *text = NULL, *ids = NULL;
	size_t len = 0, ids_len = 0;
	FILE *f = open_memstream(&text, &len), *g = open_memstream(&ids, &ids_len);
	bool problems = false;

	assert_non_null(status);
	make(&a, s);
	status_find(&a.in, status);
	for (unsigned i = 0; i < status->n; i++) {
		bool note = status->diagnosis[i].level == STATUS_NOTE;

		problems |= !note;
		fprintf(g, "%s%s;", status->diagnosis[i].id, note ? " note" : "");
		assert_true(status->diagnosis[i].what[0] && status->diagnosis[i].why[0]);
		if (!note)
			assert_true(status->diagnosis[i].command[0]);
	}
	assert_int_equal(status_text(&a.in, status, f), problems ? 2 : 0);
	fclose(f);
	fclose(g);
	assert_string_equal(ids, s->want);
	assert_int_equal(strstr(text, "leon0: all well") != NULL, !problems);
	if (s->fragment && !strstr(text, s->fragment))
		fail_msg("\"%s\" is not in:\n%s", s->fragment, text);
	free(text);
	free(ids);
	drop(&a);
	free(status);
}

static void check_all(const struct sample *s, size_t n)
{
	for (size_t i = 0; i < n; i++)
		check(&s[i]);
}

static void peers(void **state)
{
	static const struct sample samples[] = {
		{ .peers = PEER("reached", "99", "nothing"), .want = "" },
		{ .peers = PEER("disabled", "99", "nothing"), .want = "" },
		{ .peers = PEER("trying", "9", "nothing"), .want = "joining note;" },
		{ .peers = PEER("trying", "9", "other-secret"), .want = "other-secret;" },
		{ .peers = PEER("trying", "99", "nothing"),
		  .want = "nothing;",
		  .fragment = "other nodes accept this node" },
		{ .peers = PEER("trying", "99", "nothing"),
		  .nodes = SELF,
		  .want = "nothing;",
		  .fragment = "the secret or VNI of this node is wrong" },
		{ .peers = PEER("trying", "75", "other-secret"),
		  .want = "other-secret;",
		  .fragment =
			  "problem: peer seoul (198.18.0.3:5366) has not been reached for 1 min "
			  "15 s\n  why: it is so\n  do:  make" },
		{ .peers = PEER("trying", "75", "no-secret-here"), .want = "no-secret-here;" },
		{ .peers = PEER("trying", "75", "no-secret-there"), .want = "no-secret-there;" },
		{ .peers = PEER("trying", "75", "other-vni"), .want = "other-vni;" },
		{ .peers = PEER("trying", "75", "other-version"), .want = "other-version;" },
		{ .peers = PEER("trying", "75", "not-trusted"), .want = "not-trusted;" },
		{ .peers = PEER("trying", "75", "other-identity"), .want = "other-identity;" },
		{ .peers = PEER("trying", "75", "one-way"), .want = "one-way;" },
		{ .peers = PEER("trying", "75", "refused"), .want = "refused;" },
		{ .peers = PEER("trying", "75", "unreachable"),
		  .want = "unreachable;",
		  .fragment = "run: ip route get 198.18.0.3\n" },
		{ .peers = PEER("trying", "75", "not-sent"), .want = "not-sent;" },
		{ .peers = PEER("self", "75", "self"), .want = "self note;" },
		{ .peers = "{\"name\":\"seoul\",\"state\":\"reached\",\"transport\":\"udp\"}",
		  .want = "" },
		{ .peers = "{\"name\":\"seoul\",\"state\":\"reached\",\"transport\":\"tls\"}",
		  .want = "over-tls note;",
		  .fragment = "note: peer seoul is reached over TLS\n  why: UDP gets no answer" },
		{ .peers =
			  "{\"name\":\"seoul\",\"state\":\"trying\",\"since_seconds\":60,"
			  "\"transport\":null,\"tls_reason\":\"Connection refused\",\"addresses\":"
			  "[{\"endpoint\":\"198.18.0.3:1\",\"result\":\"nothing\",\"text\":\"r\"}]}",
		  .want = "nothing;",
		  .fragment = "differs; TLS failed: Connection refused\n" },
		{ .peers = "{\"name\":\"osaka\",\"address\":\"osaka.example\",\"since_seconds\":40,"
			   "\"state\":\"unresolved\",\"reason\":\"its name cannot be resolved\","
			   "\"resolve_error\":\"no such name\",\"addresses\":[]}",
		  .want = "unresolved;",
		  .fragment = "run: getent ahosts osaka.example\n" },
		{ .peers = "{\"name\":\"osaka\",\"address\":\"osaka.example\",\"since_seconds\":0,"
			   "\"state\":\"unresolved\",\"reason\":\"its name is being resolved\","
			   "\"resolve_error\":null,\"addresses\":[]}",
		  .want = "joining note;" },
	};
	(void)state;

	check_all(samples, array_size(samples));
}

static void nodes(void **state)
{
	static const struct sample samples[] = {
		{ .want = "", .fragment = "nodes  1 of 1 reachable" },
		{ .nodes = SELF, .want = "alone note;", .fragment = "run: leonctl invite" },
		{ .nodes = SELF "," NODE("10.0.0.2", "inagi", "left", ""), .want = "alone note;" },
		{ .nodes = SELF "," NODE("10.0.0.2", "inagi", "unreachable", UP),
		  .want = "unreachable;",
		  .fragment = "node inagi (10.0.0.2) has been unreachable for" },
		{ .nodes = SELF "," NODE("10.0.0.2", "inagi", "known", UP),
		  .want = "never-reached;" },
		{ .nodes = SELF
		  ",{\"node_id\":\"10.0.0.2\",\"state\":\"known\",\"since_seconds\":3}",
		  .want = "" },
		{ .nodes = SELF "," NODE("10.0.0.2", "inagi", "reachable",
					 ",\"link\":\"down\",\"behind_nat\":true"),
		  .want = "no-direct-link note;",
		  .fragment = "the NAT of the node" },
		{ .nodes = SELF "," NODE("10.0.0.2", "inagi", "reachable",
					 ",\"link\":\"up\",\"secret\":\"other\","
					 "\"session_ends_seconds\":43"),
		  .want = "secret-not-common;",
		  .fragment = "the session with node inagi (10.0.0.2) ends in 43 s" },
		{ .nodes =
			  "{\"node_id\":\"10.0.0.1\",\"name\":\"fujisawa\",\"state\":\"self\","
			  "\"duplicate\":{\"seen_seconds\":3,\"endpoint\":\"198.18.0.9:5366\"}}," INAGI,
		  .want = "duplicate-id;",
		  .fragment = "use the node-id of this node, fujisawa" },
		{ .nodes = SELF "," INAGI "," NODE("10.0.0.3", "inagi", "reachable", UP),
		  .want = "name-twice;",
		  .fragment = "nodes 10.0.0.2 and 10.0.0.3 have the node-name inagi" },
		{ .nodes = SELF
		  "," NODE("10.0.0.2", "inagi", "reachable", UP ",\"overlay_addresses\":[\"10.9.0.2\"]") "," NODE(
			  "10.0.0.3", "seoul", "reachable",
			  UP ",\"overlay_addresses\":[\"10.9.0.1\",\"10.9.0.2\"]"),
		  .want = "address-twice;",
		  .fragment = "have the overlay address 10.9.0.2" },
		/* A peer that is not reached and its node are one problem. */
		{ .nodes = SELF "," NODE("10.0.0.3", "seoul", "unreachable", UP),
		  .peers =
			  "{\"name\":\"seoul\",\"state\":\"trying\",\"since_seconds\":60,"
			  "\"node_id\":\"10.0.0.3\",\"reason\":\"r\",\"addresses\":["
			  "{\"endpoint\":\"198.18.0.3:1\",\"result\":\"refused\",\"text\":\"r\"}]}",
		  .want = "refused;" },
	};
	(void)state;

	check_all(samples, array_size(samples));
}

static void this_daemon(void **state)
{
	static const struct sample samples[] = {
		{ .statistics = "{" STATISTICS "\"authenticated\":false}",
		  .want = "no-secret note;" },
		{ .statistics = "{" STATISTICS "\"memory\":{\"nodes\":8,\"nodes_maximum\":8,"
				"\"fdb_entries\":4,\"fdb_maximum\":4}}",
		  .want = "table-full;fdb-full;" },
		{ .statistics = "{" STATISTICS "\"drops\":{\"too_big\":4}}",
		  .want = "too-big note;" },
		{ .statistics = "{" STATISTICS "\"port_mapping\":{\"state\":\"mapped\"}}",
		  .want = "" },
		{ .statistics = "{" STATISTICS
				"\"port_mapping\":{\"state\":\"failed\",\"gateway\":\"10.0.0.1\","
				"\"reason\":\"NAT-PMP: no answer\"}}",
		  .want = "no-port-mapping note;",
		  .fragment = "gateway 10.0.0.1 gives no port mapping\n  why: NAT-PMP: no answer" },
		{ .statistics = "{" STATISTICS "\"bridge\":\"br7\",\"bridge_missing\":true}",
		  .want = "bridge-missing;",
		  .fragment = "br7, the `bridge` of the configuration, does not exist" },
		{ .statistics = "{" STATISTICS "\"offloads\":{\"udp_gso_broken\":[]}}",
		  .want = "" },
		{ .statistics = "{" STATISTICS "\"offloads\":{\"udp_gso_broken\":[{\"node_id\":"
				"\"10.0.0.2\",\"name\":\"inagi\"}]}}",
		  .want = "offload-broken note;",
		  .fragment = "data to inagi (10.0.0.2) was lost with UDP segmentation" },
		{ .statistics = "{" STATISTICS "\"offloads\":{\"udp_gso_broken\":[{\"node_id\":"
				"\"10.0.0.2\",\"name\":null},{\"node_id\":\"10.0.0.3\",\"name\":"
				"null}]}}",
		  .want = "offload-broken note;",
		  .fragment = "data to 10.0.0.2 and others was lost with UDP segmentation" },
	};
	(void)state;

	check_all(samples, array_size(samples));
}

static void events(void **state)
{
	static const struct sample samples[] = {
		{ .events = EVENT("stranger", "30", "null",
				  "datagrams of 198.18.0.9:5366 do not open"),
		  .want = "stranger note;",
		  .fragment = "note: datagrams of 198.18.0.9:5366 do not open (30 s ago)" },
		{ .events = EVENT("stranger", "601", "null", "x"), .want = "" },
		{ .events = EVENT("stranger", "90", "null", "x") "," EVENT("stranger", "30", "null",
									   "x"),
		  .want = "stranger note;" },
		{ .events = EVENT("stranger", "90", "null", "x") "," EVENT("stranger", "30", "null",
									   "y"),
		  .want = "stranger note;stranger note;" },
		{ .events = EVENT("source-lost", "9000", "null", "x"), .want = "source-lost;" },
		{ .events = EVENT("source-lost", "9000", "null",
				  "x") "," EVENT("source-restored", "8000", "null", "y"),
		  .want = "" },
		{ .events = EVENT("data-loss", "900", "\"10.0.0.2\"",
				  "x") "," EVENT("data-loss-over", "800", "\"10.0.0.3\"", "y"),
		  .want = "data-loss;" },
		{ .events = EVENT("data-loss", "900", "\"10.0.0.2\"", "x") "," EVENT(
			  "data-loss", "700", "\"10.0.0.2\"",
			  "z") "," EVENT("data-loss-over", "600", "\"10.0.0.2\"", "y"),
		  .want = "" },
		/* A path through one relay, then through another. */
		{ .events = LOSS("900", "\"10.0.0.2\"") "," LOSS("800", "\"10.0.0.4\""),
		  .want = "data-loss;" },
		{ .events = LOSS("900", "\"10.0.0.2\"") "," LOSS(
			  "800", "\"10.0.0.4\"") "," LOSS_OVER("700", "\"10.0.0.4\""),
		  .want = "" },
		/* The link still loses data. */
		{ .events = LOSS("900", "null") "," LOSS("800", "\"10.0.0.4\"") "," LOSS_OVER(
			  "700", "\"10.0.0.4\""),
		  .want = "data-loss;" },
		{ .events = LOSS("900", "null") "," EVENT("left", "700", "\"10.0.0.2\"", "y"),
		  .want = "data-loss;" },
		{ .events = LOSS("900", "null") "," EVENT("left", "700", "\"10.0.0.3\"", "y"),
		  .want = "" },
		{ .events = LOSS("900", "null") "," EVENT("forgotten", "700", "\"10.0.0.3\"", "y"),
		  .want = "" },
		{ .events = SOURCE("lost", "900", "192.0.2.1") "," SOURCE(
			  "lost", "800", "2001:db8::1") "," SOURCE("restored", "700", "192.0.2.1"),
		  .want = "source-lost;" },
		{ .events = SOURCE("lost", "900", "192.0.2.1") "," SOURCE(
			  "lost", "800", "2001:db8::1") "," SOURCE("restored", "700",
								   "2001:db8::1"),
		  .want = "source-lost;" },
		/* The log outlives a daemon, its findings do not. */
		{ .events = EVENT("local-loop", "900", "null", "x") "," EVENT("started", "800",
									      "\"10.0.0.1\"", "y"),
		  .want = "" },
		{ .events = EVENT("unreadable", "30", "\"10.0.0.2\"", "x"), .want = "unreadable;" },
		{ .events = EVENT("identity-not-trusted", "30", "\"10.0.0.2\"", "x"),
		  .want = "identity-not-trusted note;" },
	};
	(void)state;

	check_all(samples, array_size(samples));
}

#define LINE(name, interface, state, reason)                                                       \
	"{\"name\":\"" name                                                                        \
	"\",\"address\":\"198.18.0.1\",\"line_interface\":" interface ",\"state\":\"" state        \
	"\",\"reason\":" reason "}"
#define PAIR(line, state, answered)                                                                \
	"{\"line\":\"" line "\",\"endpoint\":\"[2001:db8::3]:5366\",\"state\":\"" state            \
	"\",\"answered_seconds\":" answered "}"
#define FIBRE	     LINE("fibre", "null", "present", "null")
#define LTE	     LINE("lte", "\"wwan0\"", "present", "null")
#define LINES(pairs) "{\"lines\":[" FIBRE "," LTE "],\"pairs\":[" pairs "]}"

static void lines(void **state)
{
	static const struct sample samples[] = {
		{ .lines = LINES(PAIR("fibre", "in-use", "0") "," PAIR("lte", "standby", "1")),
		  .want = "" },
		{ .lines = "{\"lines\":[" FIBRE "," LINE(
			  "lte", "\"wwan0\"", "lost",
			  "\"the interface is missing\"") "],"
							  "\"pairs\":[" PAIR("lte", "no-answer",
									     "null") "]}",
		  .want = "line-lost note;",
		  .fragment = "note: line lte cannot be used\n  why: the interface is missing; the "
			      "other line carries the data\n" },
		{ .lines = LINES(PAIR("fibre", "in-use", "0") "," PAIR("lte", "no-answer", "null")),
		  .want = "line-silent note;",
		  .fragment = "run: ping -c 3 -I wwan0 2001:db8::3\n" },
		{ .lines = LINES(PAIR("fibre", "silent", "11") "," PAIR("lte", "in-use", "0")),
		  .want = "line-silent note;",
		  .fragment = "run: ping -c 3 -I 198.18.0.1 2001:db8::3\n" },
		/* A lost PING, another node that answers, and a daemon that just started. */
		{ .lines = LINES(PAIR("fibre", "in-use", "0") "," PAIR("lte", "silent", "10")),
		  .want = "" },
		{ .lines = LINES(PAIR("lte", "silent", "99") "," PAIR("lte", "standby", "1")),
		  .want = "" },
		{ .lines = LINES(PAIR("lte", "no-answer", "null")),
		  .statistics = "{\"interface\":\"leon0\",\"uptime_seconds\":3}",
		  .want = "" },
	};
	(void)state;

	check_all(samples, array_size(samples));
}

static void as_json(void **state)
{
	const struct sample s = { .peers = PEER("trying", "75", "other-vni") };
	struct status *status = calloc(1, sizeof(*status));
	struct answers a;
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);
	struct jsonr *doc;
	bool well = true;
	(void)state;

	assert_non_null(status);
	make(&a, &s);
	status_find(&a.in, status);
	assert_int_equal(status_json(&a.in, status, f), 2);
	fclose(f);
	doc = jsonr_parse(text, len, JSONR_USUAL_MAX);
	assert_true(jsonr_bool(jsonr_root(doc), "well", &well) && !well);
	assert_int_equal(jsonr_len(jsonr_array(jsonr_root(doc), "problems")), 1);
	assert_non_null(strstr(text, "\"id\":\"other-vni\""));
	assert_non_null(strstr(text, "\"command\":\"systemctl restart leond@leon0\""));
	jsonr_free(doc);
	free(text);
	drop(&a);
	free(status);
}

/* More findings than the list holds are counted. */
static void many(void **state)
{
	struct status *status = calloc(1, sizeof(*status));
	struct sample s = { 0 };
	struct answers a;
	char *list = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&list, &len);
	(void)state;

	assert_non_null(status);
	for (int i = 0; i < STATUS_MAX + 6; i++)
		fprintf(f, "%s{\"node_id\":\"10.0.1.%d\",\"state\":\"unreachable\"}", i ? "," : "",
			i);
	fclose(f);
	s.nodes = list;
	make(&a, &s);
	status_find(&a.in, status);
	assert_int_equal(status->n, STATUS_MAX);
	assert_int_equal(status->n_more, 6);
	assert_int_equal(status->n_problems, STATUS_MAX + 6);
	drop(&a);
	free(list);
	free(status);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(peers),  cmocka_unit_test(nodes), cmocka_unit_test(this_daemon),
		cmocka_unit_test(events), cmocka_unit_test(lines), cmocka_unit_test(as_json),
		cmocka_unit_test(many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

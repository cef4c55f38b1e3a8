// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leonctl's renderers: render/<name>.json is an answer of the daemon, render/<name>.txt the text
 * for people. If LEON_GOLDEN_WRITE is set in the environment, the test writes the texts. Read them
 * before a commit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonr.h"
#include "commands.h"
#include "render/render.h"

#define DIRECTORY SOURCE_ROOT "/tests/unit/render/"
#define FILE_MAX  65536

static size_t read_file(const char *name, const char *suffix, char *buf)
{
	char path[512];
	FILE *f;
	size_t n;

	snprintf(path, sizeof(path), DIRECTORY "%s%s", name, suffix);
	f = fopen(path, "r");
	if (!f)
		fail_msg("cannot open %s", path);
	n = fread(buf, 1, FILE_MAX - 1, f);
	fclose(f);
	buf[n] = '\0';
	return n;
}

static void write_golden(const char *name, const char *text)
{
	char path[512];
	FILE *f;

	snprintf(path, sizeof(path), DIRECTORY "%s.txt", name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void check(const char *name, render_fn render, int want_code)
{
	static char json[FILE_MAX], want[FILE_MAX];
	struct jsonr *doc = jsonr_parse(json, read_file(name, ".json", json), JSONR_USUAL_MAX);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int code = render(jsonr_root(doc), out);

	fclose(out);
	assert_null(jsonr_error(doc));
	assert_int_equal(code, want_code);
	if (getenv("LEON_GOLDEN_WRITE"))
		write_golden(name, text);
	read_file(name, ".txt", want);
	assert_string_equal(text, want);
	free(text);
	jsonr_free(doc);
}

static void tables(void **state)
{
	(void)state;
	check("nodes", render_nodes, 0);
	check("peers", render_peers, 0);
	check("peers_none", render_peers, 0);
	check("lines", render_lines, 0);
	check("lines_none", render_lines, 0);
	check("paths", render_paths, 0);
	check("policy", render_policy, 0);
	check("policy_off", render_policy, 0);
	check("policy_parity", render_policy, 0);
	check("routes", render_routes, 0);
	check("routes_off", render_routes, 0);
	check("ipsec", render_ipsec, 0);
	check("ipsec_late", render_ipsec, 0);
	check("ipsec_none", render_ipsec, 0);
	check("queues", render_queues, 0);
	check("queues_shaped", render_queues, 0);
	check("queues_automatic", render_queues, 0);
	check("segments", render_segments, 0);
	check("segments_any", render_segments, 0);
	check("multicast", render_multicast, 0);
	check("multicast_off", render_multicast, 0);
	check("acceleration", render_acceleration, 0);
	check("acceleration_off", render_acceleration, 0);
	check("acceleration_absent", render_acceleration, 0);
	check("acceleration_missing", render_acceleration, 0);
	check("acceleration_connections", render_acceleration_connections, 0);
	check("acceleration_connections_none", render_acceleration_connections, 0);
	check("fdb", render_fdb, 0);
	check("fdb_empty", render_fdb, 0);
	check("events", render_events, 0);
	check("identity", render_identity, 0);
	check("identity_open", render_identity, 0);
	check("invitations", render_invitations, 0);
	check("invitations_none", render_invitations, 0);
}

static void latency(void **state)
{
	(void)state;
	check("latency", render_latency, 0);
	check("latency_many", render_latency, 0);
}

static void sections(void **state)
{
	(void)state;
	check("statistics", render_statistics, 0);
	check("explain", render_explain, 0);
	check("explain_connection", render_explain_connection, 0);
	check("explain_connection_none", render_explain_connection, 0);
	check("reload", render_reload, 1);
	check("reload_warned", render_reload, 0);
}

static void probes(void **state)
{
	(void)state;
	check("trace", render_trace, 1);
	check("ping", render_ping, 0);
}

/* The answer of a newer daemon, or an invalid answer, must not crash the client. */
static void survives_anything(void **state)
{
	static const render_fn all[] = { render_routes,
					 render_nodes,
					 render_paths,
					 render_latency,
					 render_fdb,
					 render_events,
					 render_statistics,
					 render_explain,
					 render_explain_connection,
					 render_trace,
					 render_ping,
					 render_metrics,
					 render_reload,
					 render_reset_fdb,
					 render_invitations,
					 render_reset_invitation,
					 render_reset_node,
					 render_reset_statistics,
					 render_ipsec,
					 render_identity,
					 render_segments,
					 render_multicast,
					 render_queues,
					 render_acceleration,
					 render_acceleration_connections,
					 render_reset_acceleration };
	static const char *const answers[] = {
		"{}",
		"{\"nodes\":[{}],\"paths\":[{}],\"routes\":[{}],\"rows\":[{}],\"entries\":[{}],\"hops\":[{}]}",
		"{\"nodes\":5,\"paths\":{},\"routes\":[3],\"candidates\":[[]],\"text\":7,\"counters\":[]}",
		"{\"candidates\":[{\"roles\":[null],\"hop_names\":[1],\"links\":[{}]}]}",
	};
	(void)state;

	for (size_t i = 0; i < array_size(all); i++) {
		for (size_t k = 0; k < array_size(answers); k++) {
			struct jsonr *doc =
				jsonr_parse(answers[k], strlen(answers[k]), JSONR_USUAL_MAX);
			char *text = NULL;
			size_t len = 0;
			FILE *out = open_memstream(&text, &len);

			all[i](jsonr_root(doc), out);
			fclose(out);
			free(text);
			jsonr_free(doc);
		}
	}
}

/* Compares the request for a command line with the expected one. */
static void expect_request(int argc, const char *const *argv, const char *want)
{
	static const struct target no_options;
	char err[256] = "";
	int used = 0;
	const struct ctl_command *c = command_find(argc, argv, &used);
	char *request;

	assert_non_null(c);
	request = command_request(c, &no_options, argc - used, argv + used, err, sizeof(err));
	if (!want) {
		assert_null(request);
		assert_true(err[0] != '\0');
		return;
	}
	assert_non_null(request);
	assert_string_equal(request, want);
	free(request);
}

static void requests(void **state)
{
	const char *const explain[] = { "explain", "path", "seoul" };
	const char *const connection[] = { "explain", "connection", "10.0.0.1:1", "[::1]:2" };
	const char *const ping[] = { "ping", "seoul", "20" };
	const char *const bad_count[] = { "ping", "seoul", "0x10" };
	const char *const much[] = { "ping", "seoul", "101" };
	const char *const extra[] = { "show", "nodes", "all" };
	const char *const unknown[] = { "show", "node" };
	int used;
	(void)state;

	expect_request(3, explain,
		       "{\"version\":1,\"command\":\"explain path\","
		       "\"arguments\":{\"node\":\"seoul\"}}");
	expect_request(4, connection,
		       "{\"version\":1,\"command\":\"explain connection\","
		       "\"arguments\":{\"first\":\"10.0.0.1:1\",\"second\":\"[::1]:2\"}}");
	expect_request(3, connection, NULL);
	expect_request(3, ping,
		       "{\"version\":1,\"command\":\"ping\","
		       "\"arguments\":{\"node\":\"seoul\",\"count\":20}}");
	expect_request(2, extra, "{\"version\":1,\"command\":\"show nodes\",\"arguments\":{}}");
	expect_request(2, explain, NULL);
	expect_request(3, bad_count, NULL);
	expect_request(3, much, NULL);
	expect_request(3, extra, NULL);
	assert_null(command_find(2, unknown, &used));
	assert_null(command_find(1, extra, &used));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tables),   cmocka_unit_test(latency),
		cmocka_unit_test(sections), cmocka_unit_test(probes),
		cmocka_unit_test(requests), cmocka_unit_test(survives_anything),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

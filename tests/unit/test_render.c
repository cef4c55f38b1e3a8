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

static const struct ctl_command *command_named(const char *words)
{
	char text[64], *rest = text;
	const char *argv[4], *word;
	int argc = 0, used;

	snprintf(text, sizeof(text), "%s", words);
	while (argc < 4 && (word = strsep(&rest, " ")))
		argv[argc++] = word;
	return command_find(argc, argv, &used);
}

static void check(const char *name, const char *words, int want_code)
{
	static char json[FILE_MAX], want[FILE_MAX];
	struct jsonr *doc = jsonr_parse(json, read_file(name, ".json", json), JSONR_USUAL_MAX);
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int code = command_print(command_named(words), jsonr_root(doc), out);

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
	check("nodes", "show nodes", 0);
	check("peers", "show peers", 0);
	check("peers_none", "show peers", 0);
	check("lines", "show lines", 0);
	check("lines_none", "show lines", 0);
	check("paths", "show paths", 0);
	check("policy", "show policy", 0);
	check("policy_off", "show policy", 0);
	check("policy_parity", "show policy", 0);
	check("routes", "show routes", 0);
	check("routes_off", "show routes", 0);
	check("ipsec", "show ipsec", 0);
	check("ipsec_late", "show ipsec", 0);
	check("ipsec_none", "show ipsec", 0);
	check("queues", "show queues", 0);
	check("queues_shaped", "show queues", 0);
	check("queues_automatic", "show queues", 0);
	check("segments", "show segments", 0);
	check("segments_any", "show segments", 0);
	check("multicast", "show multicast", 0);
	check("multicast_off", "show multicast", 0);
	check("acceleration", "show acceleration", 0);
	check("acceleration_off", "show acceleration", 0);
	check("acceleration_absent", "show acceleration", 0);
	check("acceleration_missing", "show acceleration", 0);
	check("acceleration_connections", "show acceleration connections", 0);
	check("acceleration_connections_none", "show acceleration connections", 0);
	check("fdb", "show fdb", 0);
	check("fdb_many", "show fdb", 0);
	check("fdb_empty", "show fdb", 0);
	check("events", "show events", 0);
	check("identity", "show identity", 0);
	check("identity_open", "show identity", 0);
	check("invitations", "show invitations", 0);
	check("invitations_none", "show invitations", 0);
}

static void latency(void **state)
{
	(void)state;
	check("latency", "show latency", 0);
	check("latency_many", "show latency", 0);
}

static void sections(void **state)
{
	(void)state;
	check("statistics", "show statistics", 0);
	check("explain", "explain path", 0);
	check("explain_connection", "explain connection", 0);
	check("explain_connection_none", "explain connection", 0);
	check("reload", "reload", 1);
	check("reload_warned", "reload", 0);
}

static void probes(void **state)
{
	(void)state;
	check("trace", "trace", 1);
	check("ping", "ping", 0);
}

/* The answer of a newer daemon, or an invalid answer, must not crash the client. */
static void survives_anything(void **state)
{
	static const char *const all[] = {
		"show routes",
		"show nodes",
		"show paths",
		"show latency",
		"show fdb",
		"show events",
		"show statistics",
		"explain path",
		"explain connection",
		"trace",
		"ping",
		"metrics",
		"reload",
		"reset fdb",
		"show invitations",
		"reset invitation",
		"reset node",
		"reset statistics",
		"show ipsec",
		"show identity",
		"show segments",
		"show multicast",
		"show queues",
		"show acceleration",
		"show acceleration connections",
		"reset acceleration",
		"show lines",
		"show peers",
		"show policy",
	};
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

			command_print(command_named(all[i]), jsonr_root(doc), out);
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
	int used = 0;
	const struct ctl_command *c = command_find(argc, argv, &used);
	const char *wrong;
	char *request;

	assert_non_null(c);
	wrong = command_request(c, &no_options, argc - used, argv + used, &request);
	if (!want) {
		assert_null(request);
		assert_non_null(wrong);
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

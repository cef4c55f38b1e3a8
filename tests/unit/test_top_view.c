// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leonctl/live/top_view: no more lines or columns than the terminal, no escape sequences, and rates
 * from two samples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "live/live.h"

static const char nodes[] =
	"{\"interface\":\"leon0\",\"nodes\":[{\"state\":\"self\"},{\"state\":\"reachable\"},"
	"{\"state\":\"unreachable\"},{\"state\":\"left\"}]}";
static const char paths[] =
	"{\"source_name\":\"fujisawa\",\"paths\":["
	"{\"destination\":\"10.0.0.2\",\"name\":\"inagi\",\"hop_names\":[\"inagi\"],\"latency_us\":4000,"
	"\"direct_latency_us\":4000,\"loss_permille\":0,\"changes\":0,\"since_seconds\":5,"
	"\"reason\":\"best\"},"
	"{\"destination\":\"10.0.0.3\",\"name\":null,\"hop_names\":[\"inagi\",\"10.0.0.3\"],"
	"\"latency_us\":21000,\"direct_latency_us\":32000,\"loss_permille\":15,\"changes\":2,"
	"\"since_seconds\":70,\"reason\":\"better\"}]}";
static const char statistics[] =
	"{\"uptime_seconds\":90,\"counters\":{\"tap_rx_bytes\":1000,\"tap_tx_bytes\":0,"
	"\"net_tx_bytes\":1250000,\"net_rx_bytes\":0,\"relayed_bytes\":0},"
	"\"drop_reasons\":[{\"count\":30},{\"count\":12}]}";
static const char events[] = "{\"events\":[{\"age_seconds\":9,\"text\":\"the first\"},"
			     "{\"age_seconds\":2,\"text\":\"evil \\u001b[2J name\"}]}";

struct fixture {
	struct jsonr *doc[4];
	struct top_input in;
};

static void setup(struct fixture *f)
{
	static const char *const texts[] = { nodes, paths, statistics, events };

	*f = (struct fixture){ 0 };
	for (int i = 0; i < 4; i++)
		f->doc[i] = jsonr_parse(texts[i], strlen(texts[i]), 1 << 20);
	f->in.nodes = jsonr_root(f->doc[0]);
	f->in.paths = jsonr_root(f->doc[1]);
	f->in.statistics = jsonr_root(f->doc[2]);
	f->in.events = jsonr_root(f->doc[3]);
	top_sample_take(f->in.statistics, 3000, &f->in.now);
}

static void teardown(struct fixture *f)
{
	for (int i = 0; i < 4; i++) {
		assert_null(jsonr_error(f->doc[i]));
		jsonr_free(f->doc[i]);
	}
}

static char *view(const struct top_input *in, unsigned rows, unsigned columns)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	top_view(in, rows, columns, f);
	fclose(f);
	return text;
}

static void whole(void **state)
{
	struct fixture f;
	char *text;
	(void)state;

	setup(&f);
	text = view(&f.in, 24, 200);
	assert_string_equal(
		text,
		"leon0  fujisawa   3 nodes, 1 of 2 others reached   up 1 min 30 s   q quits\n"
		"from hosts -, to hosts -   sent -, received -   relayed -   drops -\n"
		"\n"
		"TO        PATH                         LATENCY   DIRECT   LOSS  CHANGES       SINCE  REASON\n"
		"inagi     fujisawa > inagi             4.00 ms  4.00 ms  0.0 %        0         5 s  best\n"
		"10.0.0.3  fujisawa > inagi > 10.0.0.3  21.0 ms  32.0 ms  1.5 %        2  1 min 10 s  better\n"
		"\n"
		"EVENTS\n"
		"         9 s ago  the first\n"
		"         2 s ago  evil ?[2J name");
	free(text);
	teardown(&f);
}

/* All terminal sizes, from zero. */
static void every_size(void **state)
{
	struct fixture f;
	(void)state;

	setup(&f);
	for (unsigned rows = 0; rows < 30; rows++)
		for (unsigned columns = 0; columns < 120; columns += 7) {
			char *text = view(&f.in, rows, columns);
			unsigned lines = rows ? 1 : 0, width = 0;

			for (const char *p = text; *p; p++) {
				lines += *p == '\n';
				width = *p == '\n' ? 0 : width + 1;
				assert_true(width <= columns);
				assert_true(*p == '\n' || (*p >= ' ' && *p <= '~'));
			}
			assert_true(lines <= rows);
			free(text);
		}
	teardown(&f);
}

static void what_is_left_out_is_counted(void **state)
{
	struct fixture f;
	char *text;
	(void)state;

	setup(&f);
	text = view(&f.in, 5, 80);
	assert_non_null(strstr(text, "\n... and 2 more"));
	free(text);
	teardown(&f);
}

static void rates(void **state)
{
	struct fixture f;
	char *text;
	(void)state;

	setup(&f);
	assert_int_equal(f.in.now.value[TOP_DROPS], 42);
	f.in.has_before = true;
	f.in.before = (struct top_sample){ .at_ms = 1000 };
	text = view(&f.in, 24, 200);
	assert_non_null(strstr(text, "from hosts 4.0 kbit/s, to hosts 0.0 kbit/s   "
				     "sent 5.00 Mbit/s, received 0.0 kbit/s   "
				     "relayed 0.0 kbit/s   drops 21/s\n"));
	free(text);
	/* After a restart of the daemon there is no rate instead of a wrong rate. */
	f.in.before.value[TOP_NET_TX] = 2000000;
	f.in.before.value[TOP_DROPS] = 43;
	text = view(&f.in, 24, 200);
	assert_non_null(strstr(text, "sent -, received 0.0 kbit/s"));
	assert_non_null(strstr(text, "drops -\n"));
	free(text);
	/* No time has passed. */
	f.in.before.at_ms = 3000;
	text = view(&f.in, 24, 200);
	assert_non_null(strstr(text, "from hosts -, "));
	free(text);
	teardown(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole),
		cmocka_unit_test(every_size),
		cmocka_unit_test(what_is_left_out_is_counted),
		cmocka_unit_test(rates),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

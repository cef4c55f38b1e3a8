// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sentence of each event of event.def that the protocol reports, with the longest names and
 * with unknown values. The sentence is complete and has no placeholder. The golden text shows the
 * sentences as people read them. LEON_GOLDEN_WRITE=1 writes that text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/loop.h"
#include "daemon/leond.h"
#include "daemon/report/report.h"
#include "proto/overlay.h"
#include "proto/overlay_ops.h"
#include "state/conf/conf.h"

#define GOLDEN SOURCE_ROOT "/tests/unit/event_sentences.txt"
#define SELF   0x0a000001u
#define OTHER  0x0a000002u
#define THIRD  0x0a000003u

static void nothing_snapshot(void *arg)
{
	(void)arg;
}
static void nothing_send(void *arg, const struct endpoint *to, const void *data, size_t len)
{
	(void)arg;
	(void)to;
	(void)data;
	(void)len;
}
static void silent(void *arg, enum log_level level, const char *token, const char *text)
{
	(void)arg;
	(void)level;
	(void)token;
	(void)text;
}

static const char *last_text(struct leond *d)
{
	return events_at(d->events, events_count(d->events) - 1)->text;
}

/* A complete sentence begins with a word, ends without a full stop, and is not truncated. */
static void check(enum event_kind kind, const char *text)
{
	const char *name = event_texts[kind].name;
	size_t len = strlen(text);

	if (strpbrk(text, "{}") || strstr(text, "(null)") || strstr(text, "  "))
		fail_msg("%s: \"%s\"", name, text);
	if (len < 10 || len >= sizeof(((struct event *)NULL)->text) - 1)
		fail_msg("%s: %zu bytes: \"%s\"", name, len, text);
	if (!isalnum((unsigned char)text[0]) || strchr(" .,:;", text[len - 1]))
		fail_msg("%s: no sentence: \"%s\"", name, text);
}

static void say(struct leond *d, enum event_kind kind, FILE *out)
{
	const struct overlay_event whole = {
		.kind = kind,
		.node = SELF,
		.other = SELF,
		.value = (uint64_t)4000000 << 32 | 3999999,
		.detail = "[2001:db8:1111:2222:3333:4444:5555:6666]:65535",
	};
	const struct overlay_event usual = {
		.kind = kind, .node = OTHER, .other = THIRD, .value = 60, .detail = "detail"
	};
	const struct overlay_event bare = { .kind = kind, .node = OTHER };

	report_overlay_event(d, &whole);
	check(kind, last_text(d));
	report_overlay_event(d, &usual);
	check(kind, last_text(d));
	fprintf(out, "%s: %s\n", event_texts[kind].name, last_text(d));
	report_overlay_event(d, &bare);
	assert_null(strstr(last_text(d), "(null)"));
}

static void compare(const char *text, size_t len)
{
	static char want[16384];
	FILE *f = fopen(GOLDEN, getenv("LEON_GOLDEN_WRITE") ? "w+" : "r");
	size_t n;

	assert_non_null(f);
	if (getenv("LEON_GOLDEN_WRITE")) {
		fwrite(text, 1, len, f);
		rewind(f);
	}
	n = fread(want, 1, sizeof(want) - 1, f);
	fclose(f);
	want[n] = '\0';
	assert_string_equal(text, want);
}

static void every_sentence_is_whole(void **state)
{
	static const struct overlay_ops ops = { .send = nothing_send,
						.snapshot_changed = nothing_snapshot };
	static const char document[] = "{ \"version\": 1, \"interface\": \"leon0\", "
				       "\"node-name\": \"a-name-that-is-as-long-as-it-can\", "
				       "\"authentication\": { \"disable\": true } }";
	char err[256];
	struct conf *c = conf_parse(document, sizeof(document) - 1, err, sizeof(err));
	struct leond d = { .loop = loop_sim_new(), .conf = c, .self = SELF };
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	unsigned n = 0;

	(void)state;
	log_set_sink(silent, NULL);
	d.events = events_new(4);
	d.overlay = overlay_new(d.loop, c, SELF, &ops, &d, 1);
	for (enum event_kind k = 0; k < N_EVENT_KINDS; k++) {
		if (!event_texts[k].sentence)
			continue;
		say(&d, k, out);
		n++;
	}
	fclose(out);
	assert_true(n > 20);
	compare(text, len);
	free(text);
	overlay_free(d.overlay);
	events_free(d.events);
	loop_free(d.loop);
	conf_free(c);
	log_set_sink(NULL, NULL);
}

/* The names in JSON, log and metrics have one form and are unique. */
static void words(void **state)
{
	(void)state;
	for (enum event_kind k = 0; k < N_EVENT_KINDS; k++) {
		const char *name = event_texts[k].name;

		assert_int_equal(strspn(name, "abcdefghijklmnopqrstuvwxyz-"), strlen(name));
		assert_true(name[0] != '-' && strlen(name) > 2);
		for (enum event_kind j = 0; j < k; j++)
			assert_string_not_equal(name, event_texts[j].name);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_sentence_is_whole),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

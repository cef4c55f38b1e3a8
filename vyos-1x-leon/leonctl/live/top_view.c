// SPDX-License-Identifier: GPL-2.0-or-later
/* The lines of `leonctl top`. top.c calls this module once a second. */
#include "live/live.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/log.h"
#include "text/text.h"

#define LINE_MAX_LEN  512
#define EVENTS_LEAST  4 /* lines with title, if both tables fit */
#define ROWS_FOR_BOTH 12

struct top_page {
	FILE *out;
	unsigned rows, columns, used;
};

void top_line(const char *text, unsigned columns, FILE *out)
{
	for (unsigned i = 0; text[i] && i < columns; i++)
		fputc(text[i] >= ' ' && text[i] <= '~' ? text[i] : '?', out);
}

static bool has_room(const struct top_page *v, unsigned lines)
{
	return v->used + lines <= v->rows;
}

static void put(struct top_page *v, const char *text)
{
	if (!has_room(v, 1))
		return;
	if (v->used++)
		fputc('\n', v->out);
	top_line(text, v->columns, v->out);
}

/* --- rates --- */

static uint64_t sum_of_drops(struct jsonr_node *statistics)
{
	struct jsonr_node *list = jsonr_array(statistics, "drop_reasons");
	uint64_t sum = 0;

	for (size_t i = 0; i < jsonr_len(list); i++)
		sum += value_u64(jsonr_at(list, i), "count");
	return sum;
}

void top_sample_take(struct jsonr_node *statistics, int64_t now_ms, struct top_sample *out)
{
	static const char *const names[] = { [TOP_IN] = "tap_rx_bytes",
					     [TOP_OUT] = "tap_tx_bytes",
					     [TOP_NET_TX] = "net_tx_bytes",
					     [TOP_NET_RX] = "net_rx_bytes",
					     [TOP_RELAYED] = "relayed_bytes" };
	struct jsonr_node *counters = jsonr_object(statistics, "counters");

	out->at_ms = now_ms;
	for (size_t i = 0; i < array_size(names); i++)
		out->value[i] = value_u64(counters, names[i]);
	out->value[TOP_DROPS] = sum_of_drops(statistics);
}

/* A counter that decreased was reset or belongs to another daemon: prints "-". */
static const char *rate_text(const struct top_input *in, enum top_rate r)
{
	int64_t ms = in->now.at_ms - in->before.at_ms;
	uint64_t before = in->before.value[r], now = in->now.value[r];
	double rate;

	if (!in->has_before || ms <= 0 || now < before)
		return UNKNOWN;
	rate = (double)(now - before) * 1000 / (double)ms;
	if (r == TOP_DROPS)
		return text_format("%.0f/s", rate);
	if (rate * 8 >= 1e9)
		return text_format("%.2f Gbit/s", rate * 8 / 1e9);
	if (rate * 8 >= 1e6)
		return text_format("%.2f Mbit/s", rate * 8 / 1e6);
	return text_format("%.1f kbit/s", rate * 8 / 1e3);
}

static void put_rates(struct top_page *v, const struct top_input *in)
{
	put(v, text_format("from hosts %s, to hosts %s   sent %s, received %s   relayed %s   "
			   "drops %s",
			   rate_text(in, TOP_IN), rate_text(in, TOP_OUT), rate_text(in, TOP_NET_TX),
			   rate_text(in, TOP_NET_RX), rate_text(in, TOP_RELAYED),
			   rate_text(in, TOP_DROPS)));
}

/* --- head --- */

static void put_head(struct top_page *v, const struct top_input *in)
{
	struct jsonr_node *list = jsonr_array(in->nodes, "nodes");
	unsigned members = 0, reached = 0;

	for (size_t i = 0; i < jsonr_len(list); i++) {
		const char *state = text_str(jsonr_at(list, i), "state");

		members += strcmp(state, "left") != 0;
		reached += strcmp(state, "reachable") == 0;
	}
	put(v, text_format("%s  %s   %s, %u of %u others reached   up %s   q quits",
			   text_str(in->nodes, "interface"), text_str(in->paths, "source_name"),
			   text_count(members, "node"), reached, members ? members - 1 : 0,
			   text_age(in->statistics, "uptime_seconds")));
}

/* --- tables --- */

/* Writes at most the given number of lines of a text. Table rows that are left out are counted. */
static void put_text(struct top_page *v, char *text, unsigned most)
{
	unsigned lines = 0, n = 0;
	char *next;

	for (const char *p = text; *p; p++)
		lines += *p == '\n';
	for (; *text; text = next, n++) {
		next = text + strcspn(text, "\n");
		if (*next)
			*next++ = '\0';
		if (n + 1 == most && lines > most) {
			put(v, text_format("... and %u more", lines - n));
			return;
		}
		put(v, text);
	}
}

static const char *name_or_id(struct jsonr_node *n, const char *key)
{
	return text_str(n, jsonr_has(n, key) ? key : "destination");
}

static char *paths_text(const struct top_input *in)
{
	static const struct table_column columns[] = {
		{ .title = "TO", .key = "name", .text = name_or_id },
		{ .title = "PATH", .key = "hop_names", .hops = text_hops },
		{ "LATENCY", ALIGN_RIGHT, .key = "latency_us", .text = text_path_latency },
		{ "DIRECT", ALIGN_RIGHT, .key = "direct_latency_us", .text = text_direct_latency },
		{ "LOSS", ALIGN_RIGHT, .key = "loss_permille", .text = text_permille },
		{ "CHANGES", ALIGN_RIGHT, .key = "changes", .text = text_number },
		{ "SINCE", ALIGN_RIGHT, .key = "since_seconds", .text = text_age },
		{ .title = "REASON", .key = "reason", .text = text_str },
	};
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		bug("out of memory for a table");
	table_show(f, columns, array_size(columns), jsonr_array(in->paths, "paths"),
		   text_str(in->paths, "source_name"), "no other node is known");
	fclose(f);
	return text;
}

/* Prints the last events with the newest at the bottom, as in a log. */
static void put_events(struct top_page *v, const struct top_input *in)
{
	struct jsonr_node *list = jsonr_array(in->events, "events");
	size_t n = jsonr_len(list), room;
	char line[LINE_MAX_LEN];

	if (!has_room(v, 3))
		return;
	put(v, "");
	put(v, "EVENTS");
	room = v->rows - v->used;
	for (size_t i = n > room ? n - room : 0; i < n; i++) {
		struct jsonr_node *e = jsonr_at(list, i);

		snprintf(line, sizeof(line), "%12s ago  %s", text_age(e, "age_seconds"),
			 text_str(e, "text"));
		put(v, line);
	}
}

void top_view(const struct top_input *in, unsigned rows, unsigned columns, FILE *out)
{
	struct top_page v = { out, rows, columns, 0 };
	char *paths = paths_text(in);
	unsigned left;

	put_head(&v, in);
	put_rates(&v, in);
	put(&v, "");
	left = rows > v.used ? rows - v.used : 0;
	put_text(&v, paths, rows >= ROWS_FOR_BOTH ? left - EVENTS_LEAST : left);
	put_events(&v, in);
	free(paths);
}

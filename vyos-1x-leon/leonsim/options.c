// SPDX-License-Identifier: GPL-2.0-or-later
/* See options.h. */
#include "options.h"

#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/json/jsonr.h"
#include "base/json/jsonw.h"
#include "base/mem.h"
#include "state/conf/conf.h"

static const char usage[] =
	"usage: leonsim --trace FILE --slice SECONDS --reading hold|noise [--window SLICES]\n"
	"               [--traffic idle|all] [--nodes LIST] [--fail WHEN]... [options]\n"
	"       leonsim --database FILE [options]\n"
	"\n"
	"  --trace FILE       matrices of round-trip times in ms, .gz or not\n"
	"  --slice SECONDS    duration of one matrix\n"
	"  --reading hold     a value holds until the next slice\n"
	"  --reading noise    each packet draws from the adjacent slices\n"
	"  --window SLICES    slices to either side (20)\n"
	"  --traffic idle|all no data, or data between all pairs (idle)\n"
	"  --nodes LIST       only these hosts, counted from 0: 0,3,8-11\n"
	"  --fail T:D:node:N  host N is dead from second T on, for D seconds\n"
	"  --fail T:D:link:A:B\n"
	"  --database FILE    output of `leonctl --json show latency`\n"
	"  --config FILE      configuration of leond: its measurement and path parts count\n"
	"  --set KEY=VALUE    one value of the configuration, as in path.threshold=20\n"
	"  --what-if CHANGE   a second run with without:N, with:MS,MS,..., cut:A:B or set:KEY=VALUE\n"
	"  --warm-up SECONDS  time on the first slice before the figures begin (60)\n"
	"  --seed N           seed of the random numbers (1)\n"
	"  --svg FILE         curves of the latencies\n"
	"  --pairs            also the figures of each pair\n"
	"  --json             output as JSON\n"
	"  --version          version of this program\n";

void options_usage(FILE *out)
{
	fputs(usage, out);
}

static bool number(const char *text, double least, double most, double *out)
{
	char *end;

	*out = strtod(text, &end);
	return end != text && !*end && *out >= least && *out <= most;
}

static bool wrong(const char *what, const char *text, const char *expected)
{
	fprintf(stderr, "leonsim: %s %s: expected %s\n", what, text, expected);
	return false;
}

int options_list(const char *text, unsigned limit, unsigned *out, unsigned max)
{
	int n = 0;

	for (;;) {
		char *end;
		unsigned long a = strtoul(text, &end, 10), b = a;

		if (end == text)
			return -1;
		if (*end == '-') {
			text = end + 1;
			b = strtoul(text, &end, 10);
			if (end == text)
				return -1;
		}
		for (; a <= b; a++) {
			if (a >= limit || (unsigned)n == max)
				return -1;
			out[n++] = (unsigned)a;
		}
		if (*end != ',')
			return *end ? -1 : n;
		text = end + 1;
	}
}

static bool read_failure(struct options *o, const char *text)
{
	struct failure *f = &o->failure[o->n_failures];
	double at, lasts;
	char kind[8];
	int n = 0;

	if (o->n_failures == FAILURES_MAX)
		return wrong("--fail", text, "at most 64 failures");
	if (sscanf(text, "%lf:%lf:%7[a-z]:%u%n:%u%n", &at, &lasts, kind, &f->a, &n, &f->b, &n) <
		    4 ||
	    text[n] || !(at >= 0 && at <= 1e9) || !(lasts > 0 && lasts <= 1e9) ||
	    (strcmp(kind, "node") && strcmp(kind, "link")))
		return wrong("--fail", text, "SECONDS:SECONDS:node:N or SECONDS:SECONDS:link:A:B");
	f->is_link = kind[0] == 'l';
	if (f->is_link != (strchr(strstr(text, kind) + 5, ':') != NULL))
		return wrong("--fail", text, "one node, or two for a link");
	f->at_us = (int64_t)(at * 1e6);
	f->for_us = (int64_t)(lasts * 1e6);
	o->n_failures++;
	return true;
}

static bool read_change(struct options *o, const char *text)
{
	static const char *const names[] = { [CHANGE_WITHOUT] = "without:",
					     [CHANGE_WITH] = "with:",
					     [CHANGE_CUT] = "cut:",
					     [CHANGE_SET] = "set:" };

	for (unsigned i = 0; i < array_size(names) && o->n_changes < CHANGES_MAX; i++) {
		size_t len = strlen(names[i]);

		if (strncmp(text, names[i], len) != 0)
			continue;
		o->change[o->n_changes++] = (struct change){ (enum change_kind)i, text + len };
		return true;
	}
	return wrong("--what-if", text,
		     "without:N, with:MS,..., cut:A:B or set:KEY=VALUE, 64 at most");
}

static const struct option longs[] = {
	{ "trace", required_argument, NULL, 0 },
	{ "slice", required_argument, NULL, 's' },
	{ "reading", required_argument, NULL, 'r' },
	{ "window", required_argument, NULL, 'w' },
	{ "traffic", required_argument, NULL, 'a' },
	{ "nodes", required_argument, NULL, 1 },
	{ "fail", required_argument, NULL, 'f' },
	{ "database", required_argument, NULL, 2 },
	{ "config", required_argument, NULL, 3 },
	{ "set", required_argument, NULL, 'e' },
	{ "what-if", required_argument, NULL, 'i' },
	{ "warm-up", required_argument, NULL, 'u' },
	{ "seed", required_argument, NULL, 'x' },
	{ "svg", required_argument, NULL, 4 },
	{ "pairs", no_argument, NULL, 'p' },
	{ "json", no_argument, NULL, 'j' },
	{ "version", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ 0 },
};

/* Parses one of two words. */
static bool choice_of(const char *name, const char *text, const char *no, const char *yes,
		      bool *out)
{
	*out = strcmp(text, yes) == 0;
	if (*out || strcmp(text, no) == 0)
		return true;
	fprintf(stderr, "leonsim: %s %s: expected %s or %s\n", name, text, no, yes);
	return false;
}

static bool read_numbers(struct options *o, int c, const char *arg)
{
	double v = 0;

	switch (c) {
	case 's':
		return number(arg, 0.1, 1e6, &o->slice_s) ||
		       wrong("--slice", arg, "seconds, 0.1 or more");
	case 'u':
		return number(arg, 0, 1e6, &o->warm_up_s) || wrong("--warm-up", arg, "seconds");
	case 'w':
		if (!number(arg, 0, 1e6, &v))
			return wrong("--window", arg, "a number of slices");
		o->window = (unsigned)v;
		return true;
	default:
		if (!number(arg, 0, 9e15, &v))
			return wrong("--seed", arg, "a number");
		o->seed = (uint64_t)v;
		return true;
	}
}

static bool read_words(struct options *o, int c, const char *arg)
{
	bool noise = false;

	switch (c) {
	case 'r':
		if (!choice_of("--reading", arg, "hold", "noise", &noise))
			return false;
		o->reading = noise ? READING_NOISE : READING_HOLD;
		o->has_reading = true;
		return true;
	case 'a':
		return choice_of("--traffic", arg, "idle", "all", &o->all_traffic);
	case 'f':
		return read_failure(o, arg);
	case 'i':
		return read_change(o, arg);
	case 'e':
		if (o->n_sets == CHANGES_MAX)
			return wrong("--set", arg, "64 of them at most");
		o->set[o->n_sets++] = arg;
		return true;
	default:
		return false;
	}
}

static bool is_complete(const struct options *o)
{
	if (!o->trace == !o->database)
		fputs("leonsim: give either --trace FILE or --database FILE\n", stderr);
	else if (o->trace && o->slice_s <= 0)
		fputs("leonsim: --trace needs --slice SECONDS, the duration of one matrix\n",
		      stderr);
	else if (o->trace && !o->has_reading)
		fputs("leonsim: --trace needs --reading hold or noise: a value holds until the next "
		      "slice, or each packet draws one\n",
		      stderr);
	else
		return true;
	return false;
}

bool options_read(struct options *o, int argc, char **argv)
{
	const char **const text[] = { &o->trace, &o->nodes, &o->database, &o->config, &o->svg };
	int c;

	*o = (struct options){ .window = 20, .warm_up_s = 60, .seed = 1 };
	while ((c = getopt_long(argc, argv, "", longs, NULL)) >= 0) {
		bool ok = true;

		if (c == '?')
			return false;
		o->pairs |= c == 'p';
		o->json |= c == 'j';
		o->help |= c == 'h';
		o->version |= c == 'v';
		if (c < (int)array_size(text))
			*text[c] = optarg;
		else if (c == 's' || c == 'u' || c == 'w' || c == 'x')
			ok = read_numbers(o, c, optarg);
		else if (optarg)
			ok = read_words(o, c, optarg);
		if (!ok)
			return false;
	}
	if (optind < argc)
		return wrong("argument", argv[optind], "options only; see leonsim --help");
	return o->help || o->version || is_complete(o);
}

/* --- configuration --- */

/* The numeric leaves of the sections that leonsim uses, from conf.def. */
#define VALUES_MAX 32

struct value {
	const char *section, *key;
	bool set;
	uint64_t is;
};

struct values {
	struct value of[VALUES_MAX];
	unsigned n;
};

static void values_init(struct values *v, bool of_database)
{
	static const struct conf none;
	static const char *const sections[] = { "path", "measurement" };

	v->n = 0;
	/* A database needs no measurement section. */
	for (unsigned i = 0; i < (of_database ? 1 : array_size(sections)); i++) {
		const char *key;
		uint32_t value;
		size_t at = 0;

		while (v->n < VALUES_MAX &&
		       (key = conf_next_number(&none, sections[i], &at, &value)))
			v->of[v->n++] = (struct value){ .section = sections[i], .key = key };
	}
}

static bool set_value(struct values *v, const char *text, char *err, unsigned err_len)
{
	const char *equals = strchr(text, '=');
	double value;

	for (unsigned i = 0; equals && i < v->n; i++) {
		char name[64];

		snprintf(name, sizeof(name), "%s.%s", v->of[i].section, v->of[i].key);
		if (strlen(name) != (size_t)(equals - text) ||
		    strncmp(name, text, (size_t)(equals - text)) != 0)
			continue;
		if (!number(equals + 1, 0, 1e12, &value) || value > floor(value))
			break;
		v->of[i].set = true;
		v->of[i].is = (uint64_t)value;
		return true;
	}
	snprintf(err, err_len, "%s: expected KEY=NUMBER with a key of %s, as in path.threshold=20",
		 text, v->of[v->n - 1].section[0] == 'p' ? "path" : "path or measurement");
	return false;
}

static void read_section(struct values *v, const char *section, struct jsonr_node *from)
{
	for (unsigned i = 0; from && i < v->n; i++)
		if (strcmp(v->of[i].section, section) == 0 &&
		    jsonr_u64(from, v->of[i].key, 0, UINT32_MAX, &v->of[i].is))
			v->of[i].set = true;
}

char *options_file(const char *file, size_t *len)
{
	FILE *f = fopen(file, "re");
	char *text = NULL;
	size_t room = 0;

	*len = 0;
	while (f && !feof(f) && !ferror(f)) {
		if (*len == room)
			text = x_realloc(text, room = room ? 2 * room : 65536, 1);
		*len += fread(text + *len, 1, room - *len, f);
	}
	if (!f || ferror(f)) {
		free(text);
		text = NULL;
	}
	if (f)
		fclose(f);
	return text;
}

static bool read_config(struct values *v, const char *file, char *err, unsigned err_len)
{
	size_t len;
	char *text = options_file(file, &len);
	struct jsonr *r;

	if (!text) {
		snprintf(err, err_len, "%s: cannot be read", file);
		return false;
	}
	r = jsonr_parse(text, len, JSONR_USUAL_MAX);
	read_section(v, "path", jsonr_object(jsonr_root(r), "path"));
	read_section(v, "measurement", jsonr_object(jsonr_root(r), "measurement"));
	if (jsonr_error(r))
		snprintf(err, err_len, "%s: %s", file, jsonr_error(r));
	free(text);
	len = jsonr_error(r) != NULL;
	jsonr_free(r);
	return !len;
}

static void write_section(struct jsonw *w, const struct values *v, const char *section)
{
	jsonw_object(w, section);
	for (unsigned i = 0; i < v->n; i++)
		if (v->of[i].set && strcmp(v->of[i].section, section) == 0)
			jsonw_u64(w, v->of[i].key, v->of[i].is);
	jsonw_end(w);
}

char *options_conf(const struct options *o, struct jsonr_node *rules, bool changed, char *err,
		   unsigned err_len)
{
	struct values v;
	struct jsonw *w;
	char *text;

	values_init(&v, rules != NULL);
	read_section(&v, "path", rules);
	if (o->config && !read_config(&v, o->config, err, err_len))
		return NULL;
	for (unsigned i = 0; i < o->n_sets; i++)
		if (!set_value(&v, o->set[i], err, err_len))
			return NULL;
	for (unsigned i = 0; changed && i < o->n_changes; i++)
		if (o->change[i].kind == CHANGE_SET &&
		    !set_value(&v, o->change[i].text, err, err_len))
			return NULL;
	w = jsonw_new();
	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_str(w, "interface", "leon0");
	jsonw_array(w, "source-address");
	jsonw_str(w, NULL, "198.18.0.1");
	jsonw_end(w);
	write_section(w, &v, "measurement");
	write_section(w, &v, "path");
	jsonw_object(w, "authentication");
	jsonw_str(w, "pre-shared-secret", "simulation");
	jsonw_end(w);
	jsonw_end(w);
	text = x_strdup(jsonw_text(w, NULL));
	jsonw_free(w);
	return text;
}

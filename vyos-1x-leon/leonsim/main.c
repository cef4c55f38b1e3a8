// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leonsim: the daemon's own measurement, flooding and path choice on virtual time, with a trace of
 * latencies or the latency database of a live overlay. See leonsim(1). One thread.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/version.h"
#include "options.h"

#define ERR_LEN	   512
#define EXIT_USAGE 2

static struct trace *read_trace(const struct options *o, char *err)
{
	struct trace *t = trace_read(o->trace, err, ERR_LEN);
	unsigned *keep;
	int n;

	if (!t)
		return NULL;
	t->slice_us = (int64_t)(o->slice_s * 1e6);
	t->reading = o->reading;
	t->window = o->window;
	if (!o->nodes)
		return t;
	keep = x_calloc(t->n, sizeof(*keep));
	n = options_list(o->nodes, t->n, keep, t->n);
	if (n >= 2)
		trace_select(t, keep, (unsigned)n);
	free(keep);
	if (n >= 2)
		return t;
	snprintf(err, ERR_LEN, "--nodes %s: expected two or more of its %u hosts, as in 0,3,8-11",
		 o->nodes, t->n);
	trace_free(t);
	return NULL;
}

/* Adds a host with a given round-trip time to each of the others. */
static bool add_host(struct trace *t, const char *text, char *err)
{
	float *us = x_calloc(t->n, sizeof(*us));
	const char *at = text;
	unsigned n = 0;
	char *end;

	for (; n < t->n; n++, at = end + 1) {
		us[n] = strtof(at, &end) * 1000;
		if (end == at || !(us[n] > 0 && us[n] <= 60e6) || (*end != ',' && n + 1 < t->n))
			break;
		if (n + 1 == t->n && !*end) {
			trace_add(t, us);
			free(us);
			return true;
		}
	}
	free(us);
	snprintf(err, ERR_LEN, "with:%s: expected %u times in ms, one to each host", text, t->n);
	return false;
}

/* Removes all hosts together, because a removal changes the numbers. */
static bool remove_hosts(const struct options *o, struct trace *t, unsigned n_failures, char *err)
{
	unsigned *keep = x_calloc(t->n, sizeof(*keep)), n = 0, host;
	bool *gone = x_calloc(t->n, sizeof(*gone)), fits = true;

	for (unsigned i = 0; fits && i < o->n_changes; i++) {
		if (o->change[i].kind != CHANGE_WITHOUT)
			continue;
		fits = options_list(o->change[i].text, t->n, &host, 1) == 1 && !n_failures;
		if (fits)
			gone[host] = true;
		else
			snprintf(err, ERR_LEN,
				 "without:%s: expected one of %u hosts, without failures and cuts",
				 o->change[i].text, t->n);
	}
	for (unsigned i = 0; i < t->n; i++)
		if (!gone[i])
			keep[n++] = i;
	if (fits && n < 2) {
		snprintf(err, ERR_LEN, "without: two hosts must remain");
		fits = false;
	}
	if (fits && n < t->n)
		trace_select(t, keep, n);
	free(keep);
	free(gone);
	return fits;
}

/* Applies the change to the hosts. Cuts become permanent failures. */
static bool apply_changes(const struct options *o, struct trace *t, struct replay_options *ro,
			  struct failure *failure, char *err)
{
	unsigned ab[2];

	memcpy(failure, o->failure, sizeof(o->failure));
	ro->failure = failure;
	for (unsigned i = 0; i < o->n_changes; i++) {
		const struct change *c = &o->change[i];

		if (c->kind == CHANGE_WITH && !add_host(t, c->text, err))
			return false;
		if (c->kind == CHANGE_CUT) {
			char text[64];

			snprintf(text, sizeof(text), "%s", c->text);
			if (strchr(text, ':'))
				*strchr(text, ':') = ',';
			if (options_list(text, t->n, ab, 2) != 2 ||
			    ro->n_failures == FAILURES_MAX) {
				snprintf(err, ERR_LEN, "cut:%s: expected two hosts, as in 3:7",
					 c->text);
				return false;
			}
			failure[ro->n_failures++] = (struct failure){
				.for_us = INT64_MAX / 2, .is_link = true, .a = ab[0], .b = ab[1]
			};
		}
	}
	return remove_hosts(o, t, ro->n_failures, err);
}

static bool failures_fit(const struct replay_options *o, const struct trace *t, char *err)
{
	for (unsigned i = 0; i < o->n_failures; i++) {
		const struct failure *f = &o->failure[i];

		if (f->a < t->n && (!f->is_link || (f->b < t->n && f->a != f->b)))
			continue;
		snprintf(err, ERR_LEN, "a failure names a host that is not among the %u", t->n);
		return false;
	}
	return true;
}

static struct result *run(const struct options *o, bool changed, char *err)
{
	struct failure failure[FAILURES_MAX + CHANGES_MAX];
	struct replay_options ro = {
		.all_traffic = o->all_traffic,
		.warm_up_ms = (int64_t)(o->warm_up_s * 1000),
		.seed = o->seed,
		.failure = o->failure,
		.n_failures = o->n_failures,
	};
	struct trace *t = read_trace(o, err);
	char *conf = t ? options_conf(o, NULL, changed, err, ERR_LEN) : NULL;
	struct result *r = NULL;

	ro.conf_text = conf;
	if (conf && (!changed || apply_changes(o, t, &ro, failure, err)) &&
	    failures_fit(&ro, t, err))
		r = replay(t, &ro, err, ERR_LEN);
	free(conf);
	trace_free(t);
	return r;
}

static void print_json(const struct options *o, const struct result *r,
		       const struct result *what_if)
{
	struct jsonw *w = jsonw_new();

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_str(w, "reading", o->reading == READING_HOLD ? "hold" : "noise");
	jsonw_str(w, "traffic", o->all_traffic ? "all" : "idle");
	report_json(w, r, o->pairs);
	if (what_if) {
		jsonw_object(w, "what_if");
		report_json(w, what_if, o->pairs);
		jsonw_end(w);
	}
	jsonw_end(w);
	puts(jsonw_text(w, NULL));
	jsonw_free(w);
}

static int replay_trace(const struct options *o)
{
	struct result *r, *what_if = NULL;
	char err[ERR_LEN] = "";
	int status = EXIT_FAILURE, svg = 0;

	r = run(o, false, err);
	if (r && o->n_changes)
		what_if = run(o, true, err);
	if (!r || (o->n_changes && !what_if)) {
		fprintf(stderr, "leonsim: %s: %s\n", o->trace, err);
	} else {
		if (o->svg)
			svg = report_svg(o->svg, o, r);
		if (svg)
			fprintf(stderr, "leonsim: %s: %s\n", o->svg, strerror(-svg));
		if (o->json) {
			print_json(o, r, what_if);
		} else {
			report_text(stdout, o->trace, r, o->pairs);
			if (what_if)
				report_text(stdout, "\nwith the change", what_if, o->pairs);
		}
		status = svg ? EXIT_FAILURE : EXIT_SUCCESS;
	}
	result_free(r);
	result_free(what_if);
	return status;
}

/*
 * The state of hundreds of nodes takes gigabytes, and each event touches another part of it. With 4
 * KiB pages a quarter of the time is spent on TLB misses. The C library uses huge pages if the
 * environment requests them before the program starts.
 */
static void use_large_pages(char **argv)
{
	static const char tunables[] = "GLIBC_TUNABLES";

	if (getenv(tunables))
		return;
	setenv(tunables, "glibc.malloc.hugetlb=1", 0);
	execv("/proc/self/exe", argv); /* on failure the program continues unchanged */
}

/* A script must not take incomplete output for an answer. */
static int flush_output(int status)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return status;
	fprintf(stderr, "leonsim: standard output: %s\n", strerror(errno));
	return EXIT_FAILURE;
}

int main(int argc, char **argv)
{
	struct options o;

	use_large_pages(argv);
	if (!options_read(&o, argc, argv)) {
		return EXIT_USAGE;
	}
	if (o.version) {
		printf("leonsim %s\n", leon_version);
		return flush_output(EXIT_SUCCESS);
	}
	if (o.help) {
		options_usage(stdout);
		return flush_output(EXIT_SUCCESS);
	}
	log_set_level(LOG_LVL_ERROR);
	return flush_output(o.trace ? replay_trace(&o) : database_run(&o));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/* Reports. Latencies are relative to the direct links: mean to mean, 99th percentile to 99th
 * percentile, over all pairs and all samples. */
#include "options.h"

#include <errno.h>
#include <math.h>

#include "base/defs.h"

#define P99 0.99

static double per_hour(uint64_t n, double hours, double of)
{
	return hours > 0 && of > 0 ? (double)n / hours / of : NAN;
}

static double per_pair(const struct result *r, uint64_t n)
{
	return per_hour(n, r->hours, (double)r->n * (r->n - 1));
}

static double rel_mean(const struct result *r, enum way way)
{
	return figures_mean(r->of[way]) / figures_mean(r->of[WAY_DIRECT]);
}

static double rel_p99(const struct result *r, enum way way)
{
	return figures_quantile(r->of[way], P99) / figures_quantile(r->of[WAY_DIRECT], P99);
}

static void quality(struct jsonw *w, const struct result *r, enum way way)
{
	jsonw_double(w, "mean", rel_mean(r, way));
	jsonw_double(w, "p99", rel_p99(r, way));
}

static void pair_json(struct jsonw *w, const struct result *r, unsigned a, unsigned b)
{
	static const char *const keys[] = { "direct", "leon", "oracle", "two_copies" };
	const struct pair *p = &r->pair[a * r->n + b];
	double n = (double)p->n_ok;

	jsonw_object(w, NULL);
	jsonw_u64(w, "from", a);
	jsonw_u64(w, "to", b);
	for (enum way way = 0; way < WAYS; way++) {
		jsonw_object(w, keys[way]);
		jsonw_double(w, "mean_us", n > 0 ? p->sum_us[way] / n : NAN);
		jsonw_double(w, "p99_us", p->of[way] ? figures_quantile(p->of[way], P99) : NAN);
		jsonw_end(w);
	}
	jsonw_double(w, "changes_per_hour", per_hour(p->changes, r->hours, 1));
	jsonw_double(w, "two_copies_changes_per_hour", per_hour(p->copies_changes, r->hours, 1));
	jsonw_double(w, "relayed", n > 0 ? (double)p->relayed / n : NAN);
	jsonw_double(w, "without_path", p->n ? (double)p->without / (double)p->n : NAN);
	jsonw_end(w);
}

void report_json(struct jsonw *w, const struct result *r, bool pairs)
{
	jsonw_u64(w, "nodes", r->n);
	jsonw_double(w, "hours", r->hours);
	jsonw_double(w, "changes_per_hour", per_pair(r, r->changes));
	jsonw_double(w, "failovers_per_hour", per_pair(r, r->failovers));
	quality(w, r, WAY_LEON);
	/* Each end of a link detects a failure independently. */
	jsonw_double(w, "link_downs_per_hour", per_pair(r, r->link_downs));
	jsonw_double(w, "silences_per_hour", per_pair(r, r->silences));
	jsonw_object(w, "oracle");
	quality(w, r, WAY_ORACLE);
	jsonw_end(w);
	jsonw_object(w, "two_copies");
	jsonw_double(w, "changes_per_hour", per_pair(r, r->copies_changes));
	quality(w, r, WAY_COPIES);
	jsonw_end(w);
	jsonw_object(w, "direct");
	jsonw_double(w, "mean_us", figures_mean(r->of[WAY_DIRECT]));
	jsonw_double(w, "p99_us", figures_quantile(r->of[WAY_DIRECT], P99));
	jsonw_end(w);
	jsonw_double(w, "without_path", r->samples ? (double)r->without / (double)r->samples : NAN);
	jsonw_double(w, "bytes_per_second_and_node", r->bytes_s);
	if (!pairs)
		return;
	jsonw_array(w, "pairs");
	for (unsigned a = 0; a < r->n; a++)
		for (unsigned b = 0; b < r->n; b++)
			if (a != b)
				pair_json(w, r, a, b);
	jsonw_end(w);
}

static void pair_text(FILE *out, const struct result *r, unsigned a, unsigned b)
{
	const struct pair *p = &r->pair[a * r->n + b];
	double n = (double)p->n_ok;

	if (!p->n_ok) {
		fprintf(out, "%5u %5u  %9s %9s %9s %9s  %7.1f  %7s\n", a, b, "-", "-", "-", "-",
			per_hour(p->changes, r->hours, 1), "-");
		return;
	}
	fprintf(out, "%5u %5u ", a, b);
	for (enum way way = 0; way < WAYS; way++)
		fprintf(out, " %9.1f", p->sum_us[way] / n / 1000);
	fprintf(out, "  %7.1f  %5.1f %%\n", per_hour(p->changes, r->hours, 1),
		100 * (double)p->relayed / n);
}

void report_text(FILE *out, const char *title, const struct result *r, bool pairs)
{
	static const char *const labels[] = { NULL, "LEON", "oracle", "two copies" };

	fprintf(out, "%s: %u nodes, %.2f hours\n", title, r->n, r->hours);
	fprintf(out, "             mean      p99    (of direct: %.1f ms, %.1f ms)\n",
		figures_mean(r->of[WAY_DIRECT]) / 1000,
		figures_quantile(r->of[WAY_DIRECT], P99) / 1000);
	for (enum way way = WAY_LEON; way < WAYS; way++)
		fprintf(out, "%-12s%.3f    %.3f\n", labels[way], rel_mean(r, way), rel_p99(r, way));
	fprintf(out,
		"changes of a path: %.2f an hour, %.2f of them failovers; with two copies %.2f\n",
		per_pair(r, r->changes), per_pair(r, r->failovers), per_pair(r, r->copies_changes));
	fprintf(out,
		"link downs: %.3f an hour and link; silences: %.2f; without a path: %.4f %% of "
		"the time; control: %.1f kB/s a node\n",
		per_pair(r, r->link_downs), per_pair(r, r->silences),
		r->samples ? 100 * (double)r->without / (double)r->samples : 0, r->bytes_s / 1000);
	if (!pairs)
		return;
	fprintf(out, "\n from    to     direct      LEON    oracle    copies  changes  relayed\n");
	for (unsigned a = 0; a < r->n; a++)
		for (unsigned b = 0; b < r->n; b++)
			if (a != b)
				pair_text(out, r, a, b);
}

/* --- curves --- */

#define WIDTH  720
#define HEIGHT 420
#define LEFT   60
#define TOP    50
#define RIGHT  20
#define BOTTOM 50

/* The style defines every color, so that one media query adapts all of them to a light or dark
 * page. */
static const char style[] = "<style>\n"
			    "rect{fill:#ffffff}text{fill:#222222}line{stroke:#dddddd}\n"
			    "polyline{fill:none;stroke-width:2}text.title{font-size:14px}\n"
			    "polyline.direct{stroke:#777777}text.direct{fill:#777777}\n"
			    "polyline.leon{stroke:#c02020}text.leon{fill:#c02020}\n"
			    "polyline.copies{stroke:#2060c0}text.copies{fill:#2060c0}\n"
			    "polyline.oracle{stroke:#208040}text.oracle{fill:#208040}\n"
			    "@media(prefers-color-scheme:dark){\n"
			    "rect{fill:#161616}text{fill:#dddddd}line{stroke:#444444}\n"
			    "polyline.direct{stroke:#a0a0a0}text.direct{fill:#a0a0a0}\n"
			    "polyline.leon{stroke:#ff8080}text.leon{fill:#ff8080}\n"
			    "polyline.copies{stroke:#80b0ff}text.copies{fill:#80b0ff}\n"
			    "polyline.oracle{stroke:#60c080}text.oracle{fill:#60c080}}\n"
			    "</style>\n";

struct axes {
	double low, high; /* log10 of ms */
};

static double x_of(const struct axes *a, double us)
{
	double at = (log10(us / 1000) - a->low) / (a->high - a->low);

	return LEFT + min_of(max_of(at, 0.0), 1.0) * (WIDTH - LEFT - RIGHT);
}

static double y_of(double fraction)
{
	return HEIGHT - BOTTOM - fraction * (HEIGHT - TOP - BOTTOM);
}

static void svg_axes(FILE *f, const struct axes *a)
{
	for (int k = 0; k <= 10; k += 2)
		fprintf(f,
			"<line x1='%d' y1='%.1f' x2='%d' y2='%.1f'/>"
			"<text x='%d' y='%.1f' text-anchor='end'>%d %%</text>\n",
			LEFT, y_of(k / 10.0), WIDTH - RIGHT, y_of(k / 10.0), LEFT - 6,
			y_of(k / 10.0) + 4, k * 10);
	for (int e = (int)a->low; e < (int)ceil(a->high); e++) {
		static const int steps[] = { 1, 2, 5 };

		for (size_t i = 0; i < array_size(steps); i++) {
			double ms = steps[i] * pow(10, e);

			fprintf(f,
				"<line x1='%.1f' y1='%d' x2='%.1f' y2='%d'/>"
				"<text x='%.1f' y='%d' text-anchor='middle'>%g</text>\n",
				x_of(a, ms * 1000), TOP, x_of(a, ms * 1000), HEIGHT - BOTTOM,
				x_of(a, ms * 1000), HEIGHT - BOTTOM + 16, ms);
		}
	}
	fprintf(f,
		"<text x='%d' y='%d' text-anchor='middle'>share of the time with at most this "
		"latency in ms</text>\n",
		(LEFT + WIDTH - RIGHT) / 2, HEIGHT - 12);
}

static void svg_curve(FILE *f, const struct axes *a, const struct figures *of, const char *name,
		      const char *class, int at)
{
	fprintf(f, "<polyline class='%s' points='", class);
	for (int k = 1; k < 1000; k++)
		fprintf(f, "%.1f,%.1f ", x_of(a, figures_quantile(of, k / 1000.0)),
			y_of(k / 1000.0));
	fprintf(f, "'/>\n<text class='%s' x='%d' y='%d'>%s</text>\n", class, LEFT + 16,
		TOP + 16 * at, name);
}

int report_svg(const char *file, const struct options *o, const struct result *r)
{
	struct axes a = { floor(log10(figures_quantile(r->of[WAY_ORACLE], 0.001) / 1000)),
			  ceil(log10(figures_quantile(r->of[WAY_DIRECT], 0.999) / 1000)) };
	FILE *f = fopen(file, "we");

	if (!f)
		return -errno;
	fprintf(f,
		"<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' "
		"font-family='sans-serif' font-size='12'>\n"
		"%s<rect width='100%%' height='100%%'/>\n",
		WIDTH, HEIGHT, style);
	fprintf(f,
		"<text class='title' x='%d' y='24'>%u nodes, %s, traffic %s: %.1f changes an "
		"hour</text>\n",
		LEFT, r->n, o->reading == READING_HOLD ? "hold" : "noise",
		o->all_traffic ? "all" : "idle", per_pair(r, r->changes));
	svg_axes(f, &a);
	svg_curve(f, &a, r->of[WAY_DIRECT], "direct", "direct", 1);
	svg_curve(f, &a, r->of[WAY_LEON], "LEON", "leon", 2);
	svg_curve(f, &a, r->of[WAY_COPIES], "two copies", "copies", 3);
	svg_curve(f, &a, r->of[WAY_ORACLE], "oracle", "oracle", 4);
	fprintf(f, "</svg>\n");
	return fclose(f) ? -errno : 0;
}

/* --- paths of one node --- */

static void write_known(struct jsonw *w, const char *key, bool known, uint64_t value)
{
	if (known)
		jsonw_u64(w, key, value);
	else
		jsonw_null(w, key);
}

static void write_path(struct jsonw *w, const struct member *member, unsigned to)
{
	const struct choice *c = &member[to].choice;

	jsonw_object(w, NULL);
	jsonw_str(w, "destination", NODE_ID_TEXT(member[to].id));
	jsonw_str(w, "name", member[to].name[0] ? member[to].name : NULL);
	jsonw_array(w, "hops");
	for (unsigned i = 0; i < c->path.n_hops; i++)
		jsonw_str(w, NULL, NODE_ID_TEXT(member[c->path.hop[i]].id));
	jsonw_end(w);
	write_known(w, "latency_us", path_works(&c->path), c->path.rtt_us);
	write_known(w, "direct_latency_us", path_works(&c->direct), c->direct.rtt_us);
	jsonw_str(w, "reason", choice_texts[c->reason].name);
	jsonw_end(w);
}

void show_paths_json(struct jsonw *w, const char *key, const struct member *member, unsigned n)
{
	jsonw_array(w, key);
	for (unsigned to = 1; to < n; to++)
		if (!member[to].gone)
			write_path(w, member, to);
	jsonw_end(w);
}

static const char *call(const struct member *m, char id[NODE_ID_STRLEN])
{
	return m->name[0] ? m->name : node_id_format(m->id, id, NODE_ID_STRLEN);
}

static void print_path(FILE *out, const struct member *member, unsigned to)
{
	const struct choice *c = &member[to].choice;
	char id[NODE_ID_STRLEN];

	fprintf(out, "%-20s", call(&member[to], id));
	if (!path_works(&c->path)) {
		fprintf(out, " no path\n");
		return;
	}
	fprintf(out, " %9.1f ms  direct %9.1f ms  via", c->path.rtt_us / 1000.0,
		c->direct.cost_us == COST_INFINITE ? 0 : c->direct.rtt_us / 1000.0);
	for (unsigned i = 0; i < c->path.n_hops; i++)
		fprintf(out, " %s", call(&member[c->path.hop[i]], id));
	fprintf(out, "\n");
}

void show_paths_table(FILE *out, const char *title, const struct member *member, unsigned n)
{
	fprintf(out, "%s\n", title);
	for (unsigned to = 1; to < n; to++)
		if (!member[to].gone)
			print_path(out, member, to);
}

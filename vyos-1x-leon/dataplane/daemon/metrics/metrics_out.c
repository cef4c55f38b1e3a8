// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Output of metric samples, see metrics_out.h. Control thread.
 */
#include "daemon/metrics/metrics_out.h"

#include "state/conf/conf.h"
#include "state/tables/nodedb.h"

#include <inttypes.h>

/* Escapes backslash, quote and newline in label values. */
static void put_label_value(FILE *f, const char *s)
{
	for (; *s; s++) {
		if (*s == '\\' || *s == '"')
			fputc('\\', f);
		if (*s == '\n')
			fputs("\\n", f);
		else
			fputc(*s, f);
	}
}

void put_head(struct out *o, const char *name, const char *type, const char *help)
{
	fprintf(o->f, "# HELP leon_%s %s\n# TYPE leon_%s %s\n", name, help, name, type);
}

static void put_interface(struct out *o)
{
	fputs("{interface=\"", o->f);
	put_label_value(o->f, o->conf->interface);
	fputc('"', o->f);
}

void put_sample(struct out *o, const char *name)
{
	fprintf(o->f, "leon_%s", name);
	put_interface(o);
}

void put_label(struct out *o, const char *key, const char *value)
{
	fprintf(o->f, ",%s=\"", key);
	put_label_value(o->f, value);
	fputc('"', o->f);
}

void put_u64(struct out *o, uint64_t value)
{
	fprintf(o->f, "} %" PRIu64 "\n", value);
}

void put_seconds(struct out *o, uint64_t us)
{
	fprintf(o->f, "} %" PRIu64 ".%06" PRIu64 "\n", us / 1000000, us % 1000000);
}

void put_value(struct out *o, enum unit unit, int64_t value)
{
	uint64_t v = value > 0 ? (uint64_t)value : 0;

	if (unit == MICROSECONDS)
		put_seconds(o, v);
	else if (unit == PER_MILLE)
		put_seconds(o, v * 1000);
	else if (unit == KBITS)
		put_u64(o, v * 125);
	else
		put_u64(o, v);
}

void put_labelled(struct out *o, const char *name, const char *key, const char *label,
		  uint64_t value)
{
	put_sample(o, name);
	put_label(o, key, label);
	put_u64(o, value);
}

void put_metric(struct out *o, const char *name, const char *type, enum unit unit, const char *help,
		uint64_t value)
{
	put_head(o, name, type, help);
	put_sample(o, name);
	put_value(o, unit, (int64_t)value);
}

void put_node_labels(struct out *o, const struct node *n)
{
	put_interface(o);
	put_label(o, "node_id", NODE_ID_TEXT(n->id));
	put_label(o, "name", n->has_record ? n->rec.name : "");
}

void put_node_sample(struct out *o, const char *name, const struct node *n)
{
	fprintf(o->f, "leon_%s", name);
	put_node_labels(o, n);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads rates and the section `shaper`. Numbers are kbit/s in memory and in the document; a string
 * has a unit, as in VyOS bandwidths. Called by conf.c and conf_leaf.c; pure; control
 * thread.
 */
#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"
#include "state/conf/conf_section.h"
#include "wire/datagram/leon.h"

#define BITS_A_KBIT 1000
#define DIGITS	    "0123456789"
#define DIGITS_MAX  15 /* with the largest unit the value stays below 2^64 */

/* Bits per second of a unit. */
static const struct {
	const char *name;
	uint64_t bits;
} units[] = {
	{ "bit", 1 },
	{ "kbit", BITS_A_KBIT },
	{ "mbit", 1000000 },
	{ "gbit", 1000000000 },
	{ "tbit", UINT64_C(1000000000000) },
};

/* Returns 0 for an unknown unit. */
static uint64_t bits_of(const char *unit)
{
	for (size_t i = 0; i < array_size(units); i++)
		if (strcmp(units[i].name, unit) == 0)
			return units[i].bits;
	return 0;
}

/* Parses a rate; returns false for any other text. A rate above 0 never rounds down to 0. */
static bool parse_rate(const char *s, uint64_t *kbits)
{
	size_t digits = strspn(s, DIGITS);
	uint64_t n, unit = bits_of(s + digits);

	if (!digits || digits > DIGITS_MAX || !unit)
		return false;
	n = strtoull(s, NULL, 10);
	if (n > UINT64_MAX / unit)
		return false;
	*kbits = n * unit / BITS_A_KBIT;
	return *kbits || !n;
}

bool conf_get_rate(struct jsonr_node *obj, const char *key, uint32_t min, uint32_t max,
		   uint32_t *out)
{
	uint64_t kbits;
	const char *s;

	if (!jsonr_is_str(obj, key))
		return conf_get_u32(obj, key, min, max, out);
	jsonr_str(obj, key, &s);
	if (!parse_rate(s, &kbits)) {
		jsonr_fail_key(obj, key,
			       "must be a number of kbit/s, or a string with a unit such as "
			       "\"50mbit\" (bit, kbit, mbit, gbit, tbit), found \"%.32s\"",
			       s);
		return false;
	}
	if (kbits < min || kbits > max) {
		jsonr_fail_key(obj, key, "is %.32s and must be %u to %u kbit/s", s, min, max);
		return false;
	}
	*out = (uint32_t)kbits;
	return true;
}

/* --- per-node rates --- */

static int compare_rates(const void *a, const void *b)
{
	node_id_t x = ((const struct conf_rate *)a)->id, y = ((const struct conf_rate *)b)->id;

	return (x > y) - (x < y);
}

static void read_rate(struct jsonr_node *obj, const char *name, struct conf_rate *r)
{
	if (node_id_parse(name, &r->id) < 0 || r->id == NODE_ID_NONE || r->id == NODE_ID_ANY) {
		jsonr_fail(obj,
			   "is not named by a node-id: write it as `leonctl show nodes` has it, "
			   "such as 192.0.2.7");
		return;
	}
	if (!jsonr_has(obj, "rate"))
		jsonr_fail_key(obj, "rate", "is missing; give a rate, 0 for no limit");
	conf_get_rate(obj, "rate", CONF_SHAPER_RATE_MIN, CONF_SHAPER_RATE_MAX, &r->kbits);
}

void conf_read_shaper(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *map =
		conf_map(jsonr_object(root, "shaper"), "peer", CONF_SHAPER_PEERS_MAX, "nodes");
	struct jsonr_node *obj;
	const char *name;

	c->rate = x_calloc(jsonr_len(map), sizeof(*c->rate));
	for (size_t i = 0; (obj = jsonr_member(map, i, &name)); i++)
		read_rate(obj, name, &c->rate[c->n_rates++]);
	qsort(c->rate, c->n_rates, sizeof(*c->rate), compare_rates);
	/* A node-id has one spelling, but a JSON object may contain a key twice. */
	for (uint32_t i = 1; i < c->n_rates; i++)
		if (c->rate[i - 1].id == c->rate[i].id)
			jsonr_fail(map, "names a node twice");
}

uint32_t conf_rate_to(const struct conf *c, node_id_t id)
{
	struct conf_rate key = { .id = id };
	const struct conf_rate *found =
		c->n_rates ? bsearch(&key, c->rate, c->n_rates, sizeof(key), compare_rates) : NULL;

	return found ? found->kbits : c->shaper_per_peer_kbits;
}

uint32_t conf_lowest_rate(const struct conf *c)
{
	uint32_t lowest = c->shaper_per_peer_kbits;

	for (uint32_t i = 0; i < c->n_rates; i++)
		if (c->rate[i].kbits && (!lowest || c->rate[i].kbits < lowest))
			lowest = c->rate[i].kbits;
	return lowest;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Decides which prefixes are announced and which are withheld, see announce.h. Control thread.
 */
#include "state/routes/announce.h"

static const struct announced *find(const struct announce *a, const struct prefix *p)
{
	for (unsigned i = 0; i < a->n; i++)
		if (prefix_compare(&a->entry[i].prefix, p) == 0)
			return &a->entry[i];
	return NULL;
}

void announce_configure(struct announce *a, const struct conf *c)
{
	struct announce fresh = { .unconditional = c->export_unconditional, .n = c->n_prefixes };

	for (unsigned i = 0; i < fresh.n; i++) {
		const struct announced *known = find(a, &c->prefix[i]);

		fresh.entry[i] = known ? *known : (struct announced){ .prefix = c->prefix[i] };
	}
	*a = fresh;
}

/* Returns true if the entry should be announced after a lookup with the result `reach`. */
static bool decide(const struct announce *a, const struct announced *e, enum announce_reach reach,
		   mono_t now)
{
	bool as_before = e->announced || mono_is_never(e->since);

	if (a->unconditional)
		return true;
	if (reach == ANNOUNCE_ROUTE)
		return as_before || mono_sub_ms(now, e->route_since) >= ANNOUNCE_RETURN_MS;
	return reach == ANNOUNCE_UNKNOWN && as_before;
}

bool announce_note(struct announce *a, unsigned i, enum announce_reach reach, mono_t now)
{
	struct announced *e = &a->entry[i];
	bool is_new = mono_is_never(e->since), announced;

	if (reach != ANNOUNCE_ROUTE)
		e->route_since = MONO_NEVER;
	else if (mono_is_never(e->route_since))
		e->route_since = now;
	announced = decide(a, e, reach, now);
	/* A failed lookup proves neither the presence nor the absence of the route. */
	if (is_new || reach != ANNOUNCE_UNKNOWN)
		e->reach = reach;
	if (!is_new && announced == e->announced)
		return false;
	e->announced = announced;
	e->since = now;
	return true;
}

unsigned announce_list(const struct announce *a, struct prefix out[MSG_PREFIXES_MAX])
{
	unsigned n = 0;

	for (unsigned i = 0; i < a->n; i++)
		if (a->entry[i].announced)
			out[n++] = a->entry[i].prefix;
	return n;
}

const char *announce_reason(const struct announce *a, const struct announced *e)
{
	static const char *const reasons[] = {
		[ANNOUNCE_UNKNOWN] = "the kernel does not tell its routes",
		[ANNOUNCE_ROUTE] = "this node has a route to it",
		[ANNOUNCE_NO_ROUTE] = "this node has no route to it",
		[ANNOUNCE_DEFAULT_ONLY] = "only the default route leads there",
		[ANNOUNCE_OVERLAY] = "only the overlay leads there",
		[ANNOUNCE_LINK_DOWN] = "the link of the route to it is down",
	};

	if (a->unconditional)
		return "export unconditional is configured";
	if (e->reach == ANNOUNCE_ROUTE && !e->announced)
		return "the route to it is not there long enough";
	return reasons[e->reach];
}

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
	switch (reach) {
	case ANNOUNCE_UNKNOWN:
		return as_before;
	case ANNOUNCE_ROUTE:
		return as_before || mono_sub_ms(now, e->route_since) >= ANNOUNCE_RETURN_MS;
	case ANNOUNCE_NO_ROUTE:
	case ANNOUNCE_DEFAULT_ONLY:
	case ANNOUNCE_OVERLAY:
	case ANNOUNCE_LINK_DOWN:
		return false;
	}
	return false;
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
	if (a->unconditional)
		return "export unconditional is configured";
	switch (e->reach) {
	case ANNOUNCE_UNKNOWN:
		return "the kernel does not tell its routes";
	case ANNOUNCE_ROUTE:
		return e->announced ? "this node has a route to it"
				    : "the route to it is not there long enough";
	case ANNOUNCE_NO_ROUTE:
		return "this node has no route to it";
	case ANNOUNCE_DEFAULT_ONLY:
		return "only the default route leads there";
	case ANNOUNCE_OVERLAY:
		return "only the overlay leads there";
	case ANNOUNCE_LINK_DOWN:
		return "the link of the route to it is down";
	}
	return "";
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Times of the attempts to map a port, see mapper.h.
 */
#include "mapper.h"

#include <stdio.h>
#include <string.h>

#include "base/defs.h"

/* A gateway may restart at any time and forget all mappings. */
#define CHECK_MAX_MS 60000
#define CHECK_MIN_MS 1000
#define RETRY_MIN_MS 2000
#define RETRY_MAX_MS 120000

static void forget(struct mapper *m)
{
	m->method = NULL;
	m->expires_at = MONO_NEVER;
}

/* Another gateway knows nothing of the mapping, which ends after the lifetime. */
static bool is_other(const struct mapping_request *a, const struct mapping_request *b)
{
	return !ip_equal(&a->c.gateway, &b->c.gateway) || !ip_equal(&a->c.source, &b->c.source) ||
	       a->c.port != b->c.port;
}

void mapper_request(struct mapper *m, const struct mapping_request *q, mono_t now)
{
	if (is_other(&m->request, q))
		forget(m);
	m->request = *q;
	m->next_at = m->renew_at = now;
	m->wait_ms = 0;
}

static void granted(struct mapper *m, const struct mapping_method *by,
		    const struct mapping_answer *a, mono_t now)
{
	int64_t half_ms = (int64_t)a->lifetime_s * 500;

	m->method = by;
	m->wait_ms = 0;
	if (m->request.renew || mono_is_never(m->expires_at)) {
		m->renew_at = mono_add_ms(now, half_ms);
		m->expires_at = mono_add_ms(now, 2 * half_ms);
	}
	m->next_at = mono_add_ms(now, max_of(min_of(half_ms, (int64_t)CHECK_MAX_MS),
					     (int64_t)CHECK_MIN_MS));
	/* The next request is for the port that others know. */
	m->request.c.external_port = a->external.port;
}

static void report_granted(const struct mapper *m, const struct mapping_answer *a, mono_t now,
			   struct portmap_report *out)
{
	out->news = PORTMAP_MAPPED;
	out->method = m->method->number;
	out->external = a->external;
	out->lifetime_s = (uint32_t)max_of(mono_sub_ms(m->expires_at, now) / 1000, (int64_t)1);
}

static void add_reason(struct portmap_report *out, const struct mapping_method *by,
		       const struct mapping_answer *a)
{
	size_t at = strlen(out->reason);

	snprintf(out->reason + at, sizeof(out->reason) - at, "%s%s: %s", at ? "; " : "", by->name,
		 a->reason);
}

static enum mapping_result try_all(struct mapper *m, const struct mapping_method **by,
				   struct mapping_answer *a, struct portmap_report *out)
{
	enum mapping_result result, worst = MAPPING_SILENT;

	for (size_t i = 0; m->methods[i]; i++) {
		/* A mapping belongs to one protocol until it ends. */
		if (m->method && m->method != m->methods[i])
			continue;
		memset(a, 0, sizeof(*a));
		*by = m->methods[i];
		result = (*by)->map(&m->request, a);
		if (result == MAPPING_OK)
			return MAPPING_OK;
		add_reason(out, *by, a);
		worst = max_of(worst, result);
	}
	return worst;
}

bool mapper_run(struct mapper *m, mono_t now, struct portmap_report *out)
{
	const struct mapping_method *by = NULL;
	struct mapping_answer a;
	enum mapping_result result;

	if (mono_is_never(m->next_at) || mono_before(now, m->next_at))
		return false;
	*out = (struct portmap_report){ .protocol = PORTMAP_PROTOCOL };
	if (m->method && !mono_before(now, m->expires_at))
		forget(m);
	m->request.renew = !m->method || !mono_before(now, m->renew_at);
	result = try_all(m, &by, &a, out);
	if (result == MAPPING_OK) {
		granted(m, by, &a, now);
		report_granted(m, &a, now, out);
		return true;
	}
	out->news = result == MAPPING_REFUSED ? PORTMAP_GONE : PORTMAP_FAILED;
	if (result == MAPPING_REFUSED)
		forget(m);
	m->wait_ms = min_of(max_of(2 * m->wait_ms, (int64_t)RETRY_MIN_MS), (int64_t)RETRY_MAX_MS);
	m->next_at = mono_add_ms(now, m->wait_ms);
	return true;
}

void mapper_remove(struct mapper *m)
{
	if (m->method)
		m->method->unmap(&m->request);
	forget(m);
	m->next_at = MONO_NEVER;
}

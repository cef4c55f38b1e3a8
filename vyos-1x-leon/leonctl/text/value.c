// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values as text. Owns the rotating buffers; not thread-safe.
 */
#include "text/value.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/defs.h"

#define BUFFERS 12

char *text_buffer(void)
{
	static char buffer[BUFFERS][TEXT_MAX];
	static unsigned next;

	next = (next + 1) % BUFFERS;
	return buffer[next];
}

uint64_t value_u64(struct jsonr_node *n, const char *key)
{
	uint64_t v = 0;

	jsonr_u64(n, key, 0, UINT64_MAX, &v);
	return v;
}

bool value_bool(struct jsonr_node *n, const char *key)
{
	bool v = false;

	jsonr_bool(n, key, &v);
	return v;
}

const char *text_str(struct jsonr_node *n, const char *key)
{
	const char *s = UNKNOWN;

	jsonr_str(n, key, &s);
	return s;
}

const char *text_optional(struct jsonr_node *n, const char *key)
{
	const char *s = "";

	jsonr_str(n, key, &s);
	return s;
}

const char *text_yes_no(struct jsonr_node *n, const char *key)
{
	return value_bool(n, key) ? "yes" : "no";
}

static const char *text_ms_of_us(uint64_t us)
{
	char *buf = text_buffer();

	/* Values below 10 ms have two decimal places. */
	snprintf(buf, TEXT_MAX, us < 10000 ? "%.2f ms" : "%.1f ms", (double)us / 1000);
	return buf;
}

const char *text_us(struct jsonr_node *n, const char *key)
{
	uint64_t us;

	return jsonr_u64(n, key, 0, UINT64_MAX, &us) ? text_ms_of_us(us) : UNKNOWN;
}

const char *text_path_latency(struct jsonr_node *n, const char *key)
{
	return value_bool(n, "unresponsive") ? "no answer" : text_us(n, key);
}

const char *text_direct_latency(struct jsonr_node *n, const char *key)
{
	return value_bool(n, "direct_unresponsive") ? "no answer" : text_us(n, key);
}

const char *text_number(struct jsonr_node *n, const char *key)
{
	uint64_t v;
	char *buf;

	if (!jsonr_u64(n, key, 0, UINT64_MAX, &v))
		return UNKNOWN;
	buf = text_buffer();
	snprintf(buf, TEXT_MAX, "%" PRIu64, v);
	return buf;
}

const char *text_count(uint64_t n, const char *noun)
{
	char *buf = text_buffer();

	snprintf(buf, TEXT_MAX, "%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
	return buf;
}

const char *text_permille(struct jsonr_node *n, const char *key)
{
	uint64_t v;
	char *buf;

	if (!jsonr_u64(n, key, 0, UINT64_MAX, &v))
		return UNKNOWN;
	buf = text_buffer();
	snprintf(buf, TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %%", v / 10, v % 10);
	return buf;
}

const char *text_thousandths(struct jsonr_node *n, const char *key, const char *unit)
{
	uint64_t v = value_u64(n, key);
	char *out = text_buffer();

	snprintf(out, TEXT_MAX, "%" PRIu64 ".%" PRIu64 " %s", v / 1000, v % 1000 / 100, unit);
	return out;
}

const char *text_age(struct jsonr_node *n, const char *key)
{
	uint64_t s;
	char *buf;

	if (!jsonr_u64(n, key, 0, UINT64_MAX, &s))
		return UNKNOWN;
	buf = text_buffer();
	if (s < 60)
		snprintf(buf, TEXT_MAX, "%" PRIu64 " s", s);
	else if (s < 3600)
		snprintf(buf, TEXT_MAX, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	else if (s < 86400)
		snprintf(buf, TEXT_MAX, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	else
		snprintf(buf, TEXT_MAX, "%" PRIu64 " d %" PRIu64 " h", s / 86400, s % 86400 / 3600);
	return buf;
}

const char *text_bytes(struct jsonr_node *n, const char *key)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	uint64_t v;
	double scaled;
	size_t u = 0;
	char *buf;

	if (!jsonr_u64(n, key, 0, UINT64_MAX, &v))
		return UNKNOWN;
	scaled = (double)v;
	while (scaled >= 1024 && u + 1 < array_size(unit)) {
		scaled /= 1024;
		u++;
	}
	buf = text_buffer();
	snprintf(buf, TEXT_MAX, u ? "%.1f %s" : "%.0f %s", scaled, unit[u]);
	return buf;
}

const char *text_node(struct jsonr_node *n, const char *id_key, const char *name_key)
{
	const char *id = text_str(n, id_key), *name;
	char *buf;

	if (!jsonr_str(n, name_key, &name))
		return id;
	buf = text_buffer();
	snprintf(buf, TEXT_MAX, "%s (%s)", name, id);
	return buf;
}

const char *text_list(struct jsonr_node *n, const char *key)
{
	struct jsonr_node *list = jsonr_array(n, key);
	char *buf = text_buffer();
	int at = 0;

	buf[0] = '\0';
	for (size_t i = 0; i < jsonr_len(list) && at < TEXT_MAX; i++) {
		const char *text = UNKNOWN;

		jsonr_str_at(list, i, &text);
		at += snprintf(buf + at, (size_t)(TEXT_MAX - at), "%s%s", at ? ", " : "", text);
	}
	return buf;
}

const char *text_hops(struct jsonr_node *n, const char *key, const char *from)
{
	struct jsonr_node *list = jsonr_array(n, key);
	char *buf = text_buffer();
	int at = from ? snprintf(buf, TEXT_MAX, "%s", from) : 0;

	if (jsonr_len(list) == 0)
		return UNKNOWN;
	for (size_t i = 0; i < jsonr_len(list) && at < TEXT_MAX; i++) {
		const char *hop = UNKNOWN;

		jsonr_str_at(list, i, &hop);
		at += snprintf(buf + at, (size_t)(TEXT_MAX - at), "%s%s", at ? " > " : "", hop);
	}
	return buf;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Values as text. Owns the rotating buffers; not thread-safe.
 */
#include "text/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/defs.h"

#define BUFFERS 12

char *text_buffer(void)
{
	static char buffer[BUFFERS][TEXT_MAX];
	static unsigned next;

	next = (next + 1) % BUFFERS;
	return buffer[next];
}

const char *text_format(const char *fmt, ...)
{
	char *buf = text_buffer();
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(buf, TEXT_MAX, fmt, ap);
	va_end(ap);
	return buf;
}

void text_add(char *list, size_t room, const char *separator, const char *element)
{
	size_t at = strlen(list);

	snprintf(list + at, room - at, "%s%s", at ? separator : "", element);
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
	/* Values below 10 ms have two decimal places. */
	return text_format(us < 10000 ? "%.2f ms" : "%.1f ms", (double)us / 1000);
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

	return jsonr_u64(n, key, 0, UINT64_MAX, &v) ? text_format("%" PRIu64, v) : UNKNOWN;
}

const char *text_count(uint64_t n, const char *noun)
{
	return text_format("%" PRIu64 " %s%s", n, noun, n == 1 ? "" : "s");
}

const char *text_permille(struct jsonr_node *n, const char *key)
{
	uint64_t v;

	if (!jsonr_u64(n, key, 0, UINT64_MAX, &v))
		return UNKNOWN;
	return text_format("%" PRIu64 ".%" PRIu64 " %%", v / 10, v % 10);
}

const char *text_thousandths(struct jsonr_node *n, const char *key, const char *unit)
{
	uint64_t v = value_u64(n, key);

	return text_format("%" PRIu64 ".%" PRIu64 " %s", v / 1000, v % 1000 / 100, unit);
}

const char *text_age(struct jsonr_node *n, const char *key)
{
	uint64_t s;

	if (!jsonr_u64(n, key, 0, UINT64_MAX, &s))
		return UNKNOWN;
	if (s < 60)
		return text_format("%" PRIu64 " s", s);
	if (s < 3600)
		return text_format("%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
	if (s < 86400)
		return text_format("%" PRIu64 " h %" PRIu64 " min", s / 3600, s % 3600 / 60);
	return text_format("%" PRIu64 " d %" PRIu64 " h", s / 86400, s % 86400 / 3600);
}

const char *text_bytes(struct jsonr_node *n, const char *key)
{
	static const char *const unit[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	uint64_t v;
	double scaled;
	size_t u = 0;

	if (!jsonr_u64(n, key, 0, UINT64_MAX, &v))
		return UNKNOWN;
	scaled = (double)v;
	while (scaled >= 1024 && u + 1 < array_size(unit)) {
		scaled /= 1024;
		u++;
	}
	return text_format(u ? "%.1f %s" : "%.0f %s", scaled, unit[u]);
}

const char *text_node(struct jsonr_node *n, const char *id_key, const char *name_key)
{
	const char *id = text_str(n, id_key), *name;

	return jsonr_str(n, name_key, &name) ? text_format("%s (%s)", name, id) : id;
}

static const char *joined(struct jsonr_node *list, const char *first, const char *separator)
{
	char *buf = text_buffer();

	snprintf(buf, TEXT_MAX, "%s", first);
	for (size_t i = 0; i < jsonr_len(list); i++) {
		const char *text = UNKNOWN;

		jsonr_str_at(list, i, &text);
		text_add(buf, TEXT_MAX, separator, text);
	}
	return buf;
}

const char *text_list(struct jsonr_node *n, const char *key)
{
	return joined(jsonr_array(n, key), "", ", ");
}

const char *text_hops(struct jsonr_node *n, const char *key, const char *from)
{
	struct jsonr_node *list = jsonr_array(n, key);

	return jsonr_len(list) ? joined(list, from ? from : "", " > ") : UNKNOWN;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl map`, see run.h. The page contains the unchanged answers in a script element of type
 * data, and the script of the page draws them.
 */
#include "run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/defs.h"
#include "base/json/jsonr.h"
#include "map_page.h"

static const char marker[] = "<!--data-->";

/* In JSON "<" occurs only inside strings and is written as an escape. No name can end the script
 * element or begin a comment. */
static void put_json(FILE *out, const char *json)
{
	for (; *json; json++) {
		if (*json == '<')
			fputs("\\u003c", out);
		else
			fputc(*json, out);
	}
}

/* The daemon's answers from which the page is built. */
struct map_answers {
	char *nodes, *paths, *latency; /* JSON */
};

static void write_page(const struct map_answers *a, const char *time, FILE *out)
{
	const char *at = strstr(map_page, marker);

	fwrite(map_page, 1, (size_t)(at - map_page), out);
	fprintf(out, "{\"time\":\"%s\",\n\"nodes\":", time);
	put_json(out, a->nodes);
	fputs(",\n\"paths\":", out);
	put_json(out, a->paths);
	fputs(",\n\"latency\":", out);
	put_json(out, a->latency);
	fputc('}', out);
	fputs(at + strlen(marker), out);
}

static int get(const struct target *t, const char *command, char **answer)
{
	int code = 0;

	jsonr_free(target_ask(t, command, "{}", answer, &code));
	return code;
}

int map_print(struct target *t, const char *unused attr_unused)
{
	struct map_answers a = { 0 };
	time_t now = time(NULL);
	char when[32];
	struct tm tm;
	int code = target_find(t);

	if (code >= 0)
		return code;
	code = get(t, "show nodes", &a.nodes);
	if (code == 0)
		code = get(t, "show paths", &a.paths);
	if (code == 0)
		code = get(t, "show latency", &a.latency);
	if (code == 0) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &tm));
		write_page(&a, when, stdout);
	}
	free(a.nodes);
	free(a.paths);
	free(a.latency);
	return code;
}

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
#include "text/text.h"
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

/* The daemon's answers from which the page is built: keys of the page, commands `show KEY`. */
static const char *const parts[] = { "nodes", "paths", "latency" };

static void write_page(char *const answer[], const char *time, FILE *out)
{
	const char *at = strstr(map_page, marker);

	fwrite(map_page, 1, (size_t)(at - map_page), out);
	fprintf(out, "{\"time\":\"%s\"", time);
	for (size_t i = 0; i < array_size(parts); i++) {
		fprintf(out, ",\n\"%s\":", parts[i]);
		put_json(out, answer[i]);
	}
	fputc('}', out);
	fputs(at + strlen(marker), out);
}

int map_print(struct target *t, const char *unused attr_unused)
{
	char *answer[array_size(parts)] = { NULL };
	time_t now = time(NULL);
	char when[32];
	struct tm tm;
	int code = target_find(t);

	if (code >= 0)
		return code;
	code = 0;
	for (size_t i = 0; code == 0 && i < array_size(parts); i++)
		jsonr_free(
			target_ask(t, text_format("show %s", parts[i]), "{}", &answer[i], &code));
	if (code == 0) {
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", gmtime_r(&now, &tm));
		write_page(answer, when, stdout);
	}
	for (size_t i = 0; i < array_size(parts); i++)
		free(answer[i]);
	return code;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes log lines to stderr, one system call each, and limits messages that a remote host can
 * cause. Owns the level and the sink. Control thread. Any thread may call bug_at(),
 * which ends the process.
 */
#include "log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define TEXT_MAX     1024
#define LINE_MAX_LEN (TEXT_MAX + 64)

static struct {
	enum log_level level;
	log_sink_fn sink;
	void *sink_arg;
} log_state = { .level = LOG_LVL_INFO };

void log_set_level(enum log_level level)
{
	log_state.level = level;
}

void log_set_sink(log_sink_fn fn, void *arg)
{
	log_state.sink = fn;
	log_state.sink_arg = fn ? arg : NULL;
}

/* The journal is a socket. A journal that does not read must not stop the caller, so the line is
 * lost. Files, pipes and terminals are waited for. */
static bool write_line(const char *line, size_t len)
{
	if (send(STDERR_FILENO, line, len, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0)
		return true;
	return errno == ENOTSOCK && write(STDERR_FILENO, line, len) >= 0;
}

static void sink_stderr(enum log_level level, const char *token, const char *text)
{
	static atomic_uint lost; /* lines since the last one that was written */
	unsigned n = atomic_exchange(&lost, 0);
	char line[LINE_MAX_LEN], tail[32] = "";
	int saved = errno, len;

	if (n)
		snprintf(tail, sizeof(tail), " lines_lost=%u", n);
	len = snprintf(line, sizeof(line), "<%d>%s: %s%s\n", (int)level, token, text, tail);
	if (len < 0)
		return;
	if ((size_t)len >= sizeof(line)) {
		len = (int)sizeof(line) - 1;
		line[len - 1] = '\n';
	}
	if (!write_line(line, (size_t)len))
		atomic_fetch_add(&lost, n + 1);
	/* Callers return the errno that they log. */
	errno = saved;
}

void log_mask(char *text)
{
	for (unsigned char *c = (unsigned char *)text; *c; c++) {
		if (*c < 0x20 || *c == 0x7f)
			*c = '?';
	}
}

static void emit(enum log_level level, const char *token, char *text)
{
	log_mask(text);
	if (log_state.sink)
		log_state.sink(log_state.sink_arg, level, token, text);
	else
		sink_stderr(level, token, text);
}

void log_write(enum log_level level, const char *token, const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;

	if (level > log_state.level)
		return;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	emit(level, token, text);
}

bool log_limit_pass(struct log_limit *lim, mono_t now)
{
	int64_t cost_ns = 60 * NS_PER_S / lim->per_minute;
	bool pass = bucket_pass(&lim->bucket, now, cost_ns, cost_ns * lim->burst);

	lim->suppressed += !pass;
	return pass;
}

void log_limited(struct log_limit *lim, mono_t now, enum log_level level, const char *token,
		 const char *fmt, ...)
{
	char text[TEXT_MAX];
	va_list ap;
	int len;

	/* A message below the log level must not consume credit of a visible one. */
	if (level > log_state.level || !log_limit_pass(lim, now))
		return;
	va_start(ap, fmt);
	len = vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (lim->suppressed && len >= 0) {
		size_t at = min_of((size_t)len, sizeof(text) - 1);

		snprintf(text + at, sizeof(text) - at, " suppressed=%llu",
			 (unsigned long long)lim->suppressed);
	}
	lim->suppressed = 0;
	emit(level, token, text);
}

void bug_at(const char *file, int line, const char *fmt, ...)
{
	char what[TEXT_MAX / 2], text[TEXT_MAX];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(text, sizeof(text), "%s (at=%s:%d)", what, file, line);
	emit(LOG_LVL_ERROR, "bug", text);
	abort();
}

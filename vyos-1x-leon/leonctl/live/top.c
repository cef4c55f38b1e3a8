// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The terminal of `leonctl top`, see run.h. Each second, or after a key or a change of the terminal
 * size, the program requests the answers and draws. The terminal's state is restored at the end,
 * also after a signal. The program waits for a daemon that does not run.
 */
#include "run.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "base/defs.h"
#include "io/clock.h"
#include "io/ctlsock.h"
#include "live/live.h"
#include "text/text.h"

#define PERIOD_MS  1000
#define TIMEOUT_MS 5000

/* xterm sequences: alternate screen on and off, hide cursor, erase to the right and below. */
#define ENTER	   "\033[?1049h\033[?25l"
#define LEAVE	   "\033[?25h\033[?1049l"
#define HOME	   "\033[H"
#define CLEAR_LINE "\033[K"
#define CLEAR_REST "\033[J"

enum question { Q_NODES, Q_PATHS, Q_STATISTICS, Q_EVENTS, N_QUESTIONS };

struct top {
	struct target *target;
	struct termios saved;
	struct top_sample last;
	bool has_last;
};

/* The signal handlers set these flags. The loop reads the flags after poll(). */
static volatile sig_atomic_t ended, stopped;

static void on_end(int signo attr_unused)
{
	ended = 1;
}

static void on_stop(int signo attr_unused)
{
	stopped = 1;
}

static void on_resize(int signo attr_unused)
{
	/* The handler only interrupts poll(). */
}

/* --- requests --- */

/* Returns NULL, or the reason of a failure. */
static const char *ask(struct top *t, const char *request, struct jsonr **doc)
{
	char *answer = NULL;
	size_t n;
	int r = target_request(t->target, request, TIMEOUT_MS, &answer, &n);

	if (r < 0)
		return target_reason(t->target, r);
	*doc = jsonr_parse(answer, n, CTL_ANSWER_MAX);
	free(answer);
	return jsonr_root(*doc) && !jsonr_has(jsonr_root(*doc), "error")
		       ? NULL
		       : "invalid answer of leond";
}

static const char *request_all(struct top *t, struct jsonr *doc[N_QUESTIONS])
{
	static const char *const what[] = { [Q_NODES] = "nodes",
					    [Q_PATHS] = "paths",
					    [Q_STATISTICS] = "statistics",
					    [Q_EVENTS] = "events" };
	const char *reason = NULL;

	for (int i = 0; i < N_QUESTIONS && !reason; i++)
		reason = ask(t,
			     text_format("{\"version\":1,\"command\":\"show %s\","
					 "\"arguments\":{}}",
					 what[i]),
			     &doc[i]);
	return reason;
}

/* --- drawing --- */

static void look(struct top *t, struct jsonr *doc[N_QUESTIONS], unsigned rows, unsigned columns,
		 FILE *out)
{
	struct top_input in = { .nodes = jsonr_root(doc[Q_NODES]),
				.paths = jsonr_root(doc[Q_PATHS]),
				.statistics = jsonr_root(doc[Q_STATISTICS]),
				.events = jsonr_root(doc[Q_EVENTS]),
				.before = t->last,
				.has_before = t->has_last };

	top_sample_take(in.statistics, mono_now_ms(), &in.now);
	top_view(&in, rows, columns, out);
	t->last = in.now;
	t->has_last = true;
}

/* Writes each line of `text` over the previous content. */
static void show(const char *text)
{
	fputs(HOME, stdout);
	for (; *text; text++) {
		if (*text == '\n')
			fputs(CLEAR_LINE "\n", stdout);
		else
			fputc(*text, stdout);
	}
	fputs(CLEAR_LINE CLEAR_REST, stdout);
	fflush(stdout);
}

static void draw(struct top *t)
{
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	struct jsonr *doc[N_QUESTIONS] = { NULL };
	const char *reason;
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	if (!f)
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) < 0 || !size.ws_row || !size.ws_col)
		size = (struct winsize){ .ws_row = 24, .ws_col = 80 };
	reason = request_all(t, doc);
	if (!reason) {
		look(t, doc, size.ws_row, size.ws_col, f);
	} else {
		top_line(text_format("%s; waiting for it, q quits", reason), size.ws_col, f);
		t->has_last = false;
	}
	fclose(f);
	show(text);
	free(text);
	for (int i = 0; i < N_QUESTIONS; i++)
		jsonr_free(doc[i]);
}

/* --- the terminal --- */

/* Returns false if the program must end. */
static bool wait_for_key(void)
{
	struct pollfd pfd = { .fd = STDIN_FILENO, .events = POLLIN };
	char key;

	if (poll(&pfd, 1, PERIOD_MS) <= 0)
		return !ended;
	if (read(STDIN_FILENO, &key, 1) != 1)
		return false;
	return key != 'q' && key != 'Q' && key != '\003';
}

static void set_signals(void)
{
	struct sigaction end = { .sa_handler = on_end }, resize = { .sa_handler = on_resize };
	struct sigaction stop = { .sa_handler = on_stop };

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	sigaction(SIGQUIT, &end, NULL);
	sigaction(SIGTSTP, &stop, NULL);
	sigaction(SIGWINCH, &resize, NULL);
}

static void take_terminal(const struct top *t)
{
	struct termios raw = t->saved;

	raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);
	tcsetattr(STDIN_FILENO, TCSANOW, &raw);
	fputs(ENTER, stdout);
}

static void return_terminal(const struct top *t)
{
	fputs(LEAVE, stdout);
	fflush(stdout);
	tcsetattr(STDIN_FILENO, TCSANOW, &t->saved);
}

/* Ctrl-Z: the shell uses the terminal until `fg`. Without a shell, the kernel ignores SIGTSTP, but
 * not SIGSTOP. */
static void stop(const struct top *t)
{
	const struct sigaction usual = { .sa_handler = SIG_DFL };
	struct sigaction own;

	return_terminal(t);
	stopped = 0;
	sigaction(SIGTSTP, &usual, &own);
	raise(SIGTSTP);
	sigaction(SIGTSTP, &own, NULL);
	take_terminal(t);
}

static bool enter(struct top *t)
{
	if (!isatty(STDOUT_FILENO) || tcgetattr(STDIN_FILENO, &t->saved) < 0) {
		target_complain(t->target, "top needs a terminal; programs can use --json show");
		return false;
	}
	take_terminal(t);
	return true;
}

int top_run(struct target *target, const char *unused attr_unused)
{
	struct top t = { .target = target };
	int code = target_find(target);

	if (code >= 0)
		return code;
	if (!enter(&t))
		return EXIT_USAGE;
	set_signals();
	do {
		if (stopped)
			stop(&t);
		draw(&t);
	} while (wait_for_key());
	return_terminal(&t);
	return 0;
}

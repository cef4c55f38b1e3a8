// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `explain connection ADDRESS:PORT ADDRESS:PORT`: forwards the request to leon-accel, which has the
 * connections and checks. The answer is a part of the answer of leond. Control thread.
 */
#include "daemon/accel/leon_accel.h"
#include "daemon/accel/accel_reports.h"
#include "daemon/answer/answer.h"
#include "daemon/answer/command.h"
#include "state/conf/conf.h"

/* leon-accel is a separate process, so its answer is parsed before use. */
static enum command_result take_answer(struct command *c, const char *answer, size_t len)
{
	struct jsonr *doc = jsonr_parse(answer, len, ACCEL_RELAY_ANSWER_MAX);
	enum command_result result = CMD_DONE;
	const char *error;

	if (jsonr_error(doc) || !jsonr_root(doc))
		result = command_refuse(c, "the answer of leon-accel is not a JSON object");
	else if (jsonr_str(jsonr_root(doc), "error", &error))
		result = command_refuse(c, "leon-accel: %.200s", error);
	else
		jsonw_json(c->w, "accelerator", answer, len);
	jsonr_free(doc);
	return result;
}

static void on_answer(void *arg, const char *answer, size_t len)
{
	struct command *c = arg;

	if (answer)
		command_finish(c, take_answer(c, answer, len));
	else
		command_finish(c, command_refuse(c, "leon-accel does not answer"));
}

static bool read_endpoint(struct command *c, const char *key, struct endpoint *out)
{
	const char *text = "";

	if (c->arguments)
		jsonr_str(c->arguments, key, &text);
	if (endpoint_parse(text, 0, out) == 0 && out->port)
		return true;
	command_refuse(c, "\"%.60s\" is not ADDRESS:PORT: an IPv6 address is written in brackets",
		       text);
	return false;
}

static void write_endpoints(struct jsonw *w, const struct endpoint ep[2])
{
	answer_endpoint(w, "first", &ep[0]);
	answer_endpoint(w, "second", &ep[1]);
}

static int pass_on(struct command *c, const struct endpoint ep[2])
{
	struct jsonw *w = accel_request("explain connection");

	jsonw_object(w, "arguments");
	write_endpoints(w, ep);
	jsonw_end(w);
	return accel_relay(c->d, w, on_answer, c);
}

enum command_result explain_connection(struct command *c)
{
	struct endpoint ep[2];

	if (!read_endpoint(c, "first", &ep[0]) || !read_endpoint(c, "second", &ep[1]))
		return CMD_FAILED;
	if (!command_conf(c)->acceleration)
		return command_refuse(c, "acceleration is not configured");
	if (!accel_reports_totals(c->d))
		return command_refuse(c, "leon-accel does not run: no connection is tracked");
	write_endpoints(c->w, ep);
	if (pass_on(c, ep) < 0)
		return command_refuse(c, "leon-accel cannot be asked now: try again");
	return CMD_LATER;
}

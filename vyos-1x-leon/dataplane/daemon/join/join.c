// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * leond --join, see join.h. Runs without a loop; single thread.
 */
#include "daemon/join/join.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/jsonw.h"
#include "base/mem.h"
#include "io/file.h"
#include "state/conf/conf.h"

#define INDENT 2
/* White space inside a token is ignored, so a file may be longer than the token. */
#define TOKEN_FILE_MAX 16384
#define DEFAULT_IFNAME "leon0"

/* --- text --- */

static void new_line(FILE *f, int depth)
{
	fprintf(f, "\n%*s", depth * INDENT, "");
}

/* Reformats the output of jsonw with one key per line, for later editing. */
static void put_indented(FILE *f, const char *text)
{
	bool in_string = false;
	int depth = 0;

	for (; *text; text++) {
		if (*text == '"')
			in_string = !in_string;
		if (!in_string && (*text == '}' || *text == ']'))
			new_line(f, --depth);
		fputc(*text, f);
		if (in_string && *text == '\\')
			fputc(*++text, f);
		if (in_string)
			continue;
		if (*text == '{' || *text == '[')
			new_line(f, ++depth);
		else if (*text == ',')
			new_line(f, depth);
		else if (*text == ':')
			fputc(' ', f);
	}
	fputc('\n', f);
}

static char *indented(const char *text)
{
	char *out = NULL;
	size_t len;
	FILE *f = open_memstream(&out, &len);

	if (!f)
		bug("out of memory for a configuration");
	put_indented(f, text);
	fclose(f);
	return out;
}

static void write_peers(struct jsonw *w, const struct token *t)
{
	char name[16];

	jsonw_object(w, "peer");
	for (unsigned i = 0; i < t->n_seeds; i++) {
		snprintf(name, sizeof(name), "seed-%u", i + 1);
		jsonw_object(w, name);
		jsonw_str(w, "address", t->seed[i].host);
		if (t->seed[i].port != CONF_PEER_PORT_DEFAULT)
			jsonw_u64(w, "port", t->seed[i].port);
		jsonw_end(w);
	}
	jsonw_end(w);
}

static char *write_configuration(const struct token *t, const struct join_self *self)
{
	struct jsonw *w = jsonw_new();
	char id[NODE_ID_STRLEN], *text;
	size_t len;

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", 1);
	jsonw_str(w, "interface", self->interface);
	jsonw_u64(w, "vni", t->vni);
	jsonw_str(w, "node-id", node_id_format(self->node_id, id, sizeof(id)));
	if (self->name && conf_is_node_name(self->name))
		jsonw_str(w, "node-name", self->name);
	write_peers(w, t);
	jsonw_object(w, "authentication");
	jsonw_str(w, "pre-shared-secret", t->secret);
	jsonw_end(w);
	jsonw_end(w);
	text = indented(jsonw_text(w, &len));
	x_wipe((char *)jsonw_text(w, &len), len);
	jsonw_free(w);
	return text;
}

char *join_configuration(const struct token *t, const struct join_self *self, char *err,
			 size_t err_len)
{
	char *text = write_configuration(t, self);
	struct conf *c = conf_parse(text, strlen(text), err, err_len);

	if (!c) {
		x_wipe(text, strlen(text));
		free(text);
		return NULL;
	}
	conf_free(c);
	return text;
}

/* --- the token --- */

static int read_token(const char *from, char *text, ssize_t *len)
{
	struct stat st;
	int fd;

	if (strcmp(from, "-") == 0) {
		*len = file_read(STDIN_FILENO, text, TOKEN_FILE_MAX);
		return *len < 0 ? (int)*len : 0;
	}
	fd = file_open(from, true, &st);
	if (fd < 0)
		return fd;
	*len = file_read(fd, text, TOKEN_FILE_MAX);
	close(fd);
	return *len < 0 ? (int)*len : 0;
}

/* The error does not quote an unreadable file name, because it may be a mistyped token. */
static const char *get_token(const char *from, struct token *t)
{
	static char why[160];
	char text[TOKEN_FILE_MAX];
	const char *error;
	ssize_t len;
	int r;

	if (token_is_one(from))
		return token_decode(from, strlen(from), t);
	r = read_token(from, text, &len);
	if (r < 0) {
		snprintf(why, sizeof(why),
			 "the argument is neither a token nor a readable file: %s", file_error(r));
		return why;
	}
	error = token_decode(text, (size_t)len, t);
	x_wipe(text, sizeof(text));
	return error;
}

/* --- this node --- */

/* Random node-id in 240.0.0.0/4, which no host uses as an address. */
static node_id_t draw_node_id(void)
{
	uint32_t random = 0;

	while (random == 0 || random == 0x0fffffff)
		if (getrandom(&random, sizeof(random), 0) == sizeof(random))
			random &= 0x0fffffff;
	return 0xf0000000 | random;
}

/* The first label of the host name, if it is a valid node-name. */
static void get_host_name(char name[CONF_NODE_NAME_MAX + 1])
{
	char host[HOST_NAME_MAX + 1];

	name[0] = '\0';
	if (gethostname(host, sizeof(host)) < 0)
		return;
	host[sizeof(host) - 1] = '\0';
	snprintf(name, CONF_NODE_NAME_MAX + 1, "%.*s", (int)strcspn(host, "."), host);
}

/* /etc/leon/leon0.json is the configuration of leon0. */
static void get_interface(const char *path, char name[CONF_IFNAME_MAX + 1])
{
	const char *base = path ? strrchr(path, '/') : NULL;
	size_t len;

	base = base ? base + 1 : path ? path : DEFAULT_IFNAME;
	len = strcspn(base, ".");
	snprintf(name, CONF_IFNAME_MAX + 1, "%.*s", (int)len, base);
}

/* --- the file --- */

/* The group of the directory, which includes the daemon's user. */
static int give_to_group(const char *path)
{
	char directory[PATH_MAX];
	const char *end = strrchr(path, '/');
	struct stat st;

	snprintf(directory, sizeof(directory), "%.*s",
		 end == path ? 1 : (int)(end ? end - path : 1), end ? path : ".");
	if (stat(directory, &st) < 0)
		return -errno;
	if (st.st_gid == getegid())
		return 0;
	if (lchown(path, (uid_t)-1, st.st_gid) < 0 || chmod(path, 0640) < 0)
		return -errno;
	return 0;
}

static int save(const char *path, const char *text)
{
	int r = file_write(path, text, strlen(text), FILE_KEEP);

	if (r == 0)
		r = give_to_group(path);
	if (r < 0)
		fprintf(stderr, "leond: %s: %s\n", path,
			r == -EEXIST
				? "exists already and is not overwritten; move the file away first"
				: file_error(r));
	return r;
}

static void notify(const char *path, const struct token *t, const struct join_self *self)
{
	char id[NODE_ID_STRLEN];

	fprintf(stderr, "%s: node %s joins VNI %u through", path,
		node_id_format(self->node_id, id, sizeof(id)), t->vni);
	for (unsigned i = 0; i < t->n_seeds; i++)
		fprintf(stderr, "%s %s port %u", i ? "," : "", t->seed[i].host, t->seed[i].port);
	fprintf(stderr, ". Now: systemctl enable --now leond@%s\n", self->interface);
}

static int write_out(const struct token *t, const char *path)
{
	char interface[CONF_IFNAME_MAX + 1], name[CONF_NODE_NAME_MAX + 1], err[256], *text;
	struct join_self self = { interface, draw_node_id(), name };
	int r = 0;

	get_interface(path, interface);
	get_host_name(name);
	text = join_configuration(t, &self, err, sizeof(err));
	if (!text) {
		fprintf(stderr, "leond: the token gives no configuration: %s\n", err);
		return 1;
	}
	if (path)
		r = save(path, text);
	else
		fputs(text, stdout);
	x_wipe(text, strlen(text));
	free(text);
	if (path && r == 0)
		notify(path, t, &self);
	return r == 0 ? 0 : 1;
}

int join_run(const char *from, const char *path)
{
	struct token t;
	const char *error = get_token(from, &t);
	int code;

	if (error) {
		fprintf(stderr, "leond: %s\n", error);
		return 1;
	}
	code = write_out(&t, path);
	x_wipe(&t, sizeof(t));
	return code;
}

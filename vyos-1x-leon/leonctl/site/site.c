// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Files and systemd unit of one interface, see site.h. leonctl only.
 */
#include "site/site.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/text.h"
#include "crypto/aead.h"
#include "io/file.h"
#include "state/conf/conf.h"
#include "state/conf/new_node.h"
#include "text/text.h"

#define ETC		  "/etc/leon"
#define DEFAULT_INTERFACE "leon0"

const char *site_interface(const struct target *t)
{
	return t->interface ? t->interface : DEFAULT_INTERFACE;
}

void site_config_path(const char *interface, char path[SITE_PATH_LEN])
{
	snprintf(path, SITE_PATH_LEN, ETC "/%s.json", interface);
}

/* --- systemd --- */

/* The test of sd_booted(3). */
bool site_has_systemd(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

bool site_systemctl(const struct target *t, const char *verb, const char *interface)
{
	char unit[64];
	const char *argv[] = { "systemctl", verb, "--now", unit, NULL };
	extern char **environ;
	int status = 0, r;
	pid_t pid;

	snprintf(unit, sizeof(unit), "leond@%s", interface);
	r = posix_spawnp(&pid, argv[0], NULL, NULL, (char *const *)argv, environ);
	if (r == 0 && waitpid(pid, &status, 0) == pid && status == 0)
		return true;
	target_complain(t, "`systemctl %s --now %s` failed%s%s; see: journalctl -u %s", verb, unit,
			r ? ": " : "", r ? strerror(r) : "", unit);
	return false;
}

static void print_json(const struct site *s, bool started)
{
	printf("{\"version\":1,\"interface\":\"%s\",\"file\":\"%s\",\"node_id\":\"%s\","
	       "\"started\":%s}\n",
	       s->interface, s->path, NODE_ID_TEXT(s->node_id), started ? "true" : "false");
}

int site_start(const struct target *t, const struct site *s)
{
	bool systemd = site_has_systemd();

	if (systemd && !site_systemctl(t, "enable", s->interface))
		return EXIT_REFUSED;
	if (t->json)
		print_json(s, systemd);
	else if (systemd)
		printf("leond@%s runs, and starts at each boot.\n", s->interface);
	else
		printf("systemd does not run here. Start the node with: leond --config %s\n",
		       s->path);
	return 0;
}

/* --- the node --- */

/* Random node-id in 240.0.0.0/4, which no host uses as an address. */
static node_id_t draw_node_id(void)
{
	uint32_t random = 0;

	while (random == 0 || random == 0x0fffffff) {
		random_bytes(&random, sizeof(random));
		random &= 0x0fffffff;
	}
	return 0xf0000000 | random;
}

/* The first label of the host name, if it is a valid node-name. */
static void get_host_name(char *name, size_t len)
{
	char host[HOST_NAME_MAX + 1];

	name[0] = '\0';
	if (gethostname(host, sizeof(host)) < 0)
		return;
	host[sizeof(host) - 1] = '\0';
	host[strcspn(host, ".")] = '\0';
	if (conf_is_node_name(host))
		snprintf(name, len, "%.*s", (int)len - 1, host);
}

const char *site_label(const struct site *s)
{
	const char *id = NODE_ID_TEXT(s->node_id);

	return s->name[0] ? text_format("%s (%s)", s->name, id) : text_format("%s", id);
}

/* --- the file --- */

/* The group of the directory, which includes the daemon's user. */
static int give_to_group(const char *path)
{
	struct stat st;

	if (stat(ETC, &st) < 0)
		return -errno;
	if (chown(path, (uid_t)-1, st.st_gid) < 0 || chmod(path, 0640) < 0)
		return -errno;
	return 0;
}

static int complain_of_existing(const struct target *t, const char *path)
{
	target_complain(t, "%s exists already and is not overwritten; `leonctl leave` removes it",
			path);
	return EXIT_REFUSED;
}

static int complain_of_write(const struct target *t, const char *path, int r)
{
	target_complain(t, "%s: %s", path, file_error(r));
	return r == -EACCES || r == -EPERM ? EXIT_NOT_PERMITTED : EXIT_REFUSED;
}

static int save(const struct target *t, const char *path, const char *text)
{
	int r = file_write(path, text, strlen(text), FILE_KEEP);

	if (r == -EEXIST)
		return complain_of_existing(t, path);
	if (r == 0) {
		r = give_to_group(path);
		if (r == 0)
			return 0;
		unlink(path);
	}
	return complain_of_write(t, path, r);
}

/* A full disk, for example, is found with a file that nothing reads. */
static int try_save(const struct target *t, const char *path, const char *text)
{
	char probe[SITE_PATH_LEN + 4];
	int code;

	snprintf(probe, sizeof(probe), "%s.try", path);
	unlink(probe);
	code = save(t, probe, text);
	unlink(probe);
	return code;
}

/* The configuration of VyOS makes these files. */
static bool is_vyos(void)
{
	FILE *f = fopen("/etc/os-release", "re");
	char line[256];
	bool found = false;

	while (f && !found && fgets(line, sizeof(line), f))
		found = strcmp(line, "ID=vyos\n") == 0 || strcmp(line, "ID=\"vyos\"\n") == 0;
	if (f)
		fclose(f);
	return found;
}

/* Returns an exit code, 0 if the file may be written. */
static int check_place(const struct target *t, const struct site *s)
{
	if (is_vyos()) {
		target_complain(t,
				"on VyOS the interface belongs to the configuration of the router: "
				"set interfaces leon %s ...",
				s->interface);
		return EXIT_REFUSED;
	}
	if (access(s->path, F_OK) == 0)
		return complain_of_existing(t, s->path);
	return access(ETC, W_OK) == 0 ? 0 : complain_of_write(t, s->path, -errno);
}

/* The values of a repeated option, as a list that ends with NULL. */
static void get_list(const struct target *t, const char *name,
		     const char *list[TARGET_GIVEN_MAX + 1])
{
	const struct target_given *at = NULL;
	int n = 0;

	while ((at = target_next_option(t, name, at)))
		list[n++] = at->value;
	list[n] = NULL;
}

/* Returns the configuration, to be wiped and freed, or NULL after it printed the reason. */
static char *compose(const struct target *t, const struct token *overlay, struct site *out)
{
	const char *address[TARGET_GIVEN_MAX + 1], *source[TARGET_GIVEN_MAX + 1], *name = NULL;
	struct new_node n = { .address = address, .source_address = source, .overlay = overlay };
	char err[256], *text;

	out->interface = site_interface(t);
	out->node_id = draw_node_id();
	site_config_path(out->interface, out->path);
	get_host_name(out->name, sizeof(out->name));
	if (target_option(t, "name", &name))
		snprintf(out->name, sizeof(out->name), "%s", name);
	n.interface = out->interface;
	n.node_id = out->node_id;
	n.name = name ? name : out->name[0] ? out->name : NULL;
	get_list(t, "address", address);
	get_list(t, "source-address", source);
	target_option(t, "source-interface", &n.source_interface);
	target_option(t, "bridge", &n.bridge);
	target_option(t, "tls-port", &n.tls_port);
	text = new_node_text(&n, err, sizeof(err));
	if (!text)
		target_complain(t, "%s", err);
	return text;
}

/* --print prints the file instead of writing it. A trial writes and prints nothing. */
static int write_site(const struct target *t, const struct token *overlay, bool trial,
		      struct site *out)
{
	char *text = compose(t, overlay, out);
	int code = 0;

	if (!text)
		return EXIT_REFUSED;
	if (!target_option(t, "print", NULL)) {
		code = check_place(t, out);
		if (code == 0)
			code = trial ? try_save(t, out->path, text) : save(t, out->path, text);
	} else if (!trial) {
		fputs(text, stdout);
	}
	x_wipe(text, strlen(text));
	free(text);
	return code;
}

int site_check(const struct target *t, const struct token *overlay)
{
	struct token whole = *overlay;
	struct site s;
	int code;

	/* Any valid secret; the value has too much entropy to be refused as a weak one. */
	hex_format(overlay->value, TOKEN_VALUE_LEN, whole.secret);
	code = write_site(t, &whole, true, &s);
	x_wipe(&whole, sizeof(whole));
	return code;
}

int site_write(const struct target *t, const struct token *overlay, struct site *out)
{
	return write_site(t, overlay, false, out);
}

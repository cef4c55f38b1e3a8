// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `leonctl leave`: undoes `init` and `join`. Stops and disables the unit, and removes the
 * configuration, the identity key, the list of members and the invitations. leonctl only.
 */
#include "run.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/defs.h"
#include "base/mem.h"
#include "io/file.h"
#include "site/site.h"
#include "state/conf/conf.h"

#define CONFIG_MAX (4u << 20)

struct leaving {
	const char *interface;
	char config[SITE_PATH_LEN], identity[SITE_PATH_LEN];
	char members[FILE_BESIDE_LEN], invitations[FILE_BESIDE_LEN];
	char socket[TARGET_PATH_LEN];
};

/* The configuration names the files. An invalid file leaves the usual names. Returns false if the
 * files are those of another interface. */
static bool read_names(const struct target *t, const char *text, size_t len, struct leaving *l)
{
	char err[256];
	struct conf *c = conf_parse(text, len, err, sizeof(err));
	bool own = !c || strcmp(c->interface, l->interface) == 0;

	if (!own) {
		target_complain(
			t, "%s is a configuration of %s: correct `interface`, or remove the file",
			l->config, c->interface);
	} else if (c) {
		snprintf(l->identity, sizeof(l->identity), "%s", c->identity_file);
		snprintf(l->socket, sizeof(l->socket), "%s", c->control_socket);
	}
	conf_free(c);
	return own;
}

/* Returns an exit code, 0 for success. */
static int find_files(const struct target *t, struct leaving *l)
{
	char *text = x_calloc(1, CONFIG_MAX);
	bool own = true;
	ssize_t len;

	l->interface = site_interface(t);
	if (strchr(l->interface, '/')) {
		free(text);
		target_complain(t, "an interface name has no \"/\"");
		return EXIT_USAGE;
	}
	site_config_path(l->interface, l->config);
	snprintf(l->identity, sizeof(l->identity), "/var/lib/leon/%s.identity", l->interface);
	snprintf(l->socket, sizeof(l->socket), TARGET_RUN_DIR "/%s.sock", l->interface);
	len = file_load(l->config, true, text, CONFIG_MAX, NULL);
	if (len > 0)
		own = read_names(t, text, (size_t)len, l);
	x_wipe(text, CONFIG_MAX);
	free(text);
	if (!own)
		return EXIT_REFUSED;
	file_beside(l->socket, ".sock", ".members", l->members);
	file_beside(l->identity, ".identity", ".invitations", l->invitations);
	/* A configuration without readable names can be removed, too. */
	if (len >= 0 || len == -EFBIG)
		return 0;
	target_complain(t, "%s: %s", l->config, file_error((int)len));
	return len == -EACCES ? EXIT_NOT_PERMITTED : EXIT_REFUSED;
}

/* Returns true if a person or --yes agrees. */
static bool is_agreed(const struct target *t, const struct leaving *l)
{
	char answer[16] = "";

	if (target_option(t, "yes", NULL))
		return true;
	if (!isatty(STDIN_FILENO) || t->json) {
		target_complain(t,
				"leave removes the configuration and the identity of %s; "
				"confirm with --yes",
				l->interface);
		return false;
	}
	printf("Remove %s and %s? The identity cannot be restored. [y/N] ", l->config, l->identity);
	fflush(stdout);
	return fgets(answer, sizeof(answer), stdin) && (answer[0] == 'y' || answer[0] == 'Y');
}

/* Without systemd, a person starts and ends leond. */
static bool is_stopped(struct target *t, const struct leaving *l)
{
	char *answer = NULL;
	size_t len;
	int r;

	if (site_has_systemd())
		return site_systemctl(t, "disable", l->interface);
	snprintf(t->path, sizeof(t->path), "%s", l->socket);
	r = target_request(t, "{}", 5000, &answer, &len);
	free(answer);
	if (r == -ENOENT || r == -ECONNREFUSED)
		return true;
	target_complain(t, "leond of %s runs; end it first", l->interface);
	return false;
}

static bool is_removed(const struct target *t, const char *path)
{
	if (unlink(path) == 0 || errno == ENOENT)
		return true;
	target_complain(t, "%s: %s", path, strerror(errno));
	return false;
}

int leave_run(struct target *t, const char *unused attr_unused)
{
	struct leaving l;
	int code = find_files(t, &l);

	if (code)
		return code;
	if (!is_agreed(t, &l) || !is_stopped(t, &l))
		return EXIT_REFUSED;
	/* The configuration is last: it names the other files for a second attempt. */
	if (!is_removed(t, l.members) || !is_removed(t, l.invitations) ||
	    !is_removed(t, l.identity) || !is_removed(t, l.config))
		return EXIT_REFUSED;
	if (t->json)
		printf("{\"version\":1,\"interface\":\"%s\",\"left\":true}\n", l.interface);
	else
		printf("%s has left the overlay: %s and %s are removed\n", l.interface, l.config,
		       l.identity);
	return 0;
}

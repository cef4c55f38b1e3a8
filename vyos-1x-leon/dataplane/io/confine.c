// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Confinement of programs that leond starts, see confine.h.
 */
#include "io/confine.h"

#include <linux/capability.h>
#include <linux/landlock.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Set in the environment of the second exec. */
#define AGAIN "LEON_CONFINED_AGAIN"
/* All rights of the first version of Landlock (Linux 5.13). */
#define FILE_RIGHTS ((LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1)

bool confine_has_control(void)
{
	int type = 0;
	socklen_t len = sizeof(type);

	return getsockopt(CONFINE_CONTROL_FD, SOL_SOCKET, SO_TYPE, &type, &len) == 0 &&
	       type == SOCK_SEQPACKET;
}

static bool has_rights(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct now[2] = { 0 };

	return syscall(SYS_capget, &h, now) < 0 || now[0].permitted || now[1].permitted;
}

/* The filter of the unit forbids capset(). Without ambient capabilities, an exec of a user other
 * than root leaves none. */
static bool give_up_rights(char **argv)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[2] = { 0 };

	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	if (!has_rights() || syscall(SYS_capset, &h, none) == 0)
		return true;
	if (getuid() != 0 && !getenv(AGAIN) && setenv(AGAIN, "1", 1) == 0)
		execv("/proc/self/exe", argv);
	return false;
}

bool confine(const char *name, char **argv)
{
	struct rlimit core = { 0, 0 };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || !give_up_rights(argv))
		return false;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_DUMPABLE, 0);
	prctl(PR_SET_NAME, name); /* "exe" after the second exec */
	setrlimit(RLIMIT_CORE, &core);
	/* systemd sends SIGTERM to all; leond ends the program. */
	signal(SIGTERM, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGPIPE, SIG_IGN);
	return true;
}

bool confine_files(void)
{
	const struct landlock_ruleset_attr all = { .handled_access_fs = FILE_RIGHTS };
	int rules = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	bool refused;

	if (rules < 0)
		return false;
	refused = syscall(SYS_landlock_restrict_self, rules, 0) == 0;
	close(rules);
	return refused;
}

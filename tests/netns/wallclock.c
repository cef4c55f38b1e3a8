// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Another wall clock for one process, as a preloaded library. CLOCK_REALTIME and the kernel's times
 * of arrival are shifted by the nanoseconds in the file WALLCLOCK at the time of the call. Linux
 * has no namespace for wall clocks, and a test must not set the clock of the machine. Monotonic
 * clocks and timers are unchanged, as after a change of a real clock.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define NS 1000000000LL

static const volatile int64_t *offset_ns;

__attribute__((constructor)) static void map_offset(void)
{
	const char *path = getenv("WALLCLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *p =
		fd < 0 ? MAP_FAILED : mmap(NULL, sizeof(*offset_ns), PROT_READ, MAP_SHARED, fd, 0);

	if (p != MAP_FAILED)
		offset_ns = p;
	if (fd >= 0)
		close(fd);
}

static void shift(struct timespec *ts)
{
	int64_t ns = (int64_t)ts->tv_sec * NS + ts->tv_nsec + (offset_ns ? *offset_ns : 0);

	ts->tv_sec = ns / NS;
	ts->tv_nsec = ns % NS;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	int r = (int)syscall(SYS_clock_gettime, id, ts);

	if (r == 0 && (id == CLOCK_REALTIME || id == CLOCK_REALTIME_COARSE))
		shift(ts);
	return r;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

time_t time(time_t *out)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (out)
		*out = ts.tv_sec;
	return ts.tv_sec;
}

static void shift_arrival(struct msghdr *m)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c; c = CMSG_NXTHDR(m, c)) {
		struct timespec ts;

		if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS)
			continue;
		memcpy(&ts, CMSG_DATA(c), sizeof(ts));
		shift(&ts);
		memcpy(CMSG_DATA(c), &ts, sizeof(ts));
	}
}

int recvmmsg(int fd, struct mmsghdr *m, unsigned int n, int flags, struct timespec *timeout)
{
	int r = (int)syscall(SYS_recvmmsg, fd, m, n, flags, timeout);

	for (int i = 0; i < r; i++)
		shift_arrival(&m[i].msg_hdr);
	return r;
}

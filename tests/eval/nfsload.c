// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The load of the paper's evaluation over NFSv3 (section 5), in user space with libnfs, because the
 * kernel may have no NFS client. eval_nfs.py runs this program in the namespace of a site.
 *
 *     nfsload HOST EXPORT FILES MEGABYTES SECONDS
 *
 * One connection creates, queries and deletes FILES files in sequence, and then writes and reads
 * MEGABYTES. Five connections then do random operations of 4 KiB in the last file, nine reads for
 * each write, for SECONDS. The program prints a line of JSON. Any failure ends the program with a
 * message.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <nfsc/libnfs.h>

#define JOBS  5
#define BLOCK 4096
#define CHUNK (256 * 1024)
#define DATA  "/data"

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void check(struct nfs_context *nfs, int status, const char *what)
{
	if (status >= 0)
		return;
	fprintf(stderr, "nfsload: %s: %s\n", what, nfs_get_error(nfs));
	exit(1);
}

static struct nfs_context *mount_export(const char *host, const char *export)
{
	struct nfs_context *nfs = nfs_init_context();

	if (!nfs) {
		fprintf(stderr, "nfsload: no memory\n");
		exit(1);
	}
	check(nfs, nfs_set_version(nfs, 3), "version 3");
	nfs_set_timeout(nfs, 60000);
	check(nfs, nfs_mount(nfs, host, export), "mount");
	return nfs;
}

static void file_name(int i, char *name, size_t len)
{
	snprintf(name, len, "/file%06d", i);
}

/* Operations per second of a single kind, in sequence. */
static double create_all(struct nfs_context *nfs, int n)
{
	double begin = now();

	for (int i = 0; i < n; i++) {
		struct nfsfh *fh;
		char name[32];

		file_name(i, name, sizeof(name));
		check(nfs, nfs_creat(nfs, name, 0644, &fh), "create");
		check(nfs, nfs_close(nfs, fh), "close");
	}
	return n / (now() - begin);
}

static double stat_all(struct nfs_context *nfs, int n)
{
	double begin = now();

	for (int i = 0; i < n; i++) {
		struct nfs_stat_64 st;
		char name[32];

		file_name(i, name, sizeof(name));
		check(nfs, nfs_stat64(nfs, name, &st), "stat");
	}
	return n / (now() - begin);
}

static double delete_all(struct nfs_context *nfs, int n)
{
	double begin = now();

	for (int i = 0; i < n; i++) {
		char name[32];

		file_name(i, name, sizeof(name));
		check(nfs, nfs_unlink(nfs, name), "delete");
	}
	return n / (now() - begin);
}

/* KB/s, as in bonnie++. */
static double write_data(struct nfs_context *nfs, char *buf, size_t total)
{
	double begin = now();
	struct nfsfh *fh;

	check(nfs, nfs_open(nfs, DATA, O_RDWR | O_CREAT | O_TRUNC, &fh), "open for writing");
	for (size_t at = 0; at < total; at += CHUNK)
		check(nfs, nfs_pwrite(nfs, fh, at, CHUNK, buf), "write");
	check(nfs, nfs_fsync(nfs, fh), "fsync");
	check(nfs, nfs_close(nfs, fh), "close");
	return (double)total / 1024 / (now() - begin);
}

static double read_data(struct nfs_context *nfs, char *buf, size_t total)
{
	double begin = now();
	struct nfsfh *fh;

	check(nfs, nfs_open(nfs, DATA, O_RDONLY, &fh), "open for reading");
	for (size_t at = 0; at < total; at += CHUNK)
		if (nfs_pread(nfs, fh, at, CHUNK, buf) != CHUNK)
			check(nfs, -1, "read");
	check(nfs, nfs_close(nfs, fh), "close");
	return (double)total / 1024 / (now() - begin);
}

/* Runs a job. Returns the number of operations. */
static uint64_t random_job(const char *host, const char *export, unsigned seed, size_t total,
			   double seconds)
{
	struct nfs_context *nfs = mount_export(host, export);
	uint64_t blocks = total / BLOCK, n = 0;
	char buf[BLOCK] = "";
	struct nfsfh *fh;
	double end;

	check(nfs, nfs_open(nfs, DATA, O_RDWR, &fh), "open for random access");
	end = now() + seconds;
	srandom(seed);
	for (; now() < end; n++) {
		uint64_t at = (uint64_t)random() % blocks * BLOCK;

		if (n % 10 == 9)
			check(nfs, nfs_pwrite(nfs, fh, at, BLOCK, buf), "random write");
		else if (nfs_pread(nfs, fh, at, BLOCK, buf) != BLOCK)
			check(nfs, -1, "random read");
	}
	nfs_close(nfs, fh);
	nfs_destroy_context(nfs);
	return n;
}

static double random_all(const char *host, const char *export, size_t total, double seconds)
{
	uint64_t sum = 0, n;
	int fds[2];

	if (pipe(fds) < 0) {
		perror("nfsload: pipe");
		exit(1);
	}
	for (unsigned i = 0; i < JOBS; i++) {
		pid_t pid = fork();

		if (pid < 0) {
			perror("nfsload: fork");
			exit(1);
		}
		if (pid == 0) {
			n = random_job(host, export, i + 1, total, seconds);
			_exit(write(fds[1], &n, sizeof(n)) != sizeof(n));
		}
	}
	close(fds[1]);
	for (unsigned i = 0; i < JOBS; i++) {
		if (read(fds[0], &n, sizeof(n)) != sizeof(n)) {
			fprintf(stderr, "nfsload: a job of random access failed\n");
			exit(1);
		}
		sum += n;
	}
	while (wait(NULL) > 0)
		;
	return (double)sum / seconds;
}

static long number(const char *text, const char *what)
{
	char *end;
	long n = strtol(text, &end, 10);

	if (n > 0 && n < 1 << 20 && !*end)
		return n;
	fprintf(stderr, "nfsload: %s is a number above 0, not %s\n", what, text);
	exit(2);
}

int main(int argc, char **argv)
{
	struct nfs_context *nfs;
	double create, info, delete, write_kbs, read_kbs, seek, seconds;
	size_t total;
	char *buf;
	int n;

	if (argc != 6) {
		fprintf(stderr, "usage: nfsload HOST EXPORT FILES MEGABYTES SECONDS\n");
		return 2;
	}
	n = (int)number(argv[3], "FILES");
	total = (size_t)number(argv[4], "MEGABYTES") << 20;
	seconds = (double)number(argv[5], "SECONDS");
	buf = calloc(1, CHUNK);
	if (!buf) {
		perror("nfsload");
		return 1;
	}
	nfs = mount_export(argv[1], argv[2]);
	create = create_all(nfs, n);
	info = stat_all(nfs, n);
	delete = delete_all(nfs, n);
	write_kbs = write_data(nfs, buf, total);
	read_kbs = read_data(nfs, buf, total);
	seek = random_all(argv[1], argv[2], total, seconds);
	check(nfs, nfs_unlink(nfs, DATA), "delete the data");
	printf("{\"create\": %.2f, \"info\": %.2f, \"delete\": %.2f, \"write\": %.0f, "
	       "\"read\": %.0f, \"random\": %.1f}\n",
	       create, info, delete, write_kbs, read_kbs, seek);
	nfs_destroy_context(nfs);
	free(buf);
	return 0;
}

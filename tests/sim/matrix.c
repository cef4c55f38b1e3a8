// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads PlanetLab latency matrices (../shared/latency beside the source tree: one line a node,
 * tab-separated round-trip times in ms, gzip). Runs zcat without a shell; tests only.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim.h"

#define COLUMNS 490
#define LINE	16384

static FILE *open_gz(const char *path, pid_t *pid)
{
	int fds[2];

	if (access(path, R_OK) < 0 || pipe(fds) < 0)
		return NULL;
	*pid = fork();
	if (*pid == 0) {
		dup2(fds[1], STDOUT_FILENO);
		close(fds[0]);
		close(fds[1]);
		execlp("zcat", "zcat", path, (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	return fdopen(fds[0], "r");
}

static void choose(unsigned n, uint64_t *rng, unsigned *index)
{
	unsigned all[COLUMNS];

	for (unsigned i = 0; i < COLUMNS; i++)
		all[i] = i;
	for (unsigned i = 0; i < n; i++) {
		unsigned k = i;

		if (rng) {
			*rng = hash_mix64(*rng + 1);
			k = i + (unsigned)(*rng % (COLUMNS - i));
		}
		index[i] = all[k];
		all[k] = all[i];
	}
}

bool matrix_planetlab(const char *file, unsigned n, uint64_t *rng, int64_t *rtt_us)
{
	double *full = calloc(COLUMNS * COLUMNS, sizeof(double));
	char path[512], line[LINE];
	unsigned index[COLUMNS], row = 0;
	pid_t pid = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/../shared/latency/%s", SOURCE_ROOT, file);
	f = full ? open_gz(path, &pid) : NULL;
	while (f && row < COLUMNS && fgets(line, sizeof(line), f)) {
		char *at = line;

		for (unsigned c = 0; c < COLUMNS; c++)
			full[row * COLUMNS + c] = strtod(at, &at);
		row++;
	}
	if (f)
		fclose(f);
	if (pid > 0)
		waitpid(pid, NULL, 0);
	if (row == COLUMNS) {
		choose(n, rng, index);
		for (unsigned a = 0; a < n; a++) {
			for (unsigned b = 0; b < n; b++) {
				double ab = full[index[a] * COLUMNS + index[b]];

				rtt_us[a * n + b] = ab > 0.05 ? (int64_t)(ab * 1000) : 50;
			}
		}
	} else {
		printf("# no latency matrix at %s\n", path);
	}
	free(full);
	return row == COLUMNS;
}

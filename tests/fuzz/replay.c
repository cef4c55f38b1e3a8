// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Driver of a fuzz target for builds without libFuzzer. The driver runs every file of a corpus
 * directory, and then a total number of mutations from a fixed seed, equally many of each file. So
 * a plain `meson test` (under the sanitizers in CI) tests the decoders with damaged input. One
 * thread. Owns nothing. The exit code is 1 if the corpus is missing or empty. SIGVTALRM ends the
 * program if an input takes longer than INPUT_CPU_S.
 */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#define INPUT_MAX 65536u
/* CPU time of the process, which does not depend on other load. */
#define INPUT_CPU_S 10

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* xorshift64*: reproducible on every machine, unlike rand(). */
static uint64_t next_random(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 0x2545f4914f6cdd1dULL;
}

/* A heap copy of exact size, so that AddressSanitizer detects a read beyond its end. */
static void feed(const uint8_t *data, size_t len)
{
	const struct itimerval limit = { .it_value.tv_sec = INPUT_CPU_S };
	uint8_t *copy = malloc(len ? len : 1);

	if (!copy)
		abort();
	memcpy(copy, data, len);
	setitimer(ITIMER_VIRTUAL, &limit, NULL);
	LLVMFuzzerTestOneInput(copy, len);
	free(copy);
}

/* Flips, overwrites, truncates or extends the input at one to four places. Returns the new
 * length. */
static size_t mutate(uint8_t *buf, size_t len, uint64_t *rnd)
{
	unsigned rounds = 1 + (unsigned)(next_random(rnd) % 4);

	while (rounds--) {
		uint64_t r = next_random(rnd);
		size_t at = len ? (size_t)(r >> 8) % len : 0;

		switch (r & 3) {
		case 0:
			if (len)
				buf[at] ^= (uint8_t)(1u << ((r >> 40) & 7));
			break;
		case 1:
			if (len)
				buf[at] = (uint8_t)(r >> 48);
			break;
		case 2:
			len = at;
			break;
		default:
			if (len < INPUT_MAX)
				buf[len++] = (uint8_t)(r >> 48);
			break;
		}
	}
	return len;
}

static bool replay_file(const char *dir, const char *name, unsigned mutations, uint64_t *rnd)
{
	static uint8_t original[INPUT_MAX], work[INPUT_MAX];
	char path[4096];
	FILE *f;
	size_t len;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	f = fopen(path, "rb");
	if (!f) {
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
		return false;
	}
	len = fread(original, 1, sizeof(original), f);
	fclose(f);
	feed(original, len);
	for (unsigned i = 0; i < mutations; i++) {
		memcpy(work, original, len);
		feed(work, mutate(work, len, rnd));
	}
	return true;
}

static int not_hidden(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

static int replay_dir(const char *dir, unsigned mutations)
{
	uint64_t rnd = 0x4c454f4eULL;
	struct dirent **entries;
	int n = scandir(dir, &entries, not_hidden, alphasort);
	bool good = n > 0;

	if (n <= 0) {
		fprintf(stderr, "%s: no corpus\n", dir);
		if (n == 0)
			free(entries);
		return 1;
	}
	for (int i = 0; i < n; i++) {
		good = replay_file(dir, entries[i]->d_name, mutations / (unsigned)n, &rnd) && good;
		free(entries[i]);
	}
	free(entries);
	printf("%s: %d inputs, %u mutations of each\n", dir, n, mutations / (unsigned)n);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc != 3) {
		fprintf(stderr, "usage: %s CORPUS_DIRECTORY MUTATIONS\n", argv[0]);
		return 2;
	}
	return replay_dir(argv[1], (unsigned)strtoul(argv[2], NULL, 10));
}

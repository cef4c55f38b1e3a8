// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Intercepted connections, see intercepted.h: a table in a shared mapping, written with the proxy
 * socket and at the end of an interception. Its format depends on machine and version, and a table
 * of another format is ignored.
 */
#include "frames/intercepted.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"

#define MAGIC 0x4c414331u

struct intercepted_place {
	uint32_t used;
	struct intercepted_one one;
};

struct table {
	uint32_t magic, size;
	struct intercepted_place place[INTERCEPTED_PLACES];
};

struct intercepted_file {
	struct table *table;
	unsigned next;			     /* Start of the search for a free place. */
	unsigned before[INTERCEPTED_PLACES]; /* Places of the previous processes. */
	unsigned n_before;
};

static bool is_sane(const struct intercepted_one *one)
{
	uint8_t family = one->key.near.family;

	return (family == 4 || family == 6) && one->key.far.family == family && one->node;
}

static void read_before(struct intercepted_file *t)
{
	if (t->table->magic != MAGIC || t->table->size != sizeof(*t->table))
		memset(t->table, 0, sizeof(*t->table));
	t->table->magic = MAGIC;
	t->table->size = sizeof(*t->table);
	for (unsigned i = 0; i < INTERCEPTED_PLACES; i++) {
		struct intercepted_place *p = &t->table->place[i];

		p->used = p->used && is_sane(&p->one);
		if (p->used)
			t->before[t->n_before++] = i;
	}
}

/* Returns the descriptor of a file of the right size, or -errno. */
static int open_file(const char *path)
{
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600)
		      : memfd_create("taken", MFD_CLOEXEC);
	int err;

	if (fd < 0)
		return -errno;
	/* The file is allocated now, because a write to the mapping on a full file system would
	 * raise SIGBUS. */
	err = posix_fallocate(fd, 0, sizeof(struct table));
	if (!err)
		return fd;
	close(fd);
	return -err;
}

int intercepted_open(struct intercepted_file **out, const char *path)
{
	struct intercepted_file *t = x_new(struct intercepted_file);
	int fd = open_file(path);
	void *map = MAP_FAILED;

	*out = t;
	if (fd >= 0)
		map = mmap(NULL, sizeof(*t->table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd >= 0)
		close(fd);
	if (map == MAP_FAILED) {
		free(t);
		*out = NULL;
		return fd < 0 ? fd : -ENOMEM;
	}
	t->table = map;
	read_before(t);
	return 0;
}

void intercepted_close(struct intercepted_file *t)
{
	if (!t)
		return;
	munmap(t->table, sizeof(*t->table));
	free(t);
}

int intercepted_put(struct intercepted_file *t, const struct intercepted_one *one)
{
	for (unsigned i = 0; i < INTERCEPTED_PLACES; i++) {
		unsigned at = (t->next + i) % INTERCEPTED_PLACES;

		if (t->table->place[at].used)
			continue;
		t->table->place[at].one = *one;
		/* A process killed in between leaves a free place. */
		atomic_signal_fence(memory_order_release);
		t->table->place[at].used = 1;
		t->next = at + 1;
		return (int)at;
	}
	return -1;
}

void intercepted_drop(struct intercepted_file *t, int at)
{
	if (at >= 0)
		t->table->place[at].used = 0;
}

const struct intercepted_one *intercepted_before(const struct intercepted_file *t, unsigned i)
{
	return i < t->n_before ? &t->table->place[t->before[i]].one : NULL;
}

int intercepted_own_before(struct intercepted_file *t, unsigned i)
{
	unsigned at = t->before[i];

	t->before[i] = t->before[--t->n_before];
	return (int)at;
}

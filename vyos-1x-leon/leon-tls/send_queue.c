// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Frames that wait for a connection, see stream.h: a ring of bytes, with the time of arrival
 * before each frame.
 */
#include "stream.h"

#include <stdlib.h>
#include <string.h>

#include "base/defs.h"
#include "base/mem.h"

#define RECORD_HDR_LEN (sizeof(int64_t) + FRAME_HDR_LEN)

struct send_queue {
	size_t head, used; /* position of the oldest record; bytes of all records */
	uint8_t ring[QUEUE_BYTES];
};

struct send_queue *send_queue_new(void)
{
	return x_new(struct send_queue);
}

static void put(struct send_queue *q, const void *data, size_t len)
{
	size_t at = (q->head + q->used) % QUEUE_BYTES, first = min_of(len, QUEUE_BYTES - at);

	memcpy(q->ring + at, data, first);
	memcpy(q->ring, (const uint8_t *)data + first, len - first);
	q->used += len;
}

static void look(const struct send_queue *q, size_t offset, void *out, size_t len)
{
	size_t at = (q->head + offset) % QUEUE_BYTES, first = min_of(len, QUEUE_BYTES - at);

	memcpy(out, q->ring + at, first);
	memcpy((uint8_t *)out + first, q->ring, len - first);
}

static void skip(struct send_queue *q, size_t len)
{
	q->head = (q->head + len) % QUEUE_BYTES;
	q->used -= len;
}

/* Length of the oldest frame with the header. */
static size_t frame_len(const struct send_queue *q)
{
	uint8_t hdr[FRAME_HDR_LEN];

	look(q, sizeof(int64_t), hdr, sizeof(hdr));
	return FRAME_HDR_LEN + ((size_t)hdr[0] << 8 | hdr[1]);
}

static void drop_oldest(struct send_queue *q)
{
	skip(q, sizeof(int64_t) + frame_len(q));
}

unsigned send_queue_push(struct send_queue *q, const uint8_t *data, size_t len, uint8_t class,
			 mono_t now)
{
	uint8_t hdr[FRAME_HDR_LEN];
	unsigned dropped = 0;

	if (len == 0 || len > FRAME_DATA_MAX)
		return 1;
	for (; QUEUE_BYTES - q->used < RECORD_HDR_LEN + len; dropped++)
		drop_oldest(q);
	frame_header(hdr, len, class);
	put(q, &now.ns, sizeof(now.ns));
	put(q, hdr, sizeof(hdr));
	put(q, data, len);
	return dropped;
}

unsigned send_queue_expire(struct send_queue *q, mono_t now)
{
	unsigned dropped = 0;
	int64_t at_ns;

	for (; q->used > sizeof(int64_t) + frame_len(q); dropped++) {
		look(q, 0, &at_ns, sizeof(at_ns));
		if (mono_sub_ms(now, (mono_t){ at_ns }) < QUEUE_AGE_MS)
			break;
		drop_oldest(q);
	}
	return dropped;
}

size_t send_queue_pull(struct send_queue *q, uint8_t *out, size_t room, uint64_t *n)
{
	size_t done = 0;

	while (q->used) {
		size_t len = frame_len(q);

		if (done && done + len > room)
			break;
		look(q, sizeof(int64_t), out + done, len);
		skip(q, sizeof(int64_t) + len);
		done += len;
		(*n)++;
	}
	return done;
}

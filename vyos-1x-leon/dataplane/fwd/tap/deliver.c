// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Step: writes frames to the TAP, see deliver.h. Workers.
 */
#include "fwd/tap/deliver.h"

#include <linux/virtio_net.h>
#include <sys/uio.h>

#include "base/defs.h"
#include "base/log.h"
#include "fwd/worker.h"

static void write_unit(struct worker *w, unsigned i)
{
	const struct coalesce_unit *u = &w->deliver.batch.unit[i];
	struct virtio_net_hdr h;
	struct iovec iov[1 + COALESCE_IOV];
	unsigned n = coalesce_gather(&w->deliver.batch, i, &h, iov + 1);
	ssize_t len;

	iov[0] = (struct iovec){ &h, sizeof(h) };
	len = writev(w->deliver.fd, iov, (int)n + 1);
	if (unlikely(len < 0)) {
		drop_many(w, DROP_tap_write_failed, u->n);
		return;
	}
	count(w, CNT_tap_tx_frames, 1);
	count(w, CNT_tap_tx_bytes, (uint64_t)len - sizeof(h));
	count(w, CNT_tap_tx_super, u->n > 1);
	count(w, CNT_delivered_frames, u->n);
}

/* `keep`: a reassembled frame outside the batch, or NULL. */
static void flush(struct worker *w, const uint8_t *keep)
{
	for (unsigned i = 0; i < w->deliver.batch.n_units; i++)
		write_unit(w, i);
	coalesce_reset(&w->deliver.batch);
	if (unlikely(handover_waits(&w->handover)))
		handover_flush(w);
	/* Reassembled frames stay in their buffers until here. */
	reasm_reap(w->reasm, keep);
}

void deliver_flush(struct worker *w)
{
	flush(w, NULL);
}

void deliver_add(struct worker *w, const struct delivery *d, const struct eth_view *v)
{
	if (likely(coalesce_add(&w->deliver.batch, d, v)))
		return;
	flush(w, d->data);
	if (!coalesce_add(&w->deliver.batch, d, v))
		bug("an empty batch takes no frame");
}

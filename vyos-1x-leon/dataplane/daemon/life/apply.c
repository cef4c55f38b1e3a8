// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reload: reads the configuration file again and applies the difference to the running daemon
 * without dropping a frame. All or nothing: if one key needs a restart, nothing changes and the
 * verdict names the keys. Control thread.
 */
#include <stdio.h>

#include "base/loop.h"
#include "daemon/device/device.h"
#include "daemon/life/life.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "daemon/transport/transport.h"
#include "daemon/underlay/underlay.h"
#include "daemon/verdict.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"
#include "state/tables/fdb.h"

#define NAMED_MAX 4 /* nodes named in a warning; the others are counted */
/* Time in which other nodes learn of a new `transit disable` and change their paths. */
#define RELAY_GRACE_MS 5000

/* `d->conf` is the new configuration already. */
static void apply_changes(struct leond *d, unsigned changes)
{
	const struct conf *c = d->conf;

	if (changes & CONF_LOG)
		log_set_level(c->log_level);
	overlay_set_conf(d->overlay, c);
	if ((changes & CONF_FDB) && c->fdb_maximum != fdb_maximum(d->fdb)) {
		snapshot_replace_fdb(d, c->fdb_maximum);
		snapshot_replace_neigh(d, c->fdb_maximum);
	}
	if (changes & CONF_FDB)
		fdb_set_vlan_maximum(d->fdb, c->fdb_vlan_maximum);
	modules_apply(d, changes);
	device_renew(d);
	streams_renew(d);
	/* The snapshot contains storm-control, suppression, transit and similar settings. */
	snapshot_publish(d);
}

/* "seoul (192.0.2.3), inagi (198.51.100.2) and 3 more" */
static void list_nodes(struct leond *d, const node_id_t *id, unsigned n, unsigned n_all, char *buf,
		       size_t len)
{
	size_t at = 0;

	for (unsigned i = 0; i < n && at < len; i++)
		at += (size_t)snprintf(buf + at, len - at, "%s%s", i ? ", " : "",
				       NODE_LABEL(d, id[i]));
	if (n_all > n && at < len)
		snprintf(buf + at, len - at, " and %u more", n_all - n);
}

/* A secret that other nodes lack works until the present sessions end. The warning comes while the
 * change can be undone. */
static void warn_of_secrets(struct leond *d, struct apply_verdict *v)
{
	node_id_t id[NAMED_MAX];
	unsigned n_all = overlay_has_no_common_secret(d->overlay, id, NAMED_MAX);
	char who[NAMED_MAX * (NODE_LABEL_LEN + 2) + 24];

	if (n_all == 0)
		return;
	list_nodes(d, id, min_of(n_all, (unsigned)NAMED_MAX), n_all, who, sizeof(who));
	snprintf(v->warning, sizeof(v->warning),
		 "%u %s no secret in common with this node any more, %s: sessions with these "
		 "nodes end in %d s. For a change without interruption, configure accept-secret "
		 "on all nodes first",
		 n_all, n_all == 1 ? "node has" : "nodes have", who, SESSION_REVOKED_MS / 1000);
	report_event(d, FACTS(EV_SECRET_NOT_COMMON), "%s", v->warning);
}

static void decide(struct leond *d, struct conf *fresh, struct apply_verdict *v)
{
	struct conf *old = d->conf;
	unsigned changes;

	cache_append_to(d, fresh);
	changes = conf_diff(old, fresh);
	v->ok = true;
	if (changes & CONF_RESTART) {
		conf_restart_keys(old, fresh, v->restart_keys, sizeof(v->restart_keys));
		snprintf(v->text, sizeof(v->text), "restart needed: %s", v->restart_keys);
		conf_free(fresh);
		return;
	}
	v->changes = changes;
	snprintf(v->text, sizeof(v->text), "applied");
	if (fresh->transit_disable && !old->transit_disable)
		d->states->relays_until = mono_add_ms(loop_now(d->loop), RELAY_GRACE_MS);
	d->conf = fresh;
	apply_changes(d, changes);
	if (changes & CONF_KEYS) {
		warn_of_secrets(d, v);
		v->advice = advice_of_secret(fresh);
	}
	if (v->advice)
		log_warn("config", "%s", v->advice);
	conf_free(old);
}

void leond_reload(struct leond *d, struct apply_verdict *v)
{
	struct conf *fresh;

	*v = (struct apply_verdict){ .ok = false };
	loop_notify(d->loop, "RELOADING=1");
	fresh = conf_read_file(d->conf->file, v->text, sizeof(v->text));
	if (fresh)
		decide(d, fresh, v);
	loop_notify(d->loop, "READY=1");
	if (!v->ok)
		log_error("config", "reload refused, the old configuration stays: %s", v->text);
	else if (v->restart_keys[0])
		log_warn("config", "reload: %s", v->text);
	else
		report_event(d, FACTS(EV_RELOADED, .value = v->changes), "configuration %s",
			     v->changes ? "applied" : "unchanged");
}

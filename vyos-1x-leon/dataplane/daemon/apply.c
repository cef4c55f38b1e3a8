// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reload: reads the configuration file again and applies the difference to the running daemon
 * without dropping a frame. All or nothing: where one key needs a restart nothing is changed and
 * the verdict names the keys. Control thread.
 */
#include <stdio.h>

#include "daemon/leond.h"

/* `d->conf` is the new configuration already. */
static void apply_changes(struct leond *d, unsigned changes)
{
	const struct conf *c = d->conf;

	if (changes & CONF_LOG)
		log_set_level(c->log_level);
	overlay_set_conf(d->overlay, c);
	if (changes & CONF_PEERS)
		seeds_reset(d);
	if ((changes & CONF_FDB) && c->fdb_maximum != fdb_maximum(d->fdb))
		snapshot_replace_fdb(d, c->fdb_maximum);
	if (changes & CONF_FRAMES)
		guard_apply_conf(d);
	if (changes & (CONF_DEVICE | CONF_PATHS))
		device_apply_conf(d);
	if (changes & CONF_ROUTES) {
		announcer_apply_conf(d);
		locators_update(d);
		routes_addresses_changed(d);
	}
	/* Storm-control, suppression, transit and the like are in the snapshot. */
	snapshot_publish(d);
}

static void decide(struct leond *d, struct conf *fresh, struct apply_verdict *v)
{
	uint32_t n_configured = fresh->n_peers;
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
	d->n_configured_peers = n_configured;
	d->conf = fresh;
	apply_changes(d, changes);
	conf_free(old);
}

void leond_reload(struct leond *d, struct apply_verdict *v)
{
	struct conf *fresh;

	*v = (struct apply_verdict){ .ok = false };
	loop_notify(d->loop, "RELOADING=1");
	fresh = conf_read_file(d->config_path, v->text, sizeof(v->text));
	if (fresh)
		decide(d, fresh, v);
	loop_notify(d->loop, "READY=1");
	if (!v->ok) {
		log_error("config", "reload refused, the old configuration stays: %s", v->text);
	} else if (v->restart_keys[0]) {
		log_warn("config", "reload: %s", v->text);
	} else {
		const struct note n = { .name = "reloaded",
					.level = LOG_LVL_NOTICE,
					.value = v->changes };

		note_event(d, &n, "configuration %s", v->changes ? "applied" : "unchanged");
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Rule of the interface MTU. Pure; control thread.
 */
#include "daemon/device/device.h"

#include "base/defs.h"
#include "wire/frame/eth.h"

const char *mtu_source_name(enum mtu_source s)
{
	static const char *const names[] = { [MTU_NO_PATH] = "default",
					     [MTU_CONFIGURED] = "configured",
					     [MTU_BRIDGE_PORT] = "bridge-port",
					     [MTU_PATH] = "path" };

	return names[s];
}

static enum mtu_source source_of(const struct mtu_input *in)
{
	if (in->configured)
		return MTU_CONFIGURED;
	if (in->bridge_port)
		return MTU_BRIDGE_PORT;
	return in->smallest_path_mtu ? MTU_PATH : MTU_NO_PATH;
}

static uint32_t from_path(const struct mtu_input *in)
{
	uint32_t overhead = in->header_len + ETH_HDR_LEN;

	if (in->smallest_path_mtu < MTU_MIN + overhead)
		return MTU_MIN;
	return min_of(in->smallest_path_mtu - overhead, (uint32_t)MTU_ETHERNET);
}

static bool set_now(struct mtu_rule *r, uint32_t mtu)
{
	bool changed = r->mtu != mtu;

	r->mtu = r->wanted = mtu;
	r->wanted_since = MONO_NEVER;
	return changed;
}

bool mtu_rule_run(struct mtu_rule *r, const struct mtu_input *in, mono_t now)
{
	enum mtu_source before = r->source;
	uint32_t wanted;
	int64_t wait_ms;

	r->source = source_of(in);
	if (r->source == MTU_CONFIGURED)
		return set_now(r, in->configured);
	if (r->source == MTU_BRIDGE_PORT)
		return set_now(r, MTU_ETHERNET);
	/* Without other nodes the MTU stays, so that their failure changes nothing. */
	if (r->source == MTU_NO_PATH) {
		if (before == MTU_PATH)
			r->source = MTU_PATH;
		return set_now(r, r->source == MTU_PATH ? r->mtu : MTU_ETHERNET);
	}

	wanted = from_path(in);
	if (r->mtu == 0 || wanted == r->mtu)
		return set_now(r, wanted);
	if (wanted != r->wanted || mono_is_never(r->wanted_since)) {
		r->wanted = wanted;
		r->wanted_since = now;
		return false;
	}
	wait_ms = wanted < r->mtu ? MTU_LOWER_AFTER_MS : MTU_RAISE_AFTER_MS;
	if (mono_sub_ms(now, r->wanted_since) < wait_ms)
		return false;
	return set_now(r, wanted);
}

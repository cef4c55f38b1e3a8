// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Writes the seeds of the fuzz corpora with the encoders themselves: make_corpus DIRECTORY writes
 * DIRECTORY/<target>/<name>. Run by hand after the wire format changed; the result is committed.
 * The salt of the sealed HELLO is random, so that file differs from run to run.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "../unit/sample_msg.h"
#include "../unit/sample_session.h"
#include "crypto/keys.h"
#include "fuzz_open.h"
#include "wire/bundle.h"
#include "wire/eth.h"
#include "wire/fragment.h"
#include "wire/guard.h"
#include "wire/leon.h"

#define SEED_MAX 1500

static const char *directory;

static void fail(const char *what)
{
	fprintf(stderr, "make_corpus: %s: %s\n", what, strerror(errno));
	exit(1);
}

static void seed(const char *target, const char *name, const void *data, size_t len)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", directory, target);
	if (mkdir(path, 0755) && errno != EEXIST)
		fail(path);
	snprintf(path, sizeof(path), "%s/%s/%s", directory, target, name);
	f = fopen(path, "wb");
	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		fail(path);
}

/* One header for each number of hops, with a little payload. */
static void seed_leon(void)
{
	for (uint8_t n = 1; n <= LEON_HOPS_MAX; n++) {
		struct leon_hdr h = { .kind = n,
				      .n_hops = n,
				      .at = (uint8_t)(n / 2),
				      .vni = OPEN_VNI,
				      .source = NODE_A };
		uint8_t buf[LEON_HDR_LEN_MAX + 4] = { 0 };
		char name[16];

		h.flags = n & LEON_FLAGS_KNOWN;
		for (uint8_t i = 0; i < n; i++)
			h.hop[i] = NODE_B + i;
		snprintf(name, sizeof(name), "hops-%u", n);
		seed("leon", name, buf, leon_encode(&h, buf) + n);
	}
}

static void seed_msg(void)
{
	for (uint8_t type = MSG_HELLO; type <= MSG_NOTICE; type++) {
		uint8_t buf[MSG_LEN_MAX];
		char name[40];
		struct msg m;

		sample_small(type, &m);
		snprintf(name, sizeof(name), "%s", msg_type_name(type));
		seed("msg", name, buf, (size_t)msg_encode(&m, buf, sizeof(buf)));
		sample_full(type, &m);
		snprintf(name, sizeof(name), "%s-full", msg_type_name(type));
		seed("msg", name, buf, (size_t)msg_encode(&m, buf, sizeof(buf)));
	}
}

static void seed_fragment_and_guard(void)
{
	struct fragment_hdr first = { 1, 0, 40 }, last = { 1, 32, 40 };
	struct guard_frame g = { .src = { { 0x02, 0, 0, 0, 0, 1 } },
				 .vni = OPEN_VNI,
				 .node = NODE_A,
				 .incarnation = 7,
				 .auth = { 1, 2, 3 } };
	uint8_t buf[GUARD_FRAME_LEN] = { 0 };

	fragment_encode(&first, buf);
	seed("fragment", "first", buf, FRAGMENT_HDR_LEN + 32);
	fragment_encode(&last, buf);
	seed("fragment", "last", buf, FRAGMENT_HDR_LEN + 8);
	guard_encode(&g, buf);
	seed("guard", "frame", buf, sizeof(buf));
}

static void seed_bundle(void)
{
	uint8_t buf[128] = { 0 };

	bundle_encode(14, false, buf);
	seed("bundle", "one", buf, 16);
	bundle_encode(60, true, buf + 16);
	seed("bundle", "two", buf, 78);
	seed("bundle", "cut", buf, 77);
	seed("bundle", "rest", buf, 79);
}

/* Frames as literals: the code under test only builds answers. All with right checksums. */
static void seed_eth(void)
{
	static const struct {
		const char *name, *hex;
	} frames[] = {
		{ "arp-request", "ffffffffffff02000000000a08060001080006040001"
				 "02000000000a0a00000a0000000000000a00000b" },
		{ "arp-reply-qinq", "02000000000a02000000000b88a80064810000c80806"
				    "000108000604000202000000000b0a00000b02000000000a0a00000a" },
		{ "nd-solicit",
		  "3333ff00000b02000000000a8100006486dd6000000000203aff20010db8000000000000000000"
		  "00000aff0200000000000000000001ff00000b87001c030000000020010db8000000000000000000"
		  "00000b010102000000000a" },
		{ "nd-advert",
		  "02000000000a02000000000b86dd6000000000203aff20010db800000000000000000000000b"
		  "20010db800000000000000000000000a88008a4d6000000020010db800000000000000000000000b"
		  "020102000000000b" },
		{ "syn-v4",
		  "02000000000b02000000000a08004500002c1111400040063d84c0000201c63364021234005000000001"
		  "000000006002faf09e790000020405b4" },
		{ "syn-v6-extension",
		  "02000000000b02000000000a86dd6000000000240040"
		  "20010db800000000000000000000000a20010db800000000000000000000000b"
		  "0600010400000000"
		  "1234005000000001000000007002100057c5000001020405b4010101" },
		{ "fragment-v6", "02000000000b02000000000a86dd6000000000102c40"
				 "20010db800000000000000000000000a20010db800000000000000000000000b"
				 "11000001000000010102030405060708" },
	};
	uint8_t buf[256];

	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		size_t n = strlen(frames[i].hex) / 2;

		for (size_t at = 0; at < n; at++) {
			unsigned v;

			if (sscanf(frames[i].hex + 2 * at, "%2x", &v) != 1)
				fail(frames[i].name);
			buf[at] = (uint8_t)v;
		}
		seed("eth", frames[i].name, buf, n);
	}
}

static size_t control_header(uint8_t *buf, bool sealed)
{
	struct leon_hdr h = { .kind = LEON_CONTROL,
			      .flags = sealed ? LEON_F_SEALED : 0,
			      .n_hops = 1,
			      .vni = OPEN_VNI,
			      .source = OPEN_NODE_A,
			      .hop = { OPEN_NODE_B } };

	return leon_encode(&h, buf);
}

static void seed_open(const char *secret, const char *suffix)
{
	struct keyring *k = keyring_new(secret, OPEN_VNI);
	struct session *s = sample_session(k, OPEN_NODE_A, OPEN_NODE_B, OPEN_VALUE_A, OPEN_VALUE_B);
	uint8_t buf[SEED_MAX];
	size_t hdr_len = control_header(buf, secret), len;
	char name[40];
	struct msg m;

	sample_small(MSG_HELLO, &m);
	len = (size_t)msg_encode(&m, buf + hdr_len + ENVELOPE_HELLO_LEN, MSG_LEN_MAX);
	snprintf(name, sizeof(name), "hello-%s", suffix);
	seed("open", name, buf, (size_t)hello_seal(k, 0, buf, hdr_len, len, sizeof(buf)));
	sample_small(MSG_RECORD, &m);
	len = (size_t)msg_encode(&m, buf + hdr_len + ENVELOPE_LEN, MSG_LEN_MAX);
	snprintf(name, sizeof(name), "record-%s", suffix);
	seed("open", name, buf, (size_t)session_seal(s, buf, hdr_len, len, sizeof(buf)));
	session_free(s);
	keyring_free(k);
}

int main(int argc, char **argv)
{
	if (argc != 2) {
		fprintf(stderr, "usage: %s DIRECTORY\n", argv[0]);
		return 2;
	}
	directory = argv[1];
	seed_leon();
	seed_msg();
	seed_fragment_and_guard();
	seed_bundle();
	seed_eth();
	seed_open(OPEN_SECRET, "sealed");
	seed_open(NULL, "clear");
	return 0;
}

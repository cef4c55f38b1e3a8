// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * AES-256-GCM by intel-ipsec-mb, see gcm_mb.h. No other file includes the library's header. Packets
 * do not allocate. The library is not linked: leond starts without it, and reports the reason.
 * doc/decisions/073.
 */
#include "crypto/gcm_mb.h"

#include <assert.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <intel-ipsec-mb.h>

#include "base/defs.h"
#include "base/mem.h"

/*
 * Versions 1.3 to 2.0 have the same place for each member of the manager that this file uses, and
 * the same bits for AVX and AVX-512F. The key data grew from 1024 bytes in 1.3 to 1280 in 1.4.
 */
#define VERSION_MIN IMB_VERSION(1, 3, 0)
#define VERSION_END IMB_VERSION(2, 1, 0)
#define KEY_ROOM    1280

static const char *const names[] = { "libIPSec_MB.so.2", "libIPSec_MB.so.1" };

union key {
	struct gcm_key_data data;
	uint8_t room[KEY_ROOM];
};

static_assert(sizeof(union key) == KEY_ROOM, "the key data of all supported versions fits");
static_assert(_Alignof(union key) <= 64, "x_calloc_aligned() aligns to a cache line");

struct gcm_mb {
	union key seal, open;
	struct gcm_context_data context;
	aes_gcm_enc_dec_t encrypt, decrypt;
};

struct calls {
	IMB_MGR *(*alloc)(uint64_t flags);
	void (*init)(IMB_MGR *m, IMB_ARCH *arch);
	void (*release)(IMB_MGR *m);
	unsigned (*version)(void);
};

/* The loaded library; NULL before. Written and read by the control thread only, because contexts
 * have the functions that workers call. */
static const IMB_MGR *manager;

/* Returns NULL, or the reason not to use the library. */
static const char *find_calls(void *library, struct calls *c)
{
	*(void **)&c->alloc = dlsym(library, "alloc_mb_mgr");
	*(void **)&c->init = dlsym(library, "init_mb_mgr_auto");
	*(void **)&c->release = dlsym(library, "free_mb_mgr");
	*(void **)&c->version = dlsym(library, "imb_get_version");
	if (!c->alloc || !c->init || !c->release || !c->version)
		return "lacks functions";
	if (c->version() < VERSION_MIN || c->version() >= VERSION_END)
		return "is not of version 1.3 to 2.0";
	return NULL;
}

/* The library reads only the flags of the processor. Kernels can disable registers, and
 * instructions with such registers then end the process. */
static bool kernel_saves_registers(const IMB_MGR *m)
{
	if (m->features & IMB_FEATURE_AVX512F && !__builtin_cpu_supports("avx512f"))
		return false;
	return !(m->features & IMB_FEATURE_AVX) || __builtin_cpu_supports("avx");
}

/* Selects the code for this processor and runs the library's own tests. */
static const char *start(const struct calls *c, IMB_MGR *m)
{
	if (!m)
		return "lacks memory";
	if (!kernel_saves_registers(m))
		return "needs registers that the kernel has disabled";
	c->init(m, NULL);
	if (m->imb_errno)
		return "fails the self-test or does not support the processor";
	return m->gcm256_pre && m->gcm256_enc && m->gcm256_dec ? NULL : "lacks AES-256-GCM";
}

static bool load(const char *name, char *why_not, size_t len)
{
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
	const char *problem;
	struct calls c;
	IMB_MGR *m;

	if (!library) {
		snprintf(why_not, len, "%s", dlerror());
		return false;
	}
	problem = find_calls(library, &c);
	if (!problem) {
		m = c.alloc(0);
		problem = start(&c, m);
		if (!problem) {
			manager = m;
			return true;
		}
		if (m)
			c.release(m);
	}
	snprintf(why_not, len, "%s %s", name, problem);
	dlclose(library);
	return false;
}

bool gcm_mb_load(char *why_not, size_t len)
{
	for (size_t i = 0; i < array_size(names) && !manager; i++)
		load(names[i], why_not, len);
	return manager;
}

struct gcm_mb *gcm_mb_new(const uint8_t seal_key[AEAD_KEY_LEN],
			  const uint8_t open_key[AEAD_KEY_LEN])
{
	struct gcm_mb *g = x_calloc_aligned(1, sizeof(*g));

	manager->gcm256_pre(seal_key, &g->seal.data);
	manager->gcm256_pre(open_key, &g->open.data);
	g->encrypt = manager->gcm256_enc;
	g->decrypt = manager->gcm256_dec;
	return g;
}

void gcm_mb_free(struct gcm_mb *g)
{
	if (!g)
		return;
	x_wipe(g, sizeof(*g));
	free(g);
}

/* Returns the text in one piece. A copy and one call take less time than a call for each piece, for
 * texts up to some KiB. */
static const uint8_t *gather(const struct aead_piece *in, unsigned n_in, uint8_t *out, size_t *len)
{
	*len = 0;
	for (; n_in > 1 && in[0].len == 0; n_in--)
		in++;
	if (n_in == 1) {
		*len = in[0].len;
		return in[0].data;
	}
	for (unsigned i = 0; i < n_in; *len += in[i].len, i++)
		if (in[i].len && in[i].data != out + *len)
			memmove(out + *len, in[i].data, in[i].len);
	return out;
}

void gcm_mb_seal(struct gcm_mb *g, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		 size_t aad_len, const struct aead_piece *in, unsigned n_in, void *out)
{
	size_t len;
	const uint8_t *text = gather(in, n_in, out, &len);

	g->encrypt(&g->seal.data, &g->context, out, text, len, nonce, aad, aad_len,
		   (uint8_t *)out + len, AEAD_TAG_LEN);
}

void gcm_mb_open(struct gcm_mb *g, const uint8_t nonce[AEAD_NONCE_LEN], const void *aad,
		 size_t aad_len, const void *in, size_t in_len, void *out,
		 uint8_t tag[AEAD_TAG_LEN])
{
	g->decrypt(&g->open.data, &g->context, out, in, in_len, nonce, aad, aad_len, tag,
		   AEAD_TAG_LEN);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A library in place of intel-ipsec-mb that leond must not use. The environment variable LEON_STUB
 * selects the defect: version, self-test, results. tests/netns/test_cipher_library.py loads it by
 * LD_LIBRARY_PATH.
 */
#include <stdlib.h>
#include <string.h>

#include <intel-ipsec-mb.h>

static int has(const char *defect)
{
	const char *selected = getenv("LEON_STUB");

	return selected && strcmp(selected, defect) == 0;
}

static void expand(const void *key, struct gcm_key_data *out)
{
	memcpy(out, key, 32);
}

/* Copies the text and writes an empty tag. */
static void copy(const struct gcm_key_data *key, struct gcm_context_data *context, uint8_t *out,
		 const uint8_t *in, uint64_t len, const uint8_t *nonce, const uint8_t *aad,
		 uint64_t aad_len, uint8_t *tag, uint64_t tag_len)
{
	(void)key;
	(void)context;
	(void)nonce;
	(void)aad;
	(void)aad_len;
	memmove(out, in, len);
	memset(tag, 0, tag_len);
}

unsigned imb_get_version(void)
{
	return has("version") ? IMB_VERSION(9, 0, 0) : IMB_VERSION(1, 3, 0);
}

IMB_MGR *alloc_mb_mgr(uint64_t flags)
{
	IMB_MGR *m = calloc(1, sizeof(*m));

	if (m)
		m->flags = flags;
	return m;
}

void free_mb_mgr(IMB_MGR *m)
{
	free(m);
}

void init_mb_mgr_auto(IMB_MGR *m, IMB_ARCH *arch)
{
	(void)arch;
	m->gcm256_pre = expand;
	m->gcm256_enc = copy;
	m->gcm256_dec = copy;
	m->imb_errno = has("self-test") ? IMB_ERR_SELFTEST : 0;
}

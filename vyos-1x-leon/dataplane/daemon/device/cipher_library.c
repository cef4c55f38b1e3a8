// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selects the library of AES-256-GCM, see device.h. conf_read_file() has refused a
 * configuration that requires ipsec-mb if it cannot be used. Control thread.
 */
#include "daemon/device/device.h"

#include "base/log.h"
#include "crypto/aead.h"
#include "daemon/states.h"
#include "state/conf/conf.h"

void cipher_library_apply_conf(struct leond *d)
{
	bool wanted = d->conf->cipher_library != CIPHER_LIBRARY_LIBCRYPTO;
	const char *before = d->states->cipher_library;
	char why_not[256];
	bool use = wanted && aead_may_use_ipsec_mb(why_not, sizeof(why_not));

	aead_use_ipsec_mb(use);
	d->states->cipher_library = aead_library();
	if (d->states->cipher_library == before)
		return;
	if (wanted && !use)
		log_notice("daemon", "cipher-library=libcrypto: ipsec-mb cannot be used: %s",
			   why_not);
	else
		log_info("daemon", "cipher-library=%s", d->states->cipher_library);
}

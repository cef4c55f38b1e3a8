// SPDX-License-Identifier: GPL-2.0-or-later
/* daemon/underlay/cache: any text as the member cache. An accepted cache is equal after writing
 * and reading. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/underlay/underlay.h"

#define VNI 7

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct member_list l, again;
	char err[256] = "";
	struct jsonw *w;
	const char *text;
	int r = members_parse((const char *)data, len, VNI, &l, err, sizeof(err));

	if ((r < 0) != (err[0] != '\0') || l.n > MEMBERS_MAX || (r < 0 && l.n))
		abort();
	w = jsonw_new();
	members_write(&l, VNI, w);
	text = jsonw_text(w, &len);
	if (members_parse(text, len, VNI, &again, err, sizeof(err)) < 0 || again.n != l.n)
		abort();
	for (unsigned i = 0; i < l.n; i++) {
		if (again.member[i].node != l.member[i].node || again.member[i].n != l.member[i].n)
			abort();
		for (unsigned k = 0; k < l.member[i].n; k++)
			if (!endpoint_equal(&again.member[i].ep[k], &l.member[i].ep[k]))
				abort();
	}
	jsonw_free(w);
	return 0;
}

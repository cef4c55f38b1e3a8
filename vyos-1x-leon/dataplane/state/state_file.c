// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Version and VNI of the JSON files of leond, see state_file.h.
 */
#include "state/state_file.h"

#include <errno.h>
#include <stdio.h>

void state_file_begin(struct jsonw *w, uint32_t version, uint32_t vni)
{
	jsonw_object(w, NULL);
	jsonw_u64(w, "version", version);
	jsonw_u64(w, "vni", vni);
}

void state_file_check(struct jsonr_node *root, const char *what, uint32_t version, uint32_t vni)
{
	uint64_t file_version = 0, file_vni = UINT64_MAX;

	jsonr_u64(root, "version", 0, UINT32_MAX, &file_version);
	jsonr_u64(root, "vni", 0, UINT32_MAX, &file_vni);
	if (root && file_version != version)
		jsonr_fail(root, "not %s of version %u", what, version);
	if (root && file_vni != vni)
		jsonr_fail(root, "written for another overlay");
}

int state_file_end(struct jsonr *doc, char *err, size_t err_len)
{
	const char *error = jsonr_error(doc);
	int r = error ? -EINVAL : 0;

	if (error)
		snprintf(err, err_len, "%s", error);
	jsonr_free(doc);
	return r;
}

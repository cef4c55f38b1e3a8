// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The common part of JSON files that leond keeps for one overlay: version and VNI. Another overlay
 * or release may have written a file, so both are checked. Pure; control thread.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/json/jsonr.h"
#include "base/json/jsonw.h"

/* Opens the object of the file; the caller adds members and closes it. */
void state_file_begin(struct jsonw *w, uint32_t version, uint32_t vni);
/* Records an error in the document if the file has another version or VNI. `what`: a noun with its
 * article, such as "a member cache". */
void state_file_check(struct jsonr_node *root, const char *what, uint32_t version, uint32_t vni);
/* Frees the document. Returns 0, or -EINVAL with its first error in err. */
int state_file_end(struct jsonr *doc, char *err, size_t err_len);

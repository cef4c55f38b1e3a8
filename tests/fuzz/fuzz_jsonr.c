// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of base/json/jsonr: any bytes as a document, then every kind of getter, as the
 * configuration and the control socket use them.
 */
#include <stdlib.h>

#include "base/json/jsonr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void visit(struct jsonr_node *obj)
{
	struct jsonr_node *list = jsonr_array(obj, "l");
	const char *s = NULL;
	uint64_t v = 5;
	bool b = false;

	if (jsonr_u64(obj, "u", 5, 500, &v) && (v < 5 || v > 500))
		abort();
	if (jsonr_str(obj, "s", &s) && !s)
		abort();
	jsonr_bool(obj, "b", &b);
	for (size_t i = 0; i < jsonr_len(list) && i < 64; i++) {
		if (i % 2)
			jsonr_str_at(list, i, &s);
		else
			jsonr_u64(jsonr_at(list, i), "u", 0, UINT64_MAX, &v);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct jsonr *r = jsonr_parse((const char *)data, len, JSONR_USUAL_MAX);
	struct jsonr_node *root = jsonr_root(r), *map;
	const char *name;

	/* Either a document or an error must exist, and never both. */
	if ((root == NULL) != (jsonr_error(r) != NULL))
		abort();
	visit(root);
	map = jsonr_object(root, "m");
	for (size_t i = 0; i < jsonr_len(map) && i < 64; i++)
		visit(jsonr_member(map, i, &name));
	jsonr_finish(r);
	jsonr_free(r);
	return 0;
}

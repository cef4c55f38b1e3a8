// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text format of the member cache. Pure; control thread. The file is our own, but other programs
 * may have written or truncated it, so all of its content is checked.
 */
#include "daemon/underlay/members.h"

#include <errno.h>
#include <stdio.h>

#include "base/jsonr.h"

#define MEMBERS_VERSION 1

static void read_endpoints(struct jsonr_node *list, struct jsonr_node *where,
			   struct member_entry *m)
{
	for (size_t i = 0; i < jsonr_len(list) && m->n < MEMBERS_ENDPOINTS; i++) {
		const char *text;
		struct endpoint ep;

		if (!jsonr_str_at(list, i, &text))
			return;
		if (endpoint_parse(text, 0, &ep) < 0 || !endpoint_is_usable(&ep)) {
			jsonr_fail(where, "bad endpoint");
			return;
		}
		m->ep[m->n++] = ep;
	}
}

static void read_member(struct jsonr_node *n, struct member_list *out)
{
	struct member_entry *m = &out->member[out->n];
	const char *id = "";

	*m = (struct member_entry){ 0 };
	if (!jsonr_str(n, "node_id", &id) || node_id_parse(id, &m->node) < 0) {
		jsonr_fail(n, "bad node_id");
		return;
	}
	read_endpoints(jsonr_array(n, "endpoints"), n, m);
	if (m->n > 0)
		out->n++;
}

int members_parse(const char *text, size_t len, uint32_t vni, struct member_list *out, char *err,
		  size_t err_len)
{
	struct jsonr *doc = jsonr_parse(text, len, JSONR_USUAL_MAX);
	struct jsonr_node *root = jsonr_root(doc);
	struct jsonr_node *list = jsonr_array(root, "members");
	uint64_t version = 0, file_vni = UINT64_MAX;
	int r = 0;

	*out = (struct member_list){ 0 };
	jsonr_u64(root, "version", 0, UINT32_MAX, &version);
	jsonr_u64(root, "vni", 0, UINT32_MAX, &file_vni);
	if (root && version != MEMBERS_VERSION)
		jsonr_fail(root, "not a member cache of version %d", MEMBERS_VERSION);
	if (root && file_vni != vni)
		jsonr_fail(root, "written for another overlay");
	for (size_t i = 0; i < jsonr_len(list) && out->n < MEMBERS_MAX; i++)
		read_member(jsonr_at(list, i), out);
	if (jsonr_error(doc)) {
		snprintf(err, err_len, "%s", jsonr_error(doc));
		*out = (struct member_list){ 0 };
		r = -EINVAL;
	}
	jsonr_free(doc);
	return r;
}

void members_write(const struct member_list *l, uint32_t vni, struct jsonw *w)
{
	char buf[ENDPOINT_STRLEN];

	jsonw_object(w, NULL);
	jsonw_u64(w, "version", MEMBERS_VERSION);
	jsonw_u64(w, "vni", vni);
	jsonw_array(w, "members");
	for (unsigned i = 0; i < l->n; i++) {
		const struct member_entry *m = &l->member[i];

		jsonw_object(w, NULL);
		jsonw_str(w, "node_id", node_id_format(m->node, buf, sizeof(buf)));
		jsonw_array(w, "endpoints");
		for (unsigned k = 0; k < m->n; k++)
			jsonw_str(w, NULL, endpoint_format(&m->ep[k], buf, sizeof(buf)));
		jsonw_end(w);
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_end(w);
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Text format of the member cache. Pure; control thread. The file is our own, but other programs
 * may have written or truncated it, so all of its content is checked.
 */
#include "daemon/underlay/members.h"

#include "base/json/jsonr.h"
#include "state/state_file.h"

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
	int r;

	*out = (struct member_list){ 0 };
	state_file_check(root, "a member cache", MEMBERS_VERSION, vni);
	for (size_t i = 0; i < jsonr_len(list) && out->n < MEMBERS_MAX; i++)
		read_member(jsonr_at(list, i), out);
	r = state_file_end(doc, err, err_len);
	if (r < 0)
		*out = (struct member_list){ 0 };
	return r;
}

void members_write(const struct member_list *l, uint32_t vni, struct jsonw *w)
{
	state_file_begin(w, MEMBERS_VERSION, vni);
	jsonw_array(w, "members");
	for (unsigned i = 0; i < l->n; i++) {
		const struct member_entry *m = &l->member[i];

		jsonw_object(w, NULL);
		jsonw_str(w, "node_id", NODE_ID_TEXT(m->node));
		jsonw_array(w, "endpoints");
		for (unsigned k = 0; k < m->n; k++)
			jsonw_str(w, NULL, ENDPOINT_TEXT(&m->ep[k]));
		jsonw_end(w);
		jsonw_end(w);
	}
	jsonw_end(w);
	jsonw_end(w);
}

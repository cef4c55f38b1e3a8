// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * One-time tokens: `invite`, `reset invitation`. leonctl only.
 */
#include "render/render.h"
#include "show/show.h"
#include "text/text.h"

void render_seeds(struct jsonr_node *root, FILE *out)
{
	struct jsonr_node *seeds = jsonr_array(root, "seeds");

	for (size_t i = 0; i < jsonr_len(seeds); i++)
		show_text(i ? ", {address} port {number port}" : " {address} port {number port}",
			  jsonr_at(seeds, i), out);
	fputs(".\n", out);
}

/* The explanation goes to stderr, so that `leonctl invite >token` writes only the token. */
void render_invite(struct jsonr_node *root, FILE *out)
{
	if (jsonr_is_str(root, "invitation")) {
		fprintf(stderr,
			"This token admits %s and does not contain the secret of the overlay.\n",
			text_count(value_u64(root, "uses"), "machine"));
		fputs("This node sends the secret, and the new machine must reach its UDP port.\n",
		      stderr);
	} else {
		fputs("This token contains the pre-shared-secret of the overlay. Transfer the token like a\n"
		      "password. ",
		      stderr);
	}
	fputs("On the new machine run\n"
	      "  leonctl join TOKEN --address ADDRESS/LENGTH\n",
	      stderr);
	if (jsonr_is_str(root, "expires"))
		show_text("The token is valid until {expires}.\n", root, stderr);
	if (jsonr_is_str(root, "invitation"))
		show_text("To end it earlier: leonctl reset invitation {invitation}\n", root,
			  stderr);
	fputs("The machine joins through", stderr);
	render_seeds(root, stderr);
	if (value_u64(root, "trusted_identities"))
		fputs("This overlay accepts listed identities only. First add the identity of the new node\n"
		      "(leonctl show identity) to trusted-identity on every node.\n",
		      stderr);
	show_text("{token}\n", root, out);
}

void render_reset_invitation(struct jsonr_node *root, FILE *out)
{
	fprintf(out, "%s: invitation %s has ended, with %s left\n", text_str(root, "interface"),
		text_str(root, "invitation"), text_count(value_u64(root, "uses_left"), "use"));
}

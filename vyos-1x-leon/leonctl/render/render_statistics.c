// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * `show statistics`: the counters above zero in groups, with a sentence for each drop reason.
 */
#include <string.h>

#include "base/defs.h"
#include "render/render.h"
#include "show/show.h"
#include "text/text.h"

static const struct table_column pair[] = { { .title = "COUNTER" },
					    { .title = "VALUE", .align = ALIGN_RIGHT } };

/* Prints the numbers of an object that are not zero. */
static void print_numbers(FILE *out, const char *title, struct jsonr_node *obj)
{
	struct table *t = table_new(pair, array_size(pair));

	for (size_t i = 0; i < jsonr_len(obj); i++) {
		const char *key = jsonr_key(obj, i);

		if (!jsonr_is_number(obj, key) || value_u64(obj, key) == 0)
			continue;
		table_cell(t, key);
		table_cell(t, text_number(obj, key));
	}
	fprintf(out, "\n%s\n", title);
	if (table_rows(t) > 0)
		table_print(t, out);
	else
		fputs("all zero\n", out);
	table_free(t);
}

/* Prints "inagi (10.0.0.2), does not receive this node". */
static void print_guard_nodes(FILE *out, struct jsonr_node *nodes)
{
	struct jsonr_node *n;

	for (size_t i = 0; (n = jsonr_at(nodes, i)); i++) {
		fprintf(out, "%s%s%s%s", i ? "; " : ": ", text_node(n, "node_id", "name"),
			value_bool(n, "receives_us") ? "" : ", does not receive this node",
			value_bool(n, "silent") ? ", silent" : "");
	}
}

/* Prints the VLANs in which guard frames of other nodes arrive. */
static void print_guard_vlans(FILE *out, struct jsonr_node *vlans)
{
	struct jsonr_node *v;

	for (size_t i = 0; (v = jsonr_at(vlans, i)); i++) {
		struct jsonr_node *nodes = jsonr_array(v, "nodes");

		if (!jsonr_len(nodes))
			continue;
		fprintf(out, "  VLAN %-9s ", text_number(v, "vlan"));
		show_text("{state} for {seconds since_seconds}", v, out);
		print_guard_nodes(out, nodes);
		fputc('\n', out);
	}
}

static void print_guard(FILE *out, struct jsonr_node *g)
{
	show_text("loop guard      {state} for {seconds since_seconds}", g, out);
	if (jsonr_len(jsonr_array(g, "vlans")) > 1)
		fprintf(out, ", %zu VLANs", jsonr_len(jsonr_array(g, "vlans")));
	if (jsonr_has(g, "other"))
		fprintf(out, ", other node on this LAN: %s", text_node(g, "other", "other_name"));
	if (value_bool(g, "local_loop"))
		fputs(", LOCAL LOOP: own frames return", out);
	fputc('\n', out);
	print_guard_vlans(out, jsonr_array(g, "vlans"));
}

static void print_offloads(FILE *out, struct jsonr_node *o)
{
	static const char *const names[] = { "tso", "uso", "checksum", "udp_gso", "udp_gro" };
	struct jsonr_node *unused = jsonr_has(o, "unused") ? jsonr_object(o, "unused") : NULL;
	struct jsonr_node *broken = jsonr_array(o, "udp_gso_broken");

	fputs("offloads       ", out);
	for (size_t i = 0; i < array_size(names); i++) {
		bool used = value_bool(o, names[i]);

		fprintf(out, " %s %s", names[i], used ? "on" : "off");
		if (!used && unused && jsonr_has(unused, names[i]))
			fprintf(out, " (%s)", text_str(unused, names[i]));
	}
	fputc('\n', out);
	for (size_t i = 0; i < jsonr_len(broken); i++)
		show_text("                no udp_gso to {node node_id}: data was lost with it\n",
			  jsonr_at(broken, i), out);
}

static void print_interface(FILE *out, struct jsonr_node *root)
{
	struct jsonr_node *list = jsonr_array(root, "interface_addresses");
	const char *address;

	show_text("interface       {interface}, MAC {mac}, MTU {number interface_mtu} "
		  "({interface_mtu_source})",
		  root, out);
	if (value_bool(root, "bridge_port"))
		show_text(", port of bridge {bridge}", root, out);
	fputc('\n', out);
	if (jsonr_len(list) == 0)
		return;
	fputs("addresses      ", out);
	for (size_t i = 0; i < jsonr_len(list) && jsonr_str_at(list, i, &address); i++)
		fprintf(out, " %s", address);
	fputc('\n', out);
}

static void print_port_mapping(FILE *out, struct jsonr_node *m)
{
	show_text("port mapping    {state}", m, out);
	if (jsonr_has(m, "external"))
		show_text(", {external} by {protocol}, {seconds expires_seconds} left", m, out);
	if (jsonr_has(m, "gateway"))
		show_text(", gateway {gateway}", m, out);
	if (jsonr_has(m, "reason"))
		show_text(" ({reason})", m, out);
	fputc('\n', out);
}

void render_statistics(struct jsonr_node *root, FILE *out)
{
	show_text("node            {node node_id}, leond {daemon_version}, up "
		  "{seconds uptime_seconds}\n",
		  root, out);
	print_interface(out, root);
	show_text("overlay         VNI {number vni}, UDP port {number port}", root, out);
	fputs(value_bool(root, "authenticated") ? ", pre-shared secret\n"
						: ", NO pre-shared secret\n",
	      out);
	if (jsonr_has(root, "port_mapping"))
		print_port_mapping(out, jsonr_object(root, "port_mapping"));
	show_text("workers         {number workers}, {scheduling} scheduling\n"
		  "encryption      AES-256-GCM by {cipher_library}\n",
		  root, out);
	print_offloads(out, jsonr_object(root, "offloads"));
	print_guard(out, jsonr_object(root, "loop_guard"));
	show_text("memory          {bytes memory.resident_bytes} resident, "
		  "{bytes memory.reassembly_bytes} in reassembly\n",
		  root, out);
	show_text("tables          {number memory.nodes} of {number memory.nodes_maximum} nodes, "
		  "{number memory.fdb_entries} of {number memory.fdb_maximum} FDB entries, "
		  "{number memory.neighbors} neighbors\n"
		  "counted since   {seconds counted_seconds} ago\n",
		  root, out);
	print_numbers(out, "Packet path", jsonr_object(root, "counters"));
	fputs("\nDropped\n", out);
	show_table("show statistics", "drop_reasons", root, out);
	print_numbers(out, "Control messages", jsonr_object(root, "control"));
	if (jsonr_has(root, "tls"))
		print_numbers(out, "TLS", jsonr_object(root, "tls"));
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads the section `policy`: the match of critical frames and their treatment. Pure;
 * control thread.
 */
#include <stdlib.h>
#include <string.h>

#include "state/conf/conf_section.h"
#include "wire/frame/ecn.h"
#include "wire/frame/ip.h"

/* --- DSCP values, and the section dscp --- */

bool conf_dscp(const char *s, uint8_t *out)
{
	unsigned long number;

	if (policy_number_of(policy_dscps, s, out))
		return true;
	if (!conf_number(s, DSCP_MAX, &number))
		return false;
	*out = (uint8_t)number;
	return true;
}

static void read_one(struct jsonr_node *obj, const char *key, uint8_t *out)
{
	const char *s;

	if (jsonr_str(obj, key, &s) && !conf_dscp(s, out))
		jsonr_fail_key(obj, key,
			       "is \"%.64s\" and must be a name such as ef, cs6 or af41, or a "
			       "number from 0 to %d",
			       s, DSCP_MAX);
}

void conf_read_dscp(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *obj = jsonr_object(root, "dscp");

	c->dscp_set = c->dscp_control = CONF_DSCP_NONE;
	read_one(obj, "set", &c->dscp_set);
	read_one(obj, "control", &c->dscp_control);
	if (c->dscp_copy && c->dscp_set != CONF_DSCP_NONE)
		jsonr_fail_key(obj, "set", "and copy exclude each other; delete one of them");
}

#define PROTOCOL_MAX  255
#define ETHERTYPE_MIN 0x0600 /* smaller values of the field are a length */

static void read_dscp(struct jsonr_node *critical, struct policy_class *c)
{
	struct jsonr_node *list = jsonr_array(critical, "dscp");
	uint8_t value;
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		if (conf_dscp(s, &value))
			c->dscp |= 1ULL << value;
		else
			jsonr_fail(
				list,
				"\"%.64s\" is no code point; write a name such as ef, cs5 or af41, "
				"or a number from 0 to %d",
				s, DSCP_MAX);
	}
}

static void read_vlans(struct jsonr_node *critical, struct policy_class *c)
{
	struct jsonr_node *list = jsonr_array(critical, "vlan");
	unsigned long vlan;
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		if (conf_number(s, CONF_VLAN_MAX, &vlan) && vlan)
			vlan_set_add(&c->vlans, (uint16_t)vlan);
		else
			jsonr_fail(list, "\"%.64s\" is no VLAN; write a number from 1 to %d", s,
				   CONF_VLAN_MAX);
	}
}

static void read_macs(struct jsonr_node *critical, struct policy_class *c)
{
	struct jsonr_node *list = conf_list(critical, "mac", POLICY_MACS_MAX, "addresses");
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++)
		if (mac_parse(s, &c->mac[c->n_macs++]) < 0)
			jsonr_fail(list, "\"%.64s\" is no MAC address such as 02:00:00:00:00:01",
				   s);
}

static void read_ethertypes(struct jsonr_node *critical, struct policy_class *c)
{
	struct jsonr_node *list =
		conf_list(critical, "ethertype", POLICY_ETHERTYPES_MAX, "EtherTypes");
	unsigned long number;
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++) {
		if (conf_number(s, UINT16_MAX, &number) && number >= ETHERTYPE_MIN)
			c->ethertype[c->n_ethertypes++] = (uint16_t)number;
		else
			jsonr_fail(
				list,
				"\"%.64s\" is no EtherType; write a number from 0x0600 to 0xffff, "
				"such as 0x88b8",
				s);
	}
}

static bool find_protocol(const char *name, uint8_t *number)
{
	unsigned long n;

	if (policy_number_of(policy_protocols, name, number))
		return true;
	if (!conf_number(name, PROTOCOL_MAX, &n) || !n)
		return false;
	*number = (uint8_t)n;
	return true;
}

static void add_service(struct jsonr_node *at, struct policy_class *c, uint8_t protocol,
			unsigned long port)
{
	if (c->n_services == POLICY_SERVICES_MAX) {
		jsonr_fail(at, "makes more than %d protocols and ports", POLICY_SERVICES_MAX);
		return;
	}
	/* The padding stays zero. */
	c->service[c->n_services].protocol = protocol;
	c->service[c->n_services++].port = (uint16_t)port;
}

static void read_protocol(struct jsonr_node *obj, const char *name, struct policy_class *c)
{
	struct jsonr_node *ports = jsonr_array(obj, "port");
	unsigned long port;
	uint8_t number;
	const char *s;

	if (!find_protocol(name, &number)) {
		jsonr_fail(obj, "is no protocol; write tcp, udp, icmp or another name, or a number "
				"from 1 to 255");
		return;
	}
	if (!ip_has_ports(number) && jsonr_len(ports))
		jsonr_fail(ports, "is for tcp, udp, udplite, sctp and dccp; %.16s has no ports",
			   name);
	if (!jsonr_len(ports))
		add_service(obj, c, number, 0);
	for (size_t i = 0; jsonr_str_at(ports, i, &s); i++) {
		if (conf_number(s, UINT16_MAX, &port) && port)
			add_service(obj, c, number, port);
		else
			jsonr_fail(ports, "\"%.64s\" is no port; write a number from 1 to 65535",
				   s);
	}
}

static void read_protocols(struct jsonr_node *critical, struct policy_class *c)
{
	struct jsonr_node *map = jsonr_object(critical, "protocol");
	struct jsonr_node *obj;
	const char *name;

	for (size_t i = 0; (obj = jsonr_member(map, i, &name)); i++)
		read_protocol(obj, name, c);
}

void conf_read_policy(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *critical = jsonr_object(jsonr_object(root, "policy"), "critical");
	struct policy *p = &c->policy;
	bool parity = c->critical_parity;

	read_dscp(critical, &p->critical);
	read_vlans(critical, &p->critical);
	read_macs(critical, &p->critical);
	read_ethertypes(critical, &p->critical);
	read_protocols(critical, &p->critical);
	p->duplicate = c->critical_duplicate;
	p->parity = parity;
	p->budget_kbits = parity ? c->parity_budget_kbits : c->critical_budget_kbits;
	p->extra_delay_us = parity ? c->parity_extra_delay_us : c->critical_extra_delay_us;
	p->loss_pm = (uint16_t)(parity ? c->parity_loss_pm : c->critical_loss_pm);
	p->jitter_us = parity ? c->parity_jitter_us : c->critical_jitter_us;
	if (p->duplicate && parity)
		jsonr_fail(critical, "has both duplicate and parity; choose one");
	if (policy_uses_pairs(p) && policy_class_is_empty(&p->critical))
		jsonr_fail(critical,
			   "says what is done with critical frames, but not which they are; "
			   "give a dscp, vlan, mac, ethertype or protocol");
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reads `acceleration` of the configuration into the settings of leon-accel. Pure; control thread.
 */
#include "state/conf/conf_section.h"

#define MIB_LOG 20

static void read_prefixes(struct jsonr_node *obj, struct accel_selection *out)
{
	struct jsonr_node *list = conf_list(obj, "prefix", ACCEL_PREFIXES_MAX, "prefixes");
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++)
		if (prefix_parse(s, &out->prefix[out->n_prefixes++]) < 0)
			jsonr_fail(list,
				   "\"%.64s\" is no prefix such as 10.1.0.0/16 or 2001:db8::/32",
				   s);
}

static void read_ports(struct jsonr_node *obj, struct accel_selection *out)
{
	struct jsonr_node *list = conf_list(obj, "port", ACCEL_PORTS_MAX, "ports and ranges");
	const char *s;

	for (size_t i = 0; jsonr_str_at(list, i, &s); i++)
		if (!accel_ports_parse(s, &out->port[out->n_ports++]))
			jsonr_fail(list,
				   "\"%.64s\" is no port; write a number from 1 to 65535, or a "
				   "range such as 8000-8080",
				   s);
}

static uint8_t log_of(uint32_t mib)
{
	uint8_t log = MIB_LOG;

	while (mib > 1) {
		mib /= 2;
		log++;
	}
	return log;
}

void conf_read_acceleration(struct jsonr_node *root, struct conf *c)
{
	struct jsonr_node *obj = jsonr_object(root, "acceleration");
	struct accel_settings *s = &c->accel;

	/* The model of 0.2.0 for the energy of a port. Files of 0.2.0 must stay valid. */
	jsonr_has(obj, "power");
	read_prefixes(jsonr_object(obj, "include"), &s->include);
	read_ports(jsonr_object(obj, "include"), &s->include);
	read_prefixes(jsonr_object(obj, "exclude"), &s->exclude);
	read_ports(jsonr_object(obj, "exclude"), &s->exclude);
	s->mode = c->acceleration ? (uint8_t)c->accel_mode : ACCEL_OFF;
	s->threshold_us = c->accel_threshold_us;
	s->segments = c->accel_segments;
	s->maximum = c->accel_maximum;
	s->undelivered = c->accel_undelivered_mib << 20;
	s->cache_log = c->accel_compression ? log_of(c->accel_cache_mib) : 0;
}

bool conf_acceleration_differs(const struct conf *a, const struct conf *b)
{
	return !accel_settings_equal(&a->accel, &b->accel);
}

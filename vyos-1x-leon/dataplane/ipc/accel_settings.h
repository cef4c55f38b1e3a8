// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Selection of connections for interception, from the configuration. Part of struct conf, sent to
 * leon-accel by leond, and evaluated there for each connection. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

struct codec;

#define ACCEL_PREFIXES_MAX 32
#define ACCEL_PORTS_MAX	   32
/* Percentage of the threshold below which a connection is released. */
#define ACCEL_KEEP_PERCENT 80

struct accel_ports {
	uint16_t first, last;
};

/* A filter for the endpoints of a connection. */
struct accel_selection {
	uint8_t n_prefixes, n_ports;
	struct prefix prefix[ACCEL_PREFIXES_MAX];
	struct accel_ports port[ACCEL_PORTS_MAX];
};

enum accel_mode {
	ACCEL_OFF,     /* No interception. Intercepted connections are released. */
	ACCEL_MOVED,   /* Connections of moved hosts above the latency threshold. */
	ACCEL_LATENCY, /* All connections above the latency threshold. */
	ACCEL_ALWAYS,
	ACCEL_MODES,
};

struct accel_settings {
	uint8_t mode; /* enum accel_mode. */
	uint32_t threshold_us;
	/* Number of segments with data before a connection may be intercepted. */
	uint32_t segments;
	uint32_t maximum; /* Maximum of intercepted connections. */
	/* Limit of acknowledged and undelivered bytes of a connection and direction. */
	uint32_t undelivered;
	/* log2 of the bytes of the cache of an inter-proxy connection. 0: no compression. */
	uint8_t cache_log;
	struct accel_selection include, exclude;
};

/* Reports whether the filters select a connection between two hosts, either of which may be the
 * server. include: a prefix contains a host of the connection, and a listed port is a port of the
 * connection. An empty list of prefixes or ports matches. exclude: no prefix contains a host of the
 * connection, and no listed port is a port of the connection. */
bool accel_settings_admit(const struct accel_settings *s, const struct ip_addr *a,
			  const struct ip_addr *b, uint16_t a_port, uint16_t b_port);
/* "443" or "8000-8080", 1 to 65535. */
bool accel_ports_parse(const char *s, struct accel_ports *out);

void accel_settings_code(struct codec *b, struct accel_settings *s);
bool accel_settings_equal(const struct accel_settings *a, const struct accel_settings *b);

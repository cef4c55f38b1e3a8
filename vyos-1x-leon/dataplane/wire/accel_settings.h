// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Which connections are taken over, as the configuration says: part of struct conf, told to
 * leon-accel by leond, and asked there for each connection. Pure.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"

struct rbuf;
struct wbuf;

#define ACCEL_PREFIXES_MAX 32
#define ACCEL_PORTS_MAX	   32
/* Of the threshold: below it a connection is given back. */
#define ACCEL_KEEP_PERCENT 80

struct accel_ports {
	uint16_t first, last;
};

/* Connections by their ends. */
struct accel_selection {
	uint8_t n_prefixes, n_ports;
	struct prefix prefix[ACCEL_PREFIXES_MAX];
	struct accel_ports port[ACCEL_PORTS_MAX];
};

enum accel_mode {
	ACCEL_OFF,     /* none any more: what is taken is given back */
	ACCEL_MOVED,   /* of hosts that moved to another node, above the threshold of latency */
	ACCEL_LATENCY, /* all above the threshold */
	ACCEL_ALWAYS,
	ACCEL_MODES,
};

struct accel_settings {
	uint8_t mode; /* enum accel_mode */
	uint32_t threshold_us;
	uint32_t segments; /* with data, that make a connection worth it */
	uint32_t maximum;  /* connections taken at a time */
	/* Bytes of a connection and direction, acknowledged and not delivered. */
	uint32_t undelivered;
	uint8_t cache_log; /* log2 of the bytes of a carrier's cache; 0: no compression */
	struct accel_selection include, exclude;
};

/* A connection between two hosts, either of which may be the server. include: one prefix of it
 * (where it has any) has one of the hosts, and one port of it (where it has any) is one of the two;
 * exclude: no prefix of it has one of the hosts, and no port of it is one of the two. */
bool accel_settings_admit(const struct accel_settings *s, const struct ip_addr *a,
			  const struct ip_addr *b, uint16_t a_port, uint16_t b_port);
/* "443" or "8000-8080", 1 to 65535. */
bool accel_ports_parse(const char *s, struct accel_ports *out);

void accel_settings_put(struct wbuf *b, const struct accel_settings *s);
void accel_settings_take(struct rbuf *b, struct accel_settings *s);
bool accel_settings_equal(const struct accel_settings *a, const struct accel_settings *b);

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fuzz target of base/addr: any text in every parser. An accepted value must survive formatting and
 * parsing.
 */
#include <stdlib.h>
#include <string.h>

#include "base/addr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static void check_endpoint(const char *text)
{
	char buf[ENDPOINT_STRLEN];
	struct endpoint a, b;

	if (endpoint_parse(text, 5366, &a) < 0)
		return;
	endpoint_format(&a, buf, sizeof(buf));
	if (endpoint_parse(buf, 0, &b) < 0 || !endpoint_equal(&a, &b))
		abort();
}

static void check_ids(const char *text)
{
	char buf[IP_STRLEN];
	struct mac mac, mac_again;
	node_id_t id, id_again;
	struct ip_addr ip, ip_again;

	if (mac_parse(text, &mac) == 0 &&
	    (mac_parse(mac_format(mac, buf, sizeof(buf)), &mac_again) < 0 ||
	     mac_to_u64(mac) != mac_to_u64(mac_again)))
		abort();
	if (node_id_parse(text, &id) == 0 &&
	    (node_id_parse(node_id_format(id, buf, sizeof(buf)), &id_again) < 0 || id != id_again))
		abort();
	if (ip_parse(text, &ip) == 0 &&
	    (ip_parse(ip_format(&ip, buf, sizeof(buf)), &ip_again) < 0 ||
	     !ip_equal(&ip, &ip_again)))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	char *text = malloc(len + 1);

	if (!text)
		abort();
	memcpy(text, data, len);
	text[len] = '\0';
	check_endpoint(text);
	check_ids(text);
	free(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * UPnP Internet Gateway Device, by miniupnpc. Only the default gateway counts. Descriptions and
 * control addresses of other hosts are ignored, so no host of the LAN directs requests of this
 * program to a third host. The library opens its sockets itself, without VRF and firewall mark.
 * Main thread.
 */
#include <miniupnpc/miniupnpc.h>
#include <miniupnpc/upnpcommands.h>
#include <miniupnpc/upnperrors.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ipc/portmap_control.h"
#include "mapper.h"

#define DISCOVERY_MS	     1000
#define PORT_TRIES	     4
#define ERROR_CONFLICT	     718
#define ERROR_ONLY_PERMANENT 725

/* The service of the gateway, over attempts. */
static struct {
	bool known;
	struct UPNPUrls url;
	struct IGDdatas data;
} igd;

static void forget(void)
{
	if (igd.known)
		FreeUPNPUrls(&igd.url);
	igd.known = false;
}

/* "http://192.0.2.1:5000/description.xml" with the address of the gateway. */
static bool is_at(const char *url, const struct ip_addr *gateway)
{
	static const char scheme[] = "http://";
	const char *host = IP_TEXT(gateway);
	size_t len = strlen(host);

	if (!url || strncmp(url, scheme, strlen(scheme)) != 0)
		return false;
	url += strlen(scheme);
	return strncmp(url, host, len) == 0 && (url[len] == ':' || url[len] == '/');
}

static bool is_service(const char *type)
{
	return strncmp(type, "urn:schemas-upnp-org:service:WANIPConnection:", 45) == 0 ||
	       strncmp(type, "urn:schemas-upnp-org:service:WANPPPConnection:", 46) == 0;
}

static bool read_description(const char *url, const struct ip_addr *gateway)
{
	char own[IP_STRLEN];

	if (!UPNP_GetIGDFromUrl(url, &igd.url, &igd.data, own, sizeof(own)))
		return false;
	igd.known = true;
	if (is_service(igd.data.first.servicetype) && is_at(igd.url.controlURL, gateway))
		return true;
	forget();
	return false;
}

static bool discover(const struct mapping_request *q, struct mapping_answer *a)
{
	static const char *const devices[] = {
		"urn:schemas-upnp-org:device:InternetGatewayDevice:2",
		"urn:schemas-upnp-org:device:InternetGatewayDevice:1", NULL
	};
	struct UPNPDev *list;
	const char *why = "no device answers";
	int error = 0;

	list = upnpDiscoverDevices(devices, DISCOVERY_MS, IP_TEXT(&q->c.source), NULL,
				   UPNP_LOCAL_PORT_ANY, 0, 2, &error, 1);
	for (struct UPNPDev *d = list; d && !igd.known; d = d->pNext) {
		if (!is_at(d->descURL, &q->c.gateway)) {
			why = "the default gateway does not answer, another device does";
			continue;
		}
		why = "the description of the gateway is invalid";
		read_description(d->descURL, &q->c.gateway);
	}
	freeUPNPDevlist(list);
	if (!igd.known)
		snprintf(a->reason, sizeof(a->reason), "%s", why);
	return igd.known;
}

static bool external_ip(struct mapping_answer *a)
{
	char text[64] = "";

	if (UPNP_GetExternalIPAddress(igd.url.controlURL, igd.data.first.servicetype, text) != 0)
		return false;
	text[sizeof(text) - 1] = '\0';
	return ip_parse(text, &a->external.ip) == 0 && a->external.ip.family == 4;
}

static void number(char out[12], uint32_t n)
{
	snprintf(out, 12, "%u", n);
}

enum entry { ENTRY_NONE, ENTRY_OWN, ENTRY_OTHER };

/* Some gateways let a host take the external port of another host, so the owner is read first. */
static enum entry entry_at(const struct mapping_request *q, uint16_t port)
{
	char external[12], own[IP_STRLEN], want[12];
	/* At least as large as the library writes. */
	char client[64] = "", inside[64] = "", text[128] = "", enabled[64] = "", lease[64] = "";

	number(external, port);
	number(want, q->c.port);
	ip_format(&q->c.source, own, sizeof(own));
	if (UPNP_GetSpecificPortMappingEntry(igd.url.controlURL, igd.data.first.servicetype,
					     external, "UDP", NULL, client, inside, text, enabled,
					     lease) != UPNPCOMMAND_SUCCESS)
		return ENTRY_NONE;
	return strcmp(client, own) == 0 && strcmp(inside, want) == 0 ? ENTRY_OWN : ENTRY_OTHER;
}

static int add_entry(const struct mapping_request *q, uint16_t port, uint32_t lifetime_s)
{
	char external[12], inside[12], own[IP_STRLEN], lease[12];

	number(external, port);
	number(inside, q->c.port);
	number(lease, lifetime_s);
	ip_format(&q->c.source, own, sizeof(own));
	return UPNP_AddPortMapping(igd.url.controlURL, igd.data.first.servicetype, external, inside,
				   own, "leon", "UDP", NULL, lease);
}

static int try_port(const struct mapping_request *q, uint16_t port)
{
	enum entry now = entry_at(q, port);
	int rc;

	if (now == ENTRY_OTHER)
		return ERROR_CONFLICT;
	if (now == ENTRY_OWN && !q->renew)
		return 0;
	rc = add_entry(q, port, q->c.lifetime_s);
	/* The mapping is permanent; the program renews the mapping all the same. */
	return rc == ERROR_ONLY_PERMANENT ? add_entry(q, port, 0) : rc;
}

/* Unprivileged ports, the same ones for each start of a node. */
static uint16_t next_port(uint16_t port)
{
	return (uint16_t)(port < 1024 || port > 60000 ? port % 1000 + 20000 : port + 101);
}

static enum mapping_result failed(int rc, struct mapping_answer *a)
{
	const char *text = strupnperror(rc);

	snprintf(a->reason, sizeof(a->reason), "%s", text ? text : "the answer is invalid");
	return rc > 0 ? MAPPING_REFUSED : MAPPING_SILENT;
}

static enum mapping_result request(const struct mapping_request *q, struct mapping_answer *a)
{
	uint16_t port = q->c.external_port;
	int rc = ERROR_CONFLICT;

	if (!external_ip(a)) {
		snprintf(a->reason, sizeof(a->reason), "the gateway states no public address");
		return MAPPING_SILENT;
	}
	a->lifetime_s = q->c.lifetime_s;
	for (int i = 0; i < PORT_TRIES; i++, port = next_port(port)) {
		a->external.port = port;
		rc = try_port(q, port);
		if (rc <= 0)
			break;
	}
	return rc ? failed(rc, a) : MAPPING_OK;
}

static enum mapping_result upnp_map(const struct mapping_request *q, struct mapping_answer *a)
{
	enum mapping_result result = MAPPING_SILENT;
	bool was_known = igd.known && is_at(igd.url.controlURL, &q->c.gateway);

	if (was_known)
		result = request(q, a);
	if (result != MAPPING_SILENT)
		return result;
	/* A restarted gateway may have another port and description. */
	forget();
	if (discover(q, a))
		result = request(q, a);
	if (result == MAPPING_SILENT)
		forget();
	return result;
}

static void upnp_unmap(const struct mapping_request *q)
{
	char external[12];

	number(external, q->c.external_port);
	if (igd.known)
		UPNP_DeletePortMapping(igd.url.controlURL, igd.data.first.servicetype, external,
				       "UDP", NULL);
	forget();
}

const struct mapping_method upnp_method = {
	.name = "UPnP", .number = PORTMAP_UPNP, .map = upnp_map, .unmap = upnp_unmap
};

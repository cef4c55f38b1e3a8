// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * NAT-PMP (RFC 6886) by libnatpmp. Servers of PCP (RFC 6887) that also answer NAT-PMP are included;
 * Debian has no library for PCP. Main thread.
 */
#include <natpmp.h>

#include <poll.h>
#include <stdio.h>
#include <string.h>

#include "io/clock.h"
#include "ipc/portmap_control.h"
#include "mapper.h"

/* The library repeats a request after 250, 500 and 1000 ms. RFC 6886 continues up to 64 s, which is
 * the task of the next attempt here. */
#define ANSWER_MS 1800

/* libnatpmp opens its socket itself, without the device and the firewall mark of the overlay. The
 * structure is public, so the socket of leond takes its place. */
static natpmp_t state_of(const struct mapping_request *q)
{
	natpmp_t p = { .s = q->natpmp };

	memcpy(&p.gateway, q->c.gateway.b, sizeof(p.gateway));
	return p;
}

static int wait_ms(natpmp_t *p, mono_t end)
{
	struct timeval tv;
	int64_t left = mono_sub_ms(end, mono_now()), ms;

	if (getnatpmprequesttimeout(p, &tv) < 0 || left < 0)
		return 0;
	ms = (int64_t)tv.tv_sec * 1000 + tv.tv_usec / 1000 + 1;
	return (int)(ms < 0 ? 0 : ms < left ? ms : left);
}

/* Old datagrams may be in the socket, so other answers are skipped. */
static bool is_answer(const natpmpresp_t *r, uint16_t type, uint16_t port)
{
	return r->type == type &&
	       (type == NATPMP_RESPTYPE_PUBLICADDRESS || r->pnu.newportmapping.privateport == port);
}

/* Waits for the answer to the pending request. Returns 0 or a number of the library. */
static int answer(natpmp_t *p, natpmpresp_t *r, uint16_t type, uint16_t port)
{
	mono_t end = mono_add_ms(mono_now(), ANSWER_MS);
	struct pollfd f = { .fd = p->s, .events = POLLIN };
	int rc;

	do {
		poll(&f, 1, wait_ms(p, end));
		rc = readnatpmpresponseorretry(p, r);
		if (rc == 0 && is_answer(r, type, port))
			return 0;
		/* The answer ended the request, but belongs to another request. */
		if (rc == 0)
			p->has_pending_request = 1;
		else if (rc != NATPMP_TRYAGAIN && rc != NATPMP_ERR_WRONGPACKETSOURCE)
			return rc;
	} while (mono_before(mono_now(), end));
	return NATPMP_TRYAGAIN;
}

static enum mapping_result failed(int rc, struct mapping_answer *a)
{
	static const struct {
		int rc;
		enum mapping_result result;
		const char *why;
	} reasons[] = {
		{ NATPMP_TRYAGAIN, MAPPING_SILENT, "no answer" },
		{ NATPMP_ERR_NOGATEWAYSUPPORT, MAPPING_SILENT, "no service at the gateway" },
		{ NATPMP_ERR_UNSUPPORTEDVERSION, MAPPING_SILENT,
		  "the gateway has another version, perhaps PCP only" },
		{ NATPMP_ERR_SENDERR, MAPPING_SILENT, "this host cannot send to the gateway" },
		{ NATPMP_ERR_NOTAUTHORIZED, MAPPING_REFUSED,
		  "the gateway does not permit mappings" },
		{ NATPMP_ERR_NETWORKFAILURE, MAPPING_REFUSED, "the gateway has no public address" },
		{ NATPMP_ERR_OUTOFRESOURCES, MAPPING_REFUSED, "the gateway has no free mapping" },
		{ 0, MAPPING_SILENT, "the answer is invalid" },
	};
	unsigned i = 0;

	while (reasons[i].rc && reasons[i].rc != rc)
		i++;
	snprintf(a->reason, sizeof(a->reason), "%s", reasons[i].why);
	return reasons[i].result;
}

static enum mapping_result natpmp_map(const struct mapping_request *q, struct mapping_answer *a)
{
	natpmp_t p = state_of(q);
	natpmpresp_t r;
	int rc = sendpublicaddressrequest(&p);

	if (rc >= 0)
		rc = answer(&p, &r, NATPMP_RESPTYPE_PUBLICADDRESS, 0);
	if (rc < 0)
		return failed(rc, a);
	a->external.ip = (struct ip_addr){ .family = 4 };
	memcpy(a->external.ip.b, &r.pnu.publicaddress.addr, 4);
	rc = sendnewportmappingrequest(&p, NATPMP_PROTOCOL_UDP, q->c.port, q->c.external_port,
				       q->c.lifetime_s);
	if (rc >= 0)
		rc = answer(&p, &r, NATPMP_RESPTYPE_UDPPORTMAPPING, q->c.port);
	if (rc < 0)
		return failed(rc, a);
	a->external.port = r.pnu.newportmapping.mappedpublicport;
	a->lifetime_s = r.pnu.newportmapping.lifetime;
	if (a->lifetime_s && endpoint_is_usable(&a->external))
		return MAPPING_OK;
	snprintf(a->reason, sizeof(a->reason), "the gateway grants no address, port or lifetime");
	return MAPPING_REFUSED;
}

static void natpmp_unmap(const struct mapping_request *q)
{
	natpmp_t p = state_of(q);
	natpmpresp_t r;

	if (sendnewportmappingrequest(&p, NATPMP_PROTOCOL_UDP, q->c.port, 0, 0) >= 0)
		answer(&p, &r, NATPMP_RESPTYPE_UDPPORTMAPPING, q->c.port);
}

const struct mapping_method natpmp_method = {
	.name = "NAT-PMP", .number = PORTMAP_NATPMP, .map = natpmp_map, .unmap = natpmp_unmap
};

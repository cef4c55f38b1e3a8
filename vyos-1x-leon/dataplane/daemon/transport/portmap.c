// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Port mapping at a gateway with NAT, see transport.h.
 */
#include "daemon/transport/transport.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "daemon/report/report.h"
#include "daemon/states.h"
#include "io/netlink/netlink.h"
#include "io/tcp_socket.h"
#include "io/udp.h"
#include "ipc/stream_control.h"
#include "proto/overlay.h"
#include "proto/view.h"
#include "state/conf/conf.h"

#define REMOVE_MS 1000 /* time for the removal of the mapping */
/* leon-portmap sends a report each second at most. A program that sends more is compromised. */
#define REPORTS_PER_S 8
#define ANNOUNCE_MS   20000 /* two announcements, or a gateway could make all nodes busy */
#define PATIENCE_MS   5000  /* delay before a private external address is reported */

/* The gateway towards the Internet is that of this address of a root name server, which has been
 * constant since 1997. Nothing is sent there. */
static const struct ip_addr internet = { 4, { 193, 0, 14, 129 } };

struct portmap {
	struct leond *d;
	struct child child; /* leon-portmap */
	bool removes;	    /* `port-mapping` was deleted, and leon-portmap removes the mapping */
	mono_t close_at;    /* its end */

	struct portmap_view shown;
	struct ip_addr source; /* of the request */
	uint32_t number;       /* of the request; 0: none */
	uint32_t last_number;  /* never used again, as late reports may state it */
	mono_t mapped_at;
	bool announced;		/* in the record of this node */
	bool refused;		/* the refusal was reported */
	mono_t announced_at[2]; /* the last one first */
	unsigned credit;	/* reports that may arrive in this second */
};

const char *portmap_state_name(enum portmap_state s)
{
	static const char *const names[] = {
		[PORTMAP_IS_NO_GATEWAY] = "no-gateway", [PORTMAP_IS_PUBLIC] = "public-address",
		[PORTMAP_IS_REQUESTED] = "requested",	[PORTMAP_IS_MAPPED] = "mapped",
		[PORTMAP_IS_PRIVATE] = "private",	[PORTMAP_IS_FAILED] = "failed",
	};

	return names[s];
}

/* --- events --- */

static void report_refused(struct portmap *m, const char *reason)
{
	if (m->refused)
		return;
	m->refused = true;
	report_event(m->d, FACTS(EV_PORT_MAPPING_REFUSED, .detail = reason),
		     "gateway %s gives no port mapping: %s", IP_TEXT(&m->shown.gateway), reason);
}

/* --- the mapping --- */

/* No record keeps an address for which no mapping exists. */
static void withdraw(struct portmap *m, const char *reason)
{
	if (m->announced) {
		const char *external = ENDPOINT_TEXT(&m->shown.external);

		report_event(m->d, FACTS(EV_PORT_MAPPING_LOST, .detail = external),
			     "the port mapping %s ended: %s", external, reason);
		overlay_set_mapped(m->d->overlay, NULL);
	}
	m->announced = false;
	m->shown.external = (struct endpoint){ .port = 0 };
}

/* A gateway may have a private address itself, or lie. Its address counts if the Internet can reach
 * it, or if another node sees this node there, in a private underlay. */
static bool is_credible(const struct portmap *m)
{
	const struct ip_addr *ip = &m->shown.external.ip;

	return ip_is_global(ip) || overlay_is_observed_at(m->d->overlay, ip);
}

static void announce(struct portmap *m, mono_t now)
{
	if (m->shown.external.port == 0 || m->announced)
		return;
	if (is_credible(m)) {
		const char *external = ENDPOINT_TEXT(&m->shown.external);

		if (mono_is_recent(m->announced_at[1], ANNOUNCE_MS, now)) {
			m->shown.state = PORTMAP_IS_REQUESTED;
			return;
		}
		m->announced_at[1] = m->announced_at[0];
		m->announced_at[0] = now;
		m->shown.state = PORTMAP_IS_MAPPED;
		m->announced = true;
		m->refused = false;
		m->shown.reason[0] = '\0';
		overlay_set_mapped(m->d->overlay, &m->shown.external);
		report_event(m->d, FACTS(EV_PORT_MAPPED, .detail = external),
			     "gateway %s maps UDP port %u to %s (%s)", IP_TEXT(&m->shown.gateway),
			     m->d->udp->port, external, portmap_method_name(m->shown.method));
		return;
	}
	m->shown.state = PORTMAP_IS_PRIVATE;
	snprintf(m->shown.reason, sizeof(m->shown.reason),
		 "its external address %s is no public address: a second NAT follows, or the line "
		 "has a shared address",
		 IP_TEXT(&m->shown.external.ip));
	if (mono_sub_ms(now, m->mapped_at) >= PATIENCE_MS)
		report_refused(m, m->shown.reason);
}

static void mapped(struct portmap *m, const struct portmap_report *p, mono_t now)
{
	if (!endpoint_equal(&p->external, &m->shown.external)) {
		withdraw(m, "the gateway has another one now");
		m->shown.external = p->external;
		m->mapped_at = now;
	}
	m->shown.method = p->method;
	m->shown.expires_at = mono_add_ms(now, (int64_t)p->lifetime_s * 1000);
	if (m->announced)
		m->shown.reason[0] = '\0';
	announce(m, now);
}

static void failed(struct portmap *m, const struct portmap_report *p)
{
	m->shown.failures++;
	snprintf(m->shown.reason, sizeof(m->shown.reason), "%s", p->reason);
	if (m->shown.external.port && p->news == PORTMAP_FAILED)
		return; /* until the end of its lifetime */
	withdraw(m, p->reason);
	m->shown.state = PORTMAP_IS_FAILED;
	report_refused(m, p->reason);
}

/* Returns false if the program does not behave like leon-portmap. */
static bool took(struct portmap *m, struct portmap_report *p)
{
	if (m->credit == 0 || !portmap_report_check(p))
		return false;
	m->credit--;
	/* A report about an earlier request crossed this one. */
	if (m->number == 0 || p->number != m->number)
		return true;
	m->shown.reports++;
	m->child.wait_s = 1;
	if (p->news == PORTMAP_MAPPED)
		mapped(m, p, loop_now(m->d->loop));
	else
		failed(m, p);
	return true;
}

static void expire(struct portmap *m, mono_t now)
{
	if (m->shown.external.port == 0 || mono_before(now, m->shown.expires_at))
		return;
	withdraw(m, m->shown.reason[0] ? m->shown.reason : "leon-portmap did not renew it");
	m->shown.state = PORTMAP_IS_FAILED;
}

/* --- the program --- */

static void end_program(struct portmap *m)
{
	child_end(&m->child, m->d->loop);
	m->number = 0;
}

static void on_control(void *arg, int control, uint32_t events attr_unused)
{
	struct portmap *m = arg;
	struct portmap_report p;
	int rc;

	while ((rc = stream_receive(control, &p, sizeof(p), NULL)) == 0 && took(m, &p))
		;
	if (rc == -EAGAIN)
		return;
	if (m->removes) {
		end_program(m);
		return;
	}
	/* The mapping stays at the gateway, and the next program renews it. */
	log_warn("portmap", "leon-portmap %s; leond starts it again in %u s",
		 rc ? "ended" : "sends invalid reports, and leond ends it", m->child.wait_s);
	end_program(m);
	m->shown.failures++;
	child_delay(&m->child);
}

static void start_program(struct portmap *m)
{
	const struct child_program leon_portmap = { "leon-portmap", "LEON_PORTMAP_PROGRAM",
						    on_control, m };
	int rc = child_start(&m->child, m->d->loop, &leon_portmap);

	if (rc == 0)
		return;
	m->shown.state = PORTMAP_IS_FAILED;
	snprintf(m->shown.reason, sizeof(m->shown.reason), "leon-portmap cannot be started: %s%s",
		 strerror(-rc), rc == -ENOENT ? " (install the package leon-portmap)" : "");
	if (!m->refused)
		log_error("portmap", "%s", m->shown.reason);
	m->refused = true;
}

/* --- requests --- */

static int device_index(const struct leond *d)
{
	struct nl_link link;

	if (!d->conf->source_interface[0] ||
	    nl_link_by_name(d->nl, d->conf->source_interface, &link) < 0)
		return 0;
	return link.index;
}

static void request(struct portmap *m)
{
	const struct conf *c = m->d->conf;
	const struct tcp_config tc = { .source4 = m->source,
				       .device =
					       c->source_interface[0] ? c->source_interface : NULL,
				       .fwmark = c->fwmark };
	const struct endpoint to = { .ip = m->shown.gateway, .port = NATPMP_PORT_NUMBER };
	struct portmap_command q = { .protocol = PORTMAP_PROTOCOL,
				     .order = PORTMAP_SETUP,
				     .lifetime_s = c->port_mapping_s,
				     .gateway = m->shown.gateway,
				     .source = m->source,
				     .port = m->d->udp->port,
				     .external_port = m->d->udp->port };
	int fd = udp_connect(&tc, &to);

	if (fd < 0)
		return; /* the address or the interface is gone; the next second has news */
	if (m->shown.external.port)
		q.external_port = m->shown.external.port;
	m->last_number = m->last_number % UINT32_MAX + 1;
	m->number = q.number = m->last_number;
	if (stream_send(m->child.control, &q, sizeof(q), fd) < 0)
		m->number = 0;
	close(fd);
	if (m->shown.external.port == 0)
		m->shown.state = PORTMAP_IS_REQUESTED;
}

static bool order_removal(struct portmap *m)
{
	const struct portmap_command q = { .protocol = PORTMAP_PROTOCOL, .order = PORTMAP_REMOVE };

	return m->child.control >= 0 && stream_send(m->child.control, &q, sizeof(q), -1) == 0;
}

static void leave_gateway(struct portmap *m, enum portmap_state s, const char *reason)
{
	withdraw(m, reason);
	m->shown.reason[0] = '\0';
	m->shown.state = s;
	m->number = 0;
}

/* Follows the route to the Internet. Returns true if a mapping is to be requested. */
static bool look_for_gateway(struct portmap *m)
{
	const struct nl_flow flow = { .to = internet,
				      .from = m->d->conf->source4,
				      .index = device_index(m->d),
				      .mark = m->d->conf->fwmark };
	struct nl_next_hop hop;
	struct ip_addr source;

	if (nl_next_hop(m->d->nl, &flow, &hop) < 0)
		return m->number != 0;
	source = m->d->conf->source4.family ? m->d->conf->source4 : hop.source;
	if (!ip_equal(&hop.gateway, &m->shown.gateway) || !ip_equal(&source, &m->source)) {
		leave_gateway(m, PORTMAP_IS_REQUESTED, "the route to the Internet changed");
		m->refused = false;
	}
	m->shown.gateway = hop.gateway;
	m->source = source;
	if (m->d->udp->fd4[0] >= 0 && hop.gateway.family && source.family && !ip_is_global(&source))
		return true;
	leave_gateway(m, ip_is_global(&source) ? PORTMAP_IS_PUBLIC : PORTMAP_IS_NO_GATEWAY,
		      "the route to the Internet changed");
	/* The program removes the mapping, and ends. Its next start does not wait. */
	if (order_removal(m)) {
		end_program(m);
		m->child.start_at = loop_now(m->d->loop);
	}
	return false;
}

/* --- the end --- */

/* The gateway forgets the mapping before leond ends, if it answers at once. */
static void wait_for_removal(struct portmap *m)
{
	struct pollfd f = { .fd = m->child.control, .events = POLLIN };
	struct portmap_report p;
	int rc = -EAGAIN;

	/* The end of the program follows at most a few reports. */
	for (int i = 0; i < REPORTS_PER_S && rc != -EPIPE && poll(&f, 1, REMOVE_MS) > 0; i++)
		rc = stream_receive(m->child.control, &p, sizeof(p), NULL);
}

static void discard(struct portmap *m)
{
	child_end(&m->child, m->d->loop);
	child_kill(&m->child);
	m->d->states->portmap = NULL;
	free(m);
}

/* `port-mapping` was deleted: leond does not wait for the removal. */
static void begin_removal(struct portmap *m)
{
	if (!m || m->removes)
		return;
	withdraw(m, "`port-mapping` was deleted");
	m->number = 0;
	m->removes = true;
	m->close_at = mono_add_ms(loop_now(m->d->loop), REMOVE_MS);
	if (!order_removal(m))
		discard(m);
}

static void go_on_with_removal(struct portmap *m, mono_t now)
{
	m->credit = REPORTS_PER_S;
	if (m->child.control >= 0 && !mono_before(now, m->close_at))
		end_program(m);
	child_is_due(&m->child, now);
	if (m->child.control < 0 && !m->child.pid)
		discard(m);
}

/* --- module --- */

void portmap_second(struct leond *d, mono_t now)
{
	struct portmap *m = d->states->portmap;
	bool due, wanted;

	if (!m)
		return;
	if (m->removes) {
		go_on_with_removal(m, now);
		return;
	}
	m->credit = REPORTS_PER_S;
	due = child_is_due(&m->child, now);
	expire(m, now);
	wanted = look_for_gateway(m);
	announce(m, now);
	if (wanted && due)
		start_program(m);
	if (wanted && m->child.control >= 0 && m->number == 0)
		request(m);
}

void portmap_stop(struct leond *d)
{
	struct portmap *m = d->states->portmap;

	if (!m)
		return;
	if (m->removes ? m->child.control >= 0 : order_removal(m))
		wait_for_removal(m);
	discard(m);
}

void portmap_apply_conf(struct leond *d)
{
	if (!d->conf->port_mapping) {
		begin_removal(d->states->portmap);
		return;
	}
	if (d->states->portmap && d->states->portmap->removes)
		discard(d->states->portmap);
	if (!d->states->portmap) {
		d->states->portmap = x_new(struct portmap);
		*d->states->portmap = (struct portmap){ .d = d, .child = CHILD_INIT };
	}
	d->states->portmap->number = 0;
	portmap_second(d, loop_now(d->loop));
}

const struct portmap_view *portmap_view(const struct leond *d)
{
	const struct portmap *m = d->states->portmap;

	return m && !m->removes ? &m->shown : NULL;
}

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Configured peers of an overlay: their addresses and the diagnosis of each address. handshake/
 * defines the functions; daemon/underlay/ calls them. Control thread.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/addr.h"
#include "base/mono.h"

struct overlay;

/* Sets the addresses of configured peer `index` (conf order), from the configuration or DNS. */
void overlay_set_seed(struct overlay *o, unsigned index, const struct endpoint *ep, unsigned n);
/* Returns true if seed `index` is not reached, and the name should be resolved again. */
bool overlay_seed_wants_resolve(const struct overlay *o, unsigned index);

/* Diagnosis of the address of a configured peer. Later values are more specific. */
enum seed_diagnosis {
	SEED_NOT_QUERIED,
	SEED_SILENT,	     /* no answer */
	SEED_REFUSED,	     /* ICMP port unreachable */
	SEED_UNREACHABLE,    /* another ICMP error, in `error` */
	SEED_NOT_SENT,	     /* the local kernel refused to send, `error` */
	SEED_INITIATES,	     /* HELLOs open, but no session results */
	SEED_OTHER_SECRET,   /* HELLOs are sealed and do not open */
	SEED_HAS_NO_SECRET,  /* HELLOs are in clear, this node has a secret */
	SEED_HAS_SECRET,     /* HELLOs are sealed, this node has no secret */
	SEED_OTHER_VNI,	     /* datagrams have another VNI */
	SEED_OTHER_VERSION,  /* datagrams have another version, or are not LEON */
	SEED_OTHER_CURVE,    /* HELLOs open and have a key of another curve */
	SEED_NOT_TRUSTED,    /* the identity is not trusted by this node */
	SEED_OTHER_IDENTITY, /* the node-id belongs to another identity */
	SEED_SELF,	     /* the address belongs to this node */
};
#define SEED_ENDPOINTS 8
struct overlay_seed {
	bool reached;	/* a session with the node at the address exists */
	node_id_t node; /* node that answered last, or NODE_ID_NONE */
	unsigned n;
	struct {
		struct endpoint ep;
		uint64_t requested; /* sent HELLOs */
		mono_t requested_at, found_at;
		enum seed_diagnosis diagnosis;
		int error; /* errno, or the wire version, of some diagnoses */
	} address[SEED_ENDPOINTS];
};
bool overlay_seed(struct overlay *o, unsigned index, struct overlay_seed *out);
/* A datagram to this endpoint was refused locally (`local`) or caused an ICMP error. */
void overlay_seed_error(struct overlay *o, const struct endpoint *to, int error, bool local);
/* A datagram from this endpoint was dropped unread: SEED_OTHER_VNI or SEED_OTHER_VERSION with its
 * wire version, or 0. */
void overlay_seed_foreign(struct overlay *o, const struct endpoint *from,
			  enum seed_diagnosis diagnosis, uint8_t wire);

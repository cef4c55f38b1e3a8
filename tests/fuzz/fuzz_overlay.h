// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The language of fuzz_overlay.c and the generator of its corpus. An input is {flags (8)} and steps
 * {step (8), length (16), bytes}. step = kind and switches.
 */
#pragma once

/* Flags. */
#define OVERLAY_CLEAR 1 /* no secret */
#define OVERLAY_TRUST 2 /* only the identities of US and THEM are trusted */

#define OVERLAY_VNI	0x123456u
#define OVERLAY_US	0x0a000001u /* the other node-ids follow */
#define OVERLAY_SECRET	"correct horse battery staple"
#define OVERLAY_ACCEPT	"the secret of last year"
#define OVERLAY_STEPS	32
#define OVERLAY_FLOOD	500
#define OVERLAY_TIME_MS 60000 /* limit of all steps */

enum overlay_who { US, THEM, NEW, STRANGER };

enum overlay_step {
	STEP_STRANGER, /* a datagram from an unknown address */
	STEP_FORGED,   /* from the address of THEM or NEW */
	STEP_REPLAY,   /* {index (8), at (16), mask (8)}: a recorded datagram, damaged */
	STEP_TIME,     /* {ms (16)} */
	STEP_HELLO,    /* a HELLO of NEW or THEM, sealed as by that node */
	STEP_MEMBER,   /* any message, in the session of THEM */
	STEP_SILENCE,  /* {ms (16)}: nothing arrives for this time */
};
#define STEP_KIND 7

/* HELLO: with the value offered to NEW, or of THEM as in the present session; REPLAY: to THEM */
#define STEP_ECHO 8
#define STEP_SIGN 16 /* HELLO and RECORD: signed by the sender, or by NEW for other nodes */
/* HELLO and MEMBER: through a relay; REPLAY: from STRANGER; FORGED: as from NEW */
#define STEP_RELAYED 32
#define STEP_AS_THEM 64 /* HELLO: of THEM; MEMBER: from the address of NEW */
/* HELLO: with the other secret; RECORD: with the key of NEW; other relayed datagrams: with a link
 * value; STRANGER and FORGED: a flood */
#define STEP_OTHER 128

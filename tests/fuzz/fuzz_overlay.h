// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The language of fuzz_overlay.c, which the generator of its corpus must speak too. An input is
 * {flags (8)} and steps {what (8), length (16), bytes}; what = kind and switches.
 */
#pragma once

/* Flags. */
#define OVERLAY_CLEAR 1 /* there is no secret */
#define OVERLAY_TRUST 2 /* of identities, only those of US and THEM are trusted */

#define OVERLAY_VNI	0x123456u
#define OVERLAY_US	0x0a000001u /* the others count up from here */
#define OVERLAY_SECRET	"correct horse battery staple"
#define OVERLAY_ACCEPT	"the secret of last year"
#define OVERLAY_STEPS	32
#define OVERLAY_FLOOD	500
#define OVERLAY_TIME_MS 60000 /* all steps together */

enum overlay_who { US, THEM, NEW, STRANGER };

enum overlay_step {
	STEP_STRANGER, /* a datagram from nowhere */
	STEP_FORGED,   /* from the address of THEM or NEW */
	STEP_REPLAY,   /* {index (8), at (16), mask (8)}: one that was recorded, damaged */
	STEP_TIME,     /* {ms (16)} */
	STEP_HELLO,    /* a HELLO of NEW or THEM, as they would seal it */
	STEP_MEMBER,   /* any message, in the session of THEM */
	STEP_SILENCE,  /* {ms (16)}: nothing arrives for this time */
};
#define STEP_KIND 7

/* HELLO: with the value that we offered NEW; of THEM as in the session in use; REPLAY: to THEM */
#define STEP_ECHO 8
#define STEP_SIGN 16 /* HELLO and RECORD: with the sender's key, NEW's where it is of others */
/* HELLO and MEMBER: came through a relay; REPLAY: from STRANGER; FORGED: as from NEW */
#define STEP_RELAYED 32
#define STEP_AS_THEM 64 /* HELLO: of THEM; MEMBER: from the address of NEW */
/* HELLO: under the other secret; RECORD: with the key of NEW; else relayed: with a link value;
 * STRANGER and FORGED: a flood of it */
#define STEP_OTHER 128

// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Why a configured peer is not reached, as far as that can be known. Control thread.
 */
#pragma once

#include "proto/core.h"

/* Something of the kind was seen from this address; noted where it is one of a configured peer. */
void finding_note(struct overlay *o, const struct endpoint *from, enum seed_finding what);
void finding_asked(struct overlay *o, struct seed *s, unsigned index);
/* What of it still holds. */
struct finding finding_now(const struct overlay *o, const struct finding *f);
/* A HELLO from there did not open. */
void finding_not_opened(struct overlay *o, const struct endpoint *from, const struct leon_hdr *h);

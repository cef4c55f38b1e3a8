// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Export of flows to an IPFIX collector: the samples of workers become flows, and ended flows
 * become records with the path in use. Exists with `flow-export` only. Control thread.
 * doc/decisions/083.
 */
#pragma once

struct leond;

void flow_export_apply_conf(struct leond *d); /* also the start */
void flow_export_stop(struct leond *d);

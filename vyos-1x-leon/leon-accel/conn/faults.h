// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Counts why connections stay plain (enum accel_fault). Called by conn.c and
 * conn_socket.c. Single-threaded.
 */
#pragma once

#include <stdint.h>

#include "ipc/accel_report.h"

/* A proxy socket failed with this errno. */
void faults_of_errno(uint64_t fault[ACCEL_N_FAULTS], int error);
/* This node or the other one refused for that reason (enum accel_refusal). */
void faults_of_refusal(uint64_t fault[ACCEL_N_FAULTS], uint8_t reason);

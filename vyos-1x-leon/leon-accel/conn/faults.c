// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Reasons and counters, see faults.h.
 */
#include "conn/faults.h"

#include <errno.h>

#include "wire/accel.h"

static enum accel_fault kind_of(int error)
{
	switch (error) {
	case EACCES:
	case EPERM:
		return ACCEL_FAULT_SOCKET_DENIED;
	case EADDRINUSE:
	case EADDRNOTAVAIL:
		return ACCEL_FAULT_SOCKET_IN_USE;
	case EMFILE:
	case ENFILE:
		return ACCEL_FAULT_SOCKET_FILES;
	case ENOBUFS:
	case ENOMEM:
	case ENOSPC:
		return ACCEL_FAULT_SOCKET_MEMORY;
	default:
		return ACCEL_FAULT_SOCKET_OTHER;
	}
}

void faults_of_errno(uint64_t fault[ACCEL_N_FAULTS], int error)
{
	fault[kind_of(error)]++;
}

void faults_of_refusal(uint64_t fault[ACCEL_N_FAULTS], uint8_t reason)
{
	switch (reason) {
	case ACCEL_NUMBERS_DIFFER:
		fault[ACCEL_FAULT_NUMBERS_DIFFER]++;
		break;
	case ACCEL_FIN_DIFFERS:
		fault[ACCEL_FAULT_FIN_DIFFERS]++;
		break;
	case ACCEL_OPTIONS_DIFFER:
		fault[ACCEL_FAULT_OPTIONS_DIFFER]++;
		break;
	case ACCEL_CLOCKS_DIFFER:
		fault[ACCEL_FAULT_CLOCKS_DIFFER]++;
		break;
	default: /* counted as refused only */
		break;
	}
}

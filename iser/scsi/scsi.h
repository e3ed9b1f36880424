/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scsi -- the numbers of SAM-5, SPC-4 and SBC-3 that the other headers use, and its byte order
 *
 * This folder is a SCSI device server over files and block devices.  It knows no transport: a
 * transport opens a target, gives it LUNs (lun.h), makes a nexus for each session (nexus.h), and
 * hands in tasks (task.h).
 */
#ifndef ISER_SCSI_SCSI_H
#define ISER_SCSI_SCSI_H

#include <stdint.h>

enum scsi_status {
	SCSI_GOOD = 0x00,
	SCSI_CHECK_CONDITION = 0x02,
	SCSI_BUSY = 0x08,
	SCSI_RESERVATION_CONFLICT = 0x18,
	SCSI_TASK_SET_FULL = 0x28,
	SCSI_TASK_ABORTED = 0x40,
};

/* Sense key, additional sense code and its qualifier as one number. */
enum scsi_sense {
	SENSE_NONE = 0x000000,
	SENSE_MEDIUM_NOT_PRESENT = 0x023a00,
	SENSE_WRITE_ERROR = 0x030c00,
	SENSE_READ_ERROR = 0x031100,
	SENSE_INTERNAL_FAILURE = 0x044400,
	SENSE_SAVING = 0x053900,
	SENSE_LIST_LENGTH = 0x051a00,
	SENSE_OPCODE = 0x052000,
	SENSE_LBA_RANGE = 0x052100,
	SENSE_INFORMATION_UNIT = 0x050e03, /* the initiator sends too little for the CDB */
	SENSE_CDB_FIELD = 0x052400,
	SENSE_LUN_UNKNOWN = 0x052500,
	SENSE_LIST_FIELD = 0x052600,
	SENSE_RELEASE_INVALID = 0x052604,
	SENSE_REMOVAL_PREVENTED = 0x055302,
	SENSE_REGISTRATIONS_FULL = 0x055504,
	SENSE_POWER_ON = 0x062900,
	SENSE_RESET = 0x062903,
	SENSE_RESERVATIONS_PREEMPTED = 0x062a03,
	SENSE_RESERVATIONS_RELEASED = 0x062a04,
	SENSE_REGISTRATIONS_PREEMPTED = 0x062a05,
	SENSE_COMMANDS_CLEARED = 0x062f00,
	SENSE_WRITE_PROTECTED = 0x072700,
	SENSE_SPACE_EXHAUSTED = 0x072707,
	SENSE_MISCOMPARE = 0x0e1d00,
};

static inline uint16_t
scsi_get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static inline uint32_t
scsi_get32(const uint8_t *p)
{
	return (uint32_t)scsi_get16(p) << 16 | scsi_get16(p + 2);
}

static inline uint64_t
scsi_get64(const uint8_t *p)
{
	return (uint64_t)scsi_get32(p) << 32 | scsi_get32(p + 4);
}

static inline void
scsi_put16(uint8_t *p, uint16_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static inline void
scsi_put32(uint8_t *p, uint32_t value)
{
	scsi_put16(p, (uint16_t)(value >> 16));
	scsi_put16(p + 2, (uint16_t)value);
}

static inline void
scsi_put64(uint8_t *p, uint64_t value)
{
	scsi_put32(p, (uint32_t)(value >> 32));
	scsi_put32(p + 4, (uint32_t)value);
}

#endif

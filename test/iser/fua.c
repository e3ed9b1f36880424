/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fua-copy -- rearm-iser-copy whose writes are on the medium when they are answered (FUA)
 *
 * What was answered is on descriptor 3 before the next command is sent: a line "FIRST LAST" of
 * blocks.  So a script that kills one of both ends knows what must be on the disk.
 */
#include "iser/iscsi/icommand.h"
#include "iser/iscsi/iconn_own.h"
#include "iser/iscsi/ijob.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define WRITE_16 0x8a
#define FUA 0x08

/* Calls of the command's and of the job's files go through these: -Wl,--wrap. */
void __real_icommand_send(struct iconn *conn, unsigned int number, const unsigned char cdb[16],
    uint32_t reads, uint32_t writes);
void __wrap_icommand_send(struct iconn *conn, unsigned int number, const unsigned char cdb[16],
    uint32_t reads, uint32_t writes);
void __real_ijob_copied(struct iconn *conn, unsigned int number);
void __wrap_ijob_copied(struct iconn *conn, unsigned int number);

void
__wrap_icommand_send(struct iconn *conn, unsigned int number, const unsigned char cdb[16],
    uint32_t reads, uint32_t writes)
{
	unsigned char copy[16];

	memcpy(copy, cdb, sizeof copy);
	if (copy[0] == WRITE_16)
		copy[1] |= FUA;
	__real_icommand_send(conn, number, copy, reads, writes);
}

void
__wrap_ijob_copied(struct iconn *conn, unsigned int number)
{
	const struct initiator *initiator = conn->initiator;
	const struct islot *slot = &conn->slots[number];

	if (initiator->writes &&
	    dprintf(3, "%" PRIu64 " %" PRIu64 "\n", slot->at / initiator->block_bytes,
		(slot->at + slot->bytes - 1) / initiator->block_bytes) < 0)
		iconn_fail(conn, "descriptor 3 cannot be written");
	__real_ijob_copied(conn, number);
}

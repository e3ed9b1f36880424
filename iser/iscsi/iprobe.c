/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/iprobe.h"

#include "iser/iscsi/icommand.h"
#include "iser/iscsi/iconn_own.h"
#include "iser/iscsi/response.h"
#include "iser/scsi/scsi.h"

#include <string.h>

#define PROBE_TRIES 16 /* unit attentions are answered by asking again */

void
iprobe_ask(struct iconn *conn)
{
	static const unsigned char cdbs[QUESTIONS][16] = {
		[TEST_UNIT_READY] = { 0x00 },
		[CAPACITY] = { 0x9e, 0x10, [13] = 32 },
		[LIMITS] = { 0x12, 0x01, 0xb0, 0, 64 },
	};
	static const uint32_t reads[QUESTIONS] = { 0, 32, 64 };

	memset(iconn_buffer(conn, 0), 0, 64);
	icommand_send(conn, 0, cdbs[conn->question], reads[conn->question], 0);
}

static void
probe_answered(struct iconn *conn, uint32_t moved)
{
	struct initiator *initiator = conn->initiator;
	const unsigned char *data = iconn_buffer(conn, 0);

	if (conn->question == CAPACITY) {
		if (moved < 12) {
			iconn_fail(conn, "the target does not say how many blocks the LUN has");
			return;
		}
		initiator->blocks = scsi_get64(data) + 1;
		initiator->block_bytes = scsi_get32(data + 8);
		initiator->most = initiator->options->block_bytes;
		if (initiator->block_bytes < 512 || initiator->most % initiator->block_bytes) {
			iconn_fail(conn, "the blocks of the LUN are not a part of --block-size");
			return;
		}
		if (initiator->blocks == 0 ||
		    initiator->blocks > INT64_MAX / initiator->block_bytes) {
			iconn_fail(conn, "the LUN has more blocks than there can be");
			return;
		}
	} else if (conn->question == LIMITS && moved >= 12) {
		const uint64_t limit = (uint64_t)scsi_get32(data + 8) * initiator->block_bytes;

		if (limit && limit < initiator->most)
			initiator->most = (uint32_t)limit;
	}
	if (++conn->question < QUESTIONS)
		iprobe_ask(conn);
	else
		iconn_set_state(conn, ICONN_IDLE);
}

void
iprobe_take(struct iconn *conn, const struct response *response)
{
	switch (response->verdict) {
	case RESPONSE_DONE:
		conn->slots[0].tries = 0;
		probe_answered(conn, response->moved);
		return;
	case RESPONSE_BUSY:
		icommand_busy(conn, 0, response);
		return;
	case RESPONSE_FAILED:
		if (conn->question == LIMITS) { /* a device need not have the page */
			iconn_set_state(conn, ICONN_IDLE);
			return;
		}
		break;
	default: /* it may have become another LUN: what was answered does not count */
		conn->question = TEST_UNIT_READY;
		break;
	}
	if (++conn->tries < PROBE_TRIES)
		iprobe_ask(conn);
	else
		icommand_failed(conn, response);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/ijob.h"

#include "iser/iscsi/icommand.h"
#include "iser/iscsi/iconn_own.h"
#include "iser/scsi/file.h"
#include "iser/scsi/scsi.h"

#include <string.h>

#define MARK_BYTES sizeof(uint64_t)

/*
 * Nothing tells the initiator what an RDMA write has placed.  So each block of a read ends with a
 * number that no block can have by chance, until the target's data take its place.
 */
static void
mark(struct iconn *conn, unsigned int number)
{
	const struct initiator *initiator = conn->initiator;
	unsigned char *data = iconn_buffer(conn, number);

	for (uint32_t end = initiator->block_bytes; end <= conn->slots[number].expected;
	     end += initiator->block_bytes)
		memcpy(data + end - MARK_BYTES, &initiator->mark, MARK_BYTES);
}

static bool
came(struct iconn *conn, unsigned int number)
{
	const struct initiator *initiator = conn->initiator;
	const unsigned char *data = iconn_buffer(conn, number);

	for (uint32_t end = initiator->block_bytes; end <= conn->slots[number].expected;
	     end += initiator->block_bytes)
		if (memcmp(data + end - MARK_BYTES, &initiator->mark, MARK_BYTES) == 0)
			return false;
	return true;
}

void
ijob_transfer(struct iconn *conn, unsigned int number)
{
	const struct initiator *initiator = conn->initiator;
	const uint32_t medium = initiator->block_bytes;
	struct islot *slot = &conn->slots[number];
	unsigned char cdb[16] = { initiator->writes ? 0x8a : 0x88 };

	slot->expected = (slot->bytes + medium - 1) / medium * medium;
	scsi_put64(cdb + 2, slot->at / medium);
	scsi_put32(cdb + 10, slot->expected / medium);
	if (!initiator->writes)
		mark(conn, number);
	icommand_send(conn, number, cdb, initiator->writes ? 0 : slot->expected,
	    initiator->writes ? slot->expected : 0);
}

void
ijob_go_on(struct iconn *conn)
{
	struct initiator *initiator = conn->initiator;

	while (conn->free_count > 0 && conn->waiting == 0 && iconn_has_window(conn)) {
		const uint64_t at = atomic_fetch_add(&initiator->next, initiator->most);
		unsigned int number;
		struct islot *slot;

		if (at >= initiator->bytes)
			break;
		number = conn->free_slots[--conn->free_count];
		slot = &conn->slots[number];
		slot->at = at;
		slot->sent_at = bell_now();
		slot->tries = 0;
		slot->bytes = initiator->bytes - at < initiator->most ?
				  (uint32_t)(initiator->bytes - at) :
				  initiator->most;
		if (initiator->writes) {
			memset(iconn_buffer(conn, number) + slot->bytes, 0,
			    initiator->most - slot->bytes);
			if (file_read(
				initiator->file->fd, at, iconn_buffer(conn, number), slot->bytes)) {
				iconn_fail(conn, "the file cannot be read");
				return;
			}
		}
		ijob_transfer(conn, number);
	}
}

void
ijob_rest(struct iconn *conn)
{
	if (conn->free_count == conn->initiator->options->depth)
		iconn_set_state(conn, ICONN_IDLE);
}

void
ijob_copied(struct iconn *conn, unsigned int number)
{
	struct initiator *initiator = conn->initiator;
	struct islot *slot = &conn->slots[number];
	uint64_t now;

	if (!initiator->writes && !came(conn, number)) {
		iconn_fail(
		    conn, "the target says that it has sent all of a read, and some did not come");
		return;
	}
	if (!initiator->writes &&
	    file_write(initiator->file->fd, slot->at, iconn_buffer(conn, number), slot->bytes)) {
		iconn_fail(conn, "the file cannot be written");
		return;
	}
	now = bell_now();
	histogram_add(&conn->latency, now - slot->sent_at);
	atomic_store(&initiator->moved_at, now);
	conn->free_slots[conn->free_count++] = number;
	if (atomic_fetch_add(&initiator->done, slot->bytes) + slot->bytes >= initiator->bytes)
		bell_ring(initiator->bell);
	ijob_go_on(conn);
	ijob_rest(conn);
}

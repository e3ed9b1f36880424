/* SPDX-License-Identifier: BSD-3-Clause */
#include "liar.h"

#include "iser/iscsi/itask.h"
#include "iser/iscsi/pdu.h"

#include <stdatomic.h>
#include <string.h>

static struct lie lie;
static atomic_bool lies;
static atomic_uint seen, told;
static uint32_t latest; /* the tag of an aborted command */

void
liar_tell(const struct lie *what)
{
	atomic_store(&lies, false);
	if (!what)
		return;
	lie = *what;
	atomic_store(&seen, 0);
	atomic_store(&told, 0);
	atomic_store(&lies, true);
}

unsigned int
liar_told(void)
{
	return atomic_load(&told);
}

static bool
is_meant(const struct itask *task)
{
	const unsigned char opcode = task->scsi.cdb[0];

	return atomic_load(&lies) &&
	       (lie.opcode ? opcode == lie.opcode : opcode == 0x88 || opcode == 0x8a);
}

static bool
is_now(unsigned int number)
{
	return number >= lie.first && number < lie.first + lie.count;
}

/* No answer comes to the first ones. */
static bool
is_aborted(const struct itask *task)
{
	if (atomic_load(&seen) >= lie.aborts)
		return false;
	if (atomic_fetch_add(&seen, 1) == 0 || (int32_t)(task->itt - latest) > 0)
		latest = task->itt;
	return true;
}

/* TEST UNIT READY, when there may be no other command. */
static bool
is_look(const struct itask *task)
{
	return atomic_load(&lies) && lie.aborts && atomic_load(&seen) >= lie.aborts &&
	       task->scsi.cdb[0] == 0;
}

/* Of aborted ones the next command tells that came after them. */
static bool
is_told(const struct itask *task)
{
	if (lie.aborts)
		return atomic_load(&told) == 0 && (int32_t)(task->itt - latest) > 0;
	return is_now(atomic_fetch_add(&seen, 1) + 1);
}

bool __real_session_send(struct session *session, unsigned char *bhs, unsigned int slot,
    size_t bytes, bool counts, void *owner);
bool __wrap_session_send(struct session *session, unsigned char *bhs, unsigned int slot,
    size_t bytes, bool counts, void *owner);

static void
send_async(struct session *session)
{
	unsigned int slot;
	unsigned char *bhs = session_answer(session, PDU_ASYNC, PDU_NO_TAG, 0, &slot);

	bhs[36] = (unsigned char)(lie.async - 1);
	__real_session_send(session, bhs, slot, 0, true, NULL);
}

bool
__wrap_session_send(struct session *session, unsigned char *bhs, unsigned int slot, size_t bytes,
    bool counts, void *owner)
{
	const bool is_response = (bhs[0] & PDU_OPCODE) == PDU_RESPONSE && owner;
	unsigned char *sense = bhs + ISCSI_BHS_BYTES;

	if (is_response && is_meant(owner) && is_aborted(owner))
		return true;
	if (is_response && (is_meant(owner) || is_look(owner)) && is_told(owner)) {
		atomic_fetch_add(&told, 1);
		if (lie.is_silent)
			return true;
		if (lie.async) {
			send_async(session);
			return __real_session_send(session, bhs, slot, bytes, counts, owner);
		}
		bhs[PDU_FLAGS] |= lie.flags;
		bhs[2] = lie.response;
		bhs[3] = lie.status;
		wire_put32(bhs + 40, lie.residual_in);
		wire_put32(bhs + 44, lie.residual);
		if (lie.sense) {
			bytes = 2 + 18;
			wire_put24(bhs + PDU_DATA, (uint32_t)bytes);
			wire_put16(sense, 18);
			sense[2] = 0x70;
			sense[4] = (unsigned char)(lie.sense >> 16);
			wire_put16(sense + 14, (uint16_t)lie.sense);
		}
	}
	return __real_session_send(session, bhs, slot, bytes, counts, owner);
}

bool __real_mover_put(struct mover *mover, struct mover_work *work, const struct pool_piece *piece,
    uint32_t at, uint32_t bytes, uint32_t stag, uint64_t address);
bool __wrap_mover_put(struct mover *mover, struct mover_work *work, const struct pool_piece *piece,
    uint32_t at, uint32_t bytes, uint32_t stag, uint64_t address);

bool
__wrap_mover_put(struct mover *mover, struct mover_work *work, const struct pool_piece *piece,
    uint32_t at, uint32_t bytes, uint32_t stag, uint64_t address)
{
	const struct itask *task =
	    (const struct itask *)(const void *)((const char *)work - offsetof(struct itask, work));

	if (is_meant(task) && lie.places_nothing && is_now(atomic_load(&seen) + 1)) {
		if (bytes <= 512)
			return true;
		bytes -= 512; /* all but the last block */
	}
	return __real_mover_put(mover, work, piece, at, bytes, stag, address);
}

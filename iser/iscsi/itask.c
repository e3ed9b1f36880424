/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/itask.h"

#include "iser/datamover/bell.h"
#include "iser/iscsi/manage.h"
#include "iser/iscsi/response.h"
#include "iser/iscsi/target.h"

#include <assert.h>
#include <string.h>

/* Short names, for the table to fit on the page. */
enum {
	NEVER = MACHINE_NEVER,
	FREE = ITASK_FREE,
	WAITING = ITASK_WAITING,
	GATHERING = ITASK_GATHERING,
	FETCHING = ITASK_FETCHING,
	EXECUTING = ITASK_EXECUTING,
	RESPONDING = ITASK_RESPONDING,
};

static const char *const itask_states[] = {
	[ITASK_FREE] = "FREE",
	[ITASK_WAITING] = "WAITING",
	[ITASK_GATHERING] = "GATHERING",
	[ITASK_FETCHING] = "FETCHING",
	[ITASK_EXECUTING] = "EXECUTING",
	[ITASK_RESPONDING] = "RESPONDING",
};

static const char *const itask_events[] = {
	[ITASK_WAIT] = "WAIT",
	[ITASK_GATHER] = "GATHER",
	[ITASK_FETCH] = "FETCH",
	[ITASK_EXECUTE] = "EXECUTE",
	[ITASK_RESPOND] = "RESPOND",
	[ITASK_END] = "END",
};

/* clang-format off */
static const signed char itask_table[ITASK_STATES][ITASK_EVENTS] = {
	/*               WAIT     GATHER     FETCH     EXECUTE    RESPOND     END   */
	[FREE] =       { WAITING, GATHERING, FETCHING, EXECUTING, RESPONDING, FREE  },
	[WAITING] =    { NEVER,   GATHERING, FETCHING, EXECUTING, RESPONDING, FREE  },
	[GATHERING] =  { NEVER,   NEVER,     FETCHING, EXECUTING, RESPONDING, FREE  },
	[FETCHING] =   { NEVER,   NEVER,     NEVER,    EXECUTING, NEVER,      FREE  },
	[EXECUTING] =  { NEVER,   NEVER,     NEVER,    NEVER,     RESPONDING, FREE  },
	[RESPONDING] = { NEVER,   NEVER,     NEVER,    NEVER,     NEVER,      FREE  },
};
/* clang-format on */

const struct machine itask_states_machine = {
	.name = "task",
	.states = ITASK_STATES,
	.events = ITASK_EVENTS,
	.state_names = itask_states,
	.event_names = itask_events,
	.next = itask_table[0],
};

/*
 * A command may have two headers behind its own: the rest of a long CDB, and the length of what it
 * reads, too.
 */
enum {
	AHS_CDB = 1,
	AHS_READ_LENGTH = 2,
};

static void
step(struct itask *task, enum itask_event event)
{
	int next = machine_next(&itask_states_machine, task->state, event);

	if (next == MACHINE_NEVER) {
		mover_fail(&task->session->mover, "%s of a task cannot happen in state %s",
		    machine_event(&itask_states_machine, event),
		    machine_state(&itask_states_machine, task->state));
		return;
	}
	task->state = (enum itask_state)next;
}

/* ---- the tags ---- */

static struct itask **
bucket(struct session *session, uint32_t itt)
{
	return &session->hash[(itt ^ itt >> 8 ^ itt >> 16) % SESSION_HASH];
}

struct itask *
itask_find(struct session *session, uint32_t itt)
{
	struct itask *task = *bucket(session, itt);

	while (task && task->itt != itt)
		task = task->hash_next;
	return task;
}

static void
unhash(struct itask *task)
{
	struct itask **link = bucket(task->session, task->itt);

	while (*link && *link != task)
		link = &(*link)->hash_next;
	if (*link)
		*link = task->hash_next;
}

/* ---- the end ---- */

/* The command no longer counts: the window moves on. */
static void
uncount(struct itask *task)
{
	if (task->counted)
		task->session->active--;
	task->counted = false;
}

/* No device and no thread has it any more. */
static void
end(struct itask *task)
{
	struct session *session = task->session;
	struct manage *manage = task->manage;

	step(task, ITASK_END);
	uncount(task);
	pool_put(session->mover.pool, &task->piece);
	if (task->has_slot)
		mover_post_recv(&session->mover, task->slot);
	task->has_slot = false;
	task->manage = NULL;
	session->free_tasks[session->free_count++] = (unsigned int)(task - session->tasks);
	if (manage)
		manage_task_ended(manage);
}

/* Without a response. */
static void
end_silently(struct itask *task)
{
	unhash(task);
	end(task);
}

void
itask_sent(struct itask *task)
{
	end(task);
}

static size_t
put_sense(const struct scsi_task *scsi, unsigned char *data)
{
	if (!scsi->sense_length)
		return 0;
	wire_put16(data, scsi->sense_length);
	memcpy(data + 2, scsi->sense, scsi->sense_length);
	return 2u + scsi->sense_length;
}

static void
respond(struct itask *task)
{
	struct session *session = task->session;
	const struct scsi_task *scsi = &task->scsi;
	const size_t sense = scsi->sense_length ? 2u + scsi->sense_length : 0;
	unsigned char *bhs;
	unsigned int slot;

	if (task->aborted || scsi->aborted || mover_state(&session->mover) >= MOVER_CLOSING) {
		end_silently(task);
		return;
	}
	if (scsi->status == SCSI_GOOD && scsi->data_in_length > 0) {
		task->work.owner = NULL; /* the completion of the response will do */
		if (!mover_put(&session->mover, &task->work, &task->piece, 0, scsi->data_in_length,
			task->header.read_stag, task->header.read_address)) {
			end_silently(task);
			return;
		}
		atomic_fetch_add_explicit(
		    &session->target->counts.bytes_out, scsi->data_in_length, memory_order_relaxed);
	}
	bhs = session_answer(session, PDU_RESPONSE, task->itt, sense, &slot);
	if (!bhs) {
		/* The RDMA write may still be on its way: the memory stays until the end. */
		step(task, ITASK_RESPOND);
		return;
	}
	bhs[3] = scsi->status;
	put_sense(scsi, bhs + ISCSI_BHS_BYTES);
	response_put_residual(bhs, scsi, task->flags, task->expected);
	/* From here on the initiator may use the tag again. */
	unhash(task);
	uncount(task);
	step(task, ITASK_RESPOND);
	session_send(session, bhs, slot, sense, true, task);
}

/* ---- execution ---- */

/* A task that was planned and not started. */
static void
give_up(struct itask *task)
{
	scsi_task_drop(&task->scsi);
	end_silently(task);
}

static bool
comes_in_pieces(const struct itask *task)
{
	return task->flags & PDU_WRITE && !(task->flags & PDU_FINAL);
}

static void
execute(struct itask *task)
{
	struct mover *mover = &task->session->mover;

	if (task->aborted) {
		give_up(task);
		return;
	}
	step(task, ITASK_EXECUTE);
	task->iov = (struct iovec){ task->piece.base, task->scsi.bytes };
	task->scsi.iov = &task->iov;
	task->scsi.iov_count = task->scsi.bytes ? 1 : 0;
	/* Held until done() has posted its order, which holds the mover itself. */
	mover_hold(mover);
	if (scsi_task_start(&task->scsi) == SCSI_ENDED) {
		mover_release(mover);
		respond(task);
	}
}

/* Of the device server; any thread. */
static void
scsi_done(struct scsi_task *scsi)
{
	struct itask *task = scsi->context;
	struct mover *mover = &task->session->mover;

	task->order.what = ORDER_TASK;
	mover_post(mover, &task->order);
}

void
itask_fetched(struct itask *task)
{
	execute(task);
}

/* All data that come without being asked for are here: the rest is read. */
static void
fetch_rest(struct itask *task)
{
	struct session *session = task->session;
	const uint32_t bytes = task->scsi.bytes, have = task->received;

	if (have >= bytes || task->aborted) {
		execute(task);
		return;
	}
	if (!task->header.write_valid) {
		give_up(task);
		mover_fail(&session->mover, "a write command has no STag");
		return;
	}
	step(task, ITASK_FETCH);
	task->work.owner = task;
	/*
	 * The address is that of the first byte that did not come with a PDU, as initiators have
	 * it.
	 */
	mover_get(&session->mover, &task->work, &task->piece, have, bytes - have,
	    task->header.write_stag, task->header.write_address);
	atomic_fetch_add_explicit(
	    &session->target->counts.bytes_in, bytes - have, memory_order_relaxed);
}

/* Takes data of a PDU, as far as the command wants them. */
static void
take_data(struct itask *task, const unsigned char *data, uint32_t bytes)
{
	const uint32_t want = task->scsi.direction == SCSI_DATA_OUT ? task->scsi.bytes : 0;

	if (task->piece.base && task->received < want)
		memcpy(task->piece.base + task->received, data,
		    bytes < want - task->received ? bytes : want - task->received);
	task->received += bytes;
}

static const unsigned char *
data_of(const unsigned char *pdu)
{
	return pdu + ISCSI_BHS_BYTES + 4u * pdu[PDU_AHS];
}

static void
gather(struct itask *task)
{
	task->gathers_since = bell_now();
	step(task, ITASK_GATHER);
}

/* There is memory: takes the data that came with the command, and goes on. */
static void
begin(struct itask *task, const unsigned char *pdu)
{
	struct session *session = task->session;
	take_data(task, data_of(pdu), wire_get24(pdu + PDU_DATA));
	task->has_slot = false;
	if (!mover_post_recv(&session->mover, task->slot))
		give_up(task);
	else if (comes_in_pieces(task))
		gather(task);
	else if (task->scsi.direction == SCSI_DATA_OUT)
		fetch_rest(task);
	else
		execute(task);
}

static void
memory_ready(struct pool_waiter *waiter)
{
	struct itask *task =
	    (struct itask *)(void *)((char *)waiter - offsetof(struct itask, waiter));

	task->order.what = ORDER_MEMORY;
	mover_post(&task->session->mover, &task->order);
}

/* The PDU of a task that waits is in its receive still. */
static unsigned char *
pdu_of(struct itask *task)
{
	return mover_recv_pdu(&task->session->mover, task->slot);
}

static void
take_memory(struct itask *task)
{
	struct session *session = task->session;
	const uint32_t bytes = task->scsi.bytes;
	/* The next pieces of data have nowhere to wait. */
	struct pool_waiter *waiter = comes_in_pieces(task) ? NULL : &task->waiter;

	if (bytes == 0 ||
	    pool_take(session->mover.pool, &session->share, bytes, waiter, &task->piece)) {
		begin(task, pdu_of(task));
	} else if (!waiter) {
		scsi_task_drop(&task->scsi);
		task->scsi.status = SCSI_TASK_SET_FULL;
		task->has_slot = false;
		if (mover_post_recv(&task->session->mover, task->slot))
			respond(task);
		else
			end_silently(task);
	} else {
		step(task, ITASK_WAIT);
	}
}

/* ---- a command ---- */

/*
 * What is behind the header: the rest of a long CDB, the bytes that a command with both directions
 * reads.
 */
static bool
take_ahs(struct itask *task, const unsigned char *pdu, uint32_t *read_length)
{
	const unsigned char *at = pdu + ISCSI_BHS_BYTES, *stop = data_of(pdu);

	while (stop - at >= 4) {
		const uint32_t length = wire_get16(at);
		/* 3 bytes before, and a multiple of 4 */
		const uint32_t whole = (length + 3 + 3) & ~3u;

		if (whole > (uint32_t)(stop - at))
			return false;
		if (at[2] == AHS_CDB) {
			if (length < 1 || length - 1 > SCSI_CDB_BYTES - 16)
				return false;
			memcpy(task->scsi.cdb + 16, at + 4, length - 1);
		} else if (at[2] == AHS_READ_LENGTH && length == 5) {
			*read_length = wire_get32(at + 4);
		}
		at += whole;
	}
	return true;
}

static enum scsi_attribute
attribute_of(unsigned char flags)
{
	switch (flags & PDU_ATTRIBUTE) {
	case 2:
		return SCSI_ORDERED;
	case 3:
		return SCSI_HEAD_OF_QUEUE;
	default:
		return SCSI_SIMPLE;
	}
}

/* Whether the unsolicited data that the command announces are what was agreed. */
static bool
data_are_agreed(const struct session *session, const unsigned char *pdu)
{
	const uint32_t bytes = wire_get24(pdu + PDU_DATA), all = wire_get32(pdu + PDU_EXPECTED);
	const unsigned char flags = pdu[PDU_FLAGS];

	if (!(flags & PDU_WRITE))
		return bytes == 0 && flags & PDU_FINAL;
	if (bytes > 0 && (!session->immediate_data || bytes > session->first_burst))
		return false;
	return bytes <= all && (flags & PDU_FINAL || !session->initial_r2t);
}

static struct itask *
new_task(struct session *session)
{
	struct itask *task;

	if (session->free_count == 0)
		return NULL;
	task = &session->tasks[session->free_tasks[--session->free_count]];
	assert(task->state == ITASK_FREE);
	return task;
}

/* The answer to a command for which there is no task. */
static void
refuse(struct session *session, const unsigned char *pdu, bool immediate)
{
	unsigned char *bhs;
	unsigned int slot;

	if (immediate) {
		session_reject(session, REJECT_IMMEDIATE, pdu);
		return;
	}
	bhs = session_answer(session, PDU_RESPONSE, wire_get32(pdu + PDU_ITT), 0, &slot);
	if (!bhs)
		return;
	bhs[3] = SCSI_TASK_SET_FULL;
	session_send(session, bhs, slot, 0, true, NULL);
}

/* NULL if the PDU was rejected. */
static struct itask *
make_task(struct session *session, unsigned int slot, unsigned char *pdu, bool immediate)
{
	const uint32_t itt = wire_get32(pdu + PDU_ITT), all = wire_get32(pdu + PDU_EXPECTED);
	uint32_t read_length = 0;
	struct itask *task;
	bool both;

	if (itt == PDU_NO_TAG || !data_are_agreed(session, pdu)) {
		session_reject(session, REJECT_FIELD, pdu);
		return NULL;
	}
	if (itask_find(session, itt)) {
		session_reject(session, REJECT_TASK_IN_PROGRESS, pdu);
		return NULL;
	}
	task = new_task(session);
	if (!task) {
		refuse(session, pdu, immediate);
		return NULL;
	}
	memset(&task->scsi, 0, sizeof task->scsi);
	task->flags = pdu[PDU_FLAGS];
	task->slot = slot;
	task->itt = itt;
	task->expected = all;
	task->received = task->datasn = 0;
	task->aborted = false;
	task->waiter.ready = memory_ready;
	iser_header_decode(pdu - ISER_HEADER_BYTES, ISER_HEADER_BYTES, &task->header);
	memcpy(task->scsi.lun, pdu + PDU_LUN, sizeof task->scsi.lun);
	memcpy(task->scsi.cdb, pdu + PDU_CDB, 16);
	if (!take_ahs(task, pdu, &read_length)) {
		session->free_tasks[session->free_count++] = (unsigned int)(task - session->tasks);
		session_reject(session, REJECT_FIELD, pdu);
		return NULL;
	}
	both = task->flags & PDU_READ && task->flags & PDU_WRITE;
	task->scsi.nexus = session->nexus;
	task->scsi.attribute = attribute_of(task->flags);
	task->scsi.expected_out = task->flags & PDU_WRITE ? all : 0;
	task->scsi.expected_in = both ? read_length : task->flags & PDU_READ ? all : 0;
	if (!task->header.read_valid)
		task->scsi.expected_in = 0; /* nowhere to put it */
	task->scsi.done = scsi_done;
	task->scsi.context = task;
	task->counted = !immediate;
	if (task->counted)
		session->active++;
	task->hash_next = *bucket(session, itt);
	*bucket(session, itt) = task;
	atomic_fetch_add_explicit(&session->target->counts.commands, 1, memory_order_relaxed);
	return task;
}

void
itask_command(struct session *session, unsigned int slot, unsigned char *pdu, bool immediate)
{
	struct itask *task = make_task(session, slot, pdu, immediate);

	if (!task) {
		mover_post_recv(&session->mover, slot);
		return;
	}
	task->has_slot = true;
	if (scsi_task_plan(&task->scsi) == SCSI_GOES_ON) {
		take_memory(task);
		return;
	}
	task->has_slot = false;
	if (mover_post_recv(&session->mover, slot))
		respond(task);
	else
		end_silently(task);
}

void
itask_data(struct session *session, const unsigned char *pdu)
{
	struct itask *task = itask_find(session, wire_get32(pdu + PDU_ITT));
	const uint32_t bytes = wire_get24(pdu + PDU_DATA), at = wire_get32(pdu + 40);

	/* Data of a task that has been answered are of no use; RFC 7143 11.7.1 lets them come. */
	if (!task || task->state > ITASK_GATHERING)
		return;
	if (task->state == ITASK_WAITING) {
		mover_fail(&session->mover, "data of a command came before memory for them");
		return;
	}
	if (wire_get32(pdu + PDU_TTT) != PDU_NO_TAG || at != task->received ||
	    wire_get32(pdu + 36) != task->datasn || bytes > session->first_burst - task->received ||
	    bytes > task->expected - task->received) {
		/* RFC 7143 7.9: at this level of recovery the session ends. */
		mover_fail(&session->mover, "a data PDU is not the one that was to come");
		return;
	}
	task->datasn++;
	take_data(task, data_of(pdu), bytes);
	if (!(pdu[PDU_FLAGS] & PDU_FINAL))
		return;
	if (task->scsi.direction == SCSI_DATA_OUT)
		fetch_rest(task);
	else
		execute(task);
}

/* ---- orders, aborts ---- */

void
itask_ordered(struct session *session, struct mover_order *order)
{
	struct itask *task =
	    (struct itask *)(void *)((char *)order - offsetof(struct itask, order));

	if (order->what == ORDER_TASK) {
		mover_release(&session->mover); /* of execute() */
		respond(task);
	} else if (task->aborted) {
		give_up(task);
	} else {
		begin(task, pdu_of(task));
	}
}

void
itask_abort(struct itask *task)
{
	task->aborted = true;
	switch (task->state) {
	case ITASK_WAITING:
		/* If an order is on its way, it ends there. */
		if (pool_forget(task->session->mover.pool, &task->session->share, &task->waiter))
			give_up(task);
		break;
	case ITASK_GATHERING:
		give_up(task);
		break;
	case ITASK_EXECUTING:
		scsi_task_abort(&task->scsi);
		break;
	default: /* FETCHING: at the completion; RESPONDING: too late */
		break;
	}
}

static bool
is_of_lun(const struct itask *task, const uint8_t *lun)
{
	return !lun || memcmp(task->scsi.lun, lun, sizeof task->scsi.lun) == 0;
}

bool
itask_is_late(const struct session *session, uint64_t now, uint64_t patience)
{
	for (unsigned int i = 0; i < session->task_count; i++) {
		const struct itask *task = &session->tasks[i];

		if (task->state == ITASK_GATHERING && now - task->gathers_since >= patience)
			return true;
	}
	return false;
}

bool
itask_all_answered(const struct session *session)
{
	for (unsigned int i = 0; i < session->task_count; i++)
		if (session->tasks[i].state != ITASK_FREE &&
		    session->tasks[i].state != ITASK_RESPONDING)
			return false;
	return true;
}

void
itask_abort_gathering(struct session *session)
{
	for (unsigned int i = 0; i < session->task_count; i++)
		if (session->tasks[i].state == ITASK_GATHERING)
			itask_abort(&session->tasks[i]);
}

void
itask_abort_idle(struct session *session, const uint8_t *lun)
{
	for (unsigned int i = 0; i < session->task_count; i++) {
		struct itask *task = &session->tasks[i];

		if ((task->state == ITASK_WAITING || task->state == ITASK_GATHERING) &&
		    !task->aborted && is_of_lun(task, lun))
			itask_abort(task);
	}
}

void
itask_drop_all(struct session *session)
{
	for (unsigned int i = 0; i < session->task_count; i++) {
		struct itask *task = &session->tasks[i];

		task->manage = NULL;
		if (task->state == ITASK_FETCHING) {
			/* Its memory is the device's until the last completion. */
			scsi_task_drop(&task->scsi);
			task->aborted = true;
			task->state = ITASK_RESPONDING;
		} else if (!task->aborted && task->state != ITASK_RESPONDING &&
			   task->state != ITASK_EXECUTING && task->state != ITASK_FREE) {
			itask_abort(task);
		}
	}
}

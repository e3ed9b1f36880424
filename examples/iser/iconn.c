/* SPDX-License-Identifier: BSD-3-Clause */
#include "iconn.h"

#include "bell.h"
#include "initiator.h"
#include "options.h"
#include "say.h"

#include <stdlib.h>
#include <string.h>

char iconn_logout, iconn_abort;

static struct initiator *
initiator_of(struct conn *conn)
{
	return conn->owner;
}

static struct iconn *
iconn_of(struct conn *conn)
{
	return (struct iconn *)conn; /* its first member */
}

static bool
itask_step(struct conn *conn, unsigned int number, enum itask_event event)
{
	struct iconn *ic = iconn_of(conn);
	struct itask *task = &ic->tasks[number];
	int next = machine_next(&itask_machine, task->state, event);

	if (next == MACHINE_NEVER) {
		conn_fail(conn, "%s of task %u cannot happen in state %s",
		    machine_event(&itask_machine, event), number,
		    machine_state(&itask_machine, task->state));
		return false;
	}
	task->state = (enum itask_state)next;
	if (task->state == ITASK_FREE && number != ic->control)
		task_stack_put(&ic->free, number);
	return true;
}

/* ---- commands ---- */

static uint32_t
block_length(const struct initiator *initiator, uint64_t block)
{
	uint64_t size = initiator->options->block_bytes;
	uint64_t left = initiator->bytes - block * size;

	return (uint32_t)(left < size ? left : size);
}

static bool
issue_block(struct conn *conn, struct job *job, unsigned int number, uint64_t block)
{
	struct initiator *initiator = initiator_of(conn);
	struct itask *task = &iconn_of(conn)->tasks[number];
	DAT_LMR_TRIPLET buffer;
	struct pdu pdu;
	int r;

	task->job = job;
	task->block = block;
	task->length = block_length(initiator, block);
	task->start = bell_now();
	if (job->opcode == PDU_WRITE) {
		r = backing_read(job->file, block * initiator->options->block_bytes,
		    conn_buffer(conn, number), task->length);
		if (r) {
			conn_fail(conn, "the source cannot be read: %s", strerror(-r));
			return false;
		}
	}
	buffer =
	    region_segment(&conn->data, (size_t)number * conn->shape.block_bytes, task->length);
	pdu = (struct pdu){
		.opcode = job->opcode,
		.tag = number,
		.length = task->length,
		.lba = block,
		.remote_address = buffer.virtual_address,
		.remote_length = buffer.segment_length,
		.remote_context = conn->data.rmr_context,
	};
	return itask_step(conn, number, ITASK_ISSUE) && conn_send(conn, number, &pdu);
}

/* Keeps the connection busy: never more commands than tasks, which is the queue depth. */
static void
issue_more(struct conn *conn)
{
	struct iconn *ic = iconn_of(conn);
	struct job *job = ic->job;
	unsigned long long block;
	unsigned int number;

	while (job && conn_state(conn) == CONN_READY && ic->free.count > 0) {
		if (atomic_load(&job->next) >= job->blocks)
			return;
		block = atomic_fetch_add(&job->next, 1);
		if (block >= job->blocks || !task_stack_take(&ic->free, &number))
			return;
		if (!issue_block(conn, job, number, block))
			return;
	}
}

static void
control_send(struct conn *conn, enum pdu_opcode opcode)
{
	struct initiator *initiator = initiator_of(conn);
	unsigned int number = iconn_of(conn)->control;
	struct pdu pdu = { .opcode = (uint8_t)opcode, .tag = number };

	if (opcode == PDU_LOGIN) {
		pdu.length = initiator->options->block_bytes;
		pdu.device_bytes = initiator->bytes;
	}
	if (itask_step(conn, number, ITASK_ISSUE))
		conn_send(conn, number, &pdu);
}

/* ---- events of a connection ---- */

static void
on_established(struct conn *conn)
{
	control_send(conn, PDU_LOGIN);
}

static void
on_login_response(struct conn *conn, const struct pdu *pdu)
{
	struct initiator *initiator = initiator_of(conn);

	if (pdu->status != PDU_OK)
		conn_fail(conn, "login refused: %s", pdu_status_text(pdu->status));
	else if (pdu->device_bytes < initiator->bytes)
		conn_fail(conn, "the target's device (%llu bytes) is smaller than the file (%llu)",
		    (unsigned long long)pdu->device_bytes, (unsigned long long)initiator->bytes);
	else
		conn_step(conn, CONN_LOGGED_IN);
}

static void
on_block_response(struct conn *conn, struct itask *task, unsigned int number, const struct pdu *pdu)
{
	struct initiator *initiator = initiator_of(conn);
	struct job *job = task->job;
	int r;

	if (pdu->status != PDU_OK) {
		conn_fail(conn, "%s of block %llu refused: %s", pdu_opcode_name(job->opcode),
		    (unsigned long long)task->block, pdu_status_text(pdu->status));
		return;
	}
	histogram_add(&iconn_of(conn)->latency[job->opcode == PDU_READ], bell_now() - task->start);
	if (job->opcode == PDU_READ) {
		r = backing_write(job->file, task->block * initiator->options->block_bytes,
		    conn_buffer(conn, number), task->length);
		if (r) {
			conn_fail(conn, "the read data cannot be stored: %s", strerror(-r));
			return;
		}
	}
	if (!itask_step(conn, number, ITASK_RESPONSE))
		return;
	if (atomic_fetch_add(&job->done, 1) + 1 == job->blocks)
		bell_ring(initiator->bell);
	issue_more(conn);
}

static void
on_received(struct conn *conn, unsigned int slot, enum pdu_status status, const struct pdu *pdu)
{
	struct iconn *ic = iconn_of(conn);
	struct itask *task;
	unsigned int request = pdu->opcode & ~PDU_RESPONSE;

	/* Decoded, hence free; given back before a command that may be answered into it. */
	if (!conn_post_recv(conn, slot))
		return;
	if (status != PDU_OK || !(pdu->opcode & PDU_RESPONSE)) {
		conn_fail(conn, "the target sent an invalid %s: %s", pdu_opcode_name(pdu->opcode),
		    pdu_status_text(status));
		return;
	}
	if (pdu->tag > ic->control) {
		conn_fail(conn, "response to task %u, which does not exist", pdu->tag);
		return;
	}
	task = &ic->tasks[pdu->tag];
	if (task->state == ITASK_FREE || task->state == ITASK_ANSWERED) {
		conn_fail(conn, "response to task %u, which has no outstanding command", pdu->tag);
		return;
	}
	if (pdu->tag != ic->control) {
		if (request != task->job->opcode)
			conn_fail(conn, "task %u got a %s, which does not answer its command",
			    pdu->tag, pdu_opcode_name(pdu->opcode));
		else
			on_block_response(conn, task, pdu->tag, pdu);
		return;
	}
	if (!itask_step(conn, pdu->tag, ITASK_RESPONSE))
		return;
	if (request == PDU_LOGIN && conn_state(conn) == CONN_LOGIN)
		on_login_response(conn, pdu);
	else if (request == PDU_LOGOUT && conn_state(conn) == CONN_LOGOUT && pdu->status == PDU_OK)
		conn_close(conn);
	else
		conn_fail(conn, "unexpected %s: %s", pdu_opcode_name(pdu->opcode),
		    pdu_status_text(pdu->status));
}

static void
on_sent(struct conn *conn, unsigned int slot)
{
	struct itask *task = &iconn_of(conn)->tasks[slot];
	bool answered = task->state == ITASK_ANSWERED;

	if (itask_step(conn, slot, ITASK_SEND_DONE) && answered)
		issue_more(conn); /* the response did not free the task, this did */
}

static void
on_moved(struct conn *conn, unsigned int slot)
{
	conn_fail(conn, "RDMA completed for task %u, but an initiator posts no RDMA", slot);
}

static void
on_ordered(struct conn *conn, void *order)
{
	if (order == &iconn_abort) {
		conn_fail(conn, "given up");
	} else if (order == &iconn_logout) {
		if (conn_step(conn, CONN_LOGGING_OUT))
			control_send(conn, PDU_LOGOUT);
	} else {
		iconn_of(conn)->job = order;
		issue_more(conn);
	}
}

static void
on_closed(struct conn *conn)
{
	if (!conn->clean)
		atomic_store(&initiator_of(conn)->failed, true);
}

static const struct conn_ops initiator_ops = {
	.established = on_established,
	.received = on_received,
	.sent = on_sent,
	.moved = on_moved,
	.ordered = on_ordered,
	.closed = on_closed,
};

/* ---- life ---- */

static void
iconn_fini(struct iconn *ic)
{
	free(ic->tasks);
	free(ic->latency);
	task_stack_fini(&ic->free);
}

int
iconn_open(struct iconn *ic, struct initiator *initiator, unsigned int index)
{
	const struct options *options = initiator->options;
	unsigned int depth = options->queue_depth;
	const struct conn_shape shape = {
		.recvs = depth + 1, /* a response for each command, and for the login or logout */
		.sends = depth + 1,
		.requests = depth + 1,
		.block_bytes = options->block_bytes,
		.data_privileges = DAT_MEM_PRIV_ALL_FLAG, /* the target reads and writes it */
	};
	DAT_COUNT limit = initiator->adapter.attr.max_dto_per_ep;
	const char *call;
	DAT_RETURN ret;

	if (shape.recvs > (unsigned int)limit) {
		say("queue depth %u needs %u receives, the adapter has %d: lower --queue-depth",
		    depth, shape.recvs, (int)limit);
		return -1;
	}
	ic->control = depth;
	ic->tasks = calloc(depth + 1, sizeof *ic->tasks);
	ic->latency = calloc(2, sizeof *ic->latency);
	if (!ic->tasks || !ic->latency || task_stack_init(&ic->free, depth)) {
		say("no memory for connection %u", index);
		iconn_fini(ic);
		return -1;
	}
	ret = conn_create(
	    &ic->conn, &initiator->adapter, &initiator_ops, initiator, index, &shape, &call);
	if (ret != DAT_SUCCESS) {
		say_dat(
		    call, ret, "connection %u of %u cannot be set up", index, options->connections);
		iconn_fini(ic);
		return -1;
	}
	return 0;
}

int
iconn_close(struct iconn *ic)
{
	int failures = conn_free(&ic->conn);

	iconn_fini(ic);
	return failures;
}

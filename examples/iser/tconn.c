/* SPDX-License-Identifier: BSD-3-Clause */
#include "tconn.h"

#include "say.h"
#include "target.h"

#include <stdlib.h>
#include <string.h>

char tconn_abort;

static struct target *
target_of(struct conn *conn)
{
	return conn->owner;
}

static struct tconn *
tconn_of(struct conn *conn)
{
	return (struct tconn *)conn; /* its first member */
}

static bool
ttask_step(struct conn *conn, unsigned int number, enum ttask_event event)
{
	struct tconn *tc = tconn_of(conn);
	struct ttask *task = &tc->tasks[number];
	int next = machine_next(&ttask_machine, task->state, event);

	if (next == MACHINE_NEVER) {
		conn_fail(conn, "%s of task %u cannot happen in state %s",
		    machine_event(&ttask_machine, event), number,
		    machine_state(&ttask_machine, task->state));
		return false;
	}
	task->state = (enum ttask_state)next;
	if (task->state == TTASK_FREE)
		task_stack_put(&tc->free, number);
	return true;
}

/* ---- commands ---- */

static bool
send_response(struct conn *conn, unsigned int number, enum pdu_status status, uint64_t device_bytes)
{
	const struct pdu *command = &tconn_of(conn)->tasks[number].command;
	const struct pdu response = {
		.opcode = command->opcode | PDU_RESPONSE,
		.status = (uint16_t)status,
		.tag = command->tag,
		.length = command->length,
		.lba = command->lba,
		.device_bytes = device_bytes,
	};

	tconn_of(conn)->outstanding--;
	if (status != PDU_OK)
		atomic_fetch_add(&target_of(conn)->errors, 1);
	return conn_send(conn, number, &response);
}

static void
respond(struct conn *conn, unsigned int number, enum pdu_status status)
{
	if (ttask_step(conn, number, TTASK_RESPOND))
		send_response(conn, number, status, 0);
}

/* Makes the device as large as the login wants it, if it may grow. */
static enum pdu_status
device_fit(struct target *target, uint64_t wanted, uint64_t *ret_bytes)
{
	enum pdu_status status = PDU_OK;

	pthread_mutex_lock(&target->lock);
	if (wanted > target->device->bytes &&
	    (!target->growable || backing_reserve(target->device, wanted)))
		status = PDU_BAD_SIZE;
	*ret_bytes = target->device->bytes;
	pthread_mutex_unlock(&target->lock);
	return status;
}

static void
command_login(struct conn *conn, unsigned int number, const struct pdu *command)
{
	struct tconn *tc = tconn_of(conn);
	enum pdu_status status;

	if (conn_state(conn) != CONN_LOGIN)
		status = PDU_LOGGED_IN;
	else if (command->length != conn->shape.block_bytes)
		status = PDU_BAD_BLOCK;
	else
		status = device_fit(target_of(conn), command->device_bytes, &tc->device_bytes);
	if (!ttask_step(conn, number, TTASK_RESPOND))
		return;
	if (status == PDU_OK && !conn_step(conn, CONN_LOGGED_IN))
		return;
	send_response(conn, number, status, tc->device_bytes);
}

static void
command_logout(struct conn *conn, unsigned int number)
{
	/* The initiator disconnects when it has the response: that is the clean end. */
	if (conn_state(conn) == CONN_READY && conn_step(conn, CONN_LOGGING_OUT))
		conn->clean = true;
	respond(conn, number, PDU_OK);
}

static void
command_read(struct conn *conn, unsigned int number, const struct pdu *command)
{
	struct target *target = target_of(conn);
	const struct backing device = { .fd = target->device->fd };
	int r = backing_read(&device, command->lba * conn->shape.block_bytes,
	    conn_buffer(conn, number), command->length);

	if (r) {
		say("connection %u: block %llu cannot be read: %s", conn->index,
		    (unsigned long long)command->lba, strerror(-r));
		respond(conn, number, PDU_IO_ERROR);
		return;
	}
	atomic_fetch_add(&target->bytes_read, command->length);
	/*
	 * The response is posted right behind the data.  On one connection the first arrives
	 * before the second: when the initiator sees the response the data are there.
	 */
	if (ttask_step(conn, number, TTASK_PUSH) &&
	    conn_rdma(conn, DAT_DTO_RDMA_WRITE, number, command))
		send_response(conn, number, PDU_OK, 0);
}

static void
command_start(
    struct conn *conn, unsigned int number, enum pdu_status status, const struct pdu *command)
{
	struct tconn *tc = tconn_of(conn);
	bool moves = command->opcode == PDU_WRITE || command->opcode == PDU_READ;

	tc->tasks[number].command = *command;
	atomic_fetch_add(&target_of(conn)->commands, 1);
	if (status == PDU_OK && command->opcode & PDU_RESPONSE)
		status = PDU_BAD_OPCODE;
	if (status == PDU_OK && moves && conn_state(conn) != CONN_READY)
		status = PDU_NOT_LOGGED_IN;
	if (status == PDU_OK && moves)
		status = pdu_check_range(command, conn->shape.block_bytes, tc->device_bytes);
	if (status != PDU_OK)
		respond(conn, number, status);
	else if (command->opcode == PDU_LOGIN)
		command_login(conn, number, command);
	else if (command->opcode == PDU_LOGOUT)
		command_logout(conn, number);
	else if (command->opcode == PDU_READ)
		command_read(conn, number, command);
	else if (ttask_step(conn, number, TTASK_FETCH))
		conn_rdma(conn, DAT_DTO_RDMA_READ, number, command);
}

/* ---- events of a connection ---- */

static void
on_established(struct conn *conn)
{
	(void)conn; /* the initiator speaks first */
}

static void
on_received(struct conn *conn, unsigned int slot, enum pdu_status status, const struct pdu *pdu)
{
	struct tconn *tc = tconn_of(conn);
	struct waiting *waiting;
	unsigned int number;

	/* The login and the logout come on top of the agreed depth. */
	if (++tc->outstanding > tc->depth + 1 && status == PDU_OK)
		status = PDU_QUEUE_OVERRUN;
	if (task_stack_take(&tc->free, &number)) {
		if (conn_post_recv(conn, slot))
			command_start(conn, number, status, pdu);
		return;
	}
	waiting = &tc->waiting[(tc->waiting_head + tc->waiting_count++) % conn->shape.recvs];
	waiting->slot = slot;
	waiting->status = status;
	waiting->command = *pdu;
}

/* A task came free: the command that has waited longest takes it. */
static void
start_waiting(struct conn *conn)
{
	struct tconn *tc = tconn_of(conn);
	struct waiting waiting;
	unsigned int number;

	if (tc->waiting_count == 0 || !task_stack_take(&tc->free, &number))
		return;
	waiting = tc->waiting[tc->waiting_head];
	tc->waiting_head = (tc->waiting_head + 1) % conn->shape.recvs;
	tc->waiting_count--;
	if (conn_post_recv(conn, waiting.slot))
		command_start(conn, number, waiting.status, &waiting.command);
}

static void
on_sent(struct conn *conn, unsigned int slot)
{
	if (ttask_step(conn, slot, TTASK_SEND_DONE))
		start_waiting(conn);
}

static void
on_moved(struct conn *conn, unsigned int slot)
{
	struct target *target = target_of(conn);
	struct ttask *task = &tconn_of(conn)->tasks[slot];
	const struct backing device = { .fd = target->device->fd };
	int r;

	if (!ttask_step(conn, slot, TTASK_RDMA_DONE) || task->state != TTASK_STORING)
		return;
	r = backing_write(&device, task->command.lba * conn->shape.block_bytes,
	    conn_buffer(conn, slot), task->command.length);
	if (r) {
		say("connection %u: block %llu cannot be written: %s", conn->index,
		    (unsigned long long)task->command.lba, strerror(-r));
		respond(conn, slot, PDU_IO_ERROR);
		return;
	}
	atomic_fetch_add(&target->bytes_written, task->command.length);
	respond(conn, slot, PDU_OK);
}

static void
on_ordered(struct conn *conn, void *order)
{
	if (order == &tconn_abort)
		conn_fail(conn, "the target stops");
}

static void
on_closed(struct conn *conn)
{
	(void)conn; /* the step to CLOSED rings the bell */
}

static const struct conn_ops target_ops = {
	.established = on_established,
	.received = on_received,
	.sent = on_sent,
	.moved = on_moved,
	.ordered = on_ordered,
	.closed = on_closed,
};

/* ---- life ---- */

static void
tconn_fini(struct tconn *tc)
{
	free(tc->tasks);
	free(tc->waiting);
	task_stack_fini(&tc->free);
	free(tc);
}

struct tconn *
tconn_new(struct target *target, unsigned int index, const struct hello *hello)
{
	/*
	 * Twice the depth: a task is busy until its response's send completed, and by then the
	 * initiator may have sent the next command.  A receive for each command, login and logout
	 * is what keeps the initiator's sends from finding none.
	 */
	unsigned int tasks = 2 * hello->queue_depth + 2;
	const struct conn_shape shape = {
		.recvs = hello->queue_depth + 2,
		.sends = tasks,
		.requests = 2 * tasks, /* the RDMA and the response */
		.block_bytes = hello->block_bytes,
		.data_privileges = DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG,
	};
	struct tconn *tc = calloc(1, sizeof *tc);
	const char *call;
	DAT_RETURN ret;

	if (!tc)
		return NULL;
	tc->depth = hello->queue_depth;
	tc->tasks = calloc(tasks, sizeof *tc->tasks);
	tc->waiting = calloc(shape.recvs, sizeof *tc->waiting);
	if (!tc->tasks || !tc->waiting || task_stack_init(&tc->free, tasks)) {
		tconn_fini(tc);
		return NULL;
	}
	ret = conn_create(&tc->conn, &target->adapter, &target_ops, target, index, &shape, &call);
	if (ret != DAT_SUCCESS) {
		say_dat(call, ret, "connection %u cannot be set up", index);
		tconn_fini(tc);
		return NULL;
	}
	return tc;
}

int
tconn_free(struct tconn *tc)
{
	int failures = conn_free(&tc->conn);

	tconn_fini(tc);
	return failures;
}

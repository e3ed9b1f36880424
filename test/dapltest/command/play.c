/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A transaction: every operation has its own place in the buffers of both ends, at the same offset.
 * The end that is written to checks the data when the next synchronising message has arrived.
 */
#include <string.h>

#include "cmd.h"

static size_t
total(const struct cmd_op *op)
{
	return (size_t)op->size * op->segments;
}

size_t
cmd_play_length(const struct cmd_request *request)
{
	size_t length = 0;

	for (uint32_t i = 0; i < request->op_count; i++)
		length += total(&request->ops[i]);
	return length;
}

static char
pattern(uint32_t op, size_t at)
{
	return (char)(1 + (op * 37 + at * 11) % 251);
}

/* Whether the bytes that the operation moves come from this end. */
static bool
is_source(const struct cmd_op *op, bool server)
{
	return (op->by_server == server) == (op->kind != CMD_READ);
}

bool
cmd_play_prepare(struct cmd_end *end, const struct cmd_request *request, bool server)
{
	size_t offset = CMD_HEADER;

	for (uint32_t i = 0; i < request->op_count; i++) {
		const struct cmd_op *op = &request->ops[i];

		for (size_t n = 0; is_source(op, server) && n < total(op); n++)
			end->buffer[offset + n] = pattern(i, n);
		offset += total(op);
	}
	return true;
}

/* Looks at what an operation brought and takes it away, so that the next time shows. */
static bool
verify(struct cmd_end *end, const struct cmd_request *request, uint32_t i, size_t offset)
{
	size_t length = total(&request->ops[i]);

	for (size_t n = 0; n < length; n++)
		if (end->buffer[offset + n] != pattern(i, n))
			return cmd_fail("operation %u: byte %zu is 0x%02x, not 0x%02x", i, n,
			    (unsigned char)end->buffer[offset + n], (unsigned char)pattern(i, n));
	memset(end->buffer + offset, 0, length);
	return true;
}

/* What the other end has written here since the last time. */
static bool
verify_written(struct cmd_end *end, const struct cmd_request *request, bool server)
{
	size_t offset = CMD_HEADER;

	for (uint32_t i = 0; i < request->op_count; i++) {
		const struct cmd_op *op = &request->ops[i];

		if (op->kind == CMD_WRITE && op->by_server != server &&
		    !verify(end, request, i, offset))
			return false;
		offset += total(op);
	}
	return true;
}

static bool
post_receives(struct cmd_end *end, const struct cmd_request *request, bool server)
{
	size_t offset = CMD_HEADER;

	for (uint32_t i = 0; i < request->op_count; i++) {
		const struct cmd_op *op = &request->ops[i];

		if (op->kind == CMD_SEND && op->by_server != server &&
		    !cmd_end_post_recv(end, offset, op->size, op->segments, i))
			return false;
		offset += total(op);
	}
	return true;
}

bool
cmd_play(struct cmd_end *end, const struct cmd_request *request, bool server)
{
	int later = -1; /* an operation whose completion is taken with the next receive */
	size_t offset = CMD_HEADER;

	if (!post_receives(end, request, server))
		return false;
	for (uint32_t i = 0; i < request->op_count; i++) {
		const struct cmd_op *op = &request->ops[i];
		bool mine = op->by_server == server;

		if (mine && later >= 0) {
			if (!cmd_end_reap(
				end, end->request, (uint64_t)later, total(&request->ops[later])))
				return false;
			later = -1;
		}
		if (mine && !cmd_end_post(end, op->kind, offset, op->size, op->segments, i))
			return false;
		if (mine && op->reap_later)
			later = (int)i;
		else if (mine && !cmd_end_reap(end, end->request, i, total(op)))
			return false;
		if (!mine && op->kind == CMD_SEND) {
			if (!cmd_end_reap(end, end->recv, i, total(op)))
				return false;
			if (op->sync && !verify_written(end, request, server))
				return false;
		}
		if (request->validate && !is_source(op, server) &&
		    (op->kind == CMD_READ || op->kind == CMD_SEND) &&
		    !verify(end, request, i, offset))
			return false;
		offset += total(op);
	}
	return later < 0 ||
	       cmd_end_reap(end, end->request, (uint64_t)later, total(&request->ops[later]));
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <string.h>

/*
 * Calls `visit` for each piece of the segments from `offset`, until `length` or the segments end.
 */
static size_t
data_walk(const struct scsi_task *task, uint64_t offset, size_t length, void *context,
    size_t (*visit)(void *context, size_t done, uint8_t *piece, size_t n))
{
	size_t done = 0;

	for (unsigned int i = 0; i < task->iov_count && done < length; i++) {
		const struct iovec *iov = &task->iov[i];
		size_t n;

		if (offset >= iov->iov_len) {
			offset -= iov->iov_len;
			continue;
		}
		n = iov->iov_len - (size_t)offset;
		if (n > length - done)
			n = length - done;
		if (visit(context, done, (uint8_t *)iov->iov_base + offset, n) < n)
			break;
		done += n;
		offset = 0;
	}
	return done;
}

static size_t
copy_in(void *context, size_t done, uint8_t *piece, size_t n)
{
	memcpy(piece, (const uint8_t *)context + done, n);
	return n;
}

static size_t
copy_out(void *context, size_t done, uint8_t *piece, size_t n)
{
	memcpy((uint8_t *)context + done, piece, n);
	return n;
}

struct comparison {
	const uint8_t *data;
	size_t equal;
};

static size_t
compare(void *context, size_t done, uint8_t *piece, size_t n)
{
	struct comparison *c = context;
	size_t i = 0;

	if (memcmp(piece, c->data + done, n) == 0)
		i = n;
	else
		while (piece[i] == c->data[done + i])
			i++;
	c->equal = done + i;
	return i;
}

void
data_patch(struct data_in *in, uint64_t offset, const void *data, size_t length)
{
	data_walk(in->task, offset, length, (void *)data, copy_in);
}

void
data_put(struct data_in *in, const void *data, size_t length)
{
	data_patch(in, in->length, data, length);
	in->length += length;
}

void
data_put_zeros(struct data_in *in, size_t length)
{
	static const uint8_t zeros[64];

	for (; length > sizeof zeros; length -= sizeof zeros)
		data_put(in, zeros, sizeof zeros);
	data_put(in, zeros, length);
}

enum scsi_progress
data_end(struct data_in *in)
{
	struct scsi_task *task = in->task;

	if (task->wanted > in->length)
		task->wanted = in->length;
	task->data_in_length = task->wanted < task->bytes ? (uint32_t)task->wanted : task->bytes;
	return SCSI_ENDED;
}

size_t
data_get(const struct scsi_task *task, uint64_t offset, void *data, size_t length)
{
	return data_walk(task, offset, length, data, copy_out);
}

size_t
data_compare(const struct scsi_task *task, uint64_t offset, const void *data, size_t length)
{
	struct comparison c = { .data = data };

	data_walk(task, offset, length, &c, compare);
	return c.equal;
}

/* A big-endian number of 1 to 4 bytes. */
static uint32_t
field(const uint8_t *cdb, unsigned int at, unsigned int size)
{
	uint32_t value = 0;

	while (size--)
		value = value << 8 | cdb[at++];
	return value;
}

bool
plan_data_in(struct scsi_task *task, unsigned int at, unsigned int size, uint32_t most)
{
	task->wanted = field(task->cdb, at, size);
	if (task->wanted > most)
		task->wanted = most;
	task->direction = SCSI_DATA_IN;
	return true;
}

bool
plan_data_out(struct scsi_task *task, unsigned int at, unsigned int size, uint32_t most)
{
	task->wanted = field(task->cdb, at, size);
	task->direction = SCSI_DATA_OUT;
	if (task->wanted > most)
		return task_fail(task, SENSE_LIST_LENGTH);
	return plan_all_data(task);
}

bool
plan_all_data(struct scsi_task *task)
{
	if (task->expected_out < task->wanted)
		return task_fail(task, SENSE_INFORMATION_UNIT);
	return true;
}

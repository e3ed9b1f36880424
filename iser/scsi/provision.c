/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provision -- commands on ranges that carry at most one block: WRITE SAME, UNMAP, GET LBA STATUS
 */
#include "device.h"
#include "file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UNMAP_BIT 0x08
#define NO_DATA_OUT 0x01
#define FILL (256 << 10) /* bytes that are written at a time */

/* ---- WRITE SAME ---- */

bool
plan_same(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;

	if (task->cdb[1] & UNMAP_BIT && !lun->thin)
		return task_fail_field(task, SENSE_CDB_FIELD, 1, 3);
	if (!plan_range(task))
		return false;
	if (task->blocks == 0 || task->blocks > SCSI_MAX_SAME)
		return task_fail_field(
		    task, SENSE_CDB_FIELD, task->command->length == 10 ? 7 : 10, 7);
	if (task->cdb[1] & NO_DATA_OUT)
		return true;
	task->wanted = lun->block_bytes;
	task->direction = SCSI_DATA_OUT;
	return plan_all_data(task);
}

static int
fill(struct scsi_task *task, const uint8_t *block, uint64_t at, uint64_t length)
{
	const struct scsi_lun *lun = task->logical_unit;
	const size_t most = length < FILL ? (size_t)length : FILL;
	uint8_t *data = malloc(most);
	int r = data ? 0 : -ENOMEM;

	for (size_t i = 0; r == 0 && i < most; i += lun->block_bytes)
		memcpy(data + i, block, lun->block_bytes);
	while (r == 0 && length > 0 && !task->stop) {
		const size_t n = length < most ? (size_t)length : most;

		r = file_write(lun->fd, at, data, n);
		at += n;
		length -= n;
	}
	free(data);
	return r;
}

static void
same(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	const uint64_t at = task->lba * lun->block_bytes, length = task->blocks * lun->block_bytes;
	uint8_t block[4096] = { 0 };
	int r;

	data_get(task, 0, block, lun->block_bytes);
	if (block[0] == 0 && memcmp(block, block + 1, lun->block_bytes - 1) == 0)
		r = file_zero(task, at, length, task->cdb[1] & UNMAP_BIT);
	else
		r = fill(task, block, at, length);
	if (r == 0 && lun->write_through)
		r = file_sync(lun);
	if (r)
		task_fail_errno(task, r);
}

enum scsi_progress
start_same(struct scsi_task *task)
{
	task->logical_unit->writes++;
	return task_job(task, same, 0);
}

/* ---- UNMAP ---- */

#define HEADER 8
#define DESCRIPTOR 16

bool
plan_unmap(struct scsi_task *task)
{
	if (!task->logical_unit->thin)
		return task_fail(task, SENSE_OPCODE);
	task->blocks = task->logical_unit->blocks; /* it does not overlap a COMPARE AND WRITE */
	return plan_data_out(task, 7, 2, HEADER + SCSI_MAX_UNMAP_DESCRIPTORS * DESCRIPTOR);
}

/* The descriptor; false, and the task has failed, if it asks for too much. */
static bool
unmap_descriptor(struct scsi_task *task, uint32_t offset, uint64_t *lba, uint32_t *blocks)
{
	const struct scsi_lun *lun = task->logical_unit;
	uint8_t d[DESCRIPTOR];

	data_get(task, offset, d, sizeof d);
	*lba = scsi_get64(d);
	*blocks = scsi_get32(d + 8);
	if (*lba > lun->blocks || *blocks > lun->blocks - *lba)
		return task_fail(task, SENSE_LBA_RANGE);
	if (*blocks > SCSI_MAX_UNMAP)
		return task_fail_field(task, SENSE_LIST_FIELD, offset + 8, 7);
	return true;
}

static void
unmap(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	uint8_t header[HEADER];
	uint32_t end, blocks, o;
	uint64_t lba;
	int r = 0;

	data_get(task, 0, header, sizeof header);
	end = HEADER + scsi_get16(header + 2) / DESCRIPTOR * DESCRIPTOR;
	if (end > task->bytes) {
		task_fail_field(task, SENSE_LIST_FIELD, 2, 7);
		return;
	}
	/* All are looked at before the first is unmapped. */
	for (o = HEADER; o < end; o += DESCRIPTOR)
		if (!unmap_descriptor(task, o, &lba, &blocks))
			return;
	for (o = HEADER; o < end && r == 0; o += DESCRIPTOR) {
		unmap_descriptor(task, o, &lba, &blocks);
		r = file_zero(
		    task, lba * lun->block_bytes, (uint64_t)blocks * lun->block_bytes, true);
	}
	if (r == 0 && lun->write_through)
		r = file_sync(lun);
	if (r)
		task_fail_errno(task, r);
}

enum scsi_progress
start_unmap(struct scsi_task *task)
{
	if (task->bytes == 0)
		return SCSI_ENDED;
	if (task->bytes < HEADER) {
		task_fail(task, SENSE_LIST_LENGTH);
		return SCSI_ENDED;
	}
	return task_job(task, unmap, 0);
}

/* ---- GET LBA STATUS ---- */

#define MOST_STATES 64

bool
plan_lba_status(struct scsi_task *task)
{
	task->lba = command_lba(task->cdb, 16);
	if (task->lba >= task->logical_unit->blocks)
		return task_fail(task, SENSE_LBA_RANGE);
	return plan_data_in(task, 10, 4, HEADER + MOST_STATES * DESCRIPTOR);
}

/* The blocks from *lba that have one state.  A block is unmapped if all of it is a hole. */
static int
state_of(const struct scsi_lun *lun, uint64_t lba, bool *mapped, uint64_t *count)
{
	const uint32_t size = lun->block_bytes;
	uint64_t end;
	bool hole;
	int r;

	*mapped = true;
	*count = lun->blocks - lba;
	if (!lun->thin)
		return 0;
	r = file_status(lun, lba * size, &hole, &end);
	if (r)
		return r;
	*mapped = !hole || end / size == lba;
	*count = (*mapped ? (end + size - 1) / size : end / size) - lba;
	return 0;
}

static void
lba_status(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	struct data_in in = { .task = task };
	uint8_t d[DESCRIPTOR] = { 0 };
	uint64_t lba = task->lba;

	data_put_zeros(&in, HEADER);
	do {
		uint64_t count;
		bool mapped;
		int r = state_of(lun, lba, &mapped, &count);

		if (r) {
			task_fail_errno(task, r);
			return;
		}
		if (count > UINT32_MAX)
			count = UINT32_MAX;
		scsi_put64(d, lba);
		scsi_put32(d + 8, (uint32_t)count);
		d[12] = !mapped;
		data_put(&in, d, sizeof d);
		lba += count;
	} while (lba < lun->blocks && in.length + DESCRIPTOR <= task->wanted);
	scsi_put32(d, (uint32_t)in.length - 4);
	data_patch(&in, 0, d, 4);
	data_end(&in);
}

enum scsi_progress
start_lba_status(struct scsi_task *task)
{
	return task_job(task, lba_status, 0);
}

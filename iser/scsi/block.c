/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * block -- commands that read, write, compare and flush blocks
 */
#include "device.h"
#include "file.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>

#define FUA 0x08
#define AT_ONCE (1 << 20) /* bytes that the calling thread copies, if the page cache has them */
#define PIECE (256 << 10) /* of what a worker reads to compare */

static unsigned int
bytchk(const struct scsi_task *task)
{
	return task->cdb[1] >> 1 & 3;
}

/* Where the length field of a CDB begins. */
static unsigned int
count_byte(const struct scsi_task *task)
{
	switch (task->command->length) {
	case 6:
		return 4;
	case 10:
		return 7;
	case 12:
		return 6;
	default:
		return 10;
	}
}

bool
plan_range(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;

	task->lba = command_lba(task->cdb, task->command->length);
	task->blocks = command_count(task->cdb, task->command->length);
	if (task->lba > lun->blocks || task->blocks > lun->blocks - task->lba)
		return task_fail(task, SENSE_LBA_RANGE);
	return true;
}

/* A range whose data are transferred. */
static bool
plan_transfer(struct scsi_task *task, enum scsi_direction direction)
{
	const struct scsi_lun *lun = task->logical_unit;

	if (!plan_range(task))
		return false;
	task->wanted = task->blocks * lun->block_bytes;
	if (task->wanted > lun->max_transfer)
		return task_fail_field(task, SENSE_CDB_FIELD, count_byte(task), 7);
	task->direction = direction;
	return true;
}

/* A part of a block is not written. */
static bool
plan_whole_blocks(struct scsi_task *task)
{
	if (task->expected_out < task->wanted &&
	    task->expected_out % task->logical_unit->block_bytes)
		return task_fail(task, SENSE_INFORMATION_UNIT);
	return true;
}

/* ---- READ, WRITE, SYNCHRONIZE CACHE ---- */

static bool
write_is_durable(const struct scsi_task *task)
{
	return task->logical_unit->write_through ||
	       (task->command->length > 6 && task->cdb[1] & FUA);
}

static uint64_t
first_byte(const struct scsi_task *task)
{
	return task->lba * task->logical_unit->block_bytes;
}

/* The rest of a transfer of which the kernel did a part; request->at shows how much. */
static void
transfer_rest(struct scsi_task *task)
{
	const bool write = task->direction == SCSI_DATA_OUT;
	const uint64_t skip = task->io.at - first_byte(task);
	int r = file_move(task, write, skip, task->io.at, task->bytes - skip);

	if (r == 0 && write && write_is_durable(task))
		r = file_sync(task->logical_unit);
	if (r)
		task_fail_errno(task, r);
	else if (!write)
		task->data_in_length = task->bytes;
}

static void
transfer_done(struct io_request *request, int64_t result)
{
	struct scsi_task *task = (void *)((char *)request - offsetof(struct scsi_task, io));

	if (result < 0)
		task_fail_errno(task, result);
	else if (request->operation != IO_SYNC && result < task->bytes) {
		const uint64_t at = request->at + (uint64_t)result;

		task_job(task, transfer_rest, at);
		return;
	} else if (task->direction == SCSI_DATA_IN)
		task->data_in_length = task->bytes;
	task_end(task);
}

static enum scsi_progress
transfer(struct scsi_task *task, enum io_operation operation)
{
	struct scsi_lun *lun = task->logical_unit;

	if (operation == IO_WRITE_SYNC || operation == IO_SYNC)
		lun->syncs++;
	task->io = (struct io_request){
		.operation = operation,
		.fd = lun->fd,
		.at = first_byte(task),
		.iov = task->iov,
		.iov_count = operation == IO_SYNC ? 0 : task->iov_count,
		.done = transfer_done,
	};
	io_submit(lun->target->io, &task->io);
	return SCSI_GOES_ON;
}

/*
 * What need not wait for the disk is done here and now: neither a ring nor another thread is
 * faster.
 */
static bool
transfer_at_once(struct scsi_task *task, bool write)
{
	struct scsi_lun *lun = task->logical_unit;
	atomic_bool *waits = write ? &lun->writes_wait : &lun->reads_wait;
	ssize_t n;

	if (task->bytes > AT_ONCE || *waits)
		return false;
	if (write)
		n = pwritev2(
		    lun->fd, task->iov, (int)task->iov_count, (off_t)first_byte(task), RWF_NOWAIT);
	else
		n = preadv2(
		    lun->fd, task->iov, (int)task->iov_count, (off_t)first_byte(task), RWF_NOWAIT);
	if (n < 0 && errno == EOPNOTSUPP)
		*waits = true; /* another error comes again, and is reported then */
	return n == (ssize_t)task->bytes;
}

bool
plan_read(struct scsi_task *task)
{
	return plan_transfer(task, SCSI_DATA_IN);
}

/* What a write has left in the cache goes to the medium first. */
static void
read_medium(struct scsi_task *task)
{
	int r = file_sync(task->logical_unit);

	if (r == 0)
		r = file_move(task, false, 0, first_byte(task), task->bytes);
	if (r)
		task_fail_errno(task, r);
	else
		task->data_in_length = task->bytes;
}

enum scsi_progress
start_read(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	lun->reads++;
	lun->read_bytes += task->bytes;
	if (task->bytes == 0)
		return SCSI_ENDED;
	if (task->command->length > 6 && task->cdb[1] & FUA)
		return task_job(task, read_medium, 0);
	if (!transfer_at_once(task, false))
		return transfer(task, IO_READ);
	task->data_in_length = task->bytes;
	return SCSI_ENDED;
}

bool
plan_write(struct scsi_task *task)
{
	return plan_transfer(task, SCSI_DATA_OUT) && plan_whole_blocks(task);
}

enum scsi_progress
start_write(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	lun->writes++;
	lun->written_bytes += task->bytes;
	if (task->bytes == 0)
		return SCSI_ENDED;
	if (write_is_durable(task))
		return transfer(task, IO_WRITE_SYNC);
	return transfer_at_once(task, true) ? SCSI_ENDED : transfer(task, IO_WRITE);
}

bool
plan_sync(struct scsi_task *task)
{
	return plan_range(task);
}

enum scsi_progress
start_sync(struct scsi_task *task)
{
	return transfer(task, IO_SYNC);
}

/* ---- VERIFY, WRITE AND VERIFY ---- */

/*
 * Reads the range in pieces, and compares it with the data-out from `from`: with as many bytes, or
 * with one block again and again.  -EILSEQ, and *differs, at the first difference.
 */
static int
verify_range(
    struct scsi_task *task, uint64_t length, bool compare, bool one_block, uint64_t *differs)
{
	const struct scsi_lun *lun = task->logical_unit;
	const size_t step = one_block ? lun->block_bytes : PIECE;
	uint8_t *piece = malloc(step);
	int r = piece ? 0 : -ENOMEM;

	for (uint64_t done = 0; done < length && r == 0 && !task->stop;) {
		const size_t n = length - done < step ? (size_t)(length - done) : step;
		size_t equal = n;

		r = file_read(lun->fd, first_byte(task) + done, piece, n);
		if (r == 0 && compare)
			equal = data_compare(task, one_block ? 0 : done, piece, n);
		if (r == 0 && equal < n) {
			*differs = done + equal;
			r = -EILSEQ;
		}
		done += n;
	}
	free(piece);
	return r;
}

static void
verify_end(struct scsi_task *task, int r, uint64_t differs)
{
	if (r == -EILSEQ)
		task_fail_information(task, SENSE_MISCOMPARE, differs);
	else if (r)
		task_fail_errno(task, r);
}

bool
plan_verify(struct scsi_task *task)
{
	const unsigned int check = bytchk(task);

	if (check == 2)
		return task_fail_field(task, SENSE_CDB_FIELD, 1, 2);
	if (check == 1 ? !plan_transfer(task, SCSI_DATA_OUT) : !plan_range(task))
		return false;
	if (check == 3 && task->blocks > 0) {
		task->wanted = task->logical_unit->block_bytes;
		task->direction = SCSI_DATA_OUT;
	}
	return plan_all_data(task);
}

static void
verify(struct scsi_task *task)
{
	const unsigned int check = bytchk(task);
	uint64_t differs = 0;
	int r;

	r = verify_range(
	    task, task->blocks * task->logical_unit->block_bytes, check != 0, check == 3, &differs);
	verify_end(task, r, differs);
}

enum scsi_progress
start_verify(struct scsi_task *task)
{
	return task->blocks ? task_job(task, verify, 0) : SCSI_ENDED;
}

bool
plan_write_verify(struct scsi_task *task)
{
	if (bytchk(task) > 1)
		return task_fail_field(task, SENSE_CDB_FIELD, 1, 2);
	return plan_write(task);
}

static void
write_verify(struct scsi_task *task)
{
	uint64_t differs = 0;
	int r = file_move(task, true, 0, first_byte(task), task->bytes);

	if (r == 0)
		r = file_sync(task->logical_unit);
	if (r == 0)
		r = verify_range(task, task->bytes, bytchk(task) == 1, false, &differs);
	verify_end(task, r, differs);
}

enum scsi_progress
start_write_verify(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	lun->writes++;
	lun->syncs++;
	lun->written_bytes += task->bytes;
	return task->bytes ? task_job(task, write_verify, 0) : SCSI_ENDED;
}

/* ---- COMPARE AND WRITE ---- */

bool
plan_compare(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;

	task->lba = command_lba(task->cdb, 16);
	task->blocks = task->cdb[13];
	task->wanted = 2 * task->blocks * lun->block_bytes;
	task->direction = SCSI_DATA_OUT;
	if (task->lba > lun->blocks || task->blocks > lun->blocks - task->lba)
		return task_fail(task, SENSE_LBA_RANGE);
	if (task->wanted > lun->max_transfer)
		return task_fail_field(task, SENSE_CDB_FIELD, 13, 7);
	task->exclusive = true;
	if (task->expected_out >
	    task->wanted) /* such as for 256 blocks, which the field cannot say */
		return task_fail_field(task, SENSE_CDB_FIELD, 13, 7);
	return plan_all_data(task);
}

static void
compare_and_write(struct scsi_task *task)
{
	const uint32_t half = task->bytes / 2;
	uint64_t differs = 0;
	int r = verify_range(task, half, true, false, &differs);

	if (r == 0 && !task->stop)
		r = file_move(task, true, half, first_byte(task), half);
	if (r == 0 && write_is_durable(task))
		r = file_sync(task->logical_unit);
	verify_end(task, r, differs);
}

enum scsi_progress
start_compare(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	lun->writes++;
	lun->written_bytes += task->bytes / 2;
	return task->bytes ? task_job(task, compare_and_write, 0) : SCSI_ENDED;
}

/* ---- PRE-FETCH ---- */

bool
plan_prefetch(struct scsi_task *task)
{
	return plan_range(task);
}

static void
prefetch(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	const uint64_t blocks = task->blocks ? task->blocks : lun->blocks - task->lba;

	/* Only advice: that it cannot be taken is no failure. */
	posix_fadvise(lun->fd, (off_t)first_byte(task), (off_t)(blocks * lun->block_bytes),
	    POSIX_FADV_WILLNEED);
}

enum scsi_progress
start_prefetch(struct scsi_task *task)
{
	return task_job(task, prefetch, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unit -- commands about the state of the unit: whether it is ready, its size, modes and medium
 */
#include "device.h"

#include <string.h>

/* ---- TEST UNIT READY ---- */

bool
plan_ready(struct scsi_task *task)
{
	(void)task;
	return true;
}

enum scsi_progress
start_ready(struct scsi_task *task)
{
	(void)task;
	return SCSI_ENDED;
}

/* ---- REQUEST SENSE ---- */

bool
plan_request_sense(struct scsi_task *task)
{
	return plan_data_in(task, 4, 1, 18);
}

enum scsi_progress
start_request_sense(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;
	struct data_in in = { .task = task };
	enum scsi_sense sense = lun ? SENSE_NONE : SENSE_LUN_UNKNOWN;
	uint8_t s[18] = { 0x70, 0, 0, 0, 0, 0, 0, 10 };

	if (lun) {
		pthread_mutex_lock(&lun->target->lock);
		if (!nexus_take_attention(task->nexus, lun, &sense) && lun->ejected)
			sense = SENSE_MEDIUM_NOT_PRESENT;
		pthread_mutex_unlock(&lun->target->lock);
	}
	if (task->cdb[1] & 1) { /* in descriptor format */
		const uint8_t d[8] = { 0x72, (uint8_t)(sense >> 16), (uint8_t)(sense >> 8),
			(uint8_t)sense };

		data_put(&in, d, sizeof d);
		return data_end(&in);
	}
	s[2] = (uint8_t)(sense >> 16);
	s[12] = (uint8_t)(sense >> 8);
	s[13] = (uint8_t)sense;
	data_put(&in, s, sizeof s);
	return data_end(&in);
}

/* ---- REPORT LUNS ---- */

bool
plan_report_luns(struct scsi_task *task)
{
	if (task->cdb[2] > 2)
		return task_fail_field(task, SENSE_CDB_FIELD, 2, 7);
	if (scsi_get32(task->cdb + 6) < 16)
		return task_fail_field(task, SENSE_CDB_FIELD, 6, 7);
	return plan_data_in(task, 6, 4, 8 + 8 * SCSI_LUNS);
}

enum scsi_progress
start_report_luns(struct scsi_task *task)
{
	const struct scsi_target *target = task->nexus->target;
	struct data_in in = { .task = task };
	uint8_t length[4];

	data_put_zeros(&in, 8);
	for (unsigned int i = 0; i < SCSI_LUNS && task->cdb[2] != 1; i++) {
		const uint8_t field[8] = { 0, (uint8_t)i };

		if (target->luns[i])
			data_put(&in, field, sizeof field);
	}
	scsi_put32(length, (uint32_t)in.length - 8);
	data_patch(&in, 0, length, sizeof length);
	return data_end(&in);
}

/* ---- READ CAPACITY ---- */

bool
plan_capacity10(struct scsi_task *task)
{
	task->wanted = 8;
	task->direction = SCSI_DATA_IN;
	return true;
}

enum scsi_progress
start_capacity10(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	struct data_in in = { .task = task };
	uint8_t p[8];

	scsi_put32(p, lun->blocks - 1 < UINT32_MAX ? (uint32_t)(lun->blocks - 1) : UINT32_MAX);
	scsi_put32(p + 4, lun->block_bytes);
	data_put(&in, p, sizeof p);
	return data_end(&in);
}

bool
plan_capacity16(struct scsi_task *task)
{
	return plan_data_in(task, 10, 4, 32);
}

enum scsi_progress
start_capacity16(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	struct data_in in = { .task = task };
	uint8_t p[32] = { 0 };

	scsi_put64(p, lun->blocks - 1);
	scsi_put32(p + 8, lun->block_bytes);
	if (lun->thin)
		p[14] = 0xc0; /* blocks may be unmapped, and then read as zeros */
	data_put(&in, p, sizeof p);
	return data_end(&in);
}

/* ---- MODE SENSE ---- */

#define NO_BLOCK_DESCRIPTOR 0x08
#define LONG_LBA 0x10
#define CHANGEABLE 1
#define SAVED 3
#define PAGE_CACHING 0x08
#define PAGE_CONTROL 0x0a
#define PAGE_ALL 0x3f

bool
plan_mode_sense(struct scsi_task *task)
{
	const uint8_t page = task->cdb[2] & 0x3f, subpage = task->cdb[3];

	if (task->cdb[2] >> 6 == SAVED)
		return task_fail(task, SENSE_SAVING);
	if (page != PAGE_CACHING && page != PAGE_CONTROL && page != PAGE_ALL)
		return task_fail_field(task, SENSE_CDB_FIELD, 2, 5);
	if (subpage != 0 && subpage != 0xff)
		return task_fail_field(task, SENSE_CDB_FIELD, 3, 7);
	return task->command->length == 6 ? plan_data_in(task, 4, 1, 64) :
					    plan_data_in(task, 7, 2, 64);
}

static void
put_block_descriptor(struct data_in *in, const struct scsi_lun *lun, bool is_long)
{
	uint8_t d[16] = { 0 };

	if (is_long) {
		scsi_put64(d, lun->blocks);
		scsi_put32(d + 12, lun->block_bytes);
	} else {
		scsi_put32(d, lun->blocks < UINT32_MAX ? (uint32_t)lun->blocks : UINT32_MAX);
		scsi_put32(d + 4, lun->block_bytes);
	}
	data_put(in, d, is_long ? 16 : 8);
}

static void
put_mode_pages(struct data_in *in, const struct scsi_lun *lun, uint8_t page, bool changeable)
{
	uint8_t caching[20] = { PAGE_CACHING, 18 };
	uint8_t control[12] = { PAGE_CONTROL, 10 };

	if (!changeable) { /* no field can be changed: there is no MODE SELECT */
		caching[2] = lun->write_through ? 0 : 0x04; /* WCE */
		control[3] = 0x10;			    /* commands may be reordered */
		scsi_put16(control + 8, 0xffff);	    /* it may be busy without end */
	}
	if (page == PAGE_CACHING || page == PAGE_ALL)
		data_put(in, caching, sizeof caching);
	if (page == PAGE_CONTROL || page == PAGE_ALL)
		data_put(in, control, sizeof control);
}

enum scsi_progress
start_mode_sense(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	const bool six = task->command->length == 6, blocks = !(task->cdb[1] & NO_BLOCK_DESCRIPTOR);
	const bool is_long = !six && task->cdb[1] & LONG_LBA;
	/* DPO and FUA are known. */
	const uint8_t flags = (uint8_t)((lun->read_only ? 0x80 : 0) | 0x10);
	const uint8_t descriptor = !blocks ? 0 : is_long ? 16 : 8;
	const size_t head = six ? 4 : 8;
	struct data_in in = { .task = task };
	uint8_t h[8] = { 0 };

	data_put_zeros(&in, head);
	if (blocks)
		put_block_descriptor(&in, lun, is_long);
	put_mode_pages(&in, lun, task->cdb[2] & 0x3f, task->cdb[2] >> 6 == CHANGEABLE);
	if (six) {
		h[0] = (uint8_t)(in.length - 1);
		h[2] = flags;
		h[3] = descriptor;
	} else {
		scsi_put16(h, (uint16_t)(in.length - 2));
		h[3] = flags;
		h[4] = is_long && blocks;
		h[7] = descriptor;
	}
	data_patch(&in, 0, h, head);
	return data_end(&in);
}

/* ---- START STOP UNIT, PREVENT ALLOW MEDIUM REMOVAL ---- */

#define START 0x01
#define LOEJ 0x02
#define NO_FLUSH 0x04
#define POWER_CONDITION 0xf0

bool
plan_start_stop(struct scsi_task *task)
{
	const struct scsi_lun *lun = task->logical_unit;
	const uint8_t bits = task->cdb[4];

	if (!(bits & LOEJ) || bits & POWER_CONDITION)
		return true;
	if (!lun->removable)
		return task_fail_field(task, SENSE_CDB_FIELD, 4, 1);
	for (const struct scsi_nexus *n = lun->target->nexuses; n; n = n->next)
		if (n->prevents[lun->number])
			return task_fail(task, SENSE_REMOVAL_PREVENTED);
	return true;
}

static void
flush(struct scsi_task *task)
{
	const int r = file_sync(task->logical_unit);

	if (r)
		task_fail_errno(task, r);
}

enum scsi_progress
start_start_stop(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;
	const uint8_t bits = task->cdb[4];

	if (bits & POWER_CONDITION)
		return SCSI_ENDED;
	if (bits & LOEJ) {
		pthread_mutex_lock(&lun->target->lock);
		lun->ejected = !(bits & START);
		pthread_mutex_unlock(&lun->target->lock);
	}
	/* A unit that was stopped goes on answering; what it wrote is on the medium. */
	return bits & (START | NO_FLUSH) ? SCSI_ENDED : task_job(task, flush, 0);
}

bool
plan_prevent(struct scsi_task *task)
{
	if (task->cdb[4] > 1)
		return task_fail_field(task, SENSE_CDB_FIELD, 4, 1);
	return true;
}

enum scsi_progress
start_prevent(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	pthread_mutex_lock(&lun->target->lock);
	task->nexus->prevents[lun->number] = task->cdb[4] & 1;
	pthread_mutex_unlock(&lun->target->lock);
	return SCSI_ENDED;
}

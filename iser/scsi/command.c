/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <string.h>

/*
 * The bits of a CDB that mean something, from byte 0: an operation on blocks of 6, 10, 12, 16
 * bytes.
 */
/* clang-format off */
#define F4 0xff, 0xff, 0xff, 0xff
#define ON6(opcode) { opcode, 0x1f, 0xff, 0xff, 0xff }
#define ON10(opcode, bits) { opcode, bits, F4, 0x1f, 0xff, 0xff }
#define ON12(opcode, bits) { opcode, bits, F4, F4, 0x1f }
#define ON16(opcode, bits) { opcode, bits, F4, F4, F4, 0x1f }
#define DPO_FUA 0x18
#define DPO_BYTCHK 0x16
#define DATA_LOSS (COMMAND_MEDIUM | COMMAND_CHANGES)

/* In order of operation code and service action. */
static const struct scsi_command commands[] = {
	{ "TEST UNIT READY", 0x00, -1, 6, ACCESS_STATE, COMMAND_MEDIUM, plan_ready, start_ready, { 0x00 } },
	{ "REQUEST SENSE", 0x03, -1, 6, ACCESS_FREE, COMMAND_ANY_LUN | COMMAND_NO_ATTENTION,
	    plan_request_sense, start_request_sense, { 0x03, 0x01, 0, 0, 0xff } },
	{ "READ(6)", 0x08, -1, 6, ACCESS_READ, COMMAND_MEDIUM, plan_read, start_read, ON6(0x08) },
	{ "WRITE(6)", 0x0a, -1, 6, ACCESS_WRITE, DATA_LOSS, plan_write, start_write, ON6(0x0a) },
	{ "INQUIRY", 0x12, -1, 6, ACCESS_FREE, COMMAND_ANY_LUN | COMMAND_NO_ATTENTION,
	    plan_inquiry, start_inquiry, { 0x12, 0x01, 0xff, 0xff, 0xff } },
	{ "RESERVE(6)", 0x16, -1, 6, ACCESS_FREE, 0, plan_reserve6, start_reserve6, { 0x16 } },
	{ "RELEASE(6)", 0x17, -1, 6, ACCESS_FREE, 0, plan_release6, start_release6, { 0x17 } },
	{ "MODE SENSE(6)", 0x1a, -1, 6, ACCESS_WRITE, 0, plan_mode_sense, start_mode_sense,
	    { 0x1a, 0x08, 0xff, 0xff, 0xff } },
	{ "START STOP UNIT", 0x1b, -1, 6, ACCESS_CHECKED, 0, plan_start_stop, start_start_stop,
	    { 0x1b, 0x01, 0, 0x0f, 0xf7 } },
	{ "PREVENT ALLOW MEDIUM REMOVAL", 0x1e, -1, 6, ACCESS_CHECKED, 0, plan_prevent, start_prevent,
	    { 0x1e, 0, 0, 0, 0x03 } },
	{ "READ CAPACITY(10)", 0x25, -1, 10, ACCESS_STATE, COMMAND_MEDIUM, plan_capacity10, start_capacity10,
	    { 0x25 } },
	{ "READ(10)", 0x28, -1, 10, ACCESS_READ, COMMAND_MEDIUM, plan_read, start_read, ON10(0x28, DPO_FUA) },
	{ "WRITE(10)", 0x2a, -1, 10, ACCESS_WRITE, DATA_LOSS, plan_write, start_write, ON10(0x2a, DPO_FUA) },
	{ "WRITE AND VERIFY(10)", 0x2e, -1, 10, ACCESS_WRITE, DATA_LOSS, plan_write_verify,
	    start_write_verify, ON10(0x2e, DPO_BYTCHK) },
	{ "VERIFY(10)", 0x2f, -1, 10, ACCESS_READ, COMMAND_MEDIUM, plan_verify, start_verify,
	    ON10(0x2f, DPO_BYTCHK) },
	{ "PRE-FETCH(10)", 0x34, -1, 10, ACCESS_READ, COMMAND_MEDIUM, plan_prefetch, start_prefetch,
	    ON10(0x34, 0x02) },
	{ "SYNCHRONIZE CACHE(10)", 0x35, -1, 10, ACCESS_WRITE, COMMAND_MEDIUM, plan_sync, start_sync,
	    ON10(0x35, 0x06) },
	{ "WRITE SAME(10)", 0x41, -1, 10, ACCESS_WRITE, DATA_LOSS, plan_same, start_same, ON10(0x41, 0x08) },
	{ "UNMAP", 0x42, -1, 10, ACCESS_WRITE, DATA_LOSS, plan_unmap, start_unmap,
	    { 0x42, 0, 0, 0, 0, 0, 0x1f, 0xff, 0xff } },
	{ "MODE SENSE(10)", 0x5a, -1, 10, ACCESS_WRITE, 0, plan_mode_sense, start_mode_sense,
	    { 0x5a, 0x18, 0xff, 0xff, 0, 0, 0, 0xff, 0xff } },
#define PERSIST_IN(action, name) \
	{ "PERSISTENT RESERVE IN, " name, 0x5e, action, 10, ACCESS_FREE, 0, plan_persist_in, \
	    start_persist_in, { 0x5e, action, 0, 0, 0, 0, 0, 0xff, 0xff } }
	PERSIST_IN(0, "READ KEYS"),
	PERSIST_IN(1, "READ RESERVATION"),
	PERSIST_IN(2, "REPORT CAPABILITIES"),
	PERSIST_IN(3, "READ FULL STATUS"),
#define PERSIST_OUT(action, name) \
	{ "PERSISTENT RESERVE OUT, " name, 0x5f, action, 10, ACCESS_FREE, 0, plan_persist_out, \
	    start_persist_out, { 0x5f, action, 0xff, 0, 0, F4 } }
	PERSIST_OUT(0, "REGISTER"),
	PERSIST_OUT(1, "RESERVE"),
	PERSIST_OUT(2, "RELEASE"),
	PERSIST_OUT(3, "CLEAR"),
	PERSIST_OUT(4, "PREEMPT"),
	PERSIST_OUT(5, "PREEMPT AND ABORT"),
	PERSIST_OUT(6, "REGISTER AND IGNORE EXISTING KEY"),
	PERSIST_OUT(7, "REGISTER AND MOVE"),
	{ "READ(16)", 0x88, -1, 16, ACCESS_READ, COMMAND_MEDIUM, plan_read, start_read, ON16(0x88, DPO_FUA) },
	{ "COMPARE AND WRITE", 0x89, -1, 16, ACCESS_WRITE, DATA_LOSS, plan_compare, start_compare,
	    { 0x89, DPO_FUA, F4, F4, 0, 0, 0, 0xff, 0x1f } },
	{ "WRITE(16)", 0x8a, -1, 16, ACCESS_WRITE, DATA_LOSS, plan_write, start_write, ON16(0x8a, DPO_FUA) },
	{ "WRITE AND VERIFY(16)", 0x8e, -1, 16, ACCESS_WRITE, DATA_LOSS, plan_write_verify,
	    start_write_verify, ON16(0x8e, DPO_BYTCHK) },
	{ "VERIFY(16)", 0x8f, -1, 16, ACCESS_READ, COMMAND_MEDIUM, plan_verify, start_verify,
	    ON16(0x8f, DPO_BYTCHK) },
	{ "PRE-FETCH(16)", 0x90, -1, 16, ACCESS_READ, COMMAND_MEDIUM, plan_prefetch, start_prefetch,
	    ON16(0x90, 0x02) },
	{ "SYNCHRONIZE CACHE(16)", 0x91, -1, 16, ACCESS_WRITE, COMMAND_MEDIUM, plan_sync, start_sync,
	    ON16(0x91, 0x06) },
	{ "WRITE SAME(16)", 0x93, -1, 16, ACCESS_WRITE, DATA_LOSS, plan_same, start_same, ON16(0x93, 0x09) },
	{ "READ CAPACITY(16)", 0x9e, 0x10, 16, ACCESS_STATE, COMMAND_MEDIUM, plan_capacity16,
	    start_capacity16, { 0x9e, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, F4 } },
	{ "GET LBA STATUS", 0x9e, 0x12, 16, ACCESS_READ, COMMAND_MEDIUM, plan_lba_status, start_lba_status,
	    { 0x9e, 0x12, F4, F4, F4 } },
	{ "REPORT LUNS", 0xa0, -1, 12, ACCESS_FREE, COMMAND_ANY_LUN | COMMAND_NO_ATTENTION, plan_report_luns,
	    start_report_luns, { 0xa0, 0, 0xff, 0, 0, 0, F4 } },
	{ "REPORT SUPPORTED OPERATION CODES", 0xa3, 0x0c, 12, ACCESS_READ, 0, plan_opcodes, start_opcodes,
	    { 0xa3, 0x0c, 0x87, 0xff, 0xff, 0xff, F4 } },
	{ "READ(12)", 0xa8, -1, 12, ACCESS_READ, COMMAND_MEDIUM, plan_read, start_read, ON12(0xa8, DPO_FUA) },
	{ "WRITE(12)", 0xaa, -1, 12, ACCESS_WRITE, DATA_LOSS, plan_write, start_write, ON12(0xaa, DPO_FUA) },
	{ "WRITE AND VERIFY(12)", 0xae, -1, 12, ACCESS_WRITE, DATA_LOSS, plan_write_verify,
	    start_write_verify, ON12(0xae, DPO_BYTCHK) },
	{ "VERIFY(12)", 0xaf, -1, 12, ACCESS_READ, COMMAND_MEDIUM, plan_verify, start_verify,
	    ON12(0xaf, DPO_BYTCHK) },
};
/* clang-format on */
#define COMMANDS (sizeof commands / sizeof commands[0])

/* The first row of an operation code; NULL if there is none. */
static const struct scsi_command *
command_first(uint8_t opcode)
{
	size_t low = 0, high = COMMANDS;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (commands[middle].opcode < opcode)
			low = middle + 1;
		else
			high = middle;
	}
	return low < COMMANDS && commands[low].opcode == opcode ? &commands[low] : NULL;
}

static const struct scsi_command *
command_of_action(const struct scsi_command *first, unsigned int action)
{
	for (const struct scsi_command *c = first;
	     c < commands + COMMANDS && c->opcode == first->opcode; c++)
		if (c->action == (int)action)
			return c;
	return NULL;
}

const struct scsi_command *
command_find(const uint8_t *cdb, enum scsi_sense *sense)
{
	const struct scsi_command *c = command_first(cdb[0]);

	*sense = SENSE_OPCODE;
	if (!c || c->action < 0)
		return c;
	*sense = SENSE_CDB_FIELD;
	return command_of_action(c, cdb[1] & 0x1f);
}

bool
command_check_bits(struct scsi_task *task)
{
	const struct scsi_command *c = task->command;

	for (unsigned int i = 1; i < c->length; i++) {
		const uint8_t wrong = task->cdb[i] & (uint8_t)~c->usage[i];

		if (wrong)
			return task_fail_field(task, SENSE_CDB_FIELD, i, 31 - __builtin_clz(wrong));
	}
	return true;
}

uint64_t
command_lba(const uint8_t *cdb, unsigned int length)
{
	switch (length) {
	case 6:
		return scsi_get32(cdb) & 0x1fffff;
	case 16:
		return scsi_get64(cdb + 2);
	default:
		return scsi_get32(cdb + 2);
	}
}

uint32_t
command_count(const uint8_t *cdb, unsigned int length)
{
	switch (length) {
	case 6:
		return cdb[4] ? cdb[4] : 256;
	case 10:
		return scsi_get16(cdb + 7);
	case 12:
		return scsi_get32(cdb + 6);
	default:
		return scsi_get32(cdb + 10);
	}
}

/* ---- REPORT SUPPORTED OPERATION CODES ---- */

#define WITH_TIMEOUTS 0x80

bool
plan_opcodes(struct scsi_task *task)
{
	const unsigned int option = task->cdb[2] & 7;
	const struct scsi_command *c = command_first(task->cdb[3]);

	if (option > 3)
		return task_fail_field(task, SENSE_CDB_FIELD, 2, 2);
	/* 1 is for commands without service actions, 2 for those with. */
	if (c && ((option == 1 && c->action >= 0) || (option == 2 && c->action < 0)))
		return task_fail_field(task, SENSE_CDB_FIELD, 2, 2);
	return plan_data_in(task, 6, 4, 4 + COMMANDS * 20);
}

static void
put_timeouts(struct data_in *in)
{
	static const uint8_t none[12] = { 0, 10 }; /* no time is indicated */

	data_put(in, none, sizeof none);
}

static void
put_all(struct data_in *in, bool timeouts)
{
	uint8_t length[4];

	data_put_zeros(in, 4);
	for (const struct scsi_command *c = commands; c < commands + COMMANDS; c++) {
		uint8_t d[8] = { c->opcode, 0, 0, c->action < 0 ? 0 : (uint8_t)c->action };

		d[5] = (uint8_t)((timeouts ? 2 : 0) | (c->action >= 0));
		scsi_put16(d + 6, c->length);
		data_put(in, d, sizeof d);
		if (timeouts)
			put_timeouts(in);
	}
	scsi_put32(length, (uint32_t)in->length - 4);
	data_patch(in, 0, length, sizeof length);
}

static void
put_one(struct data_in *in, const struct scsi_command *c, bool timeouts)
{
	uint8_t d[4] = { 0 };

	d[1] = c ? 3 : 1; /* as the standard has it, or not at all */
	if (c && timeouts)
		d[1] |= 0x80;
	scsi_put16(d + 2, c ? c->length : 0);
	data_put(in, d, sizeof d);
	if (c)
		data_put(in, c->usage, c->length);
	if (c && timeouts)
		put_timeouts(in);
}

enum scsi_progress
start_opcodes(struct scsi_task *task)
{
	const bool timeouts = task->cdb[2] & WITH_TIMEOUTS;
	const struct scsi_command *c = command_first(task->cdb[3]);
	struct data_in in = { .task = task };
	const unsigned int action = scsi_get16(task->cdb + 4);

	if ((task->cdb[2] & 7) == 0) {
		put_all(&in, timeouts);
		return data_end(&in);
	}
	if (c && c->action >= 0)
		c = command_of_action(c, action);
	else if (action != 0) /* of a command that has none: only option 3 comes here with one */
		c = (task->cdb[2] & 7) == 1 ? c : NULL;
	put_one(&in, c, timeouts);
	return data_end(&in);
}

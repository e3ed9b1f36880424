/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * response -- what a response says of a transfer, as the target writes it and the initiator reads
 */
#include "lib/runner.h"

#include "iser/iscsi/pdu.h"
#include "iser/iscsi/response.h"

#include <stdlib.h>
#include <string.h>

#define R PDU_READ
#define W PDU_WRITE
#define U PDU_UNDERFLOW
#define O PDU_OVERFLOW
#define RU PDU_IN_UNDERFLOW
#define RO PDU_IN_OVERFLOW

/*
 * A command with flags, the lengths that the initiator gives, and what its CDB asks for; then the
 * flags and counts of its response.
 */
static const struct {
	unsigned char flags;
	uint32_t expected, read_length;
	enum scsi_direction direction;
	uint64_t wanted;
	unsigned char status;
	unsigned char is_flags;
	uint32_t count, count_in;
} rows[] = {
	/* as much as was expected, less, more */
	{ R, 4096, 0, SCSI_DATA_IN, 4096, SCSI_GOOD, 0, 0, 0 },
	{ R, 4096, 0, SCSI_DATA_IN, 512, SCSI_GOOD, U, 3584, 0 },
	{ R, 512, 0, SCSI_DATA_IN, 4096, SCSI_GOOD, O, 3584, 0 },
	{ W, 4096, 0, SCSI_DATA_OUT, 4096, SCSI_GOOD, 0, 0, 0 },
	{ W, 4096, 0, SCSI_DATA_OUT, 512, SCSI_GOOD, U, 3584, 0 },
	{ W, 512, 0, SCSI_DATA_OUT, 4096, SCSI_GOOD, O, 3584, 0 },
	{ R, 0, 0, SCSI_DATA_IN, 36, SCSI_GOOD, O, 36, 0 },
	{ 0, 0, 0, SCSI_DATA_IN, 36, SCSI_GOOD, O, 36, 0 },
	{ R, 1, 0, SCSI_DATA_IN, UINT64_C(0x123456789), SCSI_GOOD, O, UINT32_MAX, 0 },
	/* no data, and some were expected */
	{ R, 36, 0, SCSI_NO_DATA, 0, SCSI_GOOD, U, 36, 0 },
	{ W, 36, 0, SCSI_NO_DATA, 0, SCSI_GOOD, U, 36, 0 },
	{ 0, 0, 0, SCSI_NO_DATA, 0, SCSI_GOOD, 0, 0, 0 },
	/* both directions: each has its own */
	{ R | W, 512, 4096, SCSI_DATA_IN, 4096, SCSI_GOOD, U, 512, 0 },
	{ R | W, 512, 4096, SCSI_DATA_IN, 36, SCSI_GOOD, U | RU, 512, 4060 },
	{ R | W, 512, 36, SCSI_DATA_IN, 96, SCSI_GOOD, U | RO, 512, 60 },
	{ R | W, 512, 4096, SCSI_DATA_OUT, 512, SCSI_GOOD, RU, 0, 4096 },
	{ R | W, 512, 4096, SCSI_DATA_OUT, 1024, SCSI_GOOD, O | RU, 512, 4096 },
	/* of a failure nothing is said */
	{ R, 4096, 0, SCSI_DATA_IN, 512, SCSI_CHECK_CONDITION, 0, 0, 0 },
};

#define ROWS (int)(sizeof rows / sizeof rows[0])

CASE("iser_response:response");

/* origin: out33.I1 */
TEST_LOOP(residual__each_of_the_table__flag_and_count, ROWS)
{
	unsigned char bhs[ISCSI_BHS_BYTES] = { PDU_RESPONSE, PDU_FINAL };
	struct scsi_task task = {
		.direction = rows[_i].direction,
		.status = rows[_i].status,
		.expected_out = rows[_i].flags & W ? rows[_i].expected : 0,
		.expected_in = rows[_i].flags == (R | W) ? rows[_i].read_length :
			       rows[_i].flags & R	 ? rows[_i].expected :
							   0,
	};
	const uint32_t room =
	    task.direction == SCSI_DATA_OUT ? task.expected_out : task.expected_in;

	/* As scsi_task_plan() and task_settle() do. */
	task.bytes = rows[_i].wanted < room ? (uint32_t)rows[_i].wanted : room;
	task.data_in_length = task.direction == SCSI_DATA_IN ? task.bytes : 0;
	task.residual = (int64_t)rows[_i].wanted - room;
	response_put_residual(bhs, &task, rows[_i].flags, rows[_i].expected);
	ck_assert_uint_eq(bhs[PDU_FLAGS], PDU_FINAL | rows[_i].is_flags);
	ck_assert_uint_eq(wire_get32(bhs + 44), rows[_i].count);
	ck_assert_uint_eq(wire_get32(bhs + 40), rows[_i].count_in);
}

static enum response_verdict
verdict(unsigned char status, const char *sense, size_t length, size_t says)
{
	unsigned char pdu[ISCSI_BHS_BYTES + 64] = { PDU_RESPONSE, PDU_FINAL, 0, status };
	struct response response;

	if (length) {
		wire_put24(pdu + PDU_DATA, (uint32_t)(2 + length));
		wire_put16(pdu + ISCSI_BHS_BYTES, (uint16_t)says);
		memcpy(pdu + ISCSI_BHS_BYTES + 2, sense, length);
	}
	response_take(&response, pdu, 4096);
	ck_assert_uint_ne(response.text[0], '\0');
	return response.verdict;
}

#define FIXED(key, code) "\x70\0" key "\0\0\0\0\x0a\0\0\0\0" code "\0\0\0\0"
#define DESCRIPTOR(key, code) "\x72" key code "\0\0\0\0"
#define OF(status, sense) verdict(status, sense, sizeof(sense) - 1, sizeof(sense) - 1)

/* origin: out33.I6 */
TEST(sense__both_formats__are_read)
{
	ck_assert_int_eq(OF(SCSI_CHECK_CONDITION, FIXED("\6", "\x29\2")), RESPONSE_ATTENTION);
	ck_assert_int_eq(OF(SCSI_CHECK_CONDITION, FIXED("\6", "\x29\0")), RESPONSE_RESET);
	ck_assert_int_eq(OF(SCSI_CHECK_CONDITION, FIXED("\6", "\x28\0")), RESPONSE_CHANGED);
	ck_assert_int_eq(OF(SCSI_CHECK_CONDITION, DESCRIPTOR("\6", "\x2a\1")), RESPONSE_ATTENTION);
	ck_assert_int_eq(OF(SCSI_CHECK_CONDITION, DESCRIPTOR("\6", "\x2a\x09")), RESPONSE_CHANGED);
	ck_assert_int_eq(OF(SCSI_CHECK_CONDITION, DESCRIPTOR("\3", "\x11\0")), RESPONSE_FAILED);
	ck_assert_int_eq(verdict(SCSI_CHECK_CONDITION, NULL, 0, 0), RESPONSE_FAILED);
}

/* Codes of unit attentions; what each means, and whether commands before it are aborted. */
static const struct {
	const char *codes;
	enum response_verdict verdict;
	bool aborts;
} attentions[] = {
	{ "2902 2903 2907", RESPONSE_ATTENTION, true },
	{ "2f00 2f02", RESPONSE_ATTENTION, true },
	{ "2a00 2a01 2a02 2a03 2a04 2a05 2a06 2a07 2a10 3807 3f03 3f0e", RESPONSE_ATTENTION,
	    false },
	{ "0b00 0b01 0b02 5d00 5d10 5dff", RESPONSE_ATTENTION, false }, /* warnings */
	{ "2900 2901 2904 2f01", RESPONSE_RESET, true },
	{ "3f01", RESPONSE_RESET, false },
	{ "2800 2a09 3f05 3a00 0c00 5e00 ffff", RESPONSE_CHANGED, false },
};

/* origin: out37.DD12 */
TEST_LOOP(attention__each_code__means, sizeof attentions / sizeof attentions[0])
{
	unsigned char pdu[ISCSI_BHS_BYTES + 64] = { PDU_RESPONSE, PDU_FINAL, 0,
		SCSI_CHECK_CONDITION };
	struct response response;
	char *next;

	wire_put24(pdu + PDU_DATA, 20);
	wire_put16(pdu + ISCSI_BHS_BYTES, 18);
	memcpy(pdu + ISCSI_BHS_BYTES + 2, FIXED("\6", "\0\0"), 18);
	for (const char *code = attentions[_i].codes; *code; code = next) {
		wire_put16(pdu + ISCSI_BHS_BYTES + 2 + 12, (uint16_t)strtoul(code, &next, 16));
		response_take(&response, pdu, 4096);
		ck_assert_msg(response.verdict == attentions[_i].verdict &&
				  response.aborts == attentions[_i].aborts,
		    "%.5s: %d, %d", code, response.verdict, response.aborts);
	}
}

/* origin: out33.I1 */
TEST(sense__with_good__is_that_of_a_success)
{
	ck_assert_int_eq(verdict(SCSI_GOOD, NULL, 0, 0), RESPONSE_DONE);
	ck_assert_int_eq(OF(SCSI_GOOD, FIXED("\0", "\0\0")), RESPONSE_DONE);
	ck_assert_int_eq(OF(SCSI_GOOD, FIXED("\1", "\x17\0")), RESPONSE_DONE);
	ck_assert_int_eq(OF(SCSI_GOOD, DESCRIPTOR("\x0f", "\0\0")), RESPONSE_DONE);
	ck_assert_int_eq(OF(SCSI_GOOD, FIXED("\3", "\x11\0")), RESPONSE_FAILED);
	ck_assert_int_eq(OF(SCSI_GOOD, "\x70\0\0"), RESPONSE_FAILED);
	/* longer than the PDU */
	ck_assert_int_eq(verdict(SCSI_GOOD, FIXED("\0", "\0\0"), 18, 19), RESPONSE_FAILED);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "suites.h"
#include "lib/runner.h"

#include "examples/iser/pdu.h"

#include <stdlib.h>
#include <string.h>

static const struct pdu full_write = {
	.opcode = PDU_WRITE,
	.tag = 0x01020304,
	.length = 0x05060708,
	.lba = UINT64_C(0x1112131415161718),
	.remote_address = UINT64_C(0x2122232425262728),
	.remote_length = 0x31323334,
	.remote_context = 0x41424344,
	.device_bytes = UINT64_C(0x5152535455565758),
};

START_TEST(pdu_encode__every_field__is_big_endian_at_its_documented_place)
{
	/* clang-format off */
	static const uint8_t expected[PDU_BYTES] = {
		'R', 'I', 'S', 'R', 1, PDU_WRITE, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8,
		0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18,
		0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 0x27, 0x28,
		0x31, 0x32, 0x33, 0x34, 0x41, 0x42, 0x43, 0x44,
		0x51, 0x52, 0x53, 0x54, 0x55, 0x56, 0x57, 0x58,
	};
	/* clang-format on */
	uint8_t wire[PDU_BYTES];

	memset(wire, 0xee, sizeof wire);
	pdu_encode(&full_write, wire);
	ck_assert_mem_eq(wire, expected, sizeof wire);
}
END_TEST

START_TEST(pdu_decode__what_was_encoded__comes_back)
{
	uint8_t wire[PDU_BYTES];
	struct pdu pdu;

	pdu_encode(&full_write, wire);
	ck_assert_int_eq(pdu_decode(&pdu, wire, sizeof wire), PDU_OK);
	ck_assert_uint_eq(pdu.opcode, full_write.opcode);
	ck_assert_uint_eq(pdu.status, 0);
	ck_assert_uint_eq(pdu.tag, full_write.tag);
	ck_assert_uint_eq(pdu.length, full_write.length);
	ck_assert_uint_eq(pdu.lba, full_write.lba);
	ck_assert_uint_eq(pdu.remote_address, full_write.remote_address);
	ck_assert_uint_eq(pdu.remote_length, full_write.remote_length);
	ck_assert_uint_eq(pdu.remote_context, full_write.remote_context);
	ck_assert_uint_eq(pdu.device_bytes, full_write.device_bytes);
}
END_TEST

/* What a byte of a good PDU is changed to, and what the decoder says then. */
static const struct {
	unsigned int offset;
	uint8_t value;
	enum pdu_status status;
	uint32_t tag; /* that an answer would carry */
} spoilt[] = {
	{ 0, 'X', PDU_MALFORMED, 0 },
	{ 3, 0, PDU_MALFORMED, 0 },
	{ 4, 0, PDU_BAD_VERSION, 0x01020304 },
	{ 4, 2, PDU_BAD_VERSION, 0x01020304 },
	{ 5, 0, PDU_BAD_OPCODE, 0x01020304 },
	{ 5, PDU_LOGOUT + 1, PDU_BAD_OPCODE, 0x01020304 },
	{ 5, 0x7f, PDU_BAD_OPCODE, 0x01020304 },
	{ 5, PDU_RESPONSE, PDU_BAD_OPCODE, 0x01020304 },
	{ 7, PDU_IO_ERROR, PDU_MALFORMED, 0x01020304 }, /* a request has no status */
	{ 48, 1, PDU_MALFORMED, 0x01020304 },
	{ 63, 0x80, PDU_MALFORMED, 0x01020304 },
};

START_TEST(pdu_decode__one_spoilt_byte__is_refused_with_the_tag)
{
	uint8_t wire[PDU_BYTES];
	struct pdu pdu;

	pdu_encode(&full_write, wire);
	wire[spoilt[_i].offset] = spoilt[_i].value;
	ck_assert_int_eq(pdu_decode(&pdu, wire, sizeof wire), spoilt[_i].status);
	ck_assert_uint_eq(pdu.tag, spoilt[_i].tag);
}
END_TEST

START_TEST(pdu_decode__any_other_length__is_malformed_and_not_read_beyond)
{
	struct pdu pdu;

	for (size_t length = 0; length < 2 * PDU_BYTES; length++) {
		uint8_t *wire = malloc(length ? length : 1); /* ASan sees a read beyond it */

		if (length == PDU_BYTES) {
			free(wire);
			continue;
		}
		memset(wire, 0, length);
		ck_assert_int_eq(pdu_decode(&pdu, wire, length), PDU_MALFORMED);
		free(wire);
	}
}
END_TEST

START_TEST(pdu_decode__response_with_unknown_status__is_malformed)
{
	struct pdu pdu = { .opcode = PDU_READ | PDU_RESPONSE, .status = PDU_STATUS_COUNT };
	uint8_t wire[PDU_BYTES];

	pdu_encode(&pdu, wire);
	ck_assert_int_eq(pdu_decode(&pdu, wire, sizeof wire), PDU_MALFORMED);
	pdu.status = PDU_STATUS_COUNT - 1;
	pdu_encode(&pdu, wire);
	ck_assert_int_eq(pdu_decode(&pdu, wire, sizeof wire), PDU_OK);
}
END_TEST

START_TEST(pdu_decode__random_bytes__never_make_an_accepted_pdu_that_does_not_round_trip)
{
	uint8_t wire[PDU_BYTES], again[PDU_BYTES];
	struct pdu pdu;
	int accepted = 0;

	srand(7);
	for (int round = 0; round < 200000; round++) {
		pdu_encode(&full_write, wire);
		for (int n = rand() % 4; n >= 0; n--)
			wire[rand() % PDU_BYTES] = (uint8_t)rand();
		if (pdu_decode(&pdu, wire, sizeof wire) != PDU_OK)
			continue;
		accepted++;
		pdu_encode(&pdu, again);
		ck_assert_mem_eq(wire, again, sizeof wire);
	}
	ck_assert_int_gt(accepted, 1000);
}
END_TEST

#define BLOCK 4096u

static const struct {
	uint64_t lba;
	uint32_t length, remote_length;
	uint64_t device_bytes;
	enum pdu_status status;
} ranges[] = {
	{ 0, BLOCK, BLOCK, BLOCK, PDU_OK },
	{ 0, 1, BLOCK, 1, PDU_OK },
	{ 9, BLOCK, BLOCK, 10 * BLOCK, PDU_OK },
	{ 9, 100, 100, 9 * BLOCK + 100, PDU_OK },
	{ 0, 0, BLOCK, BLOCK, PDU_BAD_LENGTH },
	{ 0, BLOCK + 1, BLOCK + 1, 10 * BLOCK, PDU_BAD_LENGTH },
	{ 0, UINT32_MAX, UINT32_MAX, UINT64_MAX, PDU_BAD_LENGTH },
	{ 0, BLOCK, BLOCK - 1, BLOCK, PDU_SHORT_BUFFER },
	{ 10, 1, BLOCK, 10 * BLOCK, PDU_OUT_OF_RANGE },
	{ 9, BLOCK, BLOCK, 10 * BLOCK - 1, PDU_OUT_OF_RANGE },
	{ 9, 101, BLOCK, 9 * BLOCK + 100, PDU_OUT_OF_RANGE },
	{ 0, 1, 1, 0, PDU_OUT_OF_RANGE },
	{ 11, 1, 1, 10 * BLOCK, PDU_OUT_OF_RANGE },
	/* lba * BLOCK is 0 and BLOCK in 64 bits */
	{ UINT64_C(1) << 52, 1, 1, 10 * BLOCK, PDU_OUT_OF_RANGE },
	{ (UINT64_C(1) << 52) + 1, 1, 1, 10 * BLOCK, PDU_OUT_OF_RANGE },
	{ UINT64_MAX, 1, 1, UINT64_MAX, PDU_OUT_OF_RANGE },
};

START_TEST(pdu_check_range__bounds_of_block_buffer_and_device__are_kept)
{
	const struct pdu pdu = {
		.lba = ranges[_i].lba,
		.length = ranges[_i].length,
		.remote_length = ranges[_i].remote_length,
	};

	ck_assert_int_eq(pdu_check_range(&pdu, BLOCK, ranges[_i].device_bytes), ranges[_i].status);
}
END_TEST

START_TEST(hello_decode__padded_by_the_connection_manager__is_understood)
{
	const struct hello hello = {
		.status = PDU_BAD_QUEUE, .queue_depth = 32, .block_bytes = 65536
	};
	uint8_t wire[56];
	struct hello back;

	memset(wire, 0xaa, sizeof wire);
	hello_encode(&hello, wire);
	ck_assert_int_eq(hello_decode(&back, wire, sizeof wire), PDU_OK);
	ck_assert_uint_eq(back.status, PDU_BAD_QUEUE);
	ck_assert_uint_eq(back.queue_depth, 32);
	ck_assert_uint_eq(back.block_bytes, 65536);
}
END_TEST

static const struct {
	uint32_t queue_depth, block_bytes;
	size_t length;
	int spoil;
	enum pdu_status status;
} hellos[] = {
	{ 1, 1, HELLO_BYTES, -1, PDU_OK },
	{ PDU_MAX_QUEUE_DEPTH, PDU_MAX_QUEUE_BYTES / PDU_MAX_QUEUE_DEPTH, HELLO_BYTES, -1, PDU_OK },
	{ PDU_MAX_QUEUE_BYTES / PDU_MAX_BLOCK_BYTES, PDU_MAX_BLOCK_BYTES, HELLO_BYTES, -1, PDU_OK },
	{ PDU_MAX_QUEUE_DEPTH, PDU_MAX_BLOCK_BYTES, HELLO_BYTES, -1, PDU_BAD_QUEUE },
	{ 0, 1, HELLO_BYTES, -1, PDU_BAD_QUEUE },
	{ PDU_MAX_QUEUE_DEPTH + 1, 1, HELLO_BYTES, -1, PDU_BAD_QUEUE },
	{ 1, 0, HELLO_BYTES, -1, PDU_BAD_BLOCK },
	{ 1, PDU_MAX_BLOCK_BYTES + 1, HELLO_BYTES, -1, PDU_BAD_BLOCK },
	{ 1, 1, HELLO_BYTES - 1, -1, PDU_MALFORMED },
	{ 1, 1, 0, -1, PDU_MALFORMED },
	{ 1, 1, HELLO_BYTES, 0, PDU_MALFORMED },
	{ 1, 1, HELLO_BYTES, 5, PDU_BAD_VERSION },
	{ 1, 1, HELLO_BYTES, 6, PDU_MALFORMED },
};

START_TEST(hello_decode__limits_and_damage__get_their_own_status)
{
	const struct hello hello = { .queue_depth = hellos[_i].queue_depth,
		.block_bytes = hellos[_i].block_bytes };
	uint8_t wire[HELLO_BYTES];
	struct hello back;

	hello_encode(&hello, wire);
	if (hellos[_i].spoil >= 0)
		wire[hellos[_i].spoil] ^= 0xff;
	ck_assert_int_eq(hello_decode(&back, wire, hellos[_i].length), hellos[_i].status);
}
END_TEST

START_TEST(hello_decode__no_private_data__is_malformed)
{
	struct hello hello;

	ck_assert_int_eq(hello_decode(&hello, NULL, 0), PDU_MALFORMED);
}
END_TEST

START_TEST(pdu_status_text__every_status_and_beyond__is_a_sentence)
{
	for (unsigned int status = 0; status <= PDU_STATUS_COUNT; status++)
		ck_assert_int_gt((int)strlen(pdu_status_text(status)), 3);
	ck_assert_str_eq(pdu_opcode_name(PDU_READ | PDU_RESPONSE), "read response");
	ck_assert_str_eq(pdu_opcode_name(99), "unknown");
}
END_TEST

#define COUNT(array) ((int)(sizeof(array) / sizeof(array)[0]))

Suite *
iser_pdu_suite(void)
{
	Suite *suite = suite_create("iser-pdu");
	TCase *tc = runner_tcase(suite, "codec");

	tcase_add_test(tc, pdu_encode__every_field__is_big_endian_at_its_documented_place);
	tcase_add_test(tc, pdu_decode__what_was_encoded__comes_back);
	tcase_add_loop_test(
	    tc, pdu_decode__one_spoilt_byte__is_refused_with_the_tag, 0, COUNT(spoilt));
	tcase_add_test(tc, pdu_decode__any_other_length__is_malformed_and_not_read_beyond);
	tcase_add_test(tc, pdu_decode__response_with_unknown_status__is_malformed);
	tcase_add_test(
	    tc, pdu_decode__random_bytes__never_make_an_accepted_pdu_that_does_not_round_trip);
	tcase_add_loop_test(
	    tc, pdu_check_range__bounds_of_block_buffer_and_device__are_kept, 0, COUNT(ranges));
	tcase_add_test(tc, hello_decode__padded_by_the_connection_manager__is_understood);
	tcase_add_loop_test(
	    tc, hello_decode__limits_and_damage__get_their_own_status, 0, COUNT(hellos));
	tcase_add_test(tc, hello_decode__no_private_data__is_malformed);
	tcase_add_test(tc, pdu_status_text__every_status_and_beyond__is_a_sentence);
	return suite;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * copy -- the initiator of rearm-iser-copy against a target whose answers are not what they were
 */
#include "liar.h"
#include "lib/runner.h"

#include "iser/datamover/bell.h"
#include "iser/say.h"
#include "iser/iscsi/initiator.h"
#include "iser/iscsi/pdu.h"
#include "iser/iscsi/target.h"
#include "iser/scsi/lun.h"
#include "iser/scsi/scsi.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME "iqn.2026-11.test:target"
#define PORT 3972
#define DISK (64 << 10)
#define DEPTH 4
#define BLOCK 4096 /* of a command */

static const struct target_options served = {
	.ia = "rearm-soft",
	.name = NAME,
	.portals = { { .port = PORT } },
	.portal_count = 1,
	.limits = {
		.initial_r2t = true,
		.max_burst = 1 << 20,
		.first_burst = 64 << 10,
		.target_recv = 8192,
		.initiator_recv = 8192,
		.unexpected = 8,
	},
	.window = 16,
	.max_sessions = 4,
	.login_timeout = 10,
	.pool_bytes = 1 << 20,
};

static struct initiator_options options = {
	.ia = "rearm-soft",
	.name = "iqn.2026-11.test:copy",
	.target = NAME,
	.port = PORT,
	.connections = 1,
	.depth = DEPTH,
	.block_bytes = BLOCK,
	.timeout = 10,
};

static struct bell bell, target_bell;
static struct target target;
static struct scsi_target *scsi;
static struct initiator initiator;
static struct backing disk, file;
static char disk_path[40], file_path[40];
static pthread_t server;
static atomic_bool stops;
static int out = -1, pipe_fds[2];
static char said[4096];

static void *
serve(void *arg)
{
	(void)arg;
	while (!atomic_load(&stops)) {
		(void)itarget_reap(&target);
		bell_wait(&target_bell, bell_now() + BELL_SECOND / 100);
	}
	return NULL;
}

/* A file of zeros, or of a pattern in which no two blocks are equal. */
static void
make(struct backing *backing, char *path, bool pattern)
{
	static unsigned char bytes[DISK];
	int fd;

	strcpy(path, "/tmp/test-iser-copy-XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	for (unsigned int i = 0; i < DISK; i++)
		bytes[i] = pattern ? (unsigned char)(i * 7 + i / 512 + 1) : 0;
	ck_assert_int_eq(write(fd, bytes, DISK), DISK);
	close(fd);
	ck_assert_int_eq(backing_open_device(backing, path), 0);
}

static bool
is_equal(void)
{
	static unsigned char a[DISK], b[DISK];

	ck_assert_int_eq(pread(disk.fd, a, DISK, 0), DISK);
	ck_assert_int_eq(pread(file.fd, b, DISK, 0), DISK);
	return memcmp(a, b, DISK) == 0;
}

/* A target with a disk, of a pattern if it is read, and a file that has one if it is written. */
static void
begin(bool writes)
{
	const struct scsi_target_options how = { .port_name = NAME ",t,0x0001",
		.engine = SCSI_ENGINE_THREADS };
	struct scsi_lun_options lun = { .path = disk_path, .max_transfer_bytes = DISK };

	ck_assert_int_eq(setenv("DAT_OVERRIDE", DAT_CONF, 1), 0);
	say_init("test-iser-hostile");
	make(&disk, disk_path, !writes);
	make(&file, file_path, writes);
	ck_assert_int_eq(bell_init(&target_bell), 0);
	ck_assert_int_eq(bell_init(&bell), 0);
	ck_assert_int_eq(scsi_target_open(&scsi, &how), 0);
	ck_assert_int_eq(scsi_lun_open(scsi, 0, &lun), 0);
	ck_assert_int_eq(itarget_open(&target, &served, &target_bell, scsi), 0);
	atomic_store(&stops, false);
	ck_assert_int_eq(pthread_create(&server, NULL, serve, NULL), 0);
	options.address = target.adapter.attr.ia_address_ptr;
	memset(&initiator, 0, sizeof initiator);
}

static void
finish(void)
{
	liar_tell(NULL);
	atomic_store(&stops, true);
	bell_ring(&target_bell);
	pthread_join(server, NULL);
	ck_assert_int_eq(itarget_close(&target), 0);
	scsi_target_close(scsi);
	bell_fini(&target_bell);
	bell_fini(&bell);
	unlink(disk_path);
	unlink(file_path);
	backing_close(&disk);
	backing_close(&file);
}

/* What is written to standard error meanwhile goes into said[]. */
static void
listen_begin(void)
{
	ck_assert_int_eq(pipe2(pipe_fds, O_CLOEXEC | O_NONBLOCK), 0);
	out = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	ck_assert_int_ge(out, 0);
	dup2(pipe_fds[1], STDERR_FILENO);
}

static void
listen_end(void)
{
	ssize_t n;

	dup2(out, STDERR_FILENO);
	close(out);
	n = read(pipe_fds[0], said, sizeof said - 1);
	said[n > 0 ? n : 0] = '\0';
	close(pipe_fds[0]);
	close(pipe_fds[1]);
}

/* 0 or -1, as rearm-iser-copy ends; what it says is in said[]. */
static int
copy(bool writes, const struct lie *lie)
{
	struct histogram latency;
	int r;

	histogram_clear(&latency);
	listen_begin();
	if (lie && lie->opcode)
		liar_tell(lie);
	r = initiator_open(&initiator, &options, &bell);
	if (lie && !lie->opcode)
		liar_tell(lie);
	if (r == 0)
		r = initiator_copy(&initiator, &file, writes, DISK, &latency, NULL);
	if (initiator_close(&initiator) || atomic_load(&initiator.failed))
		r = -1;
	listen_end();
	return r;
}

/* Of the initiator; the target has one when it loses the other end. */
static unsigned int
lines(void)
{
	unsigned int n = 0;

	for (const char *at = said, *next; (next = strchr(at, '\n')); at = next + 1)
		n += !memmem(at, (size_t)(next - at), "the peer ended", 14);
	return n;
}

CASE("iser-hostile:copy");

TEST_LOOP(copy__target_that_is_right__is_equal, 2)
{
	begin(_i);
	ck_assert_int_eq(copy(_i, NULL), 0);
	ck_assert_str_eq(said, "");
	ck_assert(is_equal());
	finish();
}

#define SHORT "the target has moved"
#define NONSENSE "a command fails: GOOD for"
#define U PDU_UNDERFLOW
#define O PDU_OVERFLOW

/* GOOD, and the sixth command of the copy was not done as it was asked for. */
static const struct {
	struct lie lie;
	const char *says;
} shorts[] = {
	{ { .flags = U, .residual = BLOCK / 2 }, SHORT },
	{ { .flags = U, .residual = BLOCK }, SHORT " 0 of the 4096 bytes" },
	{ { .flags = U, .residual = 1 }, SHORT " 4095 of the 4096 bytes" },
	{ { .flags = U, .residual = BLOCK + 1 }, NONSENSE },
	{ { .flags = U, .residual = UINT32_MAX }, NONSENSE },
	{ { .flags = O, .residual = 512 }, NONSENSE },
	{ { .flags = O }, NONSENSE },
	{ { .flags = U | O, .residual = 512 }, NONSENSE },
	{ { .residual = 512 }, NONSENSE },
	{ { .flags = PDU_IN_UNDERFLOW, .residual_in = 512 }, NONSENSE },
	{ { .flags = PDU_IN_OVERFLOW, .residual_in = 512 }, NONSENSE },
	{ { .residual_in = 512 }, NONSENSE },
	{ { .sense = SENSE_READ_ERROR }, "GOOD with the sense of a failure" },
	{ { .sense = 0x0b0000 }, "GOOD with the sense of a failure" },
	{ { .response = 1 }, "response 1" },
};

#define SHORTS (int)(sizeof shorts / sizeof shorts[0])

/* origin: out33.I1 */
TEST_LOOP(copy__good_and_not_all_was_moved__fails_with_a_line, 2 * SHORTS)
{
	struct lie lie = shorts[_i / 2].lie;
	const bool writes = _i % 2;

	lie.first = 6;
	lie.count = 1;
	begin(writes);
	ck_assert_int_eq(copy(writes, &lie), -1);
	ck_assert_uint_eq(liar_told(), 1);
	ck_assert_msg(strstr(said, shorts[_i / 2].says), "%s", said);
	ck_assert_msg(lines() == 1, "%s", said);
	finish();
}

/* origin: out33.I1 */
TEST(copy__good_and_an_underflow_of_0__is_equal)
{
	const struct lie lie = { .flags = U, .first = 6, .count = 1 };

	begin(false);
	ck_assert_int_eq(copy(false, &lie), 0);
	ck_assert_uint_eq(liar_told(), 1);
	ck_assert(is_equal());
	finish();
}

/* origin: out33.I1 */
TEST(copy__good_and_a_block_was_not_placed__fails_with_a_line)
{
	const struct lie lie = { .places_nothing = true, .first = 6, .count = 1 };

	begin(false);
	ck_assert_int_eq(copy(false, &lie), -1);
	ck_assert_msg(strstr(said, "some did not come") && lines() == 1, "%s", said);
	finish();
}

/* The flush, and the questions about the LUN. */
/* origin: out33.I1 */
TEST_LOOP(copy__good_of_a_question_or_flush_that_moved_too_little__fails_with_a_line, 2)
{
	const struct lie lies[] = {
		{ .opcode = 0x91, .first = 1, .count = 1, .flags = O, .residual = 1 },
		{ .opcode = 0x9e, .first = 1, .count = 1, .flags = U, .residual = 21 },
	};

	begin(true);
	ck_assert_int_eq(copy(true, &lies[_i]), -1);
	ck_assert_uint_eq(liar_told(), 1);
	ck_assert_msg(lines() == 1, "%s", said);
	finish();
}

/* ---- what is sent again ---- */

/* origin: out33.I6 */
TEST_LOOP(copy__busy_now_and_then__is_equal, 12)
{
	static const unsigned char busy[] = { SCSI_BUSY, SCSI_TASK_SET_FULL, SCSI_TASK_ABORTED };
	const struct lie lie = {
		.opcode = (const unsigned char[]){ 0, 0x9e, 0x12, 0x91 }[_i / 3],
		.first = 1,
		.count = 3,
		.status = busy[_i % 3],
	};

	begin(true);
	ck_assert_int_eq(copy(true, &lie), 0);
	ck_assert_uint_eq(liar_told(), 3);
	ck_assert_str_eq(said, "");
	ck_assert(is_equal());
	finish();
}

/* origin: out33.I6 */
TEST(copy__busy_always__fails_with_a_line)
{
	const struct lie lie = { .first = 1, .count = 1000, .status = SCSI_BUSY };

	begin(false);
	ck_assert_int_eq(copy(false, &lie), -1);
	ck_assert_uint_lt(liar_told(), 100);
	ck_assert_msg(
	    strstr(said, "does not take a command, 10 times") && lines() == 1, "%s", said);
	finish();
}

/* In less time than it would try again: when it asks, when it copies, and at the end. */
/* origin: out37.EE5 */
TEST_LOOP(copy__busy_until_the_timeout__says_that_it_is, 3)
{
	const struct lie lie = { .opcode = (const unsigned char[]){ 0x9e, 0, 0x91 }[_i],
		.first = 1,
		.count = 1000,
		.status = SCSI_BUSY };

	options.timeout = 1;
	begin(true);
	ck_assert_int_eq(copy(true, &lie), -1);
	ck_assert_msg(strstr(said, "the target is busy for 1 s"), "%s", said);
	options.timeout = 10;
	finish();
}

static const struct {
	int event;
	const char *says; /* NULL: the copy goes on */
} events[] = {
	{ 0, NULL },
	{ 1, "the target asks for a logout" },
	{ 2, "the target ends the connection" },
	{ 3, "the target ends the session" },
	{ 4, "the target asks for a negotiation" },
	{ 5, "the target ends the commands of a LUN" },
	{ 77, "asynchronous event 77" },
	{ 248, NULL },
	{ 255, NULL },
};

/* origin: out37.EE6 */
TEST_LOOP(
    copy__asynchronous_event__goes_on_or_says_what_it_is, (int)(sizeof events / sizeof events[0]))
{
	const char *says = events[_i].says;
	const struct lie lie = { .first = 6, .count = 1, .async = events[_i].event + 1 };

	begin(true);
	ck_assert_int_eq(copy(true, &lie), says ? -1 : 0);
	ck_assert_uint_eq(liar_told(), 1);
	ck_assert_msg(says ? strstr(said, says) && lines() == 1 : !*said, "%s", said);
	if (!says)
		ck_assert(is_equal());
	finish();
}

static const struct {
	uint32_t sense;
	bool reads, writes; /* whether a copy goes on */
} attentions[] = {
	{ SENSE_POWER_ON, true, false },
	{ 0x062901, true, false },
	{ SENSE_RESET, true, true },
	{ 0x062a01, true, true },
	{ SENSE_RESERVATIONS_RELEASED, true, true },
	{ 0x063f0e, true, true },
	{ 0x062a09, false, false }, /* the capacity */
	{ 0x062800, false, false }, /* the medium */
	{ 0x063f05, false, false }, /* the name */
	{ 0x0677ff, false, false },
};

#define ATTENTIONS (int)(sizeof attentions / sizeof attentions[0])

/* origin: out33.I6 */
TEST_LOOP(copy__unit_attention_in_the_middle__goes_on_if_it_changes_nothing, 2 * ATTENTIONS)
{
	const bool writes = _i % 2;
	const bool goes_on = writes ? attentions[_i / 2].writes : attentions[_i / 2].reads;
	const struct lie lie = { .first = 6,
		.count = 1,
		.status = SCSI_CHECK_CONDITION,
		.sense = attentions[_i / 2].sense };

	begin(writes);
	ck_assert_int_eq(copy(writes, &lie), goes_on ? 0 : -1);
	ck_assert_uint_eq(liar_told(), 1);
	ck_assert_msg(
	    strstr(said, "a unit attention: sense key 6, code 0x") && lines() == 1, "%s", said);
	ck_assert_int_eq(!!strstr(said, "the copy goes on"), goes_on);
	if (goes_on)
		ck_assert(is_equal());
	finish();
}

/* Those that a reset has aborted have no answer (SAM-5 5.6); in the last case these are all. */
/* origin: out37.DD9 */
TEST_LOOP(copy__another_initiator_resets_the_lun__sends_what_was_aborted_again, 2 * 2 * DEPTH)
{
	const bool writes = _i % 2;
	const struct lie lie = { .aborts = 1 + (unsigned int)_i / 4,
		.status = SCSI_CHECK_CONDITION,
		.sense = _i / 2 % 2 ? SENSE_RESET : 0x062f00 };

	begin(writes);
	ck_assert_int_eq(copy(writes, &lie), 0);
	ck_assert_uint_eq(liar_told(), 1);
	ck_assert_msg(strstr(said, "the copy goes on") && lines() == 1, "%s", said);
	ck_assert(is_equal());
	finish();
}

/* The patience is counted from the last answer, not from when the main thread sees it. */
/* origin: out33.I5 */
TEST(copy__no_answer_any_more__ends_after_the_timeout)
{
	const struct lie lie = { .first = 6, .count = 1000, .is_silent = true };
	uint64_t began;

	options.timeout = 2;
	begin(false);
	began = bell_now();
	ck_assert_int_eq(copy(false, &lie), -1);
	ck_assert_uint_gt(bell_now() - began, 2 * BELL_SECOND);
	ck_assert_uint_lt(bell_now() - began, 2 * BELL_SECOND + BELL_SECOND * 7 / 4);
	ck_assert_msg(strstr(said, "nothing has moved for 2 s"), "%s", said);
	options.timeout = 10;
	finish();
}

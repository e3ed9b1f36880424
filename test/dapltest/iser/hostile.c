/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-iser-hostile -- rearm-iser-target against an initiator that means harm
 *
 * Target and initiator live in the test's process, each with an adapter of its own on the software
 * device.  The initiator logs in, or not, and sends PDUs with random bits, one behind the other.
 */
#include "lib/runner.h"

#include "examples/iser/adapter.h"
#include "examples/iser/bell.h"
#include "examples/iser/say.h"
#include "iser/datamover/mover.h"
#include "iser/iscsi/pdu.h"
#include "iser/iscsi/target.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME "iqn.2026-11.test:target"
#define PORT 3971
#define PATIENCE (60 * BELL_SECOND)
#define PDUS 400   /* of a connection, if it lasts */
#define ROUNDS 40  /* connections of a test */
#define BYTES 8192 /* of data in a PDU */

static struct target_options options = {
	.ia = "rearm-soft",
	.name = NAME,
	.portals = { { .port = PORT } },
	.portal_count = 1,
	.limits = {
		.initial_r2t = false,
		.max_burst = 1 << 20,
		.first_burst = 64 << 10,
		.target_recv = BYTES,
		.initiator_recv = BYTES,
		.unexpected = 8,
	},
	.window = 16,
	.max_sessions = 4,
	.login_timeout = 10,
	.pool_bytes = 1 << 20,
};

static struct bell bell;
static struct target target;
static struct scsi_target *scsi;
static struct adapter adapter;
static char path[] = "/tmp/test-iser-hostile-XXXXXX";

struct enemy {
	struct mover mover; /* first: the upcall gets its address */
	unsigned int sent;
	bool logs_in, tame;
	atomic_bool answered; /* a tame one got its answer */
	uint32_t cmdsn;
	struct region data;
};

static const char login_text[] = "InitiatorName=iqn.2026-11.test:enemy\0TargetName=" NAME
				 "\0InitialR2T=No\0ImmediateData=Yes\0RDMAExtensions=Yes";

static void
send_login(struct enemy *enemy)
{
	unsigned int slot;
	unsigned char *bhs = mover_send_buffer(&enemy->mover, BYTES, &slot);

	ck_assert_ptr_nonnull(bhs);
	bhs[0] = PDU_LOGIN | PDU_IMMEDIATE;
	bhs[PDU_FLAGS] = PDU_FINAL | 1 << 2 | 3;
	wire_put24(bhs + PDU_DATA, sizeof login_text);
	wire_put32(bhs + PDU_CMDSN, enemy->cmdsn);
	memcpy(bhs + ISCSI_BHS_BYTES, login_text, sizeof login_text);
	mover_send(&enemy->mover, slot, sizeof login_text, NULL, NULL);
}

/*
 * A PDU that is nearly right: commands of all kinds, with a bit or a byte changed here and there.
 */
static void
send_something(struct enemy *enemy)
{
	static const unsigned char opcodes[] = { PDU_NOP_OUT, PDU_COMMAND, PDU_COMMAND, PDU_COMMAND,
		PDU_COMMAND, PDU_MANAGE, PDU_TEXT, PDU_DATA_OUT, PDU_DATA_OUT, PDU_SNACK, PDU_LOGIN,
		0x1c };
	static const unsigned char cdbs[] = { 0x00, 0x12, 0x28, 0x2a, 0x88, 0x8a, 0x89, 0x41, 0x42,
		0x5e, 0x5f, 0x9e };
	struct iser_header header = {
		.read_valid = random() % 8,
		.write_valid = random() % 8,
		.read_stag = random() % 16 ? enemy->data.rmr_context : (uint32_t)random(),
		.write_stag = random() % 16 ? enemy->data.rmr_context : (uint32_t)random(),
		.read_address = (uintptr_t)enemy->data.base,
		.write_address = (uintptr_t)enemy->data.base,
	};
	uint32_t bytes = random() % 4 ? 0 : (uint32_t)random() % 2048;
	unsigned int slot;
	unsigned char *bhs = mover_send_buffer(&enemy->mover, BYTES, &slot);

	if (!bhs) {
		mover_fail(&enemy->mover, "enough");
		return;
	}
	bhs[0] = opcodes[random() % (long)sizeof opcodes] | (random() % 4 ? 0 : PDU_IMMEDIATE);
	bhs[PDU_FLAGS] = (unsigned char)(PDU_FINAL | random());
	wire_put24(bhs + PDU_DATA, bytes);
	wire_put32(bhs + PDU_ITT, (uint32_t)random() % 64);
	wire_put32(bhs + PDU_TTT, random() % 4 ? PDU_NO_TAG : (uint32_t)random() % 65536);
	wire_put32(bhs + PDU_CMDSN, enemy->cmdsn);
	if ((bhs[0] & PDU_OPCODE) == PDU_COMMAND) {
		wire_put32(bhs + PDU_EXPECTED, (uint32_t)random() % 65536);
		bhs[PDU_CDB] = cdbs[random() % (long)sizeof cdbs];
		bhs[PDU_CDB + 8] = (unsigned char)(random() % 16);
		bhs[PDU_CDB + 13] = (unsigned char)(random() % 16);
	}
	/* Not often what ends the session at once: the lengths, and another opcode. */
	for (long n = random() % 3; n > 0; n--) {
		long at = random() % ISCSI_BHS_BYTES;

		if ((at != 0 && (at < PDU_AHS || at >= PDU_LUN)) || random() % 64 == 0)
			bhs[at] = (unsigned char)random();
	}
	if (!(bhs[0] & PDU_IMMEDIATE) && (bhs[0] & PDU_OPCODE) != PDU_DATA_OUT)
		enemy->cmdsn += random() % 16 ? 1 : 2;
	mover_send(&enemy->mover, slot, bytes, &header, enemy);
}

static void
on_established(struct mover *mover)
{
	struct enemy *enemy = (struct enemy *)mover;

	if (enemy->logs_in)
		send_login(enemy);
	else
		send_something(enemy);
}

static void
on_control(struct mover *mover, unsigned int slot, const struct iser_header *header,
    unsigned char *pdu, size_t length)
{
	struct enemy *enemy = (struct enemy *)mover;

	(void)header, (void)length;
	if ((pdu[0] & PDU_OPCODE) == PDU_LOGIN_ANSWER && enemy->tame) {
		atomic_store(&enemy->answered, wire_get16(pdu + 36) == LOGIN_OK);
		mover_close(mover);
	} else if ((pdu[0] & PDU_OPCODE) == PDU_LOGIN_ANSWER && enemy->logs_in) {
		for (int i = 0; i < 4; i++) /* so many are on their way at a time */
			send_something(enemy);
	}
	mover_post_recv(mover, slot);
}

static void
on_sent(struct mover *mover, void *owner)
{
	struct enemy *enemy = owner;

	if (++enemy->sent < PDUS)
		send_something(enemy);
	else
		mover_fail(mover, "enough");
}

static void
on_ordered(struct mover *mover, struct mover_order *order)
{
	(void)mover, (void)order;
}

static void
on_closed(struct mover *mover)
{
	(void)mover;
}

static const struct mover_ops enemy_ops = {
	.established = on_established,
	.control = on_control,
	.sent = on_sent,
	.moved = on_sent,
	.ordered = on_ordered,
	.closed = on_closed,
};

/* Serves, until no session is left. */
static void
settle(void)
{
	const uint64_t deadline = bell_now() + PATIENCE;
	bool living = true;

	while (living) {
		(void)itarget_reap(&target);
		pthread_mutex_lock(&target.lock);
		living = target.living > 0;
		pthread_mutex_unlock(&target.lock);
		ck_assert_uint_lt(bell_now(), deadline);
		if (living)
			bell_wait(&bell, bell_now() + BELL_SECOND / 100);
	}
}

static bool
attack(bool logs_in, bool tame)
{
	static struct enemy enemy;
	const struct mover_shape shape = {
		.recvs = 64,
		.recv_bytes = BYTES,
		.sends = 8,
		.send_bytes = BYTES,
		.moves = 1,
		.move_bytes = 65536,
	};
	const uint64_t deadline = bell_now() + PATIENCE;
	const char *call;

	memset(&enemy, 0, sizeof enemy);
	enemy.logs_in = logs_in;
	enemy.tame = tame;
	enemy.cmdsn = (uint32_t)random();
	ck_assert_int_eq(
	    region_create(&enemy.data, adapter.ia, adapter.pz, 65536, DAT_MEM_PRIV_ALL_FLAG),
	    DAT_SUCCESS);
	ck_assert_int_eq(
	    mover_create(&enemy.mover, &adapter, NULL, &enemy_ops, 0, &shape, &call), DAT_SUCCESS);
	ck_assert_int_eq(
	    mover_connect(&enemy.mover, adapter.attr.ia_address_ptr, PORT, 10000000), DAT_SUCCESS);
	while (!mover_is_finished(&enemy.mover)) {
		ck_assert_uint_lt(bell_now(), deadline);
		(void)itarget_reap(&target);
		bell_wait(&bell, bell_now() + BELL_SECOND / 100);
	}
	watch_stop(&enemy.mover.watch);
	ck_assert_int_eq(mover_free(&enemy.mover), 0);
	ck_assert_int_eq(region_free(&enemy.data), DAT_SUCCESS);
	settle();
	return atomic_load(&enemy.answered);
}

static void
setup(void)
{
	const struct scsi_target_options how = { .port_name = NAME ",t,0x0001",
		.engine = SCSI_ENGINE_THREADS };
	const struct scsi_lun_options lun = { .path = path, .max_transfer_bytes = 64 << 10 };
	int fd;

	ck_assert_int_eq(setenv("DAT_OVERRIDE", DAT_CONF, 1), 0);
	say_init("test-iser-hostile");
	strcpy(path + strlen(path) - 6, "XXXXXX");
	fd = mkstemp(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, 64 << 10), 0);
	close(fd);
	ck_assert_int_eq(bell_init(&bell), 0);
	ck_assert_int_eq(scsi_target_open(&scsi, &how), 0);
	ck_assert_int_eq(scsi_lun_open(scsi, 0, &lun), 0);
	ck_assert_int_eq(itarget_open(&target, &options, &bell, scsi), 0);
	ck_assert_int_eq(adapter_open(&adapter, "rearm-soft", &bell), 0);
}

static void
teardown(void)
{
	ck_assert_int_eq(adapter_close(&adapter), 0);
	ck_assert_int_eq(itarget_close(&target), 0); /* everything is freed */
	ck_assert_uint_eq(target.pool.used, 0);
	scsi_target_close(scsi);
	bell_fini(&bell);
	ck_assert_int_eq(access(path, F_OK), 0);
	unlink(path);
}

START_TEST(target__random_pdus__end_their_session_and_no_other)
{
	srandom((unsigned int)_i + 1);
	for (int i = 0; i < ROUNDS; i++)
		(void)attack(_i > 0, false);
	ck_assert(attack(true, true)); /* the next login is served */
	if (_i > 0)
		ck_assert_uint_gt(atomic_load(&target.counts.commands), 10 * ROUNDS);
}
END_TEST

static Suite *
iser_hostile_suite(void)
{
	Suite *suite = suite_create("iser-hostile");
	TCase *tc = runner_tcase(suite, "target");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, target__random_pdus__end_their_session_and_no_other, 0, 3);
	return suite;
}

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = { iser_hostile_suite, NULL };

	return runner_main(argc, argv, suites);
}

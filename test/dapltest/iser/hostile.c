/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-iser-hostile -- rearm-iser-target against an initiator that means harm
 *
 * Target and initiator live in the test's process, each with an adapter of its own on the software
 * device.  The initiator logs in, or not, and sends PDUs with random bits, one behind the other, or
 * what breaks a rule.
 */
#include "lib/runner.h"

#include "iser/datamover/adapter.h"
#include "iser/datamover/bell.h"
#include "iser/say.h"
#include "iser/datamover/mover.h"
#include "iser/iscsi/pdu.h"
#include "iser/iscsi/target.h"

#include <stdio.h>
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
#define SESSIONS 4
#define CROWD 300 /* more requests than the target's EVD holds */

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
	.max_sessions = SESSIONS,
	.login_timeout = 10,
	.pool_bytes = 1 << 20,
};

static struct bell bell;
static struct target target;
static struct scsi_target *scsi;
static struct adapter adapter;
static char path[] = "/tmp/test-iser-hostile-XXXXXX";

/* What an enemy does behind its login. */
enum enemy_kind {
	NO_LOGIN, /* sends random PDUs, and no login */
	RANDOM,	  /* random PDUs */
	TAME,	  /* what a good initiator may do, and libiscsi does not; then it logs out */
	PATIENT,  /* waits for an order, and is tame then */
	BAD_READ, /* a command with an STag that is none */
	BAD_WRITE,
	BUSY, /* reads without an end */
};

struct enemy {
	struct mover mover; /* first: the upcall gets its address */
	unsigned int sent;
	enum enemy_kind kind;
	unsigned int step;    /* of a tame one */
	int wrong;	      /* the first step with another answer; 0: none */
	atomic_bool answered; /* a tame one has come to its end; another has logged in */
	uint32_t cmdsn;
	struct region data;
};

static struct enemy enemies[2];

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
	bhs[13] = (unsigned char)enemy->mover.index; /* of the ISID */
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

/* ---- a tame one ---- */

#define PIECE 512

/* Task management, in this order: the function, the byte of the LUN, what is answered. */
static const unsigned char manages[][3] = {
	{ 1, 0, 1 }, /* ABORT TASK of a task that is none */
	{ 2, 0, 0 }, /* ABORT TASK SET */
	{ 4, 0, 0 }, /* CLEAR TASK SET */
	{ 5, 0, 0 }, /* LUN RESET */
	{ 5, 9, 2 }, /* ... of a LUN that is none */
	{ 6, 0, 0 }, /* TARGET WARM RESET */
	{ 7, 0, 5 }, /* TARGET COLD RESET */
	{ 8, 0, 4 }, /* TASK REASSIGN */
	{ 99, 0, 255 },
};

#define MANAGES (sizeof manages / sizeof manages[0])

static unsigned char *
tame_pdu(struct enemy *enemy, unsigned char opcode, uint32_t bytes, unsigned int *slot)
{
	unsigned char *bhs = mover_send_buffer(&enemy->mover, BYTES, slot);

	bhs[0] = opcode;
	bhs[PDU_FLAGS] = PDU_FINAL;
	wire_put24(bhs + PDU_DATA, bytes);
	wire_put32(bhs + PDU_ITT, 7);
	wire_put32(bhs + PDU_CMDSN, enemy->cmdsn);
	wire_put32(bhs + PDU_TTT, PDU_NO_TAG);
	return bhs;
}

/* Four blocks: one comes with the command, two in data PDUs, and one is fetched. */
static void
tame_write(struct enemy *enemy)
{
	const struct iser_header header = {
		.write_valid = true,
		.write_stag = enemy->data.rmr_context,
		.write_address = (uintptr_t)enemy->data.base,
	};
	unsigned int slot;
	unsigned char *bhs = tame_pdu(enemy, PDU_COMMAND, PIECE, &slot);

	memset(enemy->data.base, 'd', PIECE);
	bhs[PDU_FLAGS] = PDU_WRITE | 1;
	wire_put32(bhs + PDU_EXPECTED, 4 * PIECE);
	bhs[PDU_CDB] = 0x2a;
	bhs[PDU_CDB + 8] = 4;
	memset(bhs + ISCSI_BHS_BYTES, 'a', PIECE);
	enemy->cmdsn++;
	mover_send(&enemy->mover, slot, PIECE, &header, NULL);
	for (unsigned int i = 0; i < 2; i++) {
		bhs = tame_pdu(enemy, PDU_DATA_OUT, PIECE, &slot);
		bhs[PDU_FLAGS] = i ? PDU_FINAL : 0;
		wire_put32(bhs + 36, i);
		wire_put32(bhs + 40, (i + 1) * PIECE);
		memset(bhs + ISCSI_BHS_BYTES, 'b' + (int)i, PIECE);
		mover_send(&enemy->mover, slot, PIECE, NULL, NULL);
	}
}

static void
tame_next(struct enemy *enemy, const unsigned char *pdu)
{
	const unsigned int step = enemy->step++, manage = step - 3;
	unsigned char opcode = pdu[0] & PDU_OPCODE, wanted = PDU_MANAGED, answer = pdu[2];
	unsigned int slot;
	unsigned char *bhs;

	if (step == 0)
		wanted = PDU_LOGIN_ANSWER, answer = pdu[36];
	else if (step < 3)
		wanted = PDU_RESPONSE, answer = step == 2 ? pdu[3] : 0;
	else if (manage < MANAGES)
		answer ^= manages[manage][2];
	else
		wanted = PDU_LOGOUT_ANSWER;
	if ((opcode != wanted || answer != 0) && !enemy->wrong)
		enemy->wrong = (int)step + 1;
	if (step == 0) { /* is answered that the power is on */
		bhs = tame_pdu(enemy, PDU_COMMAND, 0, &slot);
		wire_put32(bhs + PDU_EXPECTED, 0);
		enemy->cmdsn++;
		mover_send(&enemy->mover, slot, 0, NULL, NULL);
	} else if (step == 1) {
		tame_write(enemy);
	} else if (step - 2 < MANAGES) {
		bhs = tame_pdu(enemy, PDU_MANAGE | PDU_IMMEDIATE, 0, &slot);
		bhs[PDU_FLAGS] |= manages[step - 2][0];
		bhs[PDU_LUN + 1] = manages[step - 2][1];
		wire_put32(bhs + 32, enemy->cmdsn - 1);
		mover_send(&enemy->mover, slot, 0, NULL, NULL);
	} else if (step - 2 == MANAGES) {
		bhs = tame_pdu(enemy, PDU_LOGOUT | PDU_IMMEDIATE, 0, &slot);
		mover_send(&enemy->mover, slot, 0, NULL, NULL);
	} else {
		atomic_store(&enemy->answered, enemy->wrong == 0);
	}
}

/* ---- one that reads or writes ---- */

#define READ_BLOCKS 8

/* Of the blocks READ_BLOCKS * `tag` and the next ones. */
static void
move(struct enemy *enemy, bool writes, uint32_t tag, uint32_t spoilt)
{
	const uint32_t stag = enemy->data.rmr_context ^ spoilt;
	const uint64_t address = (uintptr_t)enemy->data.base + (uintptr_t)tag * READ_BLOCKS * PIECE;
	const struct iser_header header = {
		.read_valid = !writes,
		.write_valid = writes,
		.read_stag = stag,
		.write_stag = stag,
		.read_address = address,
		.write_address = address,
	};
	unsigned int slot;
	unsigned char *bhs = tame_pdu(enemy, PDU_COMMAND, 0, &slot);

	bhs[PDU_FLAGS] |= writes ? PDU_WRITE : PDU_READ;
	wire_put32(bhs + PDU_ITT, tag);
	wire_put32(bhs + PDU_EXPECTED, READ_BLOCKS * PIECE);
	bhs[PDU_CDB] = writes ? 0x2a : 0x28;
	bhs[PDU_CDB + 5] = (unsigned char)(tag * READ_BLOCKS);
	bhs[PDU_CDB + 8] = READ_BLOCKS;
	enemy->cmdsn++;
	mover_send(&enemy->mover, slot, 0, &header, NULL);
}

/* The login is answered. */
static void
begin(struct enemy *enemy)
{
	switch (enemy->kind) {
	case BAD_READ:
	case BAD_WRITE: /* the first one is answered that the power is on */
		for (uint32_t i = 0; i < 2; i++)
			move(enemy, enemy->kind == BAD_WRITE, i, 0x5a5a5a5a);
		break;
	case BUSY:
		for (uint32_t i = 0; i < 4; i++)
			move(enemy, false, i, 0);
		break;
	default:
		for (int i = 0; i < 4; i++) /* so many are on their way at a time */
			send_something(enemy);
		break;
	}
}

static void
on_established(struct mover *mover)
{
	struct enemy *enemy = (struct enemy *)mover;

	if (enemy->kind != NO_LOGIN)
		send_login(enemy);
	else
		send_something(enemy);
}

static void
on_control(struct mover *mover, unsigned int slot, const struct iser_header *header,
    unsigned char *pdu, size_t length)
{
	struct enemy *enemy = (struct enemy *)mover;
	const bool login = (pdu[0] & PDU_OPCODE) == PDU_LOGIN_ANSWER;

	(void)header, (void)length;
	if (enemy->kind == TAME) {
		tame_next(enemy, pdu);
	} else if (enemy->kind == PATIENT) {
		atomic_store(&enemy->answered, login && pdu[36] == 0);
		bell_ring(&bell);
	} else if (login && enemy->kind != NO_LOGIN) {
		begin(enemy);
	} else if (enemy->kind == BUSY) {
		atomic_store(&enemy->answered, true);
		move(enemy, false, wire_get32(pdu + PDU_ITT), 0);
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
	static const unsigned char login[ISCSI_BHS_BYTES] = { PDU_LOGIN_ANSWER };
	struct enemy *enemy = (struct enemy *)mover;

	(void)order;
	enemy->kind = TAME;
	tame_next(enemy, login);
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

static void
check_written(void)
{
	char text[4 * PIECE];
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(text, 1, sizeof text, file), sizeof text);
	fclose(file);
	for (unsigned int i = 0; i < sizeof text; i++)
		ck_assert_int_eq(text[i], "abcd"[i / PIECE]);
}

static void
enemy_open(struct enemy *enemy, enum enemy_kind kind)
{
	const struct mover_shape shape = {
		.recvs = 64,
		.recv_bytes = BYTES,
		.sends = 8,
		.send_bytes = BYTES,
		.moves = 1,
		.move_bytes = 65536,
	};
	const char *call;

	memset(enemy, 0, sizeof *enemy);
	enemy->kind = kind;
	enemy->cmdsn = (uint32_t)random();
	ck_assert_int_eq(
	    region_create(&enemy->data, adapter.ia, adapter.pz, 65536, DAT_MEM_PRIV_ALL_FLAG),
	    DAT_SUCCESS);
	/* Each has an ISID of its own: a session does not take the place of another. */
	ck_assert_int_eq(mover_create(&enemy->mover, &adapter, NULL, &enemy_ops,
			     (unsigned int)(enemy - enemies), &shape, &call),
	    DAT_SUCCESS);
	ck_assert_int_eq(
	    mover_connect(&enemy->mover, adapter.attr.ia_address_ptr, PORT, 10000000), DAT_SUCCESS);
}

/* Sleeps until the condition holds; the test fails when it never does. */
#define await(condition) \
	do { \
		const uint64_t deadline_ = bell_now() + PATIENCE; \
		while (!(condition)) { \
			ck_assert_msg(bell_now() < deadline_, "never: %s", #condition); \
			(void)itarget_reap(&target); \
			bell_wait(&bell, bell_now() + BELL_SECOND / 100); \
		} \
	} while (0)

/* Until its connection has ended. */
static bool
enemy_close(struct enemy *enemy)
{
	await(mover_is_finished(&enemy->mover));
	watch_stop(&enemy->mover.watch);
	ck_assert_int_eq(mover_free(&enemy->mover), 0);
	ck_assert_int_eq(region_free(&enemy->data), DAT_SUCCESS);
	ck_assert_int_eq(enemy->wrong, 0);
	return atomic_load(&enemy->answered);
}

static bool
attack(enum enemy_kind kind)
{
	bool answered;

	enemy_open(&enemies[0], kind);
	answered = enemy_close(&enemies[0]);
	settle();
	return answered;
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
		(void)attack(_i > 0 ? RANDOM : NO_LOGIN);
	/* The next login is served, with all that follows. */
	ck_assert(attack(TAME));
	check_written();
	if (_i > 0)
		ck_assert_uint_gt(atomic_load(&target.counts.commands), 10 * ROUNDS);
}
END_TEST

/* An STag that is none: the RDMA fails, and with it the queue pair, on the target's side too. */
START_TEST(target__stag_that_is_none__loses_this_session_and_no_other)
{
	struct mover_order order = { .what = 0 };

	enemy_open(&enemies[1], PATIENT);
	await(atomic_load(&enemies[1].answered));
	enemy_open(&enemies[0], _i ? BAD_READ : BAD_WRITE);
	(void)enemy_close(&enemies[0]);
	await(target.lost > 0);
	ck_assert_uint_eq(target.lost, 1);
	atomic_store(&enemies[1].answered, false);
	mover_post(&enemies[1].mover, &order);
	ck_assert(enemy_close(&enemies[1]));
	check_written();
}
END_TEST

/* Connects each endpoint, which is refused, and takes all the refusals. */
static void
crowd_in(DAT_EP_HANDLE *eps, DAT_EVD_HANDLE connect_evd)
{
	unsigned char wire[ISER_CM_BYTES];
	DAT_EVENT event;
	DAT_COUNT more;

	iser_cm_encode(wire);
	/* The first request keeps the target's thread here, so that the others gather. */
	pthread_mutex_lock(&target.lock);
	options.max_sessions = 0;
	for (int i = 0; i < CROWD; i++)
		ck_assert_uint_eq(
		    dat_ep_connect(eps[i], adapter.attr.ia_address_ptr, PORT, DAT_TIMEOUT_INFINITE,
			ISER_CM_BYTES, wire, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
		    DAT_SUCCESS);
	bell_wait(&bell, bell_now() + BELL_SECOND / 20);
	pthread_mutex_unlock(&target.lock);
	for (int i = 0; i < CROWD; i++) {
		ck_assert_uint_eq(
		    dat_evd_wait(connect_evd, (DAT_TIMEOUT)10000000, 1, &event, &more),
		    DAT_SUCCESS);
		ck_assert(event.event_number == DAT_CONNECTION_EVENT_PEER_REJECTED ||
			  event.event_number == DAT_CONNECTION_EVENT_NON_PEER_REJECTED);
		ck_assert_uint_eq(
		    dat_ep_reset(event.event_data.connect_event_data.ep_handle), DAT_SUCCESS);
	}
	pthread_mutex_lock(&target.lock);
	options.max_sessions = SESSIONS;
	pthread_mutex_unlock(&target.lock);
}

/* origin: attack.P8 */
START_TEST(target__more_requests_than_it_can_queue__refuses_them_and_serves_on)
{
	struct dat_rearm_evd_counters counters = { .overflows = 0 };
	const uint64_t deadline = bell_now() + PATIENCE;
	DAT_EP_HANDLE eps[CROWD];
	DAT_EVD_HANDLE evd;

	ck_assert_uint_eq(dat_evd_create(adapter.ia, 2 * CROWD, DAT_HANDLE_NULL,
			      DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &evd),
	    DAT_SUCCESS);
	for (int i = 0; i < CROWD; i++)
		ck_assert_uint_eq(
		    dat_ep_create(adapter.ia, adapter.pz, evd, evd, evd, NULL, &eps[i]),
		    DAT_SUCCESS);
	while (counters.overflows == 0) {
		ck_assert_msg(bell_now() < deadline, "the listener's EVD never overflows");
		crowd_in(eps, evd);
		ck_assert_uint_eq(
		    dat_evd_query_upcall_counters(target.listener.evd, &counters), DAT_SUCCESS);
	}
	await(dat_evd_query_upcall_counters(target.adapter.async.evd, &counters) == DAT_SUCCESS &&
	      counters.upcalls > 0);
	watch_stop(&target.adapter.async); /* waits for that upcall */
	ck_assert(!atomic_load(&target.adapter.catastrophe));
	ck_assert(attack(TAME));
	for (int i = 0; i < CROWD; i++)
		ck_assert_uint_eq(dat_ep_free(eps[i]), DAT_SUCCESS);
	ck_assert_uint_eq(dat_evd_free(evd), DAT_SUCCESS);
}
END_TEST

START_TEST(target__stopped_under_load__ends_every_session)
{
	for (int i = 0; i < 2; i++)
		enemy_open(&enemies[i], BUSY);
	for (int i = 0; i < 2; i++)
		await(atomic_load(&enemies[i].answered));
	ck_assert_int_eq(itarget_close(&target), 0);
	/* For the teardown's sake. */
	ck_assert_int_eq(itarget_open(&target, &options, &bell, scsi), 0);
	for (int i = 0; i < 2; i++)
		(void)enemy_close(&enemies[i]);
}
END_TEST

static Suite *
iser_hostile_suite(void)
{
	Suite *suite = suite_create("iser-hostile");
	TCase *tc = runner_tcase(suite, "target");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, target__random_pdus__end_their_session_and_no_other, 0, 3);
	tcase_add_loop_test(tc, target__stag_that_is_none__loses_this_session_and_no_other, 0, 2);
	tcase_add_test(tc, target__more_requests_than_it_can_queue__refuses_them_and_serves_on);
	tcase_add_test(tc, target__stopped_under_load__ends_every_session);
	return suite;
}

int
main(int argc, char **argv)
{
	static const runner_suite_fn suites[] = { iser_hostile_suite, NULL };

	return runner_main(argc, argv, suites);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-iser-hostile -- rearm-iser-target against an initiator that means harm
 *
 * Target and initiator live in the test's process, each with an adapter of its own on the software
 * device.  The initiator logs in, or not, and sends PDUs with random bits, one behind the other, or
 * what breaks a rule.
 */
#include "enemy.h"
#include "lib/runner.h"

#include "iser/datamover/bell.h"
#include "iser/say.h"
#include "iser/iscsi/session.h"
#include "iser/iscsi/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PATIENCE (60 * BELL_SECOND)
#define ROUNDS 40 /* connections of a test */
#define SESSIONS 4
#define CROWD 300 /* more requests than the target's EVD holds */

static struct target_options options = {
	.ia = "rearm-soft",
	.name = ENEMY_TARGET,
	.portals = { { .port = ENEMY_PORT } },
	.portal_count = 1,
	.limits = {
		.initial_r2t = false,
		.max_burst = 1 << 20,
		.first_burst = 64 << 10,
		.target_recv = ENEMY_BYTES,
		.initiator_recv = ENEMY_BYTES,
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

static struct enemy enemies[2], deaf[2];
static struct mover_order enough[3] = { { .what = ENEMY_ENOUGH }, { .what = ENEMY_ENOUGH },
	{ .what = ENEMY_ENOUGH } };

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
	char text[4 * ENEMY_PIECE];
	FILE *file = fopen(path, "r");

	ck_assert_ptr_nonnull(file);
	ck_assert_uint_eq(fread(text, 1, sizeof text, file), sizeof text);
	fclose(file);
	for (unsigned int i = 0; i < sizeof text; i++)
		ck_assert_int_eq(text[i], "abcd"[i / ENEMY_PIECE]);
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
	enemy_free(enemy);
	return atomic_load(&enemy->answered);
}

static bool
attack(enum enemy_kind kind)
{
	bool answered;

	enemy_open(&enemies[0], &adapter, 0, kind);
	answered = enemy_close(&enemies[0]);
	settle();
	return answered;
}

static void
setup(void)
{
	const struct scsi_target_options how = { .port_name = ENEMY_TARGET ",t,0x0001",
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

CASE("iser-hostile:target", setup, teardown);

TEST_LOOP(target__random_pdus__end_their_session_and_no_other, 3)
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

/* More of them than the target has sessions. */
/* origin: out37.DD8 */
TEST(target__immediate_data_before_a_login__ends_its_connection_and_frees_it)
{
	for (int i = 0; i < 2 * SESSIONS; i++)
		(void)attack(IMMEDIATE);
	ck_assert(attack(TAME));
	check_written();
}

/* An STag that is none: the RDMA fails, and with it the queue pair, on the target's side too. */
TEST_LOOP(target__stag_that_is_none__loses_this_session_and_no_other, 2)
{
	struct mover_order order = { .what = 0 };

	enemy_open(&enemies[1], &adapter, 1, PATIENT);
	await(atomic_load(&enemies[1].answered));
	enemy_open(&enemies[0], &adapter, 0, _i ? BAD_READ : BAD_WRITE);
	(void)enemy_close(&enemies[0]);
	await(target.lost > 0);
	ck_assert_uint_eq(target.lost, 1);
	atomic_store(&enemies[1].answered, false);
	mover_post(&enemies[1].mover, &order);
	ck_assert(enemy_close(&enemies[1]));
	check_written();
}

/* Which the initiator may do (RFC 7143 11.14): the answer to it is the last one. */
/* origin: out37.EE2 */
TEST_LOOP(target__logout_while_tasks_are_aborted__all_are_answered_and_it_last, 3)
{
	for (int i = 0; i < ROUNDS; i++)
		ck_assert(attack(HASTY_ABORT + (enum enemy_kind)_i));
	ck_assert_uint_eq(target.lost, 0);
}

/* The reset waits for a write of another session. */
/* origin: out37.EE2 */
TEST(target__logout_while_a_reset_does_not_end__is_answered_all_the_same)
{
	const uint64_t began = bell_now();

	enemy_open(&enemies[1], &adapter, 1, HALF);
	await(atomic_load(&enemies[1].answered));
	enemy_open(&enemies[0], &adapter, 0, HASTY_RESET);
	ck_assert(!enemy_close(&enemies[0]));
	ck_assert_int_eq(enemies[0].logout, 3); /* the cleanup has failed */
	ck_assert_uint_lt(bell_now() - began, PATIENCE / 2);
	mover_post(&enemies[1].mover, &enough[1]);
	(void)enemy_close(&enemies[1]);
}

static const struct {
	DAT_EVENT_NUMBER number;
	DAT_COUNT reason;
	bool ends;
} errors[] = {
	{ DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_CATASTROPHIC_ERROR, true },
	{ DAT_ASYNC_ERROR_IA_CATASTROPHIC, DAT_IA_OTHER_ERROR, false },
	{ DAT_ASYNC_ERROR_EVD_OVERFLOW, DAT_EVD_OVERFLOW_ERROR, true },
	{ DAT_ASYNC_ERROR_EP_BROKEN, DAT_EP_TRANSFER_TO_ERROR, false },
	{ DAT_ASYNC_ERROR_PROVIDER_INTERNAL_ERROR, 0, false },
};

/* origin: out37.EE1 */
TEST_LOOP(adapter__asynchronous_error__ends_the_program_if_the_adapter_is_lost,
    (int)(sizeof errors / sizeof errors[0]))
{
	const struct drain *drain = &target.adapter.async.drain;
	DAT_EVENT event = { .event_number = errors[_i].number };

	event.event_data.asynch_error_event_data.dat_handle = target.adapter.async.evd;
	event.event_data.asynch_error_event_data.reason = errors[_i].reason;
	drain->handle(drain->context, &event);
	ck_assert_int_eq(atomic_load(&target.adapter.catastrophe), errors[_i].ends);
	ck_assert(attack(TAME));
}

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
		ck_assert_uint_eq(dat_ep_connect(eps[i], adapter.attr.ia_address_ptr, ENEMY_PORT,
				      DAT_TIMEOUT_INFINITE, ISER_CM_BYTES, wire,
				      DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
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
TEST(target__more_requests_than_it_can_queue__refuses_them_and_serves_on)
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

/* The deadline of the only session: 0 if it has none, or is not there. */
static uint64_t
deadline_of_session(void)
{
	uint64_t deadline = 0;

	pthread_mutex_lock(&target.lock);
	if (target.sessions)
		deadline = atomic_load(&target.sessions->deadline);
	pthread_mutex_unlock(&target.lock);
	return deadline;
}

/*
 * A ping after the first period, the end after the second: two deadlines, which this thread alone
 * takes.
 */
/* origin: out33.I5 */
TEST(target__silent_initiator__ends_after_two_periods)
{
	uint64_t deadline = 0, last = 0;
	unsigned int deadlines = 0;

	options.ping = 1;
	enemy_open(&enemies[0], &adapter, 0, PATIENT);
	await(atomic_load(&enemies[0].answered));
	while (!mover_is_finished(&enemies[0].mover)) {
		deadline = deadline_of_session();
		deadlines += deadline && deadline != last;
		if (deadline)
			last = deadline;
		(void)itarget_reap(&target);
		bell_wait(&bell, bell_now() + BELL_SECOND / 100);
	}
	options.ping = 0;
	ck_assert_uint_eq(atomic_load(&enemies[0].pings), 1);
	ck_assert_uint_eq(deadlines, 2);
	(void)enemy_close(&enemies[0]);
	await(target.lost > 0);
}

/* A DEAF one has begun, and its commands have taken what they get of the pool. */
static void
deafen(struct enemy *enemy, unsigned int index)
{
	const unsigned long long before = atomic_load(&target.counts.commands);

	enemy_open(enemy, &adapter, index, DEAF);
	await(atomic_load(&enemy->answered));
	await(atomic_load(&target.counts.commands) >= before + options.window);
}

/* origin: out33.Z4 */
TEST(target__two_take_all_that_they_get_of_the_pool__serves_others)
{
	unsigned long long before;

	for (unsigned int i = 0; i < 2; i++)
		deafen(&deaf[i], i);
	before = atomic_load(&target.counts.bytes_out);
	enemy_open(&enemies[0], &adapter, 2, BUSY);
	await(atomic_load(&target.counts.bytes_out) > before + 2 * options.pool_bytes);
	ck_assert_uint_gt(target.pool.waits, 0);
	mover_post(&enemies[0].mover, &enough[2]);
	(void)enemy_close(&enemies[0]);
	for (unsigned int i = 0; i < 2; i++) {
		mover_post(&deaf[i].mover, &enough[i]);
		(void)enemy_close(&deaf[i]);
	}
}

/* They send, so that they are not silent; the first takes nothing, the second owes data. */
/* origin: out33.Z4 */
TEST_LOOP(target__what_it_waits_for_does_not_come__ends_the_session, 2)
{
	struct mover_order order = { .what = 0 };

	options.ping = 1;
	enemy_open(&enemies[0], &adapter, 0, _i ? HALF : DEAF);
	await(atomic_load(&enemies[0].answered));
	while (!mover_is_finished(&enemies[0].mover)) {
		/* The order is posted again only after it was taken. */
		if (mover_state(&enemies[0].mover) == MOVER_UP &&
		    atomic_exchange(&enemies[0].answered, false))
			mover_post(&enemies[0].mover, &order);
		(void)itarget_reap(&target);
		bell_wait(&bell, bell_now() + BELL_SECOND / 10);
	}
	options.ping = 0;
	(void)enemy_close(&enemies[0]);
	await(target.lost > 0);
}

/* origin: out33.Z1, out33.Z2 */
TEST_LOOP(target__stopped_while_none_takes_what_it_is_sent__ends_every_session, 2)
{
	for (int i = 0; i <= _i; i++)
		deafen(&deaf[i], (unsigned int)i);
	ck_assert_int_eq(itarget_close(&target), 0);
	ck_assert_uint_eq(target.lost, (unsigned int)_i + 1);
	ck_assert_int_eq(itarget_open(&target, &options, &bell, scsi), 0);
	for (int i = 0; i <= _i; i++)
		(void)enemy_close(&deaf[i]);
}

/* Something that does not end has a part of it, and may come back. */
/* origin: out33.Z1 */
TEST(target__stopped_while_a_session_does_not_end__leaves_it)
{
	struct session *session;

	enemy_open(&enemies[0], &adapter, 0, PATIENT);
	await(atomic_load(&enemies[0].answered));
	session = target.sessions;
	mover_hold(&session->mover);
	ck_assert_int_eq(itarget_close(&target), 1);
	ck_assert_ptr_eq(target.sessions, session);
	mover_release(&session->mover);
	ck_assert_int_eq(itarget_close(&target), 1);
	ck_assert_int_eq(itarget_open(&target, &options, &bell, scsi), 0);
	(void)enemy_close(&enemies[0]);
}

TEST(target__stopped_under_load__ends_every_session)
{
	for (int i = 0; i < 2; i++)
		enemy_open(&enemies[i], &adapter, (unsigned int)i, BUSY);
	for (int i = 0; i < 2; i++)
		await(atomic_load(&enemies[i].answered));
	ck_assert_int_eq(itarget_close(&target), 0);
	/* For the teardown's sake. */
	ck_assert_int_eq(itarget_open(&target, &options, &bell, scsi), 0);
	for (int i = 0; i < 2; i++)
		(void)enemy_close(&enemies[i]);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scsi_reserve -- PERSISTENT RESERVE IN and OUT, RESERVE(6) and RELEASE(6)
 */
#include "scsi_call.h"
#include "lib/runner.h"

#include <stdio.h>
#include <string.h>

enum {
	REGISTER,
	RESERVE,
	RELEASE,
	CLEAR,
	PREEMPT,
	PREEMPT_AND_ABORT,
	REGISTER_AND_IGNORE,
};

#define READ "28 00 00 00 00 00 00 00 01"
#define WRITE "2a 00 00 00 00 00 00 00 01"

/* The sense of a PERSISTENT RESERVE OUT; 0 if GOOD, 1 for a conflict. */
static uint32_t
persist(struct scsi_world *world, struct scsi_nexus *nexus, unsigned int action, unsigned int type,
    uint64_t key, uint64_t action_key)
{
	struct scsi_call call;
	char cdb[64];

	memset(world->data, 0, 24);
	scsi_put64(world->data, key);
	scsi_put64(world->data + 8, action_key);
	snprintf(cdb, sizeof cdb, "5f %02x %02x 00 00 00 00 00 18", action, type);
	if (scsi_run(world, &call, nexus, cdb, 0, 24) == SCSI_RESERVATION_CONFLICT)
		return 1;
	return scsi_call_sense(&call);
}

#define PERSIST(...) ck_assert_uint_eq(persist(&world, __VA_ARGS__), 0)
#define PERSIST_CONFLICTS(...) ck_assert_uint_eq(persist(&world, __VA_ARGS__), 1)

/* READ KEYS: the generation, and the keys, as many as are not 0. */
static void
expect_keys(struct scsi_world *world, uint32_t generation, uint64_t first, uint64_t second)
{
	const uint32_t keys = (first != 0) + (second != 0);
	struct scsi_call call;

	ck_assert_uint_eq(
	    scsi_run(world, &call, world->a, "5e 00 00 00 00 00 00 40 00", 16384, 0), SCSI_GOOD);
	ck_assert_uint_eq(scsi_get32(world->data), generation);
	ck_assert_uint_eq(scsi_get32(world->data + 4), keys * 8);
	ck_assert_uint_eq(call.task.data_in_length, 8 + keys * 8);
	if (keys > 0)
		ck_assert_uint_eq(scsi_get64(world->data + 8), first);
	if (keys > 1)
		ck_assert_uint_eq(scsi_get64(world->data + 16), second);
}

/* READ RESERVATION; type 0 is none. */
static void
expect_reservation(struct scsi_world *world, unsigned int type, uint64_t key)
{
	struct scsi_call call;

	ck_assert_uint_eq(
	    scsi_run(world, &call, world->a, "5e 01 00 00 00 00 00 40 00", 16384, 0), SCSI_GOOD);
	ck_assert_uint_eq(scsi_get32(world->data + 4), type ? 16 : 0);
	if (type == 0)
		return;
	ck_assert_uint_eq(scsi_get64(world->data + 8), key);
	ck_assert_uint_eq(world->data[21], type);
}

/* The next attention of a nexus; 0 is none. */
static void
expect_attention(struct scsi_world *world, struct scsi_nexus *nexus, uint32_t sense)
{
	struct scsi_call call;

	scsi_run(world, &call, nexus, "00", 0, 0);
	ck_assert_uint_eq(scsi_call_sense(&call), sense);
}

/* SPC-4, table of commands that are allowed in the presence of persistent reservations. */
static const struct {
	unsigned int type;
	bool all;				  /* registrants hold it together */
	bool registered_reads, registered_writes; /* the second nexus */
	bool others_read; /* the same when it is not registered; it never writes */
} types[] = {
	{ 1, false, true, false, true },
	{ 3, false, false, false, false },
	{ 5, false, true, true, true },
	{ 6, false, true, true, false },
	{ 7, true, true, true, true },
	{ 8, true, true, true, false },
};
#define TYPES (sizeof types / sizeof types[0])

static const struct {
	const char *cdb;
	uint32_t in, out;
	char class; /* 'S' is always allowed, 'R' reads, 'W' writes */
} classes[] = {
	{ "00", 0, 0, 'S' },
	{ "03 00 00 00 12", 18, 0, 'S' },
	{ "12 00 00 00 24", 36, 0, 'S' },
	{ "25", 8, 0, 'S' },
	{ "9e 10 00 00 00 00 00 00 00 00 00 00 00 20", 32, 0, 'S' },
	{ "a0 00 00 00 00 00 00 00 00 10", 16, 0, 'S' },
	{ "5e 00 00 00 00 00 00 00 08", 8, 0, 'S' },
	{ "1e 00 00 00 00", 0, 0, 'S' },
	{ "1b 00 00 00 01", 0, 0, 'S' },
	{ "08 00 00 00 01", 512, 0, 'R' },
	{ READ, 512, 0, 'R' },
	{ "2f 00 00 00 00 00 00 00 01", 0, 0, 'R' },
	{ "34 00 00 00 00 00 00 00 01", 0, 0, 'R' },
	{ "9e 12 00 00 00 00 00 00 00 00 00 00 00 18", 24, 0, 'R' },
	{ "a3 0c 01 28 00 00 00 00 ff ff", 65535, 0, 'R' },
	{ WRITE, 0, 512, 'W' },
	{ "2e 00 00 00 00 00 00 00 01", 0, 512, 'W' },
	{ "41 00 00 00 00 00 00 00 01", 0, 512, 'W' },
	{ "35", 0, 0, 'W' },
	{ "42", 0, 0, 'W' },
	{ "89 00 00 00 00 00 00 00 00 00 00 00 00 00", 0, 0, 'W' },
	{ "1a 00 3f 00 ff", 255, 0, 'W' },
	{ "1b 00 00 00 00", 0, 0, 'W' },
	{ "1e 00 00 00 01", 0, 0, 'W' },
};

static void
expect_access(struct scsi_world *world, struct scsi_nexus *nexus, bool reads, bool writes)
{
	for (size_t i = 0; i < sizeof classes / sizeof classes[0]; i++) {
		const bool allowed =
		    classes[i].class == 'S' || (classes[i].class == 'R' ? reads : writes);
		struct scsi_call call;
		unsigned int status;

		status =
		    scsi_run(world, &call, nexus, classes[i].cdb, classes[i].in, classes[i].out);
		ck_assert_msg(status == (allowed ? SCSI_GOOD : SCSI_RESERVATION_CONFLICT),
		    "%s: status 0x%02x", classes[i].cdb, status);
	}
}

CASE("scsi_reserve:reserve");

TEST_LOOP(reservation__each_type__lets_registrants_and_others_do_what_the_table_says, TYPES)
{
	const unsigned int type = types[_i].type;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST(world.b, REGISTER_AND_IGNORE, 0, 0, 22);
	PERSIST(world.a, RESERVE, type, 11, 0);
	expect_reservation(&world, type, types[_i].all ? 0 : 11);
	expect_access(&world, world.a, true, true);
	expect_access(&world, world.b, types[_i].registered_reads, types[_i].registered_writes);
	/*
	 * The same again is no change; another type is a conflict; so is another holder, unless all
	 * hold it.
	 */
	PERSIST(world.a, RESERVE, type, 11, 0);
	PERSIST_CONFLICTS(world.a, RESERVE, type == 1 ? 3 : 1, 11, 0);
	ck_assert_uint_eq(persist(&world, world.b, RESERVE, type, 22, 0), types[_i].all ? 0 : 1);
	PERSIST(world.b, REGISTER, 0, 22, 0);
	expect_access(&world, world.b, types[_i].others_read, false);
	PERSIST_CONFLICTS(world.b, RESERVE, type, 22, 0);
	PERSIST_CONFLICTS(world.b, RELEASE, type, 22, 0);
	ck_assert_uint_eq(
	    persist(&world, world.a, RELEASE, type == 1 ? 3 : 1, 11, 0), SENSE_RELEASE_INVALID);
	PERSIST(world.a, RELEASE, type, 11, 0);
	expect_reservation(&world, 0, 0);
	expect_access(&world, world.b, true, true);
	expect_keys(&world, 3, 11, 0);
	scsi_world_close(&world);
}

TEST_LOOP(reservation__its_holder_unregisters__ends_unless_all_hold_it, TYPES)
{
	const unsigned int type = types[_i].type;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST(world.b, REGISTER, 0, 0, 22);
	PERSIST(world.a, RESERVE, type, 11, 0);
	PERSIST(world.a, REGISTER, 0, 11, 0);
	expect_reservation(&world, types[_i].all ? type : 0, 0);
	expect_attention(&world, world.a, 0);
	/* The other registrant lost the access that it had only by the reservation. */
	expect_attention(&world, world.b, type == 5 || type == 6 ? SENSE_RESERVATIONS_RELEASED : 0);
	PERSIST(world.b, RELEASE, type, 22, 0);
	expect_reservation(&world, 0, 0);
	PERSIST(world.b, REGISTER, 0, 22, 0);
	expect_keys(&world, 4, 0, 0);
	scsi_world_close(&world);
}

TEST_LOOP(release__of_what_registrants_share__is_reported_to_the_others, TYPES)
{
	const unsigned int type = types[_i].type;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST(world.b, REGISTER, 0, 0, 22);
	PERSIST(world.a, RESERVE, type, 11, 0);
	PERSIST(world.a, RELEASE, type, 11, 0);
	expect_attention(&world, world.b, type >= 5 ? SENSE_RESERVATIONS_RELEASED : 0);
	expect_attention(&world, world.a, 0);
	scsi_world_close(&world);
}

TEST(register__with_right_and_wrong_keys__counts_generations)
{
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 0); /* nothing */
	PERSIST(world.a, REGISTER_AND_IGNORE, 0, 5, 0);
	expect_keys(&world, 0, 0, 0);
	PERSIST_CONFLICTS(world.a, REGISTER, 0, 5, 11); /* it is not registered */
	PERSIST_CONFLICTS(world.a, CLEAR, 0, 0, 0);
	PERSIST_CONFLICTS(world.a, PREEMPT, 1, 0, 11);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST_CONFLICTS(world.a, REGISTER, 0, 0, 12);
	PERSIST_CONFLICTS(world.a, REGISTER, 0, 12, 13);
	expect_keys(&world, 1, 11, 0);
	PERSIST(world.a, REGISTER, 0, 11, 12);
	expect_keys(&world, 2, 12, 0);
	PERSIST(world.a, REGISTER_AND_IGNORE, 0, 99, 13);
	PERSIST(world.b, REGISTER, 0, 0, 13); /* two may have the same key */
	expect_keys(&world, 4, 13, 13);
	PERSIST_CONFLICTS(world.a, RESERVE, 1, 12, 0);
	/* A cut list says how long it would be. */
	GOOD(&world, world.a, "5e 00 00 00 00 00 00 00 08", 8, 0);
	ck_assert_uint_eq(scsi_get32(world.data + 4), 16);
	/* Registrations are bound to the port, and outlive its nexus. */
	scsi_nexus_free(world.b);
	ck_assert_int_eq(scsi_nexus_create(&world.b, world.target, PORT_B), 0);
	expect_attention(&world, world.b, SENSE_POWER_ON);
	PERSIST(world.b, RESERVE, 3, 13, 0);
	CONFLICTS(&world, world.a, READ, 512, 0);
	PERSIST(world.a, CLEAR, 0, 13, 0);
	expect_keys(&world, 5, 0, 0);
	expect_reservation(&world, 0, 0);
	expect_attention(&world, world.b, SENSE_RESERVATIONS_PREEMPTED);
	expect_attention(&world, world.a, 0);
	scsi_world_close(&world);
}

TEST(register__more_than_there_is_room_for__is_refused)
{
	struct scsi_nexus *nexuses[65];
	struct scsi_world world;
	char port[64];

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	for (unsigned int i = 0; i < 65; i++) {
		snprintf(port, sizeof port, "iqn.2026-11.test:%u,i,0x000000000000", i);
		ck_assert_int_eq(scsi_nexus_create(&nexuses[i], world.target, port), 0);
		expect_attention(&world, nexuses[i], SENSE_POWER_ON);
		ck_assert_uint_eq(persist(&world, nexuses[i], REGISTER, 0, 0, i + 1),
		    i < 64 ? 0 : SENSE_REGISTRATIONS_FULL);
	}
	GOOD(&world, world.a, "5e 03 00 00 00 00 00 ff ff", 65535, 0);
	for (unsigned int i = 0; i < 65; i++)
		scsi_nexus_free(nexuses[i]);
	scsi_world_close(&world);
}

TEST(preempt__by_keys__removes_and_takes)
{
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST(world.b, REGISTER, 0, 0, 22);
	ck_assert_uint_eq(persist(&world, world.b, PREEMPT, 3, 22, 0), SENSE_LIST_FIELD);
	PERSIST_CONFLICTS(world.b, PREEMPT, 3, 22, 33); /* no such key */
	PERSIST(world.b, PREEMPT, 3, 22, 11);		/* without a reservation it removes only */
	expect_attention(&world, world.a, SENSE_REGISTRATIONS_PREEMPTED);
	expect_keys(&world, 3, 22, 0);
	expect_reservation(&world, 0, 0);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST(world.a, RESERVE, 1, 11, 0);
	PERSIST(world.a, PREEMPT, 6, 11, 11); /* its own: another type */
	expect_reservation(&world, 6, 11);
	expect_attention(&world, world.b, 0);
	PERSIST(world.b, PREEMPT, 8, 22, 11);
	expect_attention(&world, world.a, SENSE_REGISTRATIONS_PREEMPTED);
	expect_reservation(&world, 8, 0);
	CONFLICTS(&world, world.a, READ, 512, 0);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	GOOD(&world, world.a, READ, 512, 0);
	PERSIST(world.a, PREEMPT, 5, 11, 0); /* what all hold */
	expect_reservation(&world, 5, 11);
	expect_keys(&world, 8, 11, 0);
	expect_attention(&world, world.b, SENSE_REGISTRATIONS_PREEMPTED);
	scsi_world_close(&world);
}

/*
 * A reservation that changes its type by PREEMPT is reported to the registrants that had access by
 * the old one.
 */
TEST(preempt__of_a_shared_type__reports_the_release)
{
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST(world.b, REGISTER, 0, 0, 22);
	PERSIST(world.a, RESERVE, 5, 11, 0);
	PERSIST(world.a, PREEMPT, 3, 11, 11);
	expect_attention(&world, world.b, SENSE_RESERVATIONS_RELEASED);
	expect_reservation(&world, 3, 11);
	scsi_world_close(&world);
}

/* The tasks of the port that is preempted end without a status before that of the command. */
TEST(preempt_and_abort__with_tasks_in_the_set__waits_for_their_end)
{
	struct scsi_call mine, planned, started, own;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	PERSIST(world.b, REGISTER, 0, 0, 22);
	PERSIST(world.b, RESERVE, 5, 22, 0);
	memset(world.data, 0, 24);
	scsi_put64(world.data, 11);
	scsi_put64(world.data + 8, 22);
	scsi_call_plan(&planned, world.b, READ, 512, 0);
	planned.task.attribute = SCSI_SIMPLE;
	scsi_call_plan(&own, world.a, READ, 512, 0);
	/* An ordered task waits for the first. */
	memset(&started, 0, sizeof started);
	scsi_call_plan(&started, world.b, "ff", 0, 0);
	started.task.attribute = SCSI_ORDERED;
	scsi_hex(READ, started.task.cdb, sizeof started.task.cdb);
	started.task.expected_in = 512;
	ck_assert_int_eq(scsi_task_plan(&started.task), SCSI_GOES_ON);
	ck_assert_int_eq(scsi_call_start(&started, world.data + 8192), SCSI_GOES_ON);
	ck_assert_int_eq(
	    scsi_call_plan(&mine, world.a, "5f 05 03 00 00 00 00 00 18", 0, 24), SCSI_GOES_ON);
	mine.task.attribute = SCSI_HEAD_OF_QUEUE;
	ck_assert_int_eq(scsi_call_start(&mine, world.data), SCSI_GOES_ON);
	ck_assert(started.done);
	ck_assert(started.task.aborted);
	ck_assert(!mine.done);
	ck_assert_int_eq(scsi_call_start(&planned, world.data + 4096), SCSI_ENDED);
	ck_assert(planned.task.aborted);
	scsi_call_wait(&started);
	scsi_call_wait(&mine);
	ck_assert(!mine.task.aborted);
	ck_assert_uint_eq(mine.task.status, SCSI_GOOD);
	ck_assert(!own.task.stop);
	scsi_task_drop(&own.task);
	expect_reservation(&world, 3, 11);
	expect_attention(&world, world.b, SENSE_REGISTRATIONS_PREEMPTED);
	scsi_world_close(&world);
}

#define OTHER_PORT 0x80 /* of the target: there is none */

/* The list of REGISTER AND MOVE to a port; the sense, 1 for a conflict. */
static uint32_t
move(struct scsi_world *world, uint64_t key, uint64_t action_key, uint8_t flags, const char *port)
{
	const size_t padded = (strlen(port) + 4) & ~(size_t)3;
	struct scsi_call call;
	char cdb[64];

	memset(world->data, 0, 512);
	scsi_put64(world->data, key);
	scsi_put64(world->data + 8, action_key);
	world->data[17] = flags & 3;
	world->data[19] = flags & OTHER_PORT ? 2 : 1;
	scsi_put32(world->data + 20, (uint32_t)padded + 4);
	world->data[24] = 0x45;
	scsi_put16(world->data + 26, (uint16_t)padded);
	strcpy((char *)world->data + 28, port);
	snprintf(cdb, sizeof cdb, "5f 07 00 00 00 00 00 00 %02x", (unsigned int)padded + 28);
	if (scsi_run(world, &call, world->a, cdb, 0, (uint32_t)padded + 28) ==
	    SCSI_RESERVATION_CONFLICT)
		return 1;
	return scsi_call_sense(&call);
}

TEST(register_and_move__to_another_port__gives_it_the_reservation)
{
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	ck_assert_uint_eq(move(&world, 11, 22, 0, PORT_B), 1); /* no reservation to move */
	PERSIST(world.a, RESERVE, 7, 11, 0);
	ck_assert_uint_eq(move(&world, 11, 22, 0, PORT_B), SENSE_CDB_FIELD); /* what all hold */
	PERSIST(world.a, RELEASE, 7, 11, 0);
	PERSIST(world.a, RESERVE, 3, 11, 0);
	ck_assert_uint_eq(move(&world, 12, 22, 0, PORT_B), 1);
	ck_assert_uint_eq(move(&world, 11, 0, 0, PORT_B), SENSE_LIST_FIELD);
	ck_assert_uint_eq(move(&world, 11, 22, 1, PORT_B), SENSE_LIST_FIELD); /* APTPL */
	ck_assert_uint_eq(move(&world, 11, 22, 0, PORT_A), SENSE_LIST_FIELD); /* itself */
	ck_assert_uint_eq(move(&world, 11, 22, OTHER_PORT, PORT_B), SENSE_LIST_FIELD);
	/* No port. */
	ck_assert_uint_eq(move(&world, 11, 22, 0, "iqn.2026-11.test:b"), SENSE_LIST_FIELD);
	ck_assert_uint_eq(move(&world, 11, 22, 0, PORT_B), 0);
	expect_reservation(&world, 3, 22);
	expect_keys(&world, 2, 11, 22);
	CONFLICTS(&world, world.a, READ, 512, 0);
	GOOD(&world, world.b, READ, 512, 0);
	GOOD(&world, world.a, "5e 03 00 00 00 00 00 40 00", 16384, 0);
	ck_assert_uint_eq(scsi_get32(world.data + 4), 2 * (24 + 4 + 36));
	ck_assert_uint_eq(world.data[8 + 12], 0);
	ck_assert_uint_eq(world.data[8 + 24], 0x45);
	ck_assert_str_eq((char *)world.data + 8 + 28, PORT_A);
	ck_assert_uint_eq(scsi_get64(world.data + 8 + 64), 22);
	ck_assert_uint_eq(world.data[8 + 64 + 12], 1);
	ck_assert_uint_eq(world.data[8 + 64 + 13], 3);
	PERSIST(world.b, RELEASE, 3, 22, 0);
	PERSIST(world.a, RESERVE, 1, 11, 0);
	ck_assert_uint_eq(move(&world, 11, 33, 2, PORT_B), 0); /* UNREG */
	expect_keys(&world, 3, 33, 0);
	expect_reservation(&world, 1, 33);
	scsi_world_close(&world);
}

TEST(reserve6__two_nexuses__the_first_has_it_until_it_goes)
{
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	GOOD(&world, world.a, "16", 0, 0);
	GOOD(&world, world.a, "16", 0, 0);
	CONFLICTS(&world, world.b, "16", 0, 0);
	GOOD(&world, world.b, "17", 0, 0); /* not its own: no change */
	CONFLICTS(&world, world.b, READ, 512, 0);
	CONFLICTS(&world, world.b, "00", 0, 0);
	CONFLICTS(&world, world.b, "1a 00 3f 00 ff", 255, 0);
	GOOD(&world, world.b, "12 00 00 00 24", 36, 0);
	GOOD(&world, world.b, "03 00 00 00 12", 18, 0);
	GOOD(&world, world.b, "a0 00 00 00 00 00 00 00 00 10", 16, 0);
	GOOD(&world, world.a, WRITE, 0, 512);
	PERSIST_CONFLICTS(world.a, REGISTER, 0, 0, 11); /* the two kinds do not mix */
	CONFLICTS(&world, world.b, "5e 00 00 00 00 00 00 00 08", 8, 0);
	GOOD(&world, world.a, "17", 0, 0);
	GOOD(&world, world.b, "16", 0, 0);
	scsi_nexus_free(world.b);
	ck_assert_int_eq(scsi_nexus_create(&world.b, world.target, PORT_B), 0);
	GOOD(&world, world.a, "16", 0, 0);
	/* An attention is reported in spite of the reservation. */
	expect_attention(&world, world.b, SENSE_POWER_ON);
	CONFLICTS(&world, world.b, "00", 0, 0);
	scsi_abort_and_wait(world.b, SCSI_TARGET_RESET);
	expect_attention(&world, world.b, SENSE_RESET);
	GOOD(&world, world.b, READ, 512, 0);
	expect_attention(&world, world.a, SENSE_RESET);
	PERSIST(world.a, REGISTER, 0, 0, 11);
	CONFLICTS(&world, world.b, "16", 0, 0);
	scsi_world_close(&world);
}

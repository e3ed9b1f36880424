/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * scsi_task -- tasks that wait for each other, and functions that end them
 *
 * The workers read with pread(), which stands still while the gate is shut: a COMPARE AND WRITE
 * that was started is then a task in flight for as long as a test wants.
 */
#include "scsi_call.h"
#include "lib/runner.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define READ0 "28 00 00 00 00 00 00 00 01"
#define READ9 "28 00 00 00 00 09 00 00 01"
#define WRITE0 "2a 00 00 00 00 00 00 00 01"
#define COMPARE0 \
	"89 00 00 00 00 00 00 00 00 00 00 00 00 01" /* of block 0, which is zeros, with zeros */

static pthread_mutex_t gate_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t gate_changed = PTHREAD_COND_INITIALIZER;
static bool gate_shut;
static unsigned int gate_waiting;

ssize_t __real_pread(int fd, void *data, size_t length, off_t at);
ssize_t __wrap_pread(int fd, void *data, size_t length, off_t at);

ssize_t
__wrap_pread(int fd, void *data, size_t length, off_t at)
{
	pthread_mutex_lock(&gate_lock);
	gate_waiting++;
	pthread_cond_broadcast(&gate_changed);
	while (gate_shut)
		pthread_cond_wait(&gate_changed, &gate_lock);
	gate_waiting--;
	pthread_mutex_unlock(&gate_lock);
	return __real_pread(fd, data, length, at);
}

static void
gate_set(bool shut)
{
	pthread_mutex_lock(&gate_lock);
	gate_shut = shut;
	pthread_cond_broadcast(&gate_changed);
	pthread_mutex_unlock(&gate_lock);
}

static void
gate_await(unsigned int waiting)
{
	pthread_mutex_lock(&gate_lock);
	while (gate_waiting < waiting)
		pthread_cond_wait(&gate_changed, &gate_lock);
	pthread_mutex_unlock(&gate_lock);
}

/* A drain, and whether it is done. */
struct drained {
	struct scsi_drain drain;
	atomic_bool done;
};

static void
drain_done(struct scsi_drain *drain)
{
	((struct drained *)drain->context)->done = true;
}

static int
abort_for(struct drained *d, struct scsi_nexus *nexus, enum scsi_abort what)
{
	static const uint8_t zero[8];

	*d = (struct drained){ .drain = { .done = drain_done, .context = d } };
	return scsi_abort(nexus, what, zero, &d->drain);
}

static bool
is_done(struct scsi_call *call)
{
	bool done;

	pthread_mutex_lock(&call->lock);
	done = call->done;
	pthread_mutex_unlock(&call->lock);
	return done;
}

static void
plan_as(struct scsi_call *call, struct scsi_nexus *nexus, const char *cdb,
    enum scsi_attribute attribute)
{
	ck_assert_int_eq(scsi_call_plan(call, nexus, "ff", 0, 0), SCSI_ENDED);
	call->task.cdb[0] = 0;
	scsi_hex(cdb, call->task.cdb, sizeof call->task.cdb);
	call->task.attribute = attribute;
	call->task.expected_in = call->task.expected_out = 1024;
	ck_assert_int_eq(scsi_task_plan(&call->task), SCSI_GOES_ON);
}

/* A COMPARE AND WRITE of block 0 that is at the gate. */
static void
start_compare(struct scsi_world *world, struct scsi_call *call, struct scsi_nexus *nexus)
{
	memset(world->data + 65536, 0, 512);
	memset(world->data + 65536 + 512, 0xcc, 512);
	gate_set(true);
	plan_as(call, nexus, COMPARE0, SCSI_SIMPLE);
	ck_assert_int_eq(scsi_call_start(call, world->data + 65536), SCSI_GOES_ON);
	gate_await(1);
}

CASE("scsi_task:task");

TEST(compare_and_write__in_flight__others_on_its_blocks_wait)
{
	struct scsi_call compare, read0, read9, write0, second;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	start_compare(&world, &compare, world.a);
	plan_as(&read0, world.b, READ0, SCSI_SIMPLE);
	ck_assert_int_eq(scsi_call_start(&read0, world.data), SCSI_GOES_ON);
	/* It would find what the first has written, and waits for the read as well. */
	plan_as(&second, world.b, COMPARE0, SCSI_SIMPLE);
	memset(world.data + 98304, 0xcc, 512);
	memset(world.data + 98304 + 512, 0xdd, 512);
	ck_assert_int_eq(scsi_call_start(&second, world.data + 98304), SCSI_GOES_ON);
	plan_as(&write0, world.b, WRITE0, SCSI_HEAD_OF_QUEUE);
	memset(world.data + 8192, 0xee, 512);
	ck_assert_int_eq(scsi_call_start(&write0, world.data + 8192), SCSI_GOES_ON);
	plan_as(&read9, world.b, READ9, SCSI_SIMPLE);
	if (scsi_call_start(&read9, world.data + 4096) == SCSI_GOES_ON)
		scsi_call_wait(&read9);
	ck_assert(!is_done(&read0));
	ck_assert(!is_done(&write0));
	ck_assert(!is_done(&second));
	gate_set(false);
	scsi_call_wait(&compare);
	scsi_call_wait(&read0);
	scsi_call_wait(&second);
	scsi_call_wait(&write0);
	ck_assert_uint_eq(compare.task.status, SCSI_GOOD);
	ck_assert_uint_eq(world.data[0], 0xcc);
	ck_assert_uint_eq(second.task.status, SCSI_GOOD);
	ck_assert_int_eq(pread(world.fd, world.data, 512, 0), 512);
	ck_assert_uint_eq(world.data[511], 0xee);
	scsi_world_close(&world);
}

TEST(ordered__among_others__waits_for_the_older_and_holds_the_younger)
{
	struct scsi_call older, ordered, younger, head;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	plan_as(&older, world.a, READ0, SCSI_SIMPLE);
	plan_as(&ordered, world.b, "00", SCSI_ORDERED);
	plan_as(&younger, world.a, "00", SCSI_SIMPLE);
	plan_as(&head, world.a, "00", SCSI_HEAD_OF_QUEUE);
	ck_assert_int_eq(scsi_call_start(&younger, world.data), SCSI_GOES_ON);
	ck_assert_int_eq(scsi_call_start(&ordered, world.data), SCSI_GOES_ON);
	ck_assert_int_eq(scsi_call_start(&head, world.data), SCSI_ENDED);
	ck_assert(!ordered.done && !younger.done);
	scsi_task_drop(&older.task);
	scsi_call_wait(&ordered);
	scsi_call_wait(&younger);
	ck_assert_uint_eq(ordered.task.status, SCSI_GOOD);
	scsi_world_close(&world);
}

TEST(abort__in_each_state__ends_the_task_aborted)
{
	struct scsi_call planned, waiting, running, dropped;
	struct scsi_lun_counts counts;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	start_compare(&world, &running, world.a);
	plan_as(&waiting, world.a, READ0, SCSI_SIMPLE);
	ck_assert_int_eq(scsi_call_start(&waiting, world.data), SCSI_GOES_ON);
	plan_as(&planned, world.a, "2a 00 00 00 00 09 00 00 01", SCSI_SIMPLE);
	plan_as(&dropped, world.a, READ9, SCSI_SIMPLE);
	scsi_task_abort(&waiting.task);
	ck_assert(waiting.done && waiting.task.aborted);
	scsi_call_wait(&waiting);
	scsi_task_abort(&planned.task);
	scsi_task_abort(&planned.task);
	ck_assert(!planned.done);
	ck_assert_int_eq(scsi_call_start(&planned, world.data), SCSI_ENDED);
	ck_assert(planned.task.aborted);
	scsi_task_abort(&dropped.task);
	scsi_task_drop(&dropped.task);
	scsi_task_abort(&running.task);
	ck_assert(!is_done(&running));
	gate_set(false);
	scsi_call_wait(&running);
	ck_assert(running.task.aborted);
	/*
	 * It was stopped between the comparison and the write; the one that was planned was not
	 * begun.
	 */
	ck_assert_int_eq(pread(world.fd, world.data, 5120, 0), 5120);
	ck_assert_uint_eq(world.data[0], 0);
	ck_assert_uint_eq(world.data[9 * 512], 9);
	scsi_lun_count(scsi_target_lun(world.target, 0), &counts);
	ck_assert_uint_eq(counts.aborts, 4);
	scsi_world_close(&world);
}

/* What each function does to tasks of two nexuses that are in flight, planned and waiting. */
static const struct {
	enum scsi_abort what;
	bool of_b;		 /* the tasks of b end, too */
	uint32_t told_a, told_b; /* attentions; a does it */
} functions[] = {
	{ SCSI_ABORT_TASK_SET, false, 0, 0 },
	{ SCSI_ABORT_NEXUS, false, 0, 0 },
	{ SCSI_CLEAR_TASK_SET, true, 0, SENSE_COMMANDS_CLEARED },
	{ SCSI_LUN_RESET, true, SENSE_RESET, SENSE_RESET },
	{ SCSI_TARGET_RESET, true, SENSE_RESET, SENSE_RESET },
};
#define FUNCTIONS (sizeof functions / sizeof functions[0])

TEST_LOOP(function__with_tasks_of_two_nexuses__waits_for_the_end_of_those_it_is_for, FUNCTIONS)
{
	struct scsi_call running, waiting, of_b, probe;
	struct drained first, second;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	start_compare(&world, &running, world.a);
	plan_as(&waiting, world.a, READ0, SCSI_SIMPLE);
	ck_assert_int_eq(scsi_call_start(&waiting, world.data), SCSI_GOES_ON);
	plan_as(&of_b, world.b, READ9, SCSI_SIMPLE);
	ck_assert_int_eq(abort_for(&first, world.a, functions[_i].what), 0);
	ck_assert(waiting.done && waiting.task.aborted);
	scsi_call_wait(&waiting);
	ck_assert(!first.done);
	/* One more waits for the same tasks. */
	ck_assert_int_eq(abort_for(&second, world.a, functions[_i].what), 0);
	scsi_call_start(&of_b, world.data);
	if (functions[_i].of_b)
		ck_assert(of_b.task.aborted);
	else
		ck_assert(!of_b.task.stop);
	ck_assert(!first.done && !second.done);
	gate_set(false);
	scsi_call_wait(&running);
	ck_assert(running.task.aborted);
	while (!first.done || !second.done) /* a moment after the callback */
		usleep(100);
	scsi_abort_and_wait(world.a, SCSI_ABORT_TASK_SET); /* with none */
	scsi_run(&world, &probe, world.a, "00", 0, 0);
	ck_assert_uint_eq(scsi_call_sense(&probe), functions[_i].told_a);
	scsi_run(&world, &probe, world.b, "00", 0, 0);
	ck_assert_uint_eq(scsi_call_sense(&probe), functions[_i].told_b);
	scsi_world_close(&world);
}

TEST(function__for_no_lun__is_refused)
{
	static const uint8_t one[8] = { 0, 1 };
	struct scsi_drain drain = { .done = drain_done };
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	ck_assert_int_eq(scsi_abort(world.a, SCSI_LUN_RESET, one, &drain), -ENXIO);
	ck_assert_int_eq(scsi_abort(world.a, SCSI_ABORT_NEXUS, one, &drain), 1);
	scsi_world_close(&world);
}

/*
 * A drain covers the callbacks: a nexus can be freed when it is done, whether its last task was
 * aborted or not.
 */
static struct drained slow_drain;
static atomic_bool slow_runs, slow_goes, slow_saw_done;

static void
slow_done(struct scsi_task *task)
{
	(void)task;
	slow_runs = true;
	while (!slow_goes)
		usleep(100);
	slow_saw_done = slow_drain.done;
}

TEST_LOOP(drain__a_callback_that_runs__is_waited_for, 2)
{
	struct scsi_call running;
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	start_compare(&world, &running, world.a);
	running.task.done = slow_done;
	if (_i == 0) /* before it ends, or when it has ended */
		ck_assert_int_eq(abort_for(&slow_drain, world.a, SCSI_ABORT_NEXUS), 0);
	gate_set(false);
	while (!slow_runs)
		usleep(100);
	if (_i == 1)
		ck_assert_int_eq(abort_for(&slow_drain, world.a, SCSI_ABORT_NEXUS), 0);
	ck_assert(!slow_drain.done);
	slow_goes = true;
	while (!slow_drain.done)
		usleep(100);
	ck_assert(!slow_saw_done);
	ck_assert_int_eq(running.task.aborted, _i == 0);
	running.done = true;
	scsi_call_wait(&running);
	scsi_world_close(&world);
}

TEST(task_set__full__is_reported_and_tasks_of_many_states_are_freed)
{
	static struct scsi_call calls[4097];
	struct scsi_world world;

	scsi_world_open(&world, SCSI_ENGINE_ANY, NULL);
	for (unsigned int i = 0; i < 4096; i++)
		ck_assert_int_eq(scsi_call_plan(&calls[i], world.a, READ0, 512, 0), SCSI_GOES_ON);
	ck_assert_int_eq(scsi_call_plan(&calls[4096], world.b, READ0, 512, 0), SCSI_ENDED);
	ck_assert_uint_eq(calls[4096].task.status, SCSI_TASK_SET_FULL);
	scsi_task_drop(&calls[77].task);
	ck_assert_int_eq(scsi_call_plan(&calls[77], world.b, READ0, 512, 0), SCSI_GOES_ON);
	for (unsigned int i = 0; i < 4096; i++)
		if (scsi_call_start(&calls[i], world.data) == SCSI_GOES_ON)
			scsi_call_wait(&calls[i]);
	scsi_world_close(&world);
}

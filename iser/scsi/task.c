/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* A task is in the set of its LUN from PLANNED to CLAIMED. */
enum task_state {
	TASK_OUTSIDE,
	TASK_PLANNED, /* the caller has not started it */
	TASK_WAITING, /* for other tasks of the set */
	TASK_RUNNING,
	TASK_CLAIMED, /* a thread is about to end it */
};

/* ---- failures ---- */

bool
task_fail(struct scsi_task *task, enum scsi_sense sense)
{
	uint8_t *s = task->sense;

	memset(s, 0, sizeof task->sense);
	s[0] = 0x70; /* current, fixed format: D_SENSE is 0 */
	s[2] = (uint8_t)(sense >> 16);
	s[7] = 10;
	s[12] = (uint8_t)(sense >> 8);
	s[13] = (uint8_t)sense;
	task->sense_length = 18;
	task->status = SCSI_CHECK_CONDITION;
	return false;
}

bool
task_fail_field(struct scsi_task *task, enum scsi_sense sense, unsigned int byte, int bit)
{
	task_fail(task, sense);
	/* The sense-key specific bytes are valid, and the bit. */
	task->sense[15] = (uint8_t)(0x88 | bit);
	if (sense == SENSE_CDB_FIELD)
		task->sense[15] |= 0x40;
	scsi_put16(task->sense + 16, (uint16_t)byte);
	return false;
}

bool
task_fail_information(struct scsi_task *task, enum scsi_sense sense, uint64_t information)
{
	task_fail(task, sense);
	if (information <= UINT32_MAX) {
		task->sense[0] |= 0x80;
		scsi_put32(task->sense + 3, (uint32_t)information);
	}
	return false;
}

void
task_fail_errno(struct scsi_task *task, int64_t result)
{
	if (result == -ENOMEM || result == -EAGAIN)
		task->status = SCSI_BUSY;
	else if (result == -ENOSPC || result == -EDQUOT || result == -EFBIG)
		task_fail(task, SENSE_SPACE_EXHAUSTED);
	else if (result == -EIO)
		task_fail(task,
		    task->command->flags & COMMAND_CHANGES ? SENSE_WRITE_ERROR : SENSE_READ_ERROR);
	else
		task_fail(task, SENSE_INTERNAL_FAILURE);
}

/* The residual, and what the LUN counts of a task that ended. */
static void
task_settle(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;
	uint32_t expected = task->expected_in ? task->expected_in : task->expected_out;

	if (task->direction == SCSI_DATA_IN)
		expected = task->expected_in;
	else if (task->direction == SCSI_DATA_OUT)
		expected = task->expected_out;
	if (task->status != SCSI_GOOD) {
		task->data_in_length = 0;
		if (task->direction != SCSI_DATA_OUT)
			task->wanted = 0;
	}
	task->residual = (int64_t)task->wanted - expected;
	if (!lun)
		return;
	lun->commands++;
	if (task->aborted)
		lun->aborts++;
	else if (task->status == SCSI_RESERVATION_CONFLICT)
		lun->conflicts++;
	else if (task->status == SCSI_CHECK_CONDITION && task->sense[2] != SENSE_POWER_ON >> 16)
		lun->failures++;
}

/* ---- the task set; all with the lock ---- */

static bool
task_is_strict(const struct scsi_task *task)
{
	return task->attribute == SCSI_ORDERED || task->exclusive;
}

static void
set_add(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	task->next = NULL;
	task->link = lun->last;
	*lun->last = task;
	lun->last = &task->next;
	lun->task_count++;
	lun->strict += task_is_strict(task);
	task->state = TASK_PLANNED;
}

static void
set_remove(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;

	*task->link = task->next;
	if (task->next)
		task->next->link = task->link;
	else
		lun->last = task->link;
	lun->task_count--;
	lun->strict -= task_is_strict(task);
	task->state = TASK_OUTSIDE;
}

static bool
task_overlaps(const struct scsi_task *a, const struct scsi_task *b)
{
	return a->lba < b->lba + b->blocks && b->lba < a->lba + a->blocks;
}

/*
 * Whether the task waits for another.  Of tasks that wait for each other's blocks the oldest goes
 * first; `fresh` means that it is about to be started, after all that wait.
 */
static bool
task_must_wait(const struct scsi_task *task, bool fresh)
{
	bool older = true;

	if (!task->logical_unit->strict)
		return false;
	for (const struct scsi_task *t = task->logical_unit->tasks; t; t = t->next) {
		if (t == task) {
			older = false;
			continue;
		}
		if (older && task->attribute != SCSI_HEAD_OF_QUEUE &&
		    (t->attribute == SCSI_ORDERED || task->attribute == SCSI_ORDERED))
			return true;
		if ((t->state == TASK_RUNNING || (t->state == TASK_WAITING && (fresh || older))) &&
		    (t->exclusive || task->exclusive) && task_overlaps(t, task))
			return true;
	}
	return false;
}

/* Takes the tasks that no longer have to wait. */
static struct scsi_task *
set_take_ready(struct scsi_lun *lun)
{
	struct scsi_task *ready = NULL, **last = &ready;

	if (!lun->waiting)
		return NULL;
	for (struct scsi_task *t = lun->tasks; t; t = t->next)
		if (t->state == TASK_WAITING && !task_must_wait(t, false)) {
			t->state = TASK_RUNNING;
			lun->waiting--;
			t->chain = NULL;
			*last = t;
			last = &t->chain;
		}
	return ready;
}

static void
task_stop(struct scsi_task *task, struct scsi_task **ended)
{
	if (task->stop)
		return;
	task->stop = true;
	task->stopped_at = task->logical_unit->target->abort_number;
	if (task->state != TASK_WAITING)
		return;
	task->logical_unit->waiting--;
	task->state = TASK_CLAIMED;
	task->chain = *ended;
	*ended = task;
}

/* ---- drains; all with the lock ---- */

static bool
drain_counts(const struct scsi_drain *drain, const struct scsi_nexus *nexus,
    const struct scsi_lun *lun, uint64_t stopped_at)
{
	return stopped_at != 0 && stopped_at <= drain->at &&
	       (!drain->nexus || drain->nexus == nexus) && (!drain->lun || drain->lun == lun);
}

bool
drain_start(struct scsi_target *target, struct scsi_drain *drain, const struct scsi_nexus *nexus,
    const struct scsi_lun *lun)
{
	drain->nexus = nexus;
	drain->lun = lun;
	drain->at = target->abort_number;
	drain->left = 0;
	for (unsigned int i = 0; i < SCSI_LUNS; i++)
		if (target->luns[i])
			for (const struct scsi_task *t = target->luns[i]->tasks; t; t = t->next)
				drain->left +=
				    drain_counts(drain, t->nexus, t->logical_unit, t->stopped_at);
	for (struct task_ending *e = target->endings; e; e = e->next) {
		if (e->stopped_at == 0) /* it ended before; its callback is waited for, too */
			e->stopped_at = drain->at;
		drain->left += drain_counts(drain, e->nexus, e->lun, e->stopped_at);
	}
	if (drain->left == 0)
		return false;
	drain->next = target->drains;
	target->drains = drain;
	return true;
}

/* A task has ended: the drains that waited for it alone. */
static struct scsi_drain *
drains_take(struct scsi_target *target, const struct task_ending *ending)
{
	struct scsi_drain *done = NULL, **link = &target->drains, *drain;

	while ((drain = *link)) {
		if (!drain_counts(drain, ending->nexus, ending->lun, ending->stopped_at) ||
		    --drain->left) {
			link = &drain->next;
			continue;
		}
		*link = drain->next;
		drain->next = done;
		done = drain;
	}
	return done;
}

static void
drains_finish(struct scsi_drain *drain)
{
	while (drain) {
		struct scsi_drain *next = drain->next;

		drain->done(drain);
		drain = next;
	}
}

/* ---- starts and ends; all without the lock ---- */

/* Runs a chain of tasks; those that ended at once are pushed on *ended. */
static void
task_run_list(struct scsi_task *ready, struct scsi_task **ended)
{
	while (ready) {
		struct scsi_task *task = ready;

		ready = task->chain;
		if (task->command->start(task) == SCSI_ENDED) {
			task->chain = *ended;
			*ended = task;
		}
	}
}

void
task_end_list(struct scsi_target *target, struct scsi_task *list)
{
	while (list) {
		struct scsi_task *task = list, *ready;
		struct task_ending ending, **link;
		struct scsi_drain *drains;

		list = task->chain;
		pthread_mutex_lock(&target->lock);
		set_remove(task);
		task->aborted = task->stop;
		ending = (struct task_ending){
			.nexus = task->nexus,
			.lun = task->logical_unit,
			.stopped_at = task->stopped_at,
			.next = target->endings,
		};
		target->endings = &ending;
		ready = set_take_ready(task->logical_unit);
		pthread_mutex_unlock(&target->lock);
		task_settle(task);
		task->done(task);
		pthread_mutex_lock(&target->lock);
		for (link = &target->endings; *link != &ending; link = &(*link)->next)
			;
		*link = ending.next;
		drains = drains_take(target, &ending);
		pthread_mutex_unlock(&target->lock);
		drains_finish(drains);
		task_run_list(ready, &list);
	}
}

void
task_end(struct scsi_task *task)
{
	task->chain = NULL;
	task_end_list(task->logical_unit->target, task);
}

/* Ends a task in a call of its owner, which is not called back. */
static void
task_end_here(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;
	struct scsi_target *target = lun->target;
	struct scsi_task *ready, *ended = NULL;
	struct scsi_drain *drains;
	struct task_ending ending;

	pthread_mutex_lock(&target->lock);
	set_remove(task);
	task->aborted = task->stop;
	ending = (struct task_ending){
		.nexus = task->nexus, .lun = lun, .stopped_at = task->stopped_at
	};
	drains = drains_take(target, &ending);
	ready = set_take_ready(lun);
	pthread_mutex_unlock(&target->lock);
	task_settle(task);
	drains_finish(drains);
	task_run_list(ready, &ended);
	task_end_list(target, ended);
}

static int
job_run(struct io_request *request)
{
	struct scsi_task *task = (void *)((char *)request - offsetof(struct scsi_task, io));

	task->work(task);
	return 0;
}

static void
job_done(struct io_request *request, int64_t result)
{
	(void)result;
	task_end((void *)((char *)request - offsetof(struct scsi_task, io)));
}

enum scsi_progress
task_job(struct scsi_task *task, void (*work)(struct scsi_task *task), uint64_t at)
{
	task->work = work;
	task->io =
	    (struct io_request){ .operation = IO_JOB, .at = at, .job = job_run, .done = job_done };
	io_submit(task->logical_unit->target->io, &task->io);
	return SCSI_GOES_ON;
}

/* ---- the calls of the transport ---- */

/* With the lock: whether the task may enter the set; else it has failed. */
static bool
task_admit(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;
	enum scsi_sense sense;

	task->command = command_find(task->cdb, &sense);
	if (!lun && !(task->command && task->command->flags & COMMAND_ANY_LUN))
		return task_fail(task, SENSE_LUN_UNKNOWN);
	if (!task->command)
		return sense == SENSE_CDB_FIELD ? task_fail_field(task, sense, 1, 4) :
						  task_fail(task, sense);
	if (!lun) {
		if (!command_check_bits(task))
			return false;
		return task->command->plan(task);
	}
	if (!(task->command->flags & COMMAND_NO_ATTENTION) &&
	    nexus_take_attention(task->nexus, lun, &sense))
		return task_fail(task, sense);
	if (!reserve_allows(task)) {
		task->status = SCSI_RESERVATION_CONFLICT;
		return false;
	}
	if (lun->task_count >= SCSI_TASKS) {
		task->status = SCSI_TASK_SET_FULL;
		return false;
	}
	if (!command_check_bits(task))
		return false;
	if (lun->ejected && task->command->flags & COMMAND_MEDIUM)
		return task_fail(task, SENSE_MEDIUM_NOT_PRESENT);
	if (lun->read_only && task->command->flags & COMMAND_CHANGES)
		return task_fail(task, SENSE_WRITE_PROTECTED);
	return task->command->plan(task);
}

enum scsi_progress
scsi_task_plan(struct scsi_task *task)
{
	struct scsi_target *target = task->nexus->target;
	bool admitted;

	task->direction = SCSI_NO_DATA;
	task->bytes = task->data_in_length = 0;
	task->iov = NULL;
	task->iov_count = 0;
	task->aborted = false;
	task->status = SCSI_GOOD;
	task->sense_length = 0;
	task->logical_unit = lun_of_field(target, task->lun);
	task->lba = task->blocks = task->wanted = task->stopped_at = 0;
	task->exclusive = false;
	task->stop = false;
	pthread_mutex_lock(&target->lock);
	admitted = task_admit(task);
	if (admitted && task->logical_unit)
		set_add(task);
	pthread_mutex_unlock(&target->lock);
	if (!admitted) {
		task_settle(task);
		return SCSI_ENDED;
	}
	if (task->wanted == 0)
		task->direction = SCSI_NO_DATA;
	task->bytes = task->direction == SCSI_DATA_IN  ? task->expected_in :
		      task->direction == SCSI_DATA_OUT ? task->expected_out :
							 0;
	if (task->bytes > task->wanted)
		task->bytes = (uint32_t)task->wanted;
	return SCSI_GOES_ON;
}

enum scsi_progress
scsi_task_start(struct scsi_task *task)
{
	struct scsi_lun *lun = task->logical_unit;
	bool run = false;

	if (!lun) { /* a command that any LUN answers: it neither waits nor can be aborted */
		task->command->start(task);
		task_settle(task);
		return SCSI_ENDED;
	}
	pthread_mutex_lock(&lun->target->lock);
	if (!task->stop && task_must_wait(task, true)) {
		task->state = TASK_WAITING;
		lun->waiting++;
		pthread_mutex_unlock(&lun->target->lock);
		return SCSI_GOES_ON;
	}
	run = !task->stop;
	task->state = TASK_RUNNING;
	pthread_mutex_unlock(&lun->target->lock);
	if (run && task->command->start(task) == SCSI_GOES_ON)
		return SCSI_GOES_ON;
	task_end_here(task);
	return SCSI_ENDED;
}

void
scsi_task_drop(struct scsi_task *task)
{
	if (task->logical_unit)
		task_end_here(task);
}

void
scsi_task_abort(struct scsi_task *task)
{
	struct scsi_target *target = task->nexus->target;
	struct scsi_task *ended = NULL;

	if (!task->logical_unit)
		return;
	pthread_mutex_lock(&target->lock);
	target->abort_number++;
	task_stop(task, &ended);
	pthread_mutex_unlock(&target->lock);
	task_end_list(target, ended);
}

void
task_stop_set(struct scsi_lun *lun, const struct scsi_nexus *nexus, const struct scsi_task *except,
    struct scsi_task **ended)
{
	lun->target->abort_number++;
	for (struct scsi_task *t = lun->tasks; t; t = t->next)
		if (t != except && (!nexus || t->nexus == nexus))
			task_stop(t, ended);
}

/* With the lock: what a function does to one LUN. */
static void
abort_lun(
    struct scsi_nexus *nexus, enum scsi_abort what, struct scsi_lun *lun, struct scsi_task **ended)
{
	const bool of_one = what == SCSI_ABORT_TASK_SET || what == SCSI_ABORT_NEXUS;

	if (what == SCSI_CLEAR_TASK_SET)
		for (struct scsi_task *t = lun->tasks; t; t = t->next)
			if (t->nexus != nexus)
				t->nexus->attentions[lun->number] |= 1 << ATTENTION_CLEARED;
	task_stop_set(lun, of_one ? nexus : NULL, NULL, ended);
	if (what != SCSI_LUN_RESET && what != SCSI_TARGET_RESET)
		return;
	reserve_reset(lun);
	lun_attend(lun, NULL, ATTENTION_RESET);
	for (struct scsi_nexus *n = lun->target->nexuses; n; n = n->next)
		n->prevents[lun->number] = false;
}

int
scsi_abort(
    struct scsi_nexus *nexus, enum scsi_abort what, const uint8_t lun[8], struct scsi_drain *drain)
{
	struct scsi_target *target = nexus->target;
	const bool all = what == SCSI_TARGET_RESET || what == SCSI_ABORT_NEXUS;
	struct scsi_lun *only = all ? NULL : lun_of_field(target, lun);
	struct scsi_task *ended = NULL;
	bool waits;

	if (!all && !only)
		return -ENXIO;
	pthread_mutex_lock(&target->lock);
	for (unsigned int i = 0; i < SCSI_LUNS; i++)
		if (target->luns[i] && (all || target->luns[i] == only))
			abort_lun(nexus, what, target->luns[i], &ended);
	waits = drain_start(target, drain,
	    what == SCSI_ABORT_TASK_SET || what == SCSI_ABORT_NEXUS ? nexus : NULL, only);
	pthread_mutex_unlock(&target->lock);
	task_end_list(target, ended);
	return !waits;
}

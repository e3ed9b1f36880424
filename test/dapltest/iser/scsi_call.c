/* SPDX-License-Identifier: BSD-3-Clause */
#include "scsi_call.h"
#include "lib/runner.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool
scsi_engine_is_there(enum scsi_engine engine)
{
	const struct scsi_target_options options = { .port_name = "t", .engine = engine };
	struct scsi_target *target;

	if (scsi_target_open(&target, &options)) {
		runner_skip("the kernel or the build has no io_uring");
		return false;
	}
	scsi_target_close(target);
	return true;
}

void
scsi_world_open(
    struct scsi_world *world, enum scsi_engine engine, const struct scsi_lun_options *options)
{
	const struct scsi_target_options target = { .port_name = "iqn.2026-11.test:t,t,0x0001",
		.engine = engine };
	const char *directory = getenv("TMPDIR");
	struct scsi_lun_options lun = { 0 };

	if (options)
		lun = *options;
	memset(world, 0, sizeof *world);
	snprintf(world->path, sizeof world->path, "%s/scsi-XXXXXX",
	    directory && *directory ? directory : "/tmp");
	world->fd = mkstemp(world->path);
	ck_assert_int_ge(world->fd, 0);
	world->data = malloc(DATA);
	ck_assert_ptr_nonnull(world->data);
	for (unsigned int i = 0; i < BLOCKS / 2; i++)
		memset(world->data + i * 512, (int)i, 512);
	ck_assert_int_eq(pwrite(world->fd, world->data, BLOCKS / 2 * 512, 0), BLOCKS / 2 * 512);
	/* And a rest that is no block. */
	ck_assert_int_eq(ftruncate(world->fd, BLOCKS * 512 + 100), 0);
	ck_assert_int_eq(scsi_target_open(&world->target, &target), 0);
	lun.path = world->path;
	ck_assert_int_eq(scsi_lun_open(world->target, 0, &lun), 0);
	unlink(world->path);
	ck_assert_int_eq(scsi_nexus_create(&world->a, world->target, PORT_A), 0);
	ck_assert_int_eq(scsi_nexus_create(&world->b, world->target, PORT_B), 0);
	scsi_nexus_ready(world, world->a);
	scsi_nexus_ready(world, world->b);
}

void
scsi_world_close(struct scsi_world *world)
{
	scsi_nexus_free(world->a);
	scsi_nexus_free(world->b);
	scsi_target_close(world->target);
	close(world->fd);
	free(world->data);
}

void
scsi_nexus_ready(struct scsi_world *world, struct scsi_nexus *nexus)
{
	struct scsi_call call;

	while (scsi_run(world, &call, nexus, "00", 0, 0) != SCSI_GOOD)
		ck_assert_uint_eq(scsi_call_sense(&call) >> 16, 6);
}

size_t
scsi_hex(const char *text, uint8_t *bytes, size_t size)
{
	size_t n = 0;
	int used;

	for (; *text; text++) {
		if (isspace((unsigned char)*text))
			continue;
		ck_assert_uint_lt(n, size);
		ck_assert_int_eq(sscanf(text, "%2hhx%n", &bytes[n], &used), 1);
		ck_assert_int_eq(used, 2);
		n++;
		text++;
	}
	return n;
}

static void
call_done(struct scsi_task *task)
{
	struct scsi_call *call = task->context;

	pthread_mutex_lock(&call->lock);
	call->done = true;
	call->from = pthread_self();
	pthread_cond_signal(&call->ended);
	pthread_mutex_unlock(&call->lock);
}

enum scsi_progress
scsi_call_plan(
    struct scsi_call *call, struct scsi_nexus *nexus, const char *cdb, uint32_t in, uint32_t out)
{
	memset(call, 0, sizeof *call);
	pthread_mutex_init(&call->lock, NULL);
	pthread_cond_init(&call->ended, NULL);
	call->task.nexus = nexus;
	call->task.expected_in = in;
	call->task.expected_out = out;
	call->task.done = call_done;
	call->task.context = call;
	scsi_hex(cdb, call->task.cdb, sizeof call->task.cdb);
	return scsi_task_plan(&call->task);
}

/* The data are back where they came from, and the pieces are freed. */
static void
call_collect(struct scsi_call *call)
{
	uint8_t *to = call->data;

	for (unsigned int i = 0; i < call->task.iov_count; i++) {
		if (call->task.direction == SCSI_DATA_IN)
			memcpy(to, call->iov[i].iov_base, call->iov[i].iov_len);
		to += call->iov[i].iov_len;
		free(call->iov[i].iov_base);
	}
	call->task.iov_count = 0;
}

enum scsi_progress
scsi_call_start(struct scsi_call *call, uint8_t *data)
{
	const size_t cuts[] = { 7, 700, SIZE_MAX };
	size_t left = call->task.bytes;
	enum scsi_progress progress;
	uint8_t *from = data;

	for (unsigned int i = 0; i < 3; i++) {
		const size_t n = left < cuts[i] ? left : cuts[i];

		call->iov[i] = (struct iovec){ malloc(n ? n : 1), n };
		memcpy(call->iov[i].iov_base, from, n);
		from += n;
		left -= n;
	}
	call->data = data;
	call->task.iov = call->iov;
	call->task.iov_count = 3;
	progress = scsi_task_start(&call->task);
	if (progress == SCSI_ENDED)
		call_collect(call);
	return progress;
}

void
scsi_call_wait(struct scsi_call *call)
{
	pthread_mutex_lock(&call->lock);
	while (!call->done)
		pthread_cond_wait(&call->ended, &call->lock);
	pthread_mutex_unlock(&call->lock);
	call_collect(call);
}

unsigned int
scsi_run(struct scsi_world *world, struct scsi_call *call, struct scsi_nexus *nexus,
    const char *cdb, uint32_t in, uint32_t out)
{
	if (scsi_call_plan(call, nexus, cdb, in, out) == SCSI_GOES_ON &&
	    scsi_call_start(call, world->data) == SCSI_GOES_ON)
		scsi_call_wait(call);
	return call->task.status;
}

static void
drain_done(struct scsi_drain *drain)
{
	*(atomic_bool *)drain->context = true;
}

void
scsi_abort_and_wait(struct scsi_nexus *nexus, enum scsi_abort what)
{
	static const uint8_t zero[8];
	atomic_bool done = false;
	struct scsi_drain drain = { .done = drain_done, .context = &done };
	int r = scsi_abort(nexus, what, zero, &drain);

	ck_assert_int_ge(r, 0);
	while (r == 0 && !done) /* a callback returns soon */
		usleep(100);
}

uint32_t
scsi_call_sense(const struct scsi_call *call)
{
	const uint8_t *s = call->task.sense;

	if (call->task.sense_length == 0)
		return 0;
	return (uint32_t)(s[2] & 15) << 16 | (uint32_t)s[12] << 8 | s[13];
}

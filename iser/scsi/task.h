/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * task -- one command: planned, then started, then ended
 *
 *	memset task; set nexus, lun, cdb, attribute, expected_in, expected_out, done
 *	scsi_task_plan()   SCSI_ENDED: answer with status and sense
 *			   SCSI_GOES_ON: it wants `bytes` in `direction`
 *	fetch data-out, or find room for data-in, and set iov, iov_count
 *	scsi_task_start()  SCSI_ENDED: answer; SCSI_GOES_ON: done() will be called
 *
 * From plan to its end a task is in the task set of its LUN, where aborts and resets find it.  If
 * the data-out cannot be fetched, scsi_task_drop() ends it instead of scsi_task_start().
 *
 * Tasks with SIMPLE are done in any order.  An ORDERED task starts when all older ones have ended,
 * and younger ones wait for it; a transport that has too little memory for all therefore gives it
 * in the order of the plans.  COMPARE AND WRITE waits for tasks on its blocks that were started
 * before, and those that are started later wait for it.
 */
#ifndef ISER_SCSI_TASK_H
#define ISER_SCSI_TASK_H

#include "io.h"
#include "nexus.h"
#include "scsi.h"

#include <stdatomic.h>
#include <sys/uio.h>

#define SCSI_CDB_BYTES 32
#define SCSI_SENSE_BYTES 32

enum scsi_direction {
	SCSI_NO_DATA,
	SCSI_DATA_IN,  /* to the initiator */
	SCSI_DATA_OUT, /* from the initiator */
};

enum scsi_attribute {
	SCSI_SIMPLE,
	SCSI_ORDERED,
	SCSI_HEAD_OF_QUEUE,
};

enum scsi_progress {
	SCSI_GOES_ON,
	SCSI_ENDED,
};

struct scsi_command;

struct scsi_task {
	/* The caller's, before scsi_task_plan(). */
	struct scsi_nexus *nexus;
	uint8_t lun[8];
	uint8_t cdb[SCSI_CDB_BYTES]; /* bytes behind the command are 0 */
	enum scsi_attribute attribute;
	uint32_t expected_in;  /* bytes that the initiator has room for; 0 unless it reads */
	uint32_t expected_out; /* bytes that the initiator has to send; 0 unless it writes */
	/*
	 * It ended.  From a thread of the engine, or one that ended or aborted another task,
	 * without a lock; never inside a plan or start of the same task.  It may plan and start
	 * other tasks, and the memory of this one may be used for them.
	 */
	void (*done)(struct scsi_task *task);
	void *context;

	/* scsi_task_plan()'s: what to move, cut to what the initiator expects. */
	enum scsi_direction direction;
	uint32_t bytes;

	/*
	 * The caller's, before scsi_task_start(): `bytes` in all, 1,024 at most, unchanged until it
	 * ends.
	 */
	const struct iovec *iov;
	unsigned int iov_count;

	/* The result. */
	bool aborted; /* by a task management function: no answer is due, the rest is undefined */
	uint8_t status;
	uint8_t sense_length; /* not 0 with CHECK CONDITION only */
	uint8_t sense[SCSI_SENSE_BYTES];
	uint32_t data_in_length; /* bytes of data-in that are there to be sent; 0 unless GOOD */
	/*
	 * What the CDB asked for, minus what the initiator expected: above 0 an overflow of so many
	 * bytes, below 0 an underflow.
	 */
	int64_t residual;

	/* Below is private. */
	struct scsi_lun *logical_unit; /* NULL: there is none with this number */
	const struct scsi_command *command;
	struct scsi_task *next, **link; /* in the task set, which is in order of age */
	struct scsi_task *chain;	/* in a list of one thread */
	uint64_t lba, blocks;
	uint64_t wanted; /* bytes that the CDB asks for */
	uint8_t state;
	bool exclusive;	     /* no other task on its blocks meanwhile */
	atomic_bool stop;    /* aborted; a worker looks at it between two pieces */
	uint64_t stopped_at; /* the abort that did it; 0: none */
	void (*work)(struct scsi_task *task);
	struct scsi_drain drain; /* of PREEMPT AND ABORT */
	struct io_request io;
};

/*
 * Looks at the CDB, the reservations and the unit attentions, and enters the task set unless it
 * ended.
 */
enum scsi_progress scsi_task_plan(struct scsi_task *task);

/* Does it.  Never waits for the disk, nor for another task. */
enum scsi_progress scsi_task_start(struct scsi_task *task);

/* Ends a task that was planned and not started; done() is not called. */
void scsi_task_drop(struct scsi_task *task);

/*
 * ABORT TASK.  The task is one of the caller that has not ended: the caller's lock, or that its own
 * done() comes from this thread, keeps it alive here.  It ends soon, `aborted` or with its result
 * if that came first; done() may be called before this returns.  One that was not started ends in
 * scsi_task_start() or scsi_task_drop().
 */
void scsi_task_abort(struct scsi_task *task);

#endif

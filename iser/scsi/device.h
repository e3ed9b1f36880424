/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device -- what a target, a LUN and a nexus are made of, for the files of this folder alone
 */
#ifndef ISER_SCSI_DEVICE_H
#define ISER_SCSI_DEVICE_H

#include "task.h"

#include <pthread.h>

#define SCSI_PROTOCOL_ID 5	 /* of port names: SPC-4's identifier for iSCSI names */
#define SCSI_REGISTRATIONS 64	 /* of a LUN: more registrants are refused */
#define SCSI_TASKS 4096		 /* of a LUN: more are answered TASK SET FULL */
#define SCSI_MAX_UNMAP (1 << 20) /* blocks of one descriptor */
#define SCSI_MAX_UNMAP_DESCRIPTORS 256
#define SCSI_MAX_SAME 0xffff /* blocks of a WRITE SAME */

/* Unit attentions, in the order in which a nexus gets them; a bit of nexus.attentions each. */
enum attention {
	ATTENTION_POWER_ON,
	ATTENTION_RESET,
	ATTENTION_CLEARED,
	ATTENTION_RESERVATIONS_PREEMPTED,
	ATTENTION_RESERVATIONS_RELEASED,
	ATTENTION_REGISTRATIONS_PREEMPTED,
	ATTENTIONS,
};

/* Types of persistent reservations; 0 is none. */
enum pr_type {
	PR_NONE,
	PR_WRITE_EXCLUSIVE = 1,
	PR_EXCLUSIVE_ACCESS = 3,
	PR_WRITE_EXCLUSIVE_RO = 5, /* registrants only */
	PR_EXCLUSIVE_ACCESS_RO = 6,
	PR_WRITE_EXCLUSIVE_AR = 7, /* all registrants */
	PR_EXCLUSIVE_ACCESS_AR = 8,
};

struct registration {
	uint64_t key;
	char port[SCSI_PORT_NAME]; /* empty: the entry is free */
};

struct reservation {
	struct registration registrations[SCSI_REGISTRATIONS];
	uint32_t generation;
	enum pr_type type;
	struct registration *holder;	   /* NULL if none, and if all registrants hold it */
	const struct scsi_nexus *reserver; /* by RESERVE(6) */
};

struct scsi_lun {
	struct scsi_target *target;
	unsigned int number;
	char *path;
	int fd;
	bool read_only, write_through, thin, removable;
	atomic_bool reads_wait, writes_wait; /* the file system cannot say whether one would */
	uint32_t block_bytes, max_transfer;
	uint64_t blocks;
	char vendor[8 + 1], product[16 + 1], revision[4 + 1], serial[32 + 1];
	uint64_t name; /* NAA locally assigned */
	_Atomic uint64_t commands, reads, writes, read_bytes, written_bytes, syncs, failures,
	    conflicts, aborts;

	/* target->lock guards the rest. */
	struct scsi_task *tasks, **last; /* the task set, in order of age */
	unsigned int task_count;
	/* tasks that are ordered or exclusive: while there are none, none waits */
	unsigned int strict;
	unsigned int waiting;
	bool ejected;
	struct reservation reservation;
};

struct scsi_nexus {
	struct scsi_target *target;
	struct scsi_nexus *next;
	char port[SCSI_PORT_NAME];
	/* target->lock: by LUN. */
	uint8_t attentions[SCSI_LUNS];
	bool prevents[SCSI_LUNS];
};

/* A task that left its set and whose callback has not returned: on the stack of the thread. */
struct task_ending {
	const struct scsi_nexus *nexus;
	const struct scsi_lun *lun;
	uint64_t stopped_at;
	struct task_ending *next;
};

struct scsi_target {
	struct io *io;
	char port_name[SCSI_PORT_NAME];
	uint8_t port_id;
	uint32_t max_transfer;
	struct scsi_lun *luns[SCSI_LUNS]; /* constant once the first nexus is made */

	pthread_mutex_t lock;
	/* The lock guards the rest. */
	struct scsi_nexus *nexuses;
	struct task_ending *endings;
	struct scsi_drain *drains;
	uint64_t task_number, abort_number;
};

/* ---- target.c ---- */

/* The LUN of the 8 bytes of a request; NULL if there is none. */
struct scsi_lun *lun_of_field(struct scsi_target *target, const uint8_t field[8]);

/* With the lock: all nexuses but `except` will get the attention of the LUN. */
void lun_attend(struct scsi_lun *lun, const struct scsi_nexus *except, enum attention attention);

/* With the lock: takes the next attention of the nexus.  False if there is none. */
bool nexus_take_attention(
    struct scsi_nexus *nexus, const struct scsi_lun *lun, enum scsi_sense *sense);

/* ---- task.c ---- */

/* Ends it with CHECK CONDITION.  Returns false, for what a plan returns. */
bool task_fail(struct scsi_task *task, enum scsi_sense sense);

/* INVALID FIELD: the byte, and its highest wrong bit, of the CDB, or of a parameter list. */
bool task_fail_field(struct scsi_task *task, enum scsi_sense sense, unsigned int byte, int bit);

/* With the INFORMATION field. */
bool task_fail_information(struct scsi_task *task, enum scsi_sense sense, uint64_t information);

/* As the errno of an input or output. */
void task_fail_errno(struct scsi_task *task, int64_t result);

/* Runs work() on a worker; the task ends when it returns.  `at` is for work(), in task->io.at. */
enum scsi_progress task_job(
    struct scsi_task *task, void (*work)(struct scsi_task *task), uint64_t at);

/*
 * With the lock: an abort of the tasks of the LUN, of one nexus or of all (NULL), but `except`.
 * Those that only wait are pushed on *ended, for task_end_list() without the lock.
 */
void task_stop_set(struct scsi_lun *lun, const struct scsi_nexus *nexus,
    const struct scsi_task *except, struct scsi_task **ended);

/* Without the lock: ends the tasks, calls them back, and starts what waited for them. */
void task_end_list(struct scsi_target *target, struct scsi_task *list);

/* With the lock: the drain waits for the tasks that are marked by now; false if there are none. */
bool drain_start(struct scsi_target *target, struct scsi_drain *drain,
    const struct scsi_nexus *nexus, const struct scsi_lun *lun);

/* Ends a task that GOES_ON; calls back.  The task may be gone then. */
void task_end(struct scsi_task *task);

/* ---- command.c ---- */

/* Which reservations of others a command has to respect. */
enum command_access {
	ACCESS_FREE,	/* none */
	ACCESS_STATE,	/* all but those of persistent reservations */
	ACCESS_READ,	/* exclusive access */
	ACCESS_WRITE,	/* any */
	ACCESS_CHECKED, /* the command looks itself */
};

#define COMMAND_ANY_LUN 1      /* also for a LUN that does not exist */
#define COMMAND_NO_ATTENTION 2 /* does not report unit attentions */
#define COMMAND_MEDIUM 4       /* needs a medium */
#define COMMAND_CHANGES 8      /* needs one that is not write protected */

struct scsi_command {
	const char *name;
	uint8_t opcode;
	int8_t action; /* -1: it has no service actions */
	uint8_t length;
	uint8_t access; /* enum command_access */
	uint8_t flags;
	/*
	 * Looks at the CDB, with the lock held: sets direction, wanted, and lba and blocks, or
	 * fails.  The bits that are not in `usage` are 0.
	 */
	bool (*plan)(struct scsi_task *task);
	enum scsi_progress (*start)(struct scsi_task *task);
	uint8_t usage[16]; /* bits of the CDB that have a meaning */
};

/* The row of a CDB; NULL and *sense if there is none. */
const struct scsi_command *command_find(const uint8_t *cdb, enum scsi_sense *sense);

/* False, and the task has failed, if a bit of the CDB is set that has no meaning. */
bool command_check_bits(struct scsi_task *task);

/*
 * Number of logical blocks, or bytes of a list, of a CDB whose length field is at the usual place.
 */
uint64_t command_lba(const uint8_t *cdb, unsigned int length);
uint32_t command_count(const uint8_t *cdb, unsigned int length);

/* ---- data.c: data-in and data-out in the caller's segments ---- */

/*
 * Parameter data on their way to the initiator: what is beyond its room is counted and not stored.
 */
struct data_in {
	struct scsi_task *task;
	uint64_t length;
};

void data_put(struct data_in *in, const void *data, size_t length);
void data_put_zeros(struct data_in *in, size_t length);

/* Overwrites what was put at `offset`. */
void data_patch(struct data_in *in, uint64_t offset, const void *data, size_t length);

/* Ends the task with what was put, cut to the allocation length that its plan found. */
enum scsi_progress data_end(struct data_in *in);

/* Data-out from `offset`, as far as there are any; the number of bytes. */
size_t data_get(const struct scsi_task *task, uint64_t offset, void *data, size_t length);

/* The offset of the first byte that differs from data-out at `offset`; `length` if none does. */
size_t data_compare(const struct scsi_task *task, uint64_t offset, const void *data, size_t length);

/* Plans of commands with parameter data: the list length is in the CDB. */
bool plan_data_in(struct scsi_task *task, unsigned int at, unsigned int size, uint32_t most);
bool plan_data_out(struct scsi_task *task, unsigned int at, unsigned int size, uint32_t most);

/* Fails unless the initiator sends all that the CDB asks for: a part of it is of no use. */
bool plan_all_data(struct scsi_task *task);

/* ---- file.c: blocking input and output, on a worker ---- */

/* The task's segments from `skip`, `length` bytes of them. */
int file_move(struct scsi_task *task, bool write, uint64_t skip, uint64_t at, uint64_t length);

int file_sync(const struct scsi_lun *lun);

/* Makes a range read as zeros, as holes if `unmap` and the file can have them. */
int file_zero(struct scsi_task *task, uint64_t at, uint64_t length, bool unmap);

/* Whether the range at `at` is a hole, and where that ends. */
int file_status(const struct scsi_lun *lun, uint64_t at, bool *hole, uint64_t *end);

/* ---- reserve.c ---- */

/* With the lock: whether the nexus may do the task; else it ends with RESERVATION CONFLICT. */
bool reserve_allows(struct scsi_task *task);

/* With the lock: the reservation by RESERVE(6) ends. */
void reserve_reset(struct scsi_lun *lun);

/* With the lock: what ends with the nexus. */
void reserve_forget(struct scsi_lun *lun, const struct scsi_nexus *nexus);

/* ---- block.c ---- */

/* Finds lba and blocks; fails if they are beyond the end. */
bool plan_range(struct scsi_task *task);

/* ---- the rows ---- */

#define DECLARE_COMMAND(name) \
	bool plan_##name(struct scsi_task *task); \
	enum scsi_progress start_##name(struct scsi_task *task)

/* inquiry.c */
DECLARE_COMMAND(inquiry);
/* unit.c */
DECLARE_COMMAND(ready);
DECLARE_COMMAND(request_sense);
DECLARE_COMMAND(report_luns);
DECLARE_COMMAND(mode_sense);
DECLARE_COMMAND(capacity10);
DECLARE_COMMAND(capacity16);
DECLARE_COMMAND(start_stop);
DECLARE_COMMAND(prevent);
/* command.c */
DECLARE_COMMAND(opcodes);
/* block.c */
DECLARE_COMMAND(read);
DECLARE_COMMAND(write);
DECLARE_COMMAND(verify);
DECLARE_COMMAND(write_verify);
DECLARE_COMMAND(compare);
DECLARE_COMMAND(sync);
DECLARE_COMMAND(prefetch);
/* provision.c */
DECLARE_COMMAND(same);
DECLARE_COMMAND(unmap);
DECLARE_COMMAND(lba_status);
/* reserve.c */
DECLARE_COMMAND(reserve6);
DECLARE_COMMAND(release6);
/* persist.c */
DECLARE_COMMAND(persist_in);
DECLARE_COMMAND(persist_out);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * record -- what the processes of a run tell softverbs-run of their calls: a file that all of them
 * have in memory
 *
 * softverbs-run makes it, and the library maps it when it is loaded: a program closes descriptors
 * that it does not know.  A process without it has one of its own.  Also a part of softverbs-run.
 */
#ifndef SOFT_FAULT_RECORD_H
#define SOFT_FAULT_RECORD_H

#include "softverbs/device/calls.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Of a run; later processes and faults are not recorded. */
#define SOFT_RECORD_PROCESSES 64
#define SOFT_RECORD_FIRED 128

/* What a program has to destroy. */
enum soft_object {
	SOFT_OBJECT_CONTEXT,
	SOFT_OBJECT_PD,
	SOFT_OBJECT_TD,
	SOFT_OBJECT_MR,
	SOFT_OBJECT_MW,
	SOFT_OBJECT_BUFFER,
	SOFT_OBJECT_COMP_CHANNEL,
	SOFT_OBJECT_CQ,
	SOFT_OBJECT_SRQ,
	SOFT_OBJECT_QP,
	SOFT_OBJECT_AH,
	SOFT_OBJECT_EVENT_CHANNEL,
	SOFT_OBJECT_ID,
	SOFT_OBJECTS
};

extern const char *const soft_object_names[SOFT_OBJECTS];

/* The call asks for an event or for completions. */
static inline bool
soft_call_gets(enum soft_call call)
{
	return call == SOFT_CALL_ibv_poll_cq || call == SOFT_CALL_ibv_start_poll ||
	       call == SOFT_CALL_ibv_get_cq_event || call == SOFT_CALL_ibv_get_async_event ||
	       call == SOFT_CALL_rdma_get_cm_event;
}

/* Of a name of a process, "rping-3fa9c2.2+1". */
#define SOFT_PROCESS_NAME 48

struct soft_recorded_process {
	/*
	 * The file of its command, and a digest of the whole line; then the number among those with
	 * the same one, unless it is the first; and the forks that have led to it.  Written once,
	 * and constant when `named` is set.
	 */
	char name[SOFT_PROCESS_NAME];
	atomic_bool named;
	atomic_uint calls[SOFT_CALL_COUNT]; /* that the program has made */
	atomic_uint got[SOFT_CALL_COUNT];   /* how many of these got an event or completions */
	atomic_int objects[SOFT_OBJECTS];   /* that it has */
	atomic_uint slot;		    /* of names.h; 0: it has none yet */
	atomic_bool ended;		    /* by exit() */
};

/* Of the two halves of a rule. */
#define SOFT_RECORD_HEAD 112
#define SOFT_RECORD_TAIL 400

/* The rule with which the same fault fires again: "HEAD:process=NAMETAIL". */
struct soft_recorded_fault {
	uint32_t process;
	atomic_bool written;
	char head[SOFT_RECORD_HEAD]; /* "ibv_create_cq:nth=3" */
	char tail[SOFT_RECORD_TAIL]; /* ":errno=ENOMEM", or "" */
};

struct soft_record {
	uint64_t layout;	 /* SOFT_RECORD_LAYOUT: softverbs-run may be of another release */
	atomic_uint processes;	 /* that have made a call */
	atomic_uint fired;	 /* before it has its effect, which may end the program */
	atomic_uint happened;	 /* of these: incidents */
	atomic_uint undone;	 /* of these: that could happen to nothing */
	atomic_uint undone_late; /* of these: that have no place below */
	/* A process was commanded: the rules that the user gave are not all of them. */
	atomic_bool commanded;
	struct soft_recorded_fault faults[SOFT_RECORD_FIRED];
	struct soft_recorded_process process[SOFT_RECORD_PROCESSES];
};

#define SOFT_RECORD_LAYOUT ((uint64_t)sizeof(struct soft_record) << 16 | SOFT_CALL_COUNT)

/* Never NULL. */
extern struct soft_record *soft_record;

/* What a rule calls the process: its number if the run has no other one, else its name. */
void soft_record_process_name(
    const struct soft_record *record, unsigned int number, char text[SOFT_PROCESS_NAME]);

/* Maps the file; NULL is none.  True if softverbs-run will read it. */
bool soft_record_open(const char *path);

/*
 * The rules with which the same faults fire again: "ibv_create_cq:nth=3:process=1:errno=ENOMEM",
 * separated by commas.  Allocated; NULL if memory is short, or if more have fired than are recorded
 * and the rules that the user gave say the same.
 */
char *soft_record_rules(const struct soft_record *record);

/* How many have fired, and were not undone. */
unsigned int soft_record_fired(const struct soft_record *record);

/* How many have fired that have no rule there. */
unsigned int soft_record_left_out(const struct soft_record *record);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fault -- decides which call of the program fails, and which incident happens
 *
 * SOFTVERBS_FAULTS        rules (rule.h)
 * SOFTVERBS_FAULTS_SEED   of the choices of p=
 * SOFTVERBS_FAULTS_RECORD the file of record.h, of softverbs-run
 * SOFTVERBS_FAULTS_PROCESSES
 *                         the socket of announce.h, of softverbs-run
 * SOFTVERBS_CONTROL       1: commands of softverbs-ctl are taken (command.h)
 *
 * A call of the program is one that enters by an exported name (api/export.c, run/export.c) or by
 * an operation of a context (api/operations.c).  The device itself uses neither.
 *
 * A process without any of the variables has soft_faults false, and pays one branch a call; its
 * operations are those of the device.
 */
#ifndef SOFT_FAULT_FAULT_H
#define SOFT_FAULT_FAULT_H

#include "softverbs/device/calls.h"
#include "record.h"
#include "rule.h"
#include "softverbs/device/soft.h"

#include <infiniband/verbs.h>
#include <stdbool.h>

/* Calls are counted, and some may fail.  Constant after the library was loaded. */
extern bool soft_faults;

/* The same, and there are rules of incidents. */
extern bool soft_faults_have_incidents SOFT_HIDDEN;

/*
 * The device is opened: 0, or -EINVAL if SOFTVERBS_FAULTS is none of rules, or another -errno if
 * there is no thread for what happens at a time.
 */
int soft_faults_open(void) SOFT_NO_RUNTIME_LOCK;

/* The process has a slot now: others name it by that.  0. */
int soft_faults_start(void);

/*
 * The program makes the call: 0, or the error that it fails with, which is also in errno.  The
 * context is the one that the call belongs to, or NULL.
 */
int soft_fault_enter(enum soft_call call, const struct ibv_context *context);

/*
 * The incident may happen here: true, and the rule that lets it.  `unfit` is a value that it cannot
 * have this time, or 0.
 */
bool soft_fault_happens(enum soft_incident incident, const struct ibv_context *context, int unfit,
    struct soft_rule *out);

/* The same for one with a value: 0 if it does not happen. */
int soft_fault_value(enum soft_incident incident, const struct ibv_context *context, int unfit);

/* The same, where there may be no rules of incidents. */
static inline int
soft_fault_now(enum soft_incident incident, const struct ibv_context *context)
{
	return __builtin_expect(soft_faults_have_incidents, false) ?
		   soft_fault_value(incident, context, 0) :
		   0;
}

/*
 * Lets an incident of kind SOFT_OCCURS begin or end; no lock is held.  False if there is nothing
 * that it could happen to.
 */
typedef bool soft_fault_actor(
    enum soft_incident incident, const struct soft_rule *rule, bool begins);

/*
 * The incidents of the rule, of that kind, begin now and are recorded with that time; false if none
 * does.  And they end.  No lock is held.
 */
bool soft_fault_begin(const struct soft_rule *rule, const char *when);
void soft_fault_end(const struct soft_rule *rule);

/* Of the parts above this folder; set before the device is opened. */
void soft_faults_set_actor(soft_fault_actor *actor);

/*
 * An object is made that an incident may happen to: which one of its kind it is; 0 if no rule needs
 * it.
 */
unsigned int soft_fault_made(enum soft_object object);

/* The error of a call that needs the device, after its removal.  What destroys succeeds: 0. */
int soft_fault_of_removal(enum soft_call call);

/* What a call that fails so returns, if that is a number. */
long soft_fault_result(enum soft_call call, int error);

/* Whether this is the result of a call that succeeded. */
bool soft_fault_succeeded(enum soft_call call, long result);

/* The program has got an object, or `change` more, or has destroyed them. */
void soft_fault_count(enum soft_object object, int change);

/*
 * The call was made, and has returned that.  One that asks for an event or a completion, and finds
 * none, does not count: how often a program asks depends on the moment, what it gets does not.
 */
void soft_fault_returned(enum soft_call call, const struct ibv_context *context, long result);

/* In a forked child: it is another process of the run. */
void soft_faults_reset(void);

#endif

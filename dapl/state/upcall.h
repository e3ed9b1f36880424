/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * upcall -- what DAT and the dispatcher have words of their own for, translated
 *
 * Where the values are the same nothing is done but to check that when this is compiled.
 */
#ifndef REARM_DAPL_UPCALL_H
#define REARM_DAPL_UPCALL_H

#include <stddef.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#include "evd/front.h"

#define DAPL_SAME(value, other) \
	_Static_assert((int)(value) == (int)(other), "DAT's value is the dispatcher's")

DAPL_SAME(DAT_UPCALL_TEARDOWN, EVD_POLICY_TEARDOWN);
DAPL_SAME(DAT_UPCALL_DISABLE, EVD_POLICY_DISABLE);
DAPL_SAME(DAT_UPCALL_SINGLE_INSTANCE, EVD_POLICY_SINGLE);
DAPL_SAME(DAT_UPCALL_NOTIFY, EVD_POLICY_NOTIFY);
DAPL_SAME(DAT_UPCALL_MANY, EVD_POLICY_MANY);
DAPL_SAME(DAT_UPCALL_INVOC_NEW, EVD_PENDING_REFUSE);
DAPL_SAME(DAT_UPCALL_INVOC_ANY, EVD_PENDING_CALL);
_Static_assert(DAT_TIMEOUT_INFINITE == EVD_FOREVER && sizeof(DAT_TIMEOUT) == sizeof(uint32_t),
    "a timeout of DAT is one of the dispatcher");

/* An event. */
_Static_assert(sizeof(DAT_EVENT) <= EVD_EVENT_MOST && sizeof(DAT_EVENT) % sizeof(uint64_t) == 0,
    "the dispatcher has room for an event");
_Static_assert(offsetof(DAT_EVENT, event_data) + sizeof(DAT_SOFTWARE_EVENT_DATA) == EVD_EVENT_SHORT,
    "a software event is short");

static inline enum evd_policy
dapl_policy(DAT_UPCALL_POLICY policy)
{
	return (enum evd_policy)policy;
}

static inline enum evd_pending
dapl_pending(DAT_UPCALL_FLAG flag)
{
	return (enum evd_pending)flag;
}

static inline struct evd_upcall
dapl_upcall(const DAT_UPCALL_OBJECT *object)
{
	return (struct evd_upcall){
		.instance = object->instance_data,
		.function = (void (*)(void))object->upcall_func,
	};
}

/* An object that is for no event has no function here. */
static inline struct evd_upcall
dapl_upcall_array(const DAT_UPCALL_ARRAY_OBJECT *object)
{
	if (object->max_events < 1)
		return (struct evd_upcall){ .most = 1 };
	return (struct evd_upcall){
		.instance = object->instance_data,
		.function = (void (*)(void))object->upcall_func,
		.most = (unsigned int)object->max_events,
	};
}

/* The functions with which EVDs make their upcalls; see struct evd_config. */
static inline void
dapl_make_upcall(void *instance, const void *event, int more, void (*function)(void))
{
	((DAT_UPCALL_FUNC)function)(instance, event, (DAT_BOOLEAN)more);
}

static inline void
dapl_make_upcall_array(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	((DAT_UPCALL_ARRAY_FUNC)upcall->function)(
	    instance, events, (DAT_COUNT)n, (DAT_BOOLEAN)more);
}

/* The counters of DAT are those of the dispatcher, in the same order. */
#define DAPL_COUNTER(name, own) \
	_Static_assert( \
	    offsetof(struct dat_rearm_evd_counters, name) == offsetof(struct evd_counters, own), \
	    "DAT's counter is the dispatcher's")

DAPL_COUNTER(dto_events, completions);
DAPL_COUNTER(connection_events, connections);
DAPL_COUNTER(cr_events, requests);
DAPL_COUNTER(software_events, software);
DAPL_COUNTER(async_events, asyncs);
DAPL_COUNTER(upcalls, upcalls);
DAPL_COUNTER(notifications, notifications);
DAPL_COUNTER(spurious_notifications, spurious_notifications);
DAPL_COUNTER(arms, arms);
DAPL_COUNTER(arm_failures, arm_failures);
DAPL_COUNTER(races_closed, races_closed);
DAPL_COUNTER(busy_skips, busy_skips);
DAPL_COUNTER(overflows, overflows);
DAPL_COUNTER(max_depth, max_depth);
_Static_assert(sizeof(struct dat_rearm_evd_counters) == sizeof(struct evd_counters),
    "DAT has all counters of the dispatcher");

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "hold.h"
#include "id.h"
#include "softverbs/device/changes.h"
#include "softverbs/fault/fault.h"

#include <stdlib.h>

/* Further ones are lost. */
#define HELD_MAX 4096

struct held {
	STAILQ_ENTRY(held) next;
	struct soft_held held;
};

static STAILQ_HEAD(, held) list = STAILQ_HEAD_INITIALIZER(list);
static unsigned int count;

static void
hold_add(bool input, unsigned int slot, bool incoming, const struct soft_cm_message *message)
{
	struct held *held = count < HELD_MAX ? malloc(sizeof *held) : NULL;

	if (!held)
		return;
	held->held = (struct soft_held){ input, incoming, slot, *message };
	STAILQ_INSERT_TAIL(&list, held, next);
	count++;
}

/* A rule lets the message be lost, and all that would repeat it. */
static bool
hold_loses(const struct soft_cm_message *message)
{
	static const enum soft_incident incidents[] = {
		[SOFT_CM_REQ] = SOFT_INCIDENT_LOST_REQ,
		[SOFT_CM_REP] = SOFT_INCIDENT_LOST_REP,
		[SOFT_CM_RTU] = SOFT_INCIDENT_LOST_RTU,
		[SOFT_CM_REJ] = SOFT_INCIDENT_LOST_REJ,
		[SOFT_CM_DREQ] = SOFT_INCIDENT_LOST_DREQ,
		[SOFT_CM_DREP] = SOFT_INCIDENT_LOST_DREP,
	};
	struct soft_rule rule;

	return (size_t)message->type < sizeof incidents / sizeof *incidents &&
	       soft_fault_happens(incidents[message->type], NULL, 0, &rule);
}

/* Whether the port is down of the id of that number, or the one that a request comes to. */
static bool
hold_is_down(uint32_t number, const struct soft_cm_message *request) REQUIRES(soft_locks.cm)
{
	const struct soft_id *id = soft_troubles(SOFT_TROUBLE_DOWN) ? soft_id_find(number) : NULL;
	const struct soft_device_port *port = id ? id->port : NULL;

	if (!soft_troubles(SOFT_TROUBLE_DOWN))
		return false;
	if (!id && request && request->type == SOFT_CM_REQ)
		port = soft_topology_find_ip((const struct sockaddr *)&request->target);
	return port && soft_port_is_down(port);
}

bool
soft_hold_output(unsigned int slot, bool incoming, const struct soft_cm_message *message)
{
	if (__builtin_expect(!soft_faults_have_incidents, true))
		return false;
	return hold_loses(message) || soft_hold_again(slot, incoming, message);
}

bool
soft_hold_again(unsigned int slot, bool incoming, const struct soft_cm_message *message)
{
	if (!soft_is_cut(SOFT_TROUBLE_OUT, slot) && !hold_is_down(message->from, NULL))
		return false;
	hold_add(false, slot, incoming, message);
	return true;
}

bool
soft_hold_input(const struct soft_cm_message *message)
{
	if (!soft_is_cut(SOFT_TROUBLE_IN, message->from_slot) &&
	    !hold_is_down(message->to, message))
		return false;
	hold_add(true, message->from_slot, message->incoming, message);
	return true;
}

unsigned int
soft_hold_count(void)
{
	return count;
}

void
soft_hold_take(struct soft_held *out)
{
	struct held *held = STAILQ_FIRST(&list);

	STAILQ_REMOVE_HEAD(&list, next);
	count--;
	*out = held->held;
	free(held);
}

void
soft_hold_reset(void) UNCHECKED
{
	STAILQ_INIT(&list); /* the memory is the parent's */
	count = 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "occur.h"
#include "compose.h"
#include "softverbs/cm/occur.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/context.h"
#include "softverbs/fault/process.h"
#include "softverbs/qp/heal.h"
#include "softverbs/qp/held.h"
#include "softverbs/qp/memlock.h"
#include "softverbs/qp/occur.h"

/* An event of devices or of ports, for each context of them. */
struct raised {
	enum ibv_event_type type;
	soft_ports ports;
	bool some;
};

/* A context of a device that has failed or was removed has no event after that one. */
static void
occur_raise_in(struct soft_context *ctx, void *arg) SOFT_NO_EVENT_LOCK
{
	const struct soft_device *device = &soft_topology()->devices[ctx->index];
	struct raised *raised = arg;
	bool of_device = false;

	if (raised->type == IBV_EVENT_DEVICE_FATAL ? !soft_context_ends(ctx) :
						     soft_context_is_removed(ctx))
		return;
	for (unsigned int i = 0; i < device->attr.phys_port_cnt; i++) {
		if (!soft_ports_have(raised->ports, &device->ports[i]))
			continue;
		of_device = raised->some = true;
		if (raised->type != IBV_EVENT_DEVICE_FATAL)
			soft_async_raise(ctx, &ctx->ports[i], raised->type);
	}
	if (of_device && raised->type == IBV_EVENT_DEVICE_FATAL)
		soft_async_raise(ctx, &ctx->device, raised->type);
}

/* False if there is no context of them. */
static bool
occur_raise(enum ibv_event_type type, soft_ports ports)
{
	struct raised raised = { type, ports, false };

	(void)soft_runtime_each_now(occur_raise_in, &raised);
	return raised.some;
}

/* ---- links ---- */

/* Messages pass again. */
static void
occur_heal(void)
{
	soft_held_release();
	soft_heal();
	soft_cm_release();
	soft_compose_hold(soft_troubles(SOFT_TROUBLE_IN));
}

static void
occur_slow(unsigned int trouble, bool begins)
{
	if (begins) {
		soft_trouble_begin(trouble);
		return;
	}
	soft_trouble_end(trouble);
	occur_heal();
}

/* False if the process that a rule names is not there yet. */
static bool
occur_cut(const struct soft_rule *rule, bool begins)
{
	const unsigned int ways =
	    (rule->in ? 0 : SOFT_TROUBLE_OUT) | (rule->out ? 0 : SOFT_TROUBLE_IN);
	const unsigned int slot = soft_fault_peer(rule);

	if (soft_rule_has_peer(rule) && !slot)
		return false;
	if (begins) {
		soft_compose_hold(true);
		soft_cut_begin(ways, slot);
		return true;
	}
	soft_cut_end(ways, slot);
	occur_heal();
	return true;
}

/* ---- devices ---- */

static bool
occur_to_ports(soft_ports ports, bool down)
{
	soft_ports_set_down(ports, down);
	if (!down)
		occur_heal();
	(void)occur_raise(down ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE, ports);
	return true;
}

static void
occur_close_channels(struct soft_context *ctx, void *unused) SOFT_NO_EVENT_LOCK
{
	(void)unused;
	if (soft_context_is_removed(ctx))
		soft_channels_close(ctx);
}

/* A device that has failed is away as one that was removed. */
static bool
occur_remove(soft_ports ports, bool seen_by_ids)
{
	const soft_ports removed = soft_devices_remove(ports);

	if (!removed)
		return false;
	if (seen_by_ids)
		soft_cm_occur_removal(removed);
	(void)occur_raise(IBV_EVENT_DEVICE_FATAL, removed);
	soft_qp_fail_all(removed);
	(void)soft_runtime_each_now(occur_close_channels, NULL);
	return true;
}

/* Those that are there once change something for ever. */
bool
soft_occur(enum soft_incident incident, const struct soft_rule *rule, bool begins)
{
	const soft_ports ports = soft_ports_of(rule->device, rule->port);
	const soft_ports there = soft_ports_there(ports), managed = soft_ports_managed(there);

	switch (incident) {
	case SOFT_INCIDENT_PORT_ERR:
		/* What was down for a time comes up, also of a device that went meanwhile. */
		return begins ? there && occur_to_ports(there, true) : occur_to_ports(ports, false);
	case SOFT_INCIDENT_PORT_ACTIVE:
		return there && occur_to_ports(there, false);
	case SOFT_INCIDENT_LID_CHANGE:
		soft_ports_change_lid(managed);
		soft_trouble_begin(SOFT_TROUBLE_MOVED);
		return occur_raise(IBV_EVENT_LID_CHANGE, managed);
	case SOFT_INCIDENT_GID_CHANGE:
		soft_ports_change_gid(there);
		soft_trouble_begin(SOFT_TROUBLE_MOVED);
		return occur_raise(IBV_EVENT_GID_CHANGE, there);
	case SOFT_INCIDENT_PKEY_CHANGE:
		soft_ports_change_pkey(managed);
		return occur_raise(IBV_EVENT_PKEY_CHANGE, managed);
	case SOFT_INCIDENT_SM_CHANGE:
		soft_ports_change_sm(managed);
		return occur_raise(IBV_EVENT_SM_CHANGE, managed);
	case SOFT_INCIDENT_CLIENT_REREGISTER:
		return occur_raise(IBV_EVENT_CLIENT_REREGISTER, managed);
	case SOFT_INCIDENT_UNREACHABLE_LATER:
		return soft_cm_occur_unreachable(rule->of);
	case SOFT_INCIDENT_DISCONNECTED:
		return soft_cm_occur_disconnected(rule->of);
	case SOFT_INCIDENT_DEVICE_REMOVAL:
	case SOFT_INCIDENT_DEVICE_FATAL:
		return begins ? occur_remove(ports, incident == SOFT_INCIDENT_DEVICE_REMOVAL) :
				soft_devices_add(ports) != 0;
	case SOFT_INCIDENT_ARRIVAL:
		return soft_devices_add(ports);
	case SOFT_INCIDENT_LINK_CUT:
		return occur_cut(rule, begins);
	case SOFT_INCIDENT_LINK_HEAL:
		soft_links_heal();
		occur_heal();
		return true;
	case SOFT_INCIDENT_LINK_DELAY:
		soft_delay_set(rule->time);
		occur_slow(SOFT_TROUBLE_DELAY, begins);
		return true;
	case SOFT_INCIDENT_LINK_RATE:
		soft_rate_set(rule->rate);
		occur_slow(SOFT_TROUBLE_RATE, begins);
		return true;
	case SOFT_INCIDENT_MEMORY_LIMIT:
		soft_memlock_set_limit(begins ? rule->bytes : 0);
		return true;
	case SOFT_INCIDENT_LINK_RNR:
		occur_slow(SOFT_TROUBLE_RNR, begins);
		return true;
	default:
		return begins && soft_qp_occur(incident, rule->of);
	}
}

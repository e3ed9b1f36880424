/* SPDX-License-Identifier: BSD-3-Clause */
#include "occur.h"
#include "softverbs/cm/occur.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/context.h"
#include "softverbs/qp/heal.h"
#include "softverbs/qp/occur.h"

static void
occur_raise_in(struct soft_context *ctx, int type) SOFT_NO_EVENT_LOCK
{
	soft_async_raise(ctx, &ctx->device, (enum ibv_event_type)type);
}

/* An event of the device or its port, for each context; false if there is none. */
static bool
occur_raise(enum ibv_event_type type)
{
	return soft_runtime_each_now(occur_raise_in, (int)type);
}

static void
occur_trouble(unsigned int trouble, bool begins)
{
	if (begins) {
		soft_trouble_begin(trouble);
		return;
	}
	soft_trouble_end(trouble);
	soft_heal();
	soft_cm_release();
}

static void
occur_to_port(bool down)
{
	if (down)
		occur_trouble(SOFT_TROUBLE_DOWN, true);
	/* Whatever it was that the port was down for. */
	while (!down && soft_troubles(SOFT_TROUBLE_DOWN))
		occur_trouble(SOFT_TROUBLE_DOWN, false);
	(void)occur_raise(down ? IBV_EVENT_PORT_ERR : IBV_EVENT_PORT_ACTIVE);
}

/* Those that are there once change something for ever. */
bool
soft_occur(enum soft_incident incident, const struct soft_rule *rule, bool begins)
{
	switch (incident) {
	case SOFT_INCIDENT_PORT_ERR:
		occur_to_port(begins);
		return true;
	case SOFT_INCIDENT_PORT_ACTIVE:
		occur_to_port(false);
		return true;
	case SOFT_INCIDENT_LID_CHANGE:
		soft_port_change_lid();
		soft_trouble_begin(SOFT_TROUBLE_MOVED);
		return occur_raise(IBV_EVENT_LID_CHANGE);
	case SOFT_INCIDENT_GID_CHANGE:
		soft_port_change_gid();
		soft_trouble_begin(SOFT_TROUBLE_MOVED);
		return occur_raise(IBV_EVENT_GID_CHANGE);
	case SOFT_INCIDENT_PKEY_CHANGE:
		soft_port_change_pkey();
		return occur_raise(IBV_EVENT_PKEY_CHANGE);
	case SOFT_INCIDENT_SM_CHANGE:
		soft_port_change_sm();
		return occur_raise(IBV_EVENT_SM_CHANGE);
	case SOFT_INCIDENT_CLIENT_REREGISTER:
		return occur_raise(IBV_EVENT_CLIENT_REREGISTER);
	case SOFT_INCIDENT_UNREACHABLE_LATER:
		return soft_cm_occur_unreachable(rule->of);
	case SOFT_INCIDENT_DEVICE_REMOVAL:
	case SOFT_INCIDENT_DEVICE_FATAL:
		soft_device_remove();
		if (incident == SOFT_INCIDENT_DEVICE_REMOVAL)
			soft_cm_occur_removal();
		(void)occur_raise(IBV_EVENT_DEVICE_FATAL);
		soft_qp_fail_all();
		return true;
	case SOFT_INCIDENT_LINK_CUT:
		occur_trouble(rule->out ? SOFT_TROUBLE_OUT : SOFT_TROUBLE_CUT, begins);
		return true;
	case SOFT_INCIDENT_LINK_DELAY:
		soft_delay_set(rule->time);
		occur_trouble(SOFT_TROUBLE_DELAY, begins);
		return true;
	case SOFT_INCIDENT_LINK_RNR:
		occur_trouble(SOFT_TROUBLE_RNR, begins);
		return true;
	default:
		return begins && soft_qp_occur(incident, rule->of);
	}
}

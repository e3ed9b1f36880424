/* SPDX-License-Identifier: BSD-3-Clause */
#include "reset.h"
#include "call.h"
#include "cm.h"
#include "event.h"
#include "hold.h"
#include "id.h"
#include "port.h"
#include "service.h"
#include "shared.h"
#include "timewait.h"
#include "wait.h"

void
soft_cm_reset(void)
{
	soft_cm_lock_reset();
	soft_events_reset();
	soft_cm_device_reset();
	soft_hold_reset();
	soft_services_reset();
	soft_ports_reset();
	soft_call_reset();
	soft_ids_reset();
	soft_wait_reset();
	soft_timewait_reset();
}

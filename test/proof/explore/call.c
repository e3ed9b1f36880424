/* SPDX-License-Identifier: BSD-3-Clause */
/* call -- what a call may answer in its situation */
#include "call.h"
#include "world.h"

bool
call_explained(int r)
{
	switch (r) {
	case -EINTR:
		return world_faults & FAULT_EINTR;
	case WORLD_CANCELLED:
		return world_faults & FAULT_CANCEL;
	case -EIO:
		return world_faults & (FAULT_ARM | FAULT_POLL | FAULT_EXCESS);
	case -ENOMEM:
		return world_faults & FAULT_ALLOC;
	case -EMFILE:
		return world_faults & FAULT_OPEN;
	case -ENOSPC:
		return world_faults & FAULT_EPOLL;
	case -EAGAIN:
		return world_faults & FAULT_THREAD;
	default:
		return false;
	}
}

void
call_result(const char *what, int r, bool allowed)
{
	trace_note("%s: %d", what, r);
	if (r > 0 || (r < 0 && !allowed && !call_explained(r)))
		violation("%s: unexpected result %d", what, r);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "trouble.h"
#include "sq.h"

uint32_t
soft_trouble_moves(const struct soft_qp *qp)
{
	return soft_ports_moved(qp->port, qp->route, qp->attr.ah_attr.is_global);
}

bool
soft_trouble_is_lost(const struct soft_qp *qp)
{
	return qp->moves != soft_trouble_moves(qp);
}

bool
soft_trouble_stops(const struct soft_qp *qp, unsigned int way, unsigned int slot)
{
	return soft_trouble_is_down(qp) || soft_is_cut(way, slot) ||
	       (soft_troubles(SOFT_TROUBLE_MOVED) && soft_trouble_is_lost(qp));
}

bool
soft_trouble_delays(struct soft_qp *qp, struct soft_send *send)
{
	const uint64_t now = soft_now();

	if (now >= send->due) {
		send->due = 0;
		return false;
	}
	qp->sq.stall = SOFT_STALLED_DELAY;
	soft_sq_start_timer(qp, send->due - now);
	return true;
}

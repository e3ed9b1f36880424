/* SPDX-License-Identifier: BSD-3-Clause */
/* origin: out33.Y2 */
/*
 * As closes-all, but a completion that the queue holds back wakes the thread of the device before
 * the device is closed.
 */
#include "softverbs/test/pair.h"

#include <unistd.h>

int
main(void)
{
	struct ibv_modify_cq_attr held = {
		.attr_mask = IBV_CQ_ATTR_MODERATE,
		.moderate = { .cq_count = 8, .cq_period = 50000 },
	};

	alarm(60);
	pair_open();
	end_open(&third, cq, 0);
	end_open(&fourth, queue_create(NULL), 0);
	end_connect(&third, &fourth, 4, 7);
	must(!ibv_modify_cq(cq, &held), "ibv_modify_cq");
	arm(cq);
	post_send(&third, IBV_SEND_SIGNALED);
	for (int fd = 3; fd < 1024; fd++)
		close(fd);
	usleep(200000);
	ends_close(&third, &fourth);
	return 0;
}

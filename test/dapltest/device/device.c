/* SPDX-License-Identifier: BSD-3-Clause */
#include "device.h"

#include "fault/fault.h"

const struct runner_case device_case = { .teardown = fault_clear, .outer = &dt_case };

void
device_pair_open(struct dt_pair *pair)
{
	dt_side_open(&pair->a, "faulty", DT_SEPARATE);
	dt_side_open(&pair->b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair->b);
}

DAT_RETURN
device_try_connect(struct dt_pair *pair)
{
	return dat_ep_connect(pair->a.ep, dt_address(pair->b.ia), pair->b.qual,
	    DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

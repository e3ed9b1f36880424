/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/ia/cq_arm.h"

#include <errno.h>

#include "dapl/object/cancel.h"

int
dapl_cq_arm(struct ibv_cq *cq, bool solicited_only)
{
	/*
	 * The error is the return value, errno may be unset. There is no hint about completions
	 * that came before the arm.
	 */
	const int state = dapl_post_begin();
	const int r = ibv_req_notify_cq(cq, solicited_only);

	dapl_post_end(state);
	return r ? -r : 1;
}

int
dapl_cq_arm_option(const char *word)
{
	(void)word;
	return -ENOENT;
}

void
dapl_cq_arm_prepare(void)
{
}

const char *
dapl_cq_arm_complaint(void)
{
	return NULL;
}

bool
dapl_cq_arm_is_soft(void)
{
	return false;
}

int64_t
dapl_cq_arm_stalls(const struct ibv_cq *cq)
{
	(void)cq;
	return -1;
}

void
dapl_cq_arm_tell_stalls(void (*place)(unsigned int qp_num))
{
	(void)place;
}

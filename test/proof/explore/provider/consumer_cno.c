/* SPDX-License-Identifier: BSD-3-Clause */
/* consumer_cno -- what a consumer does with CNOs, by the provider's calls */
#include "play.h"

static bool
cno_may_go(DAT_RETURN ret)
{
	return DAT_GET_TYPE(ret) == DAT_INVALID_HANDLE && play_has(DO_CNO_FREE);
}

void
consumer_attach(struct play_evd *evd, const struct play_cno *cno)
{
	DAT_RETURN ret = dapl_evd_modify_cno(evd->handle, cno ? cno->handle : DAT_HANDLE_NULL);

	sched_step(OP_EVENT);
	consumer_result("modify_cno", ret, consumer_evd_may_go(ret) || cno_may_go(ret));
}

void
consumer_cno_wait(struct play_cno *cno, int us, unsigned int *drained)
{
	const DAT_TIMEOUT timeout = us < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)us;
	DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
	DAT_RETURN ret;

	cno->inside_wait |= fiber_bit(sched.self);
	ret = dapl_cno_wait(cno->handle, timeout, &handle);
	cno->inside_wait &= ~fiber_bit(sched.self);
	sched_step(OP_EVENT);
	consumer_result("cno_wait", ret, cno_may_go(ret) ||
	    (DAT_GET_TYPE(ret) == DAT_QUEUE_EMPTY && us >= 0));
	for (int i = 0; ret == DAT_SUCCESS && i < play.scenario->n_evds; i++)
		if (play.evds[i].handle == handle)
			*drained += consumer_drain(&play.evds[i]);
}

void
consumer_serve(struct play_cno *cno, int n)
{
	unsigned int got = 0;

	while (got < (unsigned int)n)
		consumer_cno_wait(cno, -1, &got);
}

void
consumer_cno_free(struct play_cno *cno)
{
	DAT_RETURN ret = dapl_cno_free(cno->handle);

	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		cno->freed = true;
	consumer_result("cno_free", ret, DAT_GET_TYPE(ret) == DAT_INVALID_STATE ||
	    DAT_GET_TYPE(ret) == DAT_INVALID_HANDLE);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* consumer_cno -- what a consumer does with CNOs, by the provider's calls */
#include "play.h"

static struct play_cno_life *
meant(struct play_cno *cno)
{
	const int8_t acting = play.acting[play_self()];

	return &cno->lives[acting < 0 ? cno->life : play.knows_cno[acting][cno->index]];
}

DAT_CNO_HANDLE
consumer_cno_handle(struct play_cno *cno)
{
	return meant(cno)->handle;
}

static bool
may_go(const struct play_cno_life *cno, DAT_RETURN ret)
{
	return consumer_gone(ret, cno->over, DO_CNO_FREE, DO_CNO_ABRUPT);
}

static DAT_RETURN
wait(struct play_cno_life *cno, int us, unsigned int *drained)
{
	const DAT_TIMEOUT timeout = us < 0 ? DAT_TIMEOUT_INFINITE : (DAT_TIMEOUT)us;
	DAT_EVD_HANDLE handle = DAT_HANDLE_NULL;
	const bool over = cno->over;
	DAT_RETURN ret;

	if (!over && cno == play_cno_life(cno->cno))
		cno->cno->inside_wait |= fiber_bit(sched.self);
	ret = dapl_cno_wait(cno->handle, timeout, &handle);
	cno->cno->inside_wait &= ~fiber_bit(sched.self);
	sched_step(OP_EVENT);
	consumer_too_late("cno_wait", ret, over);
	consumer_result("cno_wait", ret,
	    may_go(cno, ret) ||
		(consumer_is(ret, DAT_INVALID_STATE) &&
		    (play.closing || play.scenario->verbs[DO_CNO_FREE])) ||
		(consumer_is(ret, DAT_QUEUE_EMPTY) && us >= 0));
	for (int i = 0; ret == DAT_SUCCESS && i < play.scenario->n_evds; i++)
		for (unsigned int l = 1; l <= play.evds[i].life; l++)
			if (handle && play.evds[i].lives[l].handle == handle)
				*drained += consumer_drain(&play.evds[i].lives[l]);
	return ret;
}

static void
serve(struct play_cno_life *cno, int n)
{
	unsigned int got = 0;

	while (got < (unsigned int)n)
		if (wait(cno, -1, &got) != DAT_SUCCESS || play.closing)
			return;
}

static void
free_cno(struct play_cno_life *cno)
{
	const bool over = cno->over;
	DAT_RETURN ret = dapl_cno_free(cno->handle);

	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS) {
		if (cno->cno->in_agent > play.agents[play_self()][cno->cno->index])
			violation(
			    "free of CNO %c returned while its agent runs", 'n' + cno->cno->index);
		cno->over = true;
	}
	consumer_too_late("cno_free", ret, over);
	consumer_result("cno_free", ret, consumer_is(ret, DAT_INVALID_STATE) || may_go(cno, ret));
}

static void
reopen(struct play_cno *cno)
{
	DAT_RETURN ret;

	if (!play_cno_life(cno)->over || cno->opening)
		return;
	cno->opening = true;
	ret = play_open_cno(cno->index);
	cno->opening = false;
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS)
		play.knows_cno[play.acting[play_self()]][cno->index] = (uint8_t)cno->life;
	consumer_result("cno_create", ret, consumer_gone(ret, false, DO_IA_CLOSE, DO_IA_CLOSE));
}

static void
install(struct play_cno_life *cno, bool installed)
{
	const DAT_OS_WAIT_PROXY_AGENT agent = { installed ? cno : NULL,
		installed ? consumer_agent : NULL };
	const bool over = cno->over;
	DAT_RETURN ret = dapl_cno_modify_agent(cno->handle, agent);

	sched_step(OP_EVENT);
	consumer_too_late("modify_agent", ret, over);
	consumer_result("modify_agent", ret, may_go(cno, ret));
}

static void
query(struct play_cno_life *cno)
{
	const bool over = cno->over;
	DAT_CNO_PARAM param;
	DAT_RETURN ret = dapl_cno_query(cno->handle, DAT_CNO_FIELD_ALL, &param);

	sched_step(OP_EVENT);
	consumer_too_late("cno_query", ret, over);
	if (ret == DAT_SUCCESS && param.proxy_type == DAT_PROXY_TYPE_AGENT &&
	    param.proxy.agent.proxy_agent_func && param.proxy.agent.instance_data != cno)
		violation("cno_query returns the agent of another CNO");
	consumer_result("cno_query", ret, may_go(cno, ret));
}

void
consumer_act_cno(const struct action *a)
{
	struct play_cno *named = &play.cnos[a->object];
	struct play_cno_life *cno = meant(named);
	unsigned int drained = 0;

	switch (a->verb) {
	case DO_SERVE:
		serve(cno, a->n);
		break;
	case DO_CNO_WAIT:
		(void)wait(cno, a->us, &drained);
		break;
	case DO_AGENT:
	case DO_NO_AGENT:
		install(cno, a->verb == DO_AGENT);
		break;
	case DO_CNO_FREE:
		free_cno(cno);
		break;
	case DO_CNO_REOPEN:
		reopen(named);
		break;
	case DO_CNO_SEE:
		play.knows_cno[play.acting[play_self()]][named->index] = (uint8_t)named->life;
		break;
	case DO_CNO_QUERY:
		query(cno);
		break;
	default:
		break;
	}
}

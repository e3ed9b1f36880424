/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * consumer_ia -- a consumer closes its adapter, in the midst of everything
 *
 * When an adapter's close returns no code of the consumer runs for it, but for the upcalls and
 * agents that the caller is itself inside of; what freed its own object counts until it returns.
 */
#include "play.h"

static void
check_finished(void)
{
	for (int i = 0; i < play.scenario->n_evds; i++)
		if (play.evds[i].running > play.frames[play_self()][i])
			violation(
			    "I6: the adapter was closed while an upcall of EVD %c runs", 'a' + i);
	for (int i = 0; i < play.scenario->n_cnos; i++)
		if (play.cnos[i].in_agent > play.agents[play_self()][i])
			violation(
			    "I6: the adapter was closed while the agent of CNO %c runs", 'n' + i);
}

/* Whether the consumer has freed all that it had. */
static bool
nothing_left(void)
{
	const struct scenario *s = play.scenario;

	for (int i = 0; i < s->n_evds; i++)
		if (!s->evds[i].async && !play_evd_life(&play.evds[i])->over)
			return false;
	for (int i = 0; i < s->n_cnos; i++)
		if (!play_cno_life(&play.cnos[i])->over)
			return false;
	return s->n_eps == 0; /* with a protection zone, which is not freed */
}

/* Whether it has something that it frees in no schedule. */
static bool
something_stays(void)
{
	const struct scenario *s = play.scenario;

	return s->n_eps > 0 || (s->n_cnos > 0 && !play_has(DO_CNO_FREE)) ||
	       (s->n_evds > 0 && !s->evds[0].async && !play_has(DO_FREE));
}

static void
all_over(void)
{
	for (int i = 0; i < play.scenario->n_evds; i++)
		for (unsigned int l = 1; l <= play.evds[i].life; l++)
			play.evds[i].lives[l].over = play.evds[i].lives[l].stopped = true;
	for (int i = 0; i < play.scenario->n_cnos; i++)
		for (unsigned int l = 1; l <= play.cnos[i].life; l++)
			play.cnos[i].lives[l].over = true;
	for (int i = 0; i < play.scenario->n_eps; i++) {
		play.eps[i].freed = true;
		play_life(&play.eps[i])->over_at = sched.steps ? sched.steps : 1;
	}
}

void
consumer_close(DAT_CLOSE_FLAGS flags)
{
	const bool graceful = flags == DAT_CLOSE_GRACEFUL_FLAG, idle = nothing_left();
	const bool closed = play.closed;
	DAT_RETURN ret;

	for (int i = 0; i < play.scenario->n_eps; i++)
		judge_ending(&play.eps[i]);
	play.closing++;
	ret = dapl_ia_close(play.ia, flags);
	sched_step(OP_EVENT);
	if (ret == DAT_SUCCESS) {
		if (closed)
			violation("the adapter is closed twice");
		if (graceful && something_stays())
			violation("a graceful close ends what the consumer did not free");
		check_finished();
		play.closed = true;
		all_over();
		sched_changed();
	}
	if (consumer_is(ret, DAT_INVALID_STATE)) {
		if (idle)
			violation("a graceful close is refused, and the consumer has nothing left");
		play.closing--; /* there was something left */
	}
	consumer_result("ia_close", ret,
	    consumer_is(ret, DAT_INVALID_HANDLE) ||
		(graceful && consumer_is(ret, DAT_INVALID_STATE)));
}

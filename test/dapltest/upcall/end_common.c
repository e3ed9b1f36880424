/* SPDX-License-Identifier: BSD-3-Clause */
#include "end.h"

static _Atomic(bool) released;

void
end_open(struct dt_side *side, const char *name)
{
	memset(side, 0, sizeof *side);
	side->ia = dt_open(name, &side->async);
}

void
end_closes(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	dt_ok(dat_ia_close(up->ia, DAT_CLOSE_ABRUPT_FLAG));
}

void
end_await_freeing(DAT_HANDLE object)
{
	DAT_HANDLE_TYPE type;

	for (int ms = 0; dat_get_handle_type(object, &type) == DAT_SUCCESS; ms++) {
		ck_assert_int_lt(ms, DT_FOREVER_MS);
		dt_nap_ms(1);
	}
	dt_nap_ms(10); /* usually it waits by then */
}

void *
end_frees_evd(void *evd)
{
	return (void *)(uintptr_t)dat_evd_free(evd);
}

void
end_join(pthread_t thread)
{
	void *ret;

	pthread_join(thread, &ret);
	dt_ok((DAT_RETURN)(uintptr_t)ret);
}

DAT_RETURN
end_step(DAT_IA_HANDLE ia, int timeout_ms)
{
	DAT_COUNT done;

	return dat_ia_step(ia, timeout_ms, &done);
}

void
end_hold_all(void)
{
	released = false;
}

void
end_runs_on(void)
{
	for (int i = 0; !released && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
}

void
end_frees_and_runs_on(struct up *up, const DAT_EVENT *event)
{
	(void)event;
	dt_ok(dat_evd_free(up->evd));
	end_runs_on();
}

/* Usually while a close is in progress. */
static void *
release_later(void *ms)
{
	dt_nap_ms((unsigned int)(uintptr_t)ms);
	released = true;
	return NULL;
}

pthread_t
end_release_in(unsigned int ms)
{
	end_hold_all();
	return up_thread(release_later, (void *)(uintptr_t)ms);
}

static void
call_agent(DAT_PVOID instance, DAT_EVD_HANDLE evd)
{
	struct end_agent *agent = instance;

	(void)evd;
	agent->entered++;
	for (int i = 0; agent->gate && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
	agent->act(agent);
	agent->returned++;
}

void
end_agent_open(struct end_agent *agent, void (*act)(struct end_agent *agent))
{
	const DAT_OS_WAIT_PROXY_AGENT proxy = { agent, call_agent };
	struct dt_side side;

	end_open(&side, "soft");
	*agent = (struct end_agent){ .ia = side.ia, .gate = true, .act = act };
	dt_ok(dat_cno_create(agent->ia, proxy, &agent->cno));
	dt_ok(dat_evd_create(agent->ia, 8, agent->cno, DAT_EVD_SOFTWARE_FLAG, &agent->evd));
	dt_post_se(agent->evd, 0);
	dt_await_count(&agent->entered, 1);
}

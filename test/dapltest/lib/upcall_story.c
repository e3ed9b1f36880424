/* SPDX-License-Identifier: BSD-3-Clause */
#include "upcall_story.h"

#define QUIET_MS 8
#define PROBE 0x5eed

const DAT_UPCALL_POLICY up_policies[UP_POLICIES] = { DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_MANY,
	DAT_UPCALL_NORIFY, DAT_UPCALL_DISABLE, DAT_UPCALL_TEARDOWN };

bool
up_calls(DAT_UPCALL_POLICY policy)
{
	return policy != DAT_UPCALL_DISABLE && policy != DAT_UPCALL_TEARDOWN;
}

/* ---- the upcall ---- */

DAT_UINT64
up_value(const DAT_EVENT *event)
{
	switch (event->event_number) {
	case DAT_SOFTWARE_EVENT:
		return (DAT_UINT64)(uintptr_t)event->event_data.software_event_data.pointer;
	case DAT_DTO_COMPLETION_EVENT:
		return event->event_data.dto_completion_event_data.user_cookie.as_64;
	default:
		return 0;
	}
}

static void
note(struct up *up, const DAT_EVENT *event, DAT_BOOLEAN more, bool taken)
{
	/* One caller at a time writes in order; under MANY the order is that of the entries. */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

	pthread_mutex_lock(&lock);
	ck_assert_int_lt(up->noted, UP_NOTES);
	up->notes[up->noted] = (struct up_note){ .event = *event,
		.more = more,
		.taken = taken,
		.thread = pthread_self(),
		.instance = up };
	up->noted++;
	pthread_mutex_unlock(&lock);
}

void
up_note_taken(struct up *up, const DAT_EVENT *event)
{
	note(up, event, DAT_FALSE, true);
}

void
up_upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	void (*act)(struct up *, const DAT_EVENT *);
	struct up *up = instance;
	int inside, most;

	if (event)
		note(up, event, more, false);
	else
		up->nulls++;
	inside = ++up->inside;
	most = up->most_inside;
	while (inside > most && !atomic_compare_exchange_strong(&up->most_inside, &most, inside))
		;
	up->entered++;
	for (int i = 0; up->gate && i < DT_FOREVER_MS; i++)
		dt_nap_ms(1);
	act = up->act;
	if (act)
		act(up, event);
	up->inside--;
	up->returned++;
}

void
up_drain(struct up *up, const DAT_EVENT *event)
{
	DAT_EVENT next;

	(void)event;
	while (dat_evd_dequeue(up->evd, &next) == DAT_SUCCESS)
		up_note_taken(up, &next);
}

void
up_take_reported(struct up *up, const DAT_EVENT *event)
{
	DAT_EVENT next;

	if (event)
		return;
	dt_ok(dat_evd_dequeue(up->evd, &next));
	up_note_taken(up, &next);
}

/* ---- making and changing ---- */

void
up_init(struct up *up)
{
	memset(up, 0, sizeof *up);
	up->object = (DAT_UPCALL_OBJECT){ up, up_upcall };
}

void
up_open_length(struct up *up, const struct dt_side *side, DAT_UPCALL_POLICY policy,
    DAT_EVD_FLAGS flags, DAT_COUNT length)
{
	up->ia = side->ia;
	dt_ok(dat_evd_kcreate(side->ia, length, policy, &up->object, flags, &up->evd));
}

void
up_open(struct up *up, const struct dt_side *side, DAT_UPCALL_POLICY policy, DAT_EVD_FLAGS flags)
{
	up_open_length(up, side, policy, flags, 64);
}

void
up_begin(struct up *up, struct dt_side *side, DAT_UPCALL_POLICY policy, DAT_EVD_FLAGS flags)
{
	up_init(up);
	dt_side_open(side, "soft", DT_SEPARATE);
	up_open(up, side, policy, flags);
}

void
up_connect(struct up *up, struct dt_pair *pair, DAT_UPCALL_POLICY policy, DAT_UINT64 receives)
{
	dt_pair_open(pair, DT_SEPARATE);
	up_open(up, &pair->b, policy, DAT_EVD_DTO_FLAG);
	pair->b.recv = up->evd;
	pair->b.ep = dt_ep(&pair->b, NULL);
	for (DAT_UINT64 i = 0; i < receives; i++)
		dt_recv(&pair->b, 0, 64, i);
	dt_connect_pair(pair);
}

void
up_send(struct dt_pair *pair, DAT_UINT64 cookie)
{
	DAT_EVENT event;

	dt_send(&pair->a, 0, 8, cookie);
	dt_expect_dto(pair->a.request, pair->a.ep, cookie, DAT_DTO_SUCCESS, &event);
}

DAT_RETURN
up_try(const struct up *up, DAT_UPCALL_POLICY policy, DAT_UPCALL_FLAG flag)
{
	return dat_evd_modify_upcall(up->evd, policy, DAT_UPCALL_SAME, flag);
}

void
up_set(const struct up *up, DAT_UPCALL_POLICY policy)
{
	dt_ok(up_try(up, policy, DAT_UPCALL_INVOC_ANY));
}

struct dat_rearm_evd_counters
up_counters(const struct up *up)
{
	struct dat_rearm_evd_counters counters;

	dt_ok(dat_evd_query_upcall_counters(up->evd, &counters));
	return counters;
}

/* ---- what came ---- */

void
up_await_inside(const struct up *up, int n)
{
	dt_await_count(&up->inside, n);
}

void
up_await_entered(const struct up *up, int n)
{
	dt_await_count(&up->entered, n);
}

void
up_await_returned(const struct up *up, int n)
{
	dt_await_count(&up->returned, n);
}

void
up_await_noted(const struct up *up, int n)
{
	dt_await_count(&up->noted, n);
}

int
up_standing(DAT_UPCALL_POLICY policy)
{
	return policy == DAT_UPCALL_MANY ? 4 : 1;
}

void
up_let_stand(struct up *up, DAT_UPCALL_POLICY policy)
{
	up->gate = true;
	for (int i = 0; i < up_standing(policy); i++) {
		dt_post_se(up->evd, (uintptr_t)i);
		up_await_inside(up, i + 1);
	}
}

/* Waiting is refused while upcalls are enabled, and only then. */
void
up_await_off(struct up *up)
{
	DAT_RETURN ret = DAT_ERROR(DAT_INVALID_STATE, 0);
	DAT_EVENT event;
	DAT_COUNT more;

	for (int i = 0; DAT_GET_TYPE(ret) == DAT_INVALID_STATE && i < DT_FOREVER_MS; i++) {
		ret = dat_evd_wait(up->evd, 0, 1, &event, &more);
		if (ret == DAT_SUCCESS)
			up_note_taken(up, &event);
		else
			dt_nap_ms(1);
	}
	ck_assert_int_ne((int)DAT_GET_TYPE(ret), DAT_INVALID_STATE);
}

/* Until another thread's free has begun. */
static void
await_gone(const struct up *up)
{
	DAT_RETURN ret = DAT_SUCCESS;
	DAT_EVENT event;

	for (int i = 0; DAT_GET_TYPE(ret) != DAT_INVALID_HANDLE && i < DT_FOREVER_MS; i++) {
		ret = dat_evd_dequeue(up->evd, &event);
		dt_nap_ms(1);
	}
	dt_assert_type(ret, DAT_INVALID_HANDLE);
}

/* Dequeue is refused while a thread waits. */
void
up_await_waiter(const struct up *up)
{
	DAT_RETURN ret = DAT_SUCCESS;
	DAT_EVENT event;

	for (int i = 0; DAT_GET_TYPE(ret) != DAT_INVALID_STATE && i < DT_FOREVER_MS; i++) {
		ret = dat_evd_dequeue(up->evd, &event);
		dt_nap_ms(1);
	}
	dt_assert_type(ret, DAT_INVALID_STATE);
}

void
up_assert_no_more(const struct up *up, int entered)
{
	dt_nap_ms(QUIET_MS);
	ck_assert_int_eq(up->entered, entered);
}

void
up_assert_values(const struct up *up, DAT_UINT64 first, int n)
{
	ck_assert_int_eq(up->noted, n);
	for (int i = 0; i < n; i++)
		ck_assert_uint_eq(up_value(&up->notes[i].event), first + (DAT_UINT64)i);
}

void
up_assert_policy(struct up *up, DAT_UPCALL_POLICY policy)
{
	int entered = up->entered, noted = up->noted, nulls = up->nulls;
	DAT_EVENT event;

	ck_assert_int_eq(up->inside, 0);
	up->act = NULL;
	up->gate = false;
	dt_assert_empty(up->evd);
	dt_post_se(up->evd, PROBE);
	if (!up_calls(policy)) {
		up_assert_no_more(up, entered);
		dt_ok(dat_evd_dequeue(up->evd, &event));
		ck_assert_uint_eq(up_value(&event), PROBE);
		return;
	}
	up_await_returned(up, entered + 1);
	ck_assert_int_eq(up->entered, entered + 1);
	if (policy == DAT_UPCALL_NORIFY) {
		ck_assert_int_eq(up->nulls, nulls + 1);
		dt_ok(dat_evd_dequeue(up->evd, &event));
		ck_assert_uint_eq(up_value(&event), PROBE);
		return;
	}
	ck_assert_int_eq(up->noted, noted + 1);
	ck_assert_uint_eq(up_value(&up->notes[noted].event), PROBE);
	dt_assert_empty(up->evd);
	if (policy == DAT_UPCALL_MANY || policy == DAT_UPCALL_SINGLE_INSTANCE) {
		/* Which of the two: whether a second upcall enters while the first stands. */
		up->gate = true;
		dt_post_se(up->evd, PROBE + 1);
		dt_post_se(up->evd, PROBE + 2);
		if (policy == DAT_UPCALL_MANY) {
			up_await_inside(up, 2);
		} else {
			up_await_inside(up, 1);
			up_assert_no_more(up, entered + 2);
		}
		up->gate = false;
		up_await_returned(up, entered + 3);
	}
}

pthread_t
up_thread(void *(*fn)(void *), void *arg)
{
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, fn, arg), 0);
	return thread;
}

void
up_join(pthread_t thread)
{
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
}

/* ---- ends ---- */

static void *
tears_down(void *arg)
{
	struct up_ending *ending = arg;

	ending->ret = up_try(ending->up, DAT_UPCALL_TEARDOWN, DAT_UPCALL_INVOC_ANY);
	ending->inside = ending->up->inside;
	ending->returned = true;
	return NULL;
}

static void *
frees(void *arg)
{
	struct up_ending *ending = arg;

	ending->ret = dat_evd_free(ending->up->evd);
	ending->inside = ending->up->inside;
	ending->returned = true;
	return NULL;
}

void
up_tear_down(struct up_ending *ending, struct up *up)
{
	ending->up = up;
	ending->returned = false;
	ending->thread = up_thread(tears_down, ending);
	up_await_off(up);
	dt_nap_ms(4);
}

void
up_free(struct up_ending *ending, struct up *up)
{
	ending->up = up;
	ending->returned = false;
	ending->thread = up_thread(frees, ending);
	await_gone(up);
	dt_nap_ms(4);
}

void
up_let_end(struct up_ending *ending)
{
	ending->up->gate = false;
	up_join(ending->thread);
	dt_ok(ending->ret);
	ck_assert_int_eq(ending->inside, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Every window between two lock sections, one after the other: right after the n-th release of an
 * EVD's lock something else happens, as another thread would make it happen; then the story goes
 * on.  Whatever n, nothing may be stranded, lost or seen twice.
 *
 * The linker sends the release of every mutex through here (--wrap).
 */
#include <string.h>

#include "cno_story.h"
#include "window.h"

int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);

static pthread_mutex_t *watched; /* its releases by the test's own thread count */
static int countdown;
static void (*intrude)(void);

static _Thread_local struct {
	const pthread_mutex_t *mutex;
	int n;
} counted[2];

void
window_count(const struct os_mutex *first, const struct os_mutex *second)
{
	counted[0].mutex = &first->mutex;
	counted[1].mutex = &second->mutex;
	counted[0].n = counted[1].n = 0;
}

int
window_counted(int which)
{
	return counted[which].n;
}

static void
watch(pthread_mutex_t *mutex)
{
	__atomic_store_n(&watched, mutex, __ATOMIC_RELAXED);
}

int
__wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	int r;

	must(pthread_mutex_trylock(mutex) == EBUSY); /* what is released was held */
	r = __real_pthread_mutex_unlock(mutex);
	for (int i = 0; i < 2; i++)
		counted[i].n += counted[i].mutex == mutex;
	if (__atomic_load_n(&watched, __ATOMIC_RELAXED) == mutex && --countdown == 0) {
		watch(NULL);
		intrude();
	}
	return r;
}

void
window_at(struct os_mutex *lock, int n, void (*intruder)(void))
{
	countdown = n;
	intrude = intruder;
	watch(&lock->mutex);
}

bool
window_missed(void)
{
	const bool missed = __atomic_load_n(&watched, __ATOMIC_RELAXED) != NULL;

	watch(NULL);
	return missed;
}

static int dequeued[1000];

static void
dequeue_one(void)
{
	struct script_event event;

	if (evd_dequeue(evd_self(&st.dev.evd), &event) == 0)
		dequeued[script_id(&event)]++;
}

static void
intrude_post(void)
{
	must(script_post(&st.dev, 500) == 0);
}

static void
intrude_complete(void)
{
	script_complete(&st.dev, 501);
}

static void
intrude_notified(void)
{
	script_complete(&st.dev, 501);
	while (script_deliver(&st.dev))
		;
}

static void
intrude_show(void)
{
	script_show(&st.dev, 501);
}

static void
intrude_enable(void)
{
	must(story_enable(&st, EVD_POLICY_SINGLE) == 0);
}

static void
intrude_post_and_enable(void)
{
	intrude_post();
	intrude_enable();
}

static void
intrude_disable(void)
{
	must(story_policy(&st, EVD_POLICY_DISABLE, EVD_PENDING_REFUSE) == 0);
}

static void
intrude_disable_and_enable(void)
{
	intrude_disable();
	intrude_complete();
	intrude_enable();
}

static void
intrude_refused_enable(void)
{
	int r = story_policy(&st, EVD_POLICY_SINGLE, EVD_PENDING_REFUSE);

	must(r == 0 || r == -EAGAIN);
}

static void (*const intruders[])(void) = {
	intrude_post,
	intrude_complete,
	intrude_notified,
	intrude_show,
	intrude_enable,
	intrude_post_and_enable,
	intrude_disable,
	intrude_disable_and_enable,
	intrude_refused_enable,
	dequeue_one,
};

#define N_INTRUDERS ((int)(sizeof intruders / sizeof intruders[0]))

static void
disable_after_first(struct tape *tape, uint64_t id)
{
	if (id == 1)
		must(evd_modify_upcall(evd_self(&tape->dev->evd), EVD_POLICY_DISABLE, NULL,
			 EVD_PENDING_REFUSE) == 0);
}

static void
drain_when_reported(struct tape *tape, uint64_t id)
{
	(void)tape;
	must(id == TAPE_REPORT);
	for (int i = 0; i < 3; i++)
		dequeue_one();
}

/* What follows must not be what rescues a stranded event. */
static void
rest(void)
{
	story_settle(&st);
	story_check_rest(&st.dev);
}

/* Two bursts with a posted event between; `policy` takes them, `then` runs inside the upcalls. */
static void
tell(enum evd_policy policy, void (*then)(struct tape *, uint64_t), bool exact, int window,
    void (*intruder)(void))
{
	const struct script_options opt = { .exact = exact };

	memset(dequeued, 0, sizeof dequeued);
	story_begin(&st, &opt);
	st.tape.then = then;
	intrude = intruder;
	countdown = window;
	watch(&st.dev.evd.lock.mutex);
	must(story_enable(&st, policy) == 0);
	script_complete(&st.dev, 1);
	script_complete(&st.dev, 2);
	rest();
	must(script_post(&st.dev, 100) == 0);
	rest();
	script_complete(&st.dev, 3);
	rest();
	watch(NULL);
}

/* A later sink takes the events that are left; then each event was taken once. */
static void
reckon(bool intruded)
{
	static const uint64_t seen[] = { 1, 2, 3, 100 };
	int times[1000] = { 0 };

	st.tape.then = NULL;
	while (st.dev.undecided_count)
		script_decide(&st.dev);
	rest();
	must(story_enable(&st, EVD_POLICY_SINGLE) == 0);
	rest();
	for (int i = 0; i < st.tape.n; i++)
		if (st.tape.id[i] != TAPE_REPORT)
			times[st.tape.id[i]]++;
	for (int i = 0; i < 1000; i++)
		must((times[i] += dequeued[i]) <= 1);
	for (unsigned int i = 0; i < sizeof seen / sizeof seen[0]; i++)
		must(times[seen[i]] == 1);
	must(times[500] ==
	     (intruded && (intrude == intrude_post || intrude == intrude_post_and_enable)));
	must(times[501] ==
	     (intruded && (intrude == intrude_complete || intrude == intrude_notified ||
			      intrude == intrude_show || intrude == intrude_disable_and_enable)));
	st.tape.read = st.tape.n;
	story_end(&st);
}

static void
sweep(enum evd_policy policy, void (*then)(struct tape *, uint64_t), bool exact,
    void (*intruder)(void))
{
	int window = 1;

	for (bool intruded = true; intruded; window++) {
		tell(policy, then, exact, window, intruder);
		intruded = countdown <= 0;
		reckon(intruded);
		must(window < 500);
	}
	ck_assert_int_ge(window, 8); /* it did meet windows */
}

CASE("evd_window:window");

TEST_LOOP(single__any_intruder_in_any_window__nothing_stranded, N_INTRUDERS)
{
	sweep(EVD_POLICY_SINGLE, NULL, false, intruders[_i]);
}

TEST_LOOP(single_with_the_exact_hint__any_intruder_in_any_window__nothing_stranded, N_INTRUDERS)
{
	sweep(EVD_POLICY_SINGLE, NULL, true, intruders[_i]);
}

TEST_LOOP(many__any_intruder_in_any_window__nothing_stranded, N_INTRUDERS)
{
	sweep(EVD_POLICY_MANY, NULL, false, intruders[_i]);
}

TEST_LOOP(disabled_in_the_upcall__any_intruder_in_any_window__nothing_stranded, N_INTRUDERS)
{
	sweep(EVD_POLICY_SINGLE, disable_after_first, false, intruders[_i]);
}

TEST_LOOP(notify__any_event_in_any_window__nothing_stranded, 4)
{
	sweep(EVD_POLICY_NOTIFY, drain_when_reported, false, intruders[_i]);
}

/* ---- TEARDOWN by a thread of its own, since it may have to wait for the upcall ---- */

static pthread_t tearing_thread;
static bool torn_down;

static void *
tear_down(void *arg)
{
	(void)arg;
	must(story_policy(&st, EVD_POLICY_TEARDOWN, EVD_PENDING_REFUSE) == 0);
	__atomic_store_n(&torn_down, true, __ATOMIC_SEQ_CST);
	return NULL;
}

static void
intrude_teardown(void)
{
	must(pthread_create(&tearing_thread, NULL, tear_down, NULL) == 0);
	/* Time to return, if nothing keeps it: then no upcall may start any more. */
	for (int i = 0; i < 20 && !__atomic_load_n(&torn_down, __ATOMIC_SEQ_CST); i++)
		script_sleep_ms(1);
}

static void
not_torn_down(struct tape *tape, uint64_t id)
{
	(void)tape;
	(void)id;
	must(!__atomic_load_n(&torn_down, __ATOMIC_SEQ_CST)); /* I6 */
}

TEST_LOOP(teardown_in_any_window__no_upcall_after_it_returned, 2)
{
	const enum evd_policy policy = _i ? EVD_POLICY_MANY : EVD_POLICY_SINGLE;
	bool intruded = true;

	for (int window = 1; intruded; window++) {
		torn_down = false;
		tell(policy, not_torn_down, false, window, intrude_teardown);
		intruded = countdown <= 0;
		if (intruded)
			pthread_join(tearing_thread, NULL);
		reckon(intruded);
	}
}

/* ---- the last window of a wait: between the end of its sleep and its last poll ---- */

static struct cno_story cs;
static uint64_t deadline;

/* How long to wait: the first poll must be over by then.  The deadline here is a little later. */
static uint32_t
soon(void)
{
	const double timeout = runner_stretch(5 * MS);

	deadline = os_clock_ns() + (uint64_t)(timeout * 2000);
	return (uint32_t)timeout;
}

static void
outlast_the_deadline(void)
{
	while (os_clock_ns() < deadline)
		script_sleep_ms(1);
}

static void
trigger_after_the_deadline(void)
{
	outlast_the_deadline();
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
}

/* origin: peer.10 */
TEST(cno_wait__triggered_at_the_deadline__returned)
{
	uint32_t timeout;

	cno_story_begin(&cs, 1);
	intrude = trigger_after_the_deadline;
	countdown = 1;
	timeout = soon();
	watch(&cs.cno.lock.mutex);
	ck_assert_int_eq(cno_wait(cno_self(&cs.cno), timeout, &(void *){ NULL }), 0);
	ck_assert_ptr_null(watched);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_end(&cs);
}

static void
complete_after_the_deadline(void)
{
	outlast_the_deadline();
	script_complete(&st.dev, 1);
}

TEST(evd_wait__completion_at_the_deadline__returned)
{
	uint32_t timeout;
	struct script_event event;
	int nmore;

	story_begin(&st, NULL);
	intrude = complete_after_the_deadline;
	countdown = 1;
	timeout = soon();
	watch(&st.dev.evd.lock.mutex);
	ck_assert_int_eq(evd_wait(evd_self(&st.dev.evd), timeout, 1, &event, &nmore), 0);
	ck_assert_ptr_null(watched);
	ck_assert_uint_eq(script_id(&event), 1);
	story_end(&st);
}

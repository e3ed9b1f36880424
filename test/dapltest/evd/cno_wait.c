/* SPDX-License-Identifier: BSD-3-Clause */
/* A CNO's waiters: sticky triggers, one trigger one waiter, the list of triggered EVDs. */
#include <signal.h>

#include "cno_story.h"

static struct cno_story cs;

static void
setup(void)
{
	cno_story_begin(&cs, 3);
}

static void
teardown(void)
{
	cno_story_end(&cs);
}

CASE("cno_wait:wait", setup, teardown);

/* origin: race.D1 */
TEST(triggered_before_the_wait__returns_at_once)
{
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_untriggered(&cs);
}

TEST(burst_on_one_evd__one_trigger)
{
	for (uint64_t i = 1; i <= 5; i++)
		script_complete(&cs.dev[0], i);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_untriggered(&cs);
	cno_story_drains(&cs.dev[0], 5);
}

TEST(undrained__a_new_arrival_triggers_again)
{
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	script_complete(&cs.dev[0], 2);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 2);
	cno_story_untriggered(&cs);
}

/* clause: c.13.7 */
/* origin: race.D2 */
TEST(two_evds_fire__a_client_that_drains_only_the_returned_one_sees_all)
{
	void *handle;
	int seen = 0;

	script_complete(&cs.dev[0], 1);
	script_complete(&cs.dev[1], 2);
	ck_assert_int_eq(script_post(&cs.dev[2], 100), 0);
	cno_story_settle(&cs);
	while (cno_wait(cno_self(&cs.cno), 0, &handle) == 0) {
		cno_story_drains(handle, 1);
		seen++;
	}
	ck_assert_int_eq(seen, 3);
}

TEST(triggered_list__oldest_first)
{
	script_complete(&cs.dev[2], 1);
	cno_story_settle(&cs);
	script_complete(&cs.dev[0], 2);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[2]);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_untriggered(&cs);
}

TEST(blocked_waiter__woken_by_a_completion_and_by_a_post)
{
	struct cno_waiter w;

	cno_waiter_start(&w, &cs, EVD_FOREVER);
	script_complete(&cs.dev[1], 1);
	cno_story_settle(&cs);
	ck_assert_int_eq(cno_waiter_join(&w), 0);
	ck_assert_ptr_eq(w.handle, &cs.dev[1]);
	cno_waiter_start(&w, &cs, EVD_FOREVER);
	ck_assert_int_eq(script_post(&cs.dev[0], 100), 0);
	cno_story_settle(&cs);
	ck_assert_int_eq(cno_waiter_join(&w), 0);
	ck_assert_ptr_eq(w.handle, &cs.dev[0]);
}

static unsigned int
blocked(void)
{
	unsigned int n;

	os_lock(&cs.cno.lock);
	n = cs.cno.n_waiters;
	os_unlock(&cs.cno.lock);
	return n;
}

/* clause: c.13.3 */
TEST(one_trigger__releases_one_waiter)
{
	struct cno_waiter w[3];

	for (int i = 0; i < 3; i++)
		cno_waiter_start(&w[i], &cs, EVD_FOREVER);
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	while (blocked() > 2)
		script_sleep_ms(1);
	script_sleep_ms(10);
	ck_assert_uint_eq(blocked(), 2);
	script_complete(&cs.dev[1], 1);
	script_complete(&cs.dev[2], 1);
	cno_story_settle(&cs);
	for (int i = 0; i < 3; i++)
		ck_assert_int_eq(cno_waiter_join(&w[i]), 0);
}

TEST(three_triggers__release_three_waiters)
{
	struct cno_waiter w[3];
	void *seen = NULL;

	for (int i = 0; i < 3; i++)
		cno_waiter_start(&w[i], &cs, EVD_FOREVER);
	for (int i = 0; i < 3; i++)
		script_complete(&cs.dev[i], 1);
	cno_story_settle(&cs);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(cno_waiter_join(&w[i]), 0);
		ck_assert_ptr_ne(w[i].handle, seen);
		seen = w[i].handle;
	}
	cno_story_untriggered(&cs);
}

/* clause: c.13.5 */
/* origin: peer.10 */
TEST(timeout__no_wake_is_lost)
{
	struct cno_waiter w;
	void *handle = &cs;

	ck_assert_int_eq(cno_wait(cno_self(&cs.cno), 2 * MS, &handle), -ETIMEDOUT);
	ck_assert_ptr_eq(handle, NULL);
	/* Triggers race with timeouts: no trigger is lost, and none is returned twice. */
	for (int i = 0; i < 50; i++) {
		int r;

		cno_waiter_start(&w, &cs, 1 * MS);
		script_sleep_ms(1);
		script_complete(&cs.dev[0], 1);
		cno_story_settle(&cs);
		r = cno_waiter_join(&w);
		if (r == 0)
			cno_story_untriggered(&cs);
		else
			cno_story_waits(&cs, &cs.dev[0]);
		cno_story_drains(&cs.dev[0], 1);
	}
}

TEST(timeout__neither_early_nor_late)
{
	struct cno_waiter w;

	cno_waiter_start(&w, &cs, 30 * MS);
	ck_assert_int_eq(cno_waiter_join(&w), -ETIMEDOUT);
	ck_assert_uint_ge(w.took_ns, 30000000u);
	ck_assert_uint_lt(w.took_ns, 1000000000u);
}

static void
on_signal(int number)
{
	(void)number;
}

/* clause: c.13.6 */
TEST(signal_handler_ran__interrupted_and_the_next_trigger_not_lost)
{
	const struct sigaction action = { .sa_handler = on_signal };
	struct cno_waiter w;

	ck_assert_int_eq(sigaction(SIGUSR1, &action, NULL), 0);
	cno_waiter_start(&w, &cs, EVD_FOREVER);
	cno_waiter_interrupt(&w, SIGUSR1);
	ck_assert_int_eq(cno_waiter_join(&w), -EINTR);
	ck_assert_ptr_eq(w.handle, NULL);
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
}

/* clause: c.6.1, c.6.2 */
TEST(disabled_evd__does_not_trigger__enabling_it_does)
{
	ck_assert_int_eq(evd_set_enabled(evd_self(&cs.dev[0].evd), false), 0);
	script_complete(&cs.dev[0], 1);
	ck_assert_int_eq(script_post(&cs.dev[0], 100), 0);
	cno_story_settle(&cs);
	cno_story_untriggered(&cs);
	ck_assert_int_eq(evd_set_enabled(evd_self(&cs.dev[0].evd), true), 0);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 2);
}

/* origin: peer.9 */
TEST(attach__events_queued_already__triggers)
{
	cno_story_detach(&cs, 0);
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	cno_story_untriggered(&cs);
	cno_story_attach(&cs, 0);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
}

TEST(detach__triggered__leaves_the_list)
{
	script_complete(&cs.dev[0], 1);
	script_complete(&cs.dev[1], 2);
	cno_story_settle(&cs);
	cno_story_detach(&cs, 0);
	cno_story_waits(&cs, &cs.dev[1]);
	cno_story_untriggered(&cs);
	cno_story_attach(&cs, 0);
}

/* clause: c.8.1 */
TEST(move_to_another_cno__the_new_one_gets_what_is_queued)
{
	const struct cno_config config = { .loop = cs.loop };
	void *handle;
	struct cno other;

	cno_slot_init(&other);
	ck_assert_int_eq(cno_create(&other, &config), 0);
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	ck_assert_int_eq(cno_attach_evd(cno_self(&other)), 0);
	ck_assert_int_eq(
	    evd_set_listener(evd_self(&cs.dev[0].evd), cno_listener(&other), &other), 0);
	cno_detach_evd(&cs.cno);
	cno_story_settle(&cs);
	cno_story_untriggered(&cs);
	ck_assert_int_eq(cno_wait(cno_self(&other), 0, &handle), 0);
	ck_assert_ptr_eq(handle, &cs.dev[0]);
	ck_assert_int_eq(
	    evd_set_listener(evd_self(&cs.dev[0].evd), cno_listener(&cs.cno), &cs.cno), 0);
	ck_assert_int_eq(cno_attach_evd(cno_self(&cs.cno)), 0);
	cno_detach_evd(&other);
	cno_story_drains(&cs.dev[0], 1);
}

TEST(evd_freed_while_triggered__not_returned_any_more)
{
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	ck_assert_int_eq(evd_free(evd_self(&cs.dev[0].evd)), 0);
	cno_detach_evd(&cs.cno);
	cs.attached[0] = false;
	cno_story_untriggered(&cs);
}

TEST(last_evd_gone__blocked_waiters_return_without_one)
{
	struct cno_waiter w[2];

	cno_waiter_start(&w[0], &cs, EVD_FOREVER);
	cno_waiter_start(&w[1], &cs, EVD_FOREVER);
	for (int i = 0; i < 2; i++)
		cno_story_detach(&cs, i);
	script_sleep_ms(5);
	ck_assert_uint_eq(blocked(), 2); /* one is left */
	cno_story_detach(&cs, 2);
	for (int i = 0; i < 2; i++) {
		ck_assert_int_eq(cno_waiter_join(&w[i]), 0);
		ck_assert_ptr_eq(w[i].handle, NULL);
	}
	for (int i = 0; i < 3; i++)
		cno_story_attach(&cs, i);
}

/* clause: c.13.11 */
TEST(free__in_use__refused)
{
	struct cno_waiter w;

	ck_assert_int_eq(cno_free(cno_self(&cs.cno), false), -EBUSY);
	cno_waiter_start(&w, &cs, EVD_FOREVER);
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), true), -EBUSY); /* EVDs refer to it */
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	ck_assert_int_eq(cno_waiter_join(&w), 0);
}

TEST(free__abrupt_with_a_waiter__released)
{
	struct cno_agent agent;
	struct cno_waiter w;
	void *handle;

	for (int i = 0; i < 3; i++)
		cno_story_detach(&cs, i);
	cno_waiter_start(&w, &cs, EVD_FOREVER);
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), false), -EBUSY);
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), true), 0);
	ck_assert_int_eq(cno_waiter_join(&w), -ECANCELED);
	ck_assert_int_eq(cs.destroyed, 1);
	ck_assert_int_eq(cno_free(cno_self(&cs.cno), true), -ENODEV);
	ck_assert_int_eq(cno_begin_free(cno_self(&cs.cno)), -ENODEV);
	ck_assert_int_eq(cno_wait(cno_self(&cs.cno), 0, &handle), -ENODEV);
	ck_assert_int_eq(cno_attach_evd(cno_self(&cs.cno)), -ENODEV);
	ck_assert_int_eq(cno_query(cno_self(&cs.cno), &agent), -ENODEV);
	ck_assert_int_eq(cno_modify_agent(cno_self(&cs.cno), cno_story_agent(&cs)), -ENODEV);
	ck_assert_int_eq(cs.destroyed, 1);
}

TEST(evd_freed__its_slot_used_again__of_no_cno)
{
	struct evd_status status;

	ck_assert_int_eq(evd_free(evd_self(&cs.dev[0].evd)), 0);
	cno_detach_evd(&cs.cno);
	cs.attached[0] = false;
	script_open(&cs.dev[0], &cs.dev[0].opt);
	ck_assert_int_eq(evd_query(evd_self(&cs.dev[0].evd), &status), 0);
	ck_assert_ptr_eq(status.cno, NULL);
	script_complete(&cs.dev[0], 1);
	cno_story_settle(&cs);
	cno_story_untriggered(&cs);
	cno_story_drains(&cs.dev[0], 1);
}

TEST(slot__never_opened__dead)
{
	static struct cno slot;

	cno_slot_init(&slot);
	ck_assert_int_eq(cno_attach_evd(cno_self(&slot)), -ENODEV);
	ck_assert_int_eq(cno_free(cno_self(&slot), false), -ENODEV);
}

TEST(wait_that_finds_events__triggers_for_none_of_those_it_left)
{
	struct script_event event;
	int nmore;

	script_complete(&cs.dev[0], 1);
	script_complete(&cs.dev[0], 2);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	ck_assert_int_eq(evd_wait(evd_self(&cs.dev[0].evd), 1000 * MS, 1, &event, &nmore), 0);
	ck_assert_int_eq(nmore, 1);
	cno_story_settle(&cs);
	cno_story_untriggered(&cs); /* it was notified of both */
	cno_story_drains(&cs.dev[0], 1);
}

TEST(waits_empty_the_ring__what_the_device_held_back_triggers_again)
{
	struct script_event event;
	int nmore;

	for (uint64_t i = 1; i <= 17; i++) /* one more than there is room for */
		script_complete(&cs.dev[0], i);
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	for (int left = 15; left >= 0; left--) {
		cno_story_settle(&cs);
		cno_story_untriggered(&cs); /* it was notified of these */
		ck_assert_int_eq(
		    evd_wait(evd_self(&cs.dev[0].evd), 1000 * MS, 1, &event, &nmore), 0);
		ck_assert_int_eq(nmore, left);
	}
	cno_story_settle(&cs);
	cno_story_waits(&cs, &cs.dev[0]);
	cno_story_drains(&cs.dev[0], 1);
	cno_story_settle(&cs);
}

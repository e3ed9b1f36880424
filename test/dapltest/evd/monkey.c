/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * All calls on an EVD in random order, one step at a time.  Each event is seen once, streams and
 * endpoints keep their order, and no event is stranded between two steps.
 */
#include <stdlib.h>

#include "cno_story.h"

#define STEPS 15000
#define MAX_ID 60000
#define EPS 3
#define ESTABLISHED 50001 /* of endpoint 1, which holds its completions until then */
#define BROKEN 50002	  /* of endpoint 2 */
#define POSTED 30000	  /* the first posted event's id; below are completions */

static struct cno cno;
static struct evd_hold hold;
static unsigned char seen[MAX_ID];
static uint32_t ep_of[POSTED];
static uint64_t next_id, next_post, last_of_ep[EPS], last_posted, shown_before_broken;
static bool established, broken;
static int unseen;

static void
see(uint64_t id)
{
	must(id < MAX_ID && seen[id]++ == 0);
	unseen--;
	if (id < POSTED) {
		uint32_t ep = ep_of[id];

		must(id > last_of_ep[ep]);
		last_of_ep[ep] = id;
		must(ep != 1 || seen[ESTABLISHED]);
		return;
	}
	if (id == ESTABLISHED)
		return;
	if (id == BROKEN) {
		for (uint64_t i = 1; i <= shown_before_broken; i++)
			must(ep_of[i] != 2 || seen[i]);
		return;
	}
	must(id > last_posted);
	last_posted = id;
}

static void
drain(struct script *dev)
{
	DAT_EVENT event;

	while (evd_dequeue(evd_self(&dev->evd), &event) == 0)
		see(script_id(&event));
}

static void
upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance;
	(void)more;
	if (event)
		see(script_id(event));
	else
		drain(&st.dev);
	if (rand() % 8 == 0)
		must(evd_modify_upcall(evd_self(&st.dev.evd), DAT_UPCALL_DISABLE, NULL,
			 DAT_UPCALL_INVOC_NEW) == 0);
}

static const DAT_UPCALL_OBJECT object = { .upcall_func = upcall };

static void
complete(bool decide)
{
	const struct script_record record = { .id = next_id, .ep = (uint32_t)rand() % EPS };

	if ((int)st.dev.count == st.dev.opt.qlen || (record.ep == 1 && hold.count == hold.capacity))
		return;
	ep_of[next_id++] = record.ep;
	unseen++;
	script_show_record(&st.dev, &record);
	if (decide)
		script_decide(&st.dev);
}

static void
post(void)
{
	int r = script_post(&st.dev, next_post);

	must(r == 0 || r == -ENOSPC);
	if (r == 0) {
		next_post++;
		unseen++;
	}
}

static void
connect_or_break(void)
{
	DAT_EVENT event = script_event(established ? BROKEN : ESTABLISHED);
	const struct evd_order order = { .endpoint = &hold, .hold = &hold };
	int r;

	if (evd_posted_count(&st.dev.evd.queue.posted) == st.dev.evd.queue.qlen)
		return; /* an ESTABLISHED that is lost lets the receives go: another story */
	if (!established) {
		r = evd_post_ordered(evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &order);
		established = true;
	} else if (!broken) {
		shown_before_broken = next_id - 1;
		r = evd_post_ordered(
		    evd_self(&st.dev.evd), EVD_STREAM_CONNECTION, &event, &script_barrier);
		broken = true;
	} else {
		return;
	}
	must(r == 0);
	unseen++;
}

static void
modify(void)
{
	static const DAT_UPCALL_POLICY policies[] = { DAT_UPCALL_DISABLE, DAT_UPCALL_TEARDOWN,
		DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_NORIFY, DAT_UPCALL_MANY };
	int r = evd_modify_upcall(evd_self(&st.dev.evd), policies[rand() % 5], &object,
	    rand() % 2 ? DAT_UPCALL_INVOC_ANY : DAT_UPCALL_INVOC_NEW);

	must(r == 0 || r == -EAGAIN || r == -EIO);
}

static void
take(void)
{
	DAT_EVENT event;
	int r, nmore;

	if (rand() % 2)
		r = evd_dequeue(evd_self(&st.dev.evd), &event);
	else
		r = evd_wait(
		    evd_self(&st.dev.evd), rand() % 4 ? 0 : 1, 1 + rand() % 4, &event, &nmore);
	must(r == 0 || r == -EAGAIN || r == -ETIMEDOUT || r == -EACCES || r == -EIO);
	if (r == 0)
		see(script_id(&event));
}

static void
resize(void)
{
	int r = evd_resize(evd_self(&st.dev.evd), 4 + (unsigned int)rand() % 40);

	must(r == 0 || r == -EAGAIN || r == -EIO);
}

static void
use_cno(void)
{
	struct evd *evd = &st.dev.evd;
	DAT_EVD_HANDLE handle;

	switch (rand() % 4) {
	case 0:
		must(evd_set_listener(
			 evd_self(evd), rand() % 2 ? cno_listener(&cno) : NULL, &cno) == 0);
		break;
	case 1:
		must(evd_set_enabled(evd_self(evd), rand() % 3 > 0) == 0);
		break;
	default:
		if (cno_wait(cno_self(&cno), 0, &handle) == 0)
			drain(handle);
	}
}

static void
misbehave(void)
{
	pthread_mutex_lock(&st.dev.lock);
	switch (rand() % 4) {
	case 0:
		st.dev.fail_arms = 1;
		break;
	case 1:
		st.dev.fail_polls = 1;
		break;
	default:
		st.dev.inexact_hint = rand() % 2;
	}
	pthread_mutex_unlock(&st.dev.lock);
	if (st.dev.armed && rand() % 2)
		script_spurious(&st.dev);
}

static void
step(void)
{
	switch (rand() % 16) {
	case 0:
	case 1:
		complete(true);
		break;
	case 2:
		complete(false);
		break;
	case 3:
		if (st.dev.undecided_count)
			script_decide(&st.dev);
		break;
	case 4:
	case 5:
		(void)script_deliver(&st.dev);
		break;
	case 6:
		post();
		break;
	case 7:
		modify();
		break;
	case 8:
		take();
		break;
	case 9:
		use_cno();
		break;
	case 10:
		if (rand() % 8 == 0)
			misbehave();
		break;
	case 11:
		if (rand() % 64 == 0)
			connect_or_break();
		else if (rand() % 8 == 0)
			resize();
		break;
	default:
		(void)loop_step(st.loop, 0);
	}
	story_check_rest(&st.dev);
}

CASE("evd_monkey:monkey");

TEST_LOOP(random_steps__every_event_once_and_nothing_stranded, 24)
{
	const struct script_options opt = {
		.qlen = 8 + _i, .exact = _i % 2, .posted_on_demand = _i % 3 == 0
	};
	struct cno_config config = { 0 };

	srand((unsigned int)_i + 1);
	next_id = 1;
	next_post = POSTED;
	story_begin(&st, &opt);
	config.loop = st.loop;
	cno_slot_init(&cno);
	ck_assert_int_eq(cno_create(&cno, &config), 0);
	ck_assert_int_eq(evd_hold_init(&hold, 4000), 0);
	st.dev.hold[1] = &hold;
	evd_hold_begin(evd_self(&st.dev.evd), &hold);
	for (int i = 0; i < STEPS; i++)
		step();
	/* The device recovers, decides about every notification, and the events are taken. */
	st.dev.fail_arms = st.dev.fail_polls = 0;
	while (!broken) {
		drain(&st.dev);
		connect_or_break();
	}
	while (st.dev.undecided_count)
		script_decide(&st.dev);
	while (unseen) {
		must(evd_modify_upcall(evd_self(&st.dev.evd), DAT_UPCALL_SINGLE_INSTANCE, &object,
			 DAT_UPCALL_INVOC_ANY) == 0);
		(void)script_deliver(&st.dev);
		(void)loop_step(st.loop, 1);
	}
	evd_purge(evd_self(&st.dev.evd), &hold, NULL, NULL, NULL);
	evd_hold_fini(&hold);
	story_end(&st);
}

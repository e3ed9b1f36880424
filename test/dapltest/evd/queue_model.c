/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The merged queue compared with a very simple model: one list in order of entry, from which the
 * oldest deliverable item is taken.
 */
#include "evd/queue.h"

#include <stdlib.h>
#include <string.h>

#include "script.h"

#define QLEN 5
#define OPS 20000
#define HOLD 4
#define EPS 3

enum kind { RAW, POSTED, HELD };

struct item {
	uint64_t id;
	enum kind kind;
	bool counts, barrier, ends; /* ends its endpoint's hold */
	int ep;			    /* -1: none */
	uint64_t mark;
};

static struct item list[64];
static int length;
static uint64_t polled, next_id;
static struct evd_queue q;
static struct evd_hold hold[EPS];

static void
model_append(const struct item *item)
{
	must(length < 64);
	list[length] = *item;
	list[length++].mark = polled;
}

static void
model_remove(int i)
{
	memmove(&list[i], &list[i + 1], (size_t)(--length - i) * sizeof list[0]);
}

static int
model_count(enum kind kind, bool counting_only)
{
	int n = 0;

	for (int i = 0; i < length; i++)
		n += list[i].kind == kind && (list[i].counts || !counting_only);
	return n;
}

/* Moves item i behind all the others and lets it count: it enters now. */
static void
model_enter(int i)
{
	struct item item = list[i];

	model_remove(i);
	item.counts = true;
	list[length++] = item;
}

/* What the endpoint's hold kept enters. */
static void
model_release(int ep)
{
	for (int i = 0, n = length; n > 0; n--) {
		if (list[i].kind == HELD && list[i].ep == ep && !list[i].counts)
			model_enter(i);
		else
			i++;
	}
}

/* Whether an earlier event of its endpoint does not count yet. */
static bool
model_is_behind(int i)
{
	for (int j = 0; j < i; j++)
		if (list[i].ep >= 0 && list[j].ep == list[i].ep && list[j].kind == POSTED &&
		    !list[j].counts)
			return true;
	return false;
}

static int
model_next(bool empty)
{
	for (int i = 0; i < length; i++)
		if (list[i].kind == POSTED && !list[i].counts && !model_is_behind(i) &&
		    (!list[i].barrier || empty || polled - list[i].mark >= QLEN))
			return i;
	return -1;
}

static void
model_open(bool empty)
{
	for (int i = model_next(empty); i >= 0; i = model_next(empty)) {
		const struct item item = list[i];

		model_enter(i);
		if (item.ends)
			model_release(item.ep);
	}
}

/* ---- the operations, on both ---- */

static uint64_t
record_id(const struct evd_record *record)
{
	uint64_t id;

	memcpy(&id, record, sizeof id);
	return id;
}

static void
op_poll(void)
{
	struct evd_batch batch;
	const unsigned int count = evd_queue_count(&q);
	bool empty = rand() % 3 == 0, signalled;

	evd_queue_begin_batch(&q, 1 + (unsigned int)rand() % 4, &batch);
	must(batch.room > 0 || model_count(RAW, false) == QLEN);
	for (unsigned int i = 0; i < batch.room; i++) {
		struct item item = { .id = next_id++, .ep = rand() % EPS };
		struct evd_hold *h = &hold[item.ep];

		memcpy(evd_batch_record(&batch), &item.id, sizeof item.id);
		if (evd_hold_is_active(h) && h->count < h->capacity) {
			(void)evd_batch_hold(&batch, h);
			item.kind = HELD;
			model_append(&item);
		} else if (rand() % 5) {
			evd_batch_queue(&batch);
			item.counts = true;
			model_append(&item);
		}
	}
	evd_queue_end_batch(&q, &batch, batch.room, empty, &signalled);
	/* The model has nothing that wakes no sink. */
	must(signalled == (evd_queue_count(&q) != count));
	polled += batch.room;
	model_open(empty);
}

static void
op_post(void)
{
	struct item item = { .id = next_id++, .kind = POSTED, .ep = rand() % (EPS + 1) - 1 };
	struct evd_order order = { 0 };
	const struct script_event event = script_event(item.id);
	struct evd_posted *place;

	if (item.ep >= 0) {
		item.barrier = rand() % 3 == 0;
		item.ends = rand() % 3 == 0;
		order.endpoint = &hold[item.ep];
		order.barrier = item.barrier;
		order.hold = item.ends ? &hold[item.ep] : NULL;
	}
	place = evd_queue_post(&q, &order, false);
	must(!place == (model_count(POSTED, false) == QLEN));
	if (place)
		memcpy(place->event, &event, sizeof event);
	if (place)
		model_append(&item);
	else if (item.ends)
		model_release(item.ep);
	model_open(false);
}

static void
op_hold(void)
{
	hold[rand() % EPS].active = true;
}

static void
op_take(void)
{
	const struct evd_posted *posted;
	const struct evd_record *record;
	uint64_t id = 0;
	int oldest = -1;

	for (int i = 0; i < length && oldest < 0; i++)
		if (list[i].counts)
			oldest = i;
	switch (evd_queue_take(&q, &record, &posted)) {
	case EVD_COMPLETION:
	case EVD_RELEASED:
		id = record_id(record);
		break;
	case EVD_POSTED:
		id = script_id(posted->event);
		break;
	case EVD_NOTHING:
		break;
	}
	must(id == (oldest < 0 ? 0 : list[oldest].id));
	if (oldest >= 0)
		model_remove(oldest);
}

static bool
record_third(const struct evd_record *record, const void *key)
{
	return record_id(record) % 3 == *(const uint64_t *)key;
}

static bool
event_third(const void *event, const void *key)
{
	return script_id(event) % 3 == *(const uint64_t *)key;
}

static void
op_purge(void)
{
	uint64_t key = (uint64_t)rand() % 3;
	int ep = rand() % (EPS + 1) - 1; /* whose hold goes, too */

	evd_queue_purge(&q, ep >= 0 ? &hold[ep] : NULL, record_third, event_third, &key);
	for (int i = length - 1; i >= 0; i--) {
		if (ep >= 0 && list[i].kind == POSTED && list[i].ep == ep)
			list[i].ends = false;
		if (list[i].kind == HELD ? list[i].ep == ep : list[i].id % 3 == key)
			model_remove(i);
	}
	model_open(false);
}

CASE("evd_queue_model:model");

TEST_LOOP(random_operations__agree_with_the_model, 8)
{
	srand((unsigned int)_i + 1);
	length = 0;
	polled = 0;
	next_id = 1;
	ck_assert_int_eq(evd_queue_init(&q, QLEN, QLEN, sizeof(struct script_event), true), 0);
	for (int i = 0; i < EPS; i++)
		ck_assert_int_eq(evd_hold_init(&hold[i], HOLD), 0);
	for (int i = 0; i < OPS; i++) {
		int dice = rand() % 100;

		if (dice < 25)
			op_poll();
		else if (dice < 50)
			op_post();
		else if (dice < 56)
			op_hold();
		else if (dice < 58)
			op_purge();
		else
			op_take();
		must(evd_queue_count(&q) ==
		     (unsigned int)(model_count(RAW, true) + model_count(POSTED, true) +
				    model_count(HELD, true)));
		must(evd_queue_has_closed(&q) ==
		     (model_count(POSTED, false) != model_count(POSTED, true)));
	}
	for (int i = 0; i < EPS; i++)
		evd_hold_fini(&hold[i]);
	evd_queue_fini(&q);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake.h"
#include "lib/runner.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct soft_cq fake_cq[FAKE_QUEUES];
struct soft_channel fake_channel[FAKE_QUEUES];
char fake_text[1024];
enum soft_kind fake_kind;
const struct soft_check_queue *fake_reported;
int fake_reports;
uint64_t fake_now;

static struct ibv_wc rings[FAKE_QUEUES][FAKE_ENTRIES];
static struct soft_context context;
static int made;

uint64_t __real_soft_now(void);
uint64_t __wrap_soft_now(void);
int __wrap_soft_sentry_start(void);
void __wrap_soft_report(enum soft_kind kind, struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void __wrap_soft_report_object(enum soft_kind kind, const char *object,
    const struct soft_site *site, const char *format, ...) __attribute__((format(printf, 4, 5)));

uint64_t
__wrap_soft_now(void)
{
	return fake_now ? fake_now : __real_soft_now();
}

/* It runs where a test starts it by its real name. */
int
__wrap_soft_sentry_start(void)
{
	return 0;
}

static void
fake_note(
    enum soft_kind kind, const struct soft_check_queue *queue, const char *format, va_list list)
{
	fake_kind = kind;
	fake_reported = queue;
	fake_reports++;
	vsnprintf(fake_text, sizeof fake_text, format, list);
}

void
__wrap_soft_report(enum soft_kind kind, struct soft_check_queue *queue,
    const struct soft_check_state *state, const char *format, ...)
{
	va_list list;

	(void)state;
	va_start(list, format);
	fake_note(kind, queue, format, list);
	va_end(list);
}

void
__wrap_soft_report_object(
    enum soft_kind kind, const char *object, const struct soft_site *site, const char *format, ...)
{
	va_list list;

	(void)object, (void)site;
	va_start(list, format);
	fake_note(kind, NULL, format, list);
	va_end(list);
}

void
fake_reset(void)
{
	soft_check_queues_reset();
	memset(fake_cq, 0, sizeof fake_cq);
	memset(fake_channel, 0, sizeof fake_channel);
	memset(rings, 0, sizeof rings);
	made = fake_reports = 0;
	fake_now = 0;
	fake_reported = NULL;
	*fake_text = '\0';
	for (int i = 0; i < FAKE_QUEUES; i++)
		fake_channel[i].ibv.fd = 900 + i;
}

struct soft_check_queue *
fake_queue(int channel) UNCHECKED
{
	struct soft_cq *cq = &fake_cq[made];
	struct soft_check_queue *queue;

	cq->ibv.context = &context.verbs.context;
	cq->ring = rings[made++];
	cq->mask = FAKE_ENTRIES - 1;
	cq->size = FAKE_ENTRIES;
	cq->personality = &soft_adversary;
	cq->channel = channel < 0 ? NULL : &fake_channel[channel];
	ck_assert_int_eq(soft_check_queue_create(cq), 0);
	queue = soft_check_queue_of(cq);
	queue->view = calloc(1, sizeof *queue->view);
	return queue;
}

void
fake_complete(struct soft_check_queue *queue, struct ibv_wc wc, bool shown) UNCHECKED
{
	struct soft_cq *cq = queue->cq;

	cq->ring[cq->tail++ & cq->mask] = wc;
	if (shown)
		soft_counter_store(&cq->shown, cq->tail);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "script.h"

#include <string.h>
#include <time.h>

static struct script *
of_evd(struct evd *evd)
{
	return (struct script *)((char *)evd - offsetof(struct script, evd));
}

static void
fire(struct script *s, struct script_hook *hook)
{
	struct script_hook now = *hook;

	if (!now.fn)
		return;
	if (hook->skip > 0) {
		hook->skip--;
		return;
	}
	hook->fn = NULL;
	now.fn(s, now.arg);
}

/* ---- the device's side of struct evd_source_ops ---- */

/* Lets a completion that was polled enter the EVD, as the owner above it would. */
static void
admit(struct script *s, struct evd_batch *batch, const struct script_record *record)
{
	struct evd_hold *hold = s->hold[record->ep];

	if (s->gone[record->ep])
		return;
	memcpy(evd_batch_record(batch), record, sizeof *record);
	if (hold && evd_hold_is_active(hold))
		(void)evd_batch_hold(batch, hold);
	else if (record->flags & SCRIPT_QUIET)
		evd_batch_queue_unsignalled(batch);
	else
		evd_batch_queue(batch);
}

static void
build(const struct script *s, struct script_event *event, const struct script_record *record)
{
	*event = (struct script_event){
		.kind = SCRIPT_COMPLETION, .evd = s->evd.cfg.handle, .id = record->id
	};
}

/* Whether a completion becomes an event now that wakes a sink and has no effect. */
static bool
is_plain(const struct script *s, const struct script_record *record)
{
	const struct evd_hold *hold = s->hold[record->ep];

	return !s->gone[record->ep] && !(hold && evd_hold_is_active(hold)) &&
	       !(record->flags & (SCRIPT_QUIET | SCRIPT_EFFECT));
}

/*
 * If `events` is not NULL, up to *made completions become events at once, the first ones, as far as
 * they are plain.
 */
static struct evd_device_result
poll_to(void *source, struct evd_batch *batch, struct script_event *events, unsigned int *made)
{
	const unsigned int most = events ? *made : 0;
	const int max = (int)batch->room;
	struct script *s = source;
	int n = 0;

	if (events)
		*made = 0;
	fire(s, &s->before_poll);
	pthread_mutex_lock(&s->lock);
	s->polls++;
	if (s->fail_polls > 0) {
		s->fail_polls--;
		n = s->poll_error ? s->poll_error : -EIO;
	} else if (s->greedy_polls > 0) {
		s->greedy_polls--;
		n = max + 1;
	} else {
		for (; n < max && s->count; n++, s->count--) {
			if (events && *made < most && is_plain(s, &s->cq[s->head])) {
				build(s, &events[(*made)++], &s->cq[s->head]);
			} else {
				events = NULL;
				admit(s, batch, &s->cq[s->head]);
			}
			s->head = (s->head + 1) % SCRIPT_CQ;
		}
	}
	pthread_mutex_unlock(&s->lock);
	fire(s, &s->after_poll);
	return (struct evd_device_result){ n };
}

static struct evd_device_result
poll_cq(void *source, struct evd_batch *batch)
{
	return poll_to(source, batch, NULL, NULL);
}

static struct evd_device_result
poll_cq_into(void *source, struct evd_batch *batch, void *events, unsigned int *made)
{
	return poll_to(source, batch, events, made);
}

static void
convert(void *source, const struct evd_record *queued, void *event, struct evd_effect *effect)
{
	const struct script_record *record = (const struct script_record *)(const void *)queued;

	build(source, event, record);
	if (record->flags & SCRIPT_EFFECT)
		*effect = (struct evd_effect){ .code = 1, .object = source, .stamp = record->id };
}

static struct evd_device_result
arm(void *source, bool solicited_only)
{
	struct script *s = source;
	bool widens;
	int r;

	fire(s, &s->before_arm);
	pthread_mutex_lock(&s->lock);
	if (s->fail_arms > 0) {
		s->fail_arms--;
		r = s->arm_error ? s->arm_error : -EIO;
		pthread_mutex_unlock(&s->lock);
		return (struct evd_device_result){ r };
	}
	widens = s->armed && s->armed_solicited && !solicited_only;
	if (!s->tolerant)
		must(!s->outstanding || widens); /* I3 */
	s->armed = s->outstanding = true;
	s->armed_solicited = solicited_only;
	s->arms++;
	r = s->inexact_hint || (s->opt.exact && s->count) ? 1 : 0;
	pthread_mutex_unlock(&s->lock);
	fire(s, &s->after_arm);
	return (struct evd_device_result){ r };
}

static void
ack(void *source, unsigned int n)
{
	struct script *s = source;

	pthread_mutex_lock(&s->lock);
	s->acks += n;
	must(s->acks <= s->gets); /* I7 */
	pthread_mutex_unlock(&s->lock);
}

static bool
get_locked(struct script *s)
{
	s->tries++;
	if (!s->open || !s->raised)
		return false;
	s->raised--;
	s->gets++;
	s->outstanding = false;
	if (s->fd >= 0)
		must(os_event_clear(s->fd));
	return true;
}

static int
read_channel(void *source)
{
	struct script *s = source;
	int r;

	pthread_mutex_lock(&s->lock);
	if (s->read_error) {
		s->tries++;
		r = s->read_error;
	} else {
		r = get_locked(s) ? 1 : 0;
	}
	pthread_mutex_unlock(&s->lock);
	return r;
}

static void
effect(void *source, const struct evd_effect *what)
{
	struct script *s = source;

	s->effects++;
	if (s->on_effect)
		s->on_effect(s, what->stamp);
}

void
script_call(void *instance, const void *event, int more, void (*function)(void))
{
	((script_function *)function)(instance, event, more);
}

static void
call_array(
    void *instance, const void *events, unsigned int n, int more, const struct evd_upcall *upcall)
{
	((script_array_function *)upcall->function)(instance, events, n, more);
}

static void
fault(struct evd *evd, int error)
{
	struct script *s = of_evd(evd);

	s->faults++;
	s->last_fault = error;
	if (s->on_fault)
		s->on_fault(s);
}

/* As ibv_destroy_cq(): waits for the acknowledgement of what was read. */
static void
destroyed(struct evd *evd)
{
	struct script *s = of_evd(evd);
	bool balanced = false;

	for (int i = 0; i < 5000 && !balanced; i++) {
		pthread_mutex_lock(&s->lock);
		balanced = s->acks == s->gets;
		if (balanced)
			s->open = false; /* nothing is raised and nothing read from here on */
		pthread_mutex_unlock(&s->lock);
		if (!balanced)
			script_sleep_ms(1);
	}
	must(balanced); /* I7 */
	if (s->ticket.id)
		loop_remove(s->opt.loop, &s->ticket);
	if (s->fd >= 0)
		os_close(s->fd);
	pthread_mutex_lock(&s->lock);
	s->fd = -1;
	s->destroyed++;
	pthread_mutex_unlock(&s->lock);
	if (s->on_destroyed)
		s->on_destroyed(s);
}

const struct evd_order script_barrier = { .endpoint = &script_barrier, .barrier = true };

/* ---- life ---- */

void
script_init(struct script *s)
{
	memset(s, 0, sizeof *s);
	evd_slot_init(&s->evd);
	pthread_mutex_init(&s->lock, NULL);
	s->fd = -1;
}

static int
deliver_one(void *arg)
{
	return script_deliver(arg) ? 1 : 0;
}

static void
shared_readable(void *arg, uint64_t serial)
{
	struct script *s = arg;

	(void)serial;
	(void)loop_read_some(&s->pace, deliver_one, s);
}

void
script_open(struct script *s, const struct script_options *opt)
{
	struct evd_config config = { 0 };

	pthread_mutex_lock(&s->lock);
	s->opt = *opt;
	if (!s->opt.qlen)
		s->opt.qlen = 16;
	s->head = s->count = s->undecided_head = s->undecided_count = 0;
	s->armed = s->outstanding = s->tolerant = false;
	s->raised = s->gets = s->acks = 0;
	s->destroyed = 0;
	if (opt->channel == SCRIPT_PRIVATE || opt->channel == SCRIPT_SHARED ||
	    opt->channel == SCRIPT_LED) {
		s->fd = os_event_open(true);
		must(s->fd >= 0);
	}
	s->open = true;
	pthread_mutex_unlock(&s->lock);
	s->ops = (struct evd_source_ops){ .poll = poll_cq,
		.poll_into = poll_cq_into,
		.convert = convert,
		.arm = arm,
		.ack = ack,
		.effect = effect,
		.exact_hint = opt->exact };
	if (opt->channel == SCRIPT_PRIVATE)
		s->ops.read = read_channel;
	if (opt->channel == SCRIPT_SHARED)
		must(loop_add(opt->loop, s->fd, shared_readable, s, 0, &s->ticket) == 0);
	config.handle = s;
	config.event_size = sizeof(struct script_event);
	config.call = script_call;
	config.call_array = call_array;
	config.qlen = s->opt.qlen;
	config.ops = opt->no_device ? NULL : &s->ops;
	config.posted_on_demand = opt->posted_on_demand;
	config.spin_ns = opt->spin_ns;
	config.source = s;
	config.channel_fd = opt->channel == SCRIPT_PRIVATE ? s->fd : -1;
	config.loop = opt->loop;
	config.pool = opt->pool;
	config.lead = opt->lead;
	config.fault = fault;
	config.destroyed = destroyed;
	must(evd_create(&s->evd, &config) == 0);
}

void
script_close(struct script *s)
{
	if (script_evd_is(&s->evd, s))
		ck_assert_int_eq(evd_free(evd_self(&s->evd)), 0);
	ck_assert_int_eq(s->destroyed, 1);
}

/* ---- what the device does ---- */

static void
raise_locked(struct script *s)
{
	s->armed = false;
	s->raised++;
	if (s->fd >= 0)
		os_event_set(s->fd);
}

static void
show_locked(struct script *s, const struct script_record *record)
{
	must(s->count < SCRIPT_CQ && s->undecided_count < SCRIPT_CQ);
	s->cq[(s->head + s->count++) % SCRIPT_CQ] = *record;
	s->undecided[(s->undecided_head + s->undecided_count++) % SCRIPT_CQ] = record->flags;
}

void
script_show_record(struct script *s, const struct script_record *record)
{
	pthread_mutex_lock(&s->lock);
	show_locked(s, record);
	pthread_mutex_unlock(&s->lock);
}

void
script_show(struct script *s, uint64_t id)
{
	script_show_record(s, &(struct script_record){ .id = id });
}

static void
direct(struct script *s)
{
	bool now;

	pthread_mutex_lock(&s->lock);
	now = s->opt.channel == SCRIPT_DIRECT;
	pthread_mutex_unlock(&s->lock);
	if (now)
		while (script_deliver(s))
			;
}

static void
decide_locked(struct script *s)
{
	uint32_t flags;

	must(s->undecided_count > 0);
	flags = s->undecided[s->undecided_head];
	s->undecided_head = (s->undecided_head + 1) % SCRIPT_CQ;
	s->undecided_count--;
	if (s->armed && (!s->armed_solicited || (flags & SCRIPT_SOLICITED)))
		raise_locked(s);
}

void
script_decide(struct script *s)
{
	pthread_mutex_lock(&s->lock);
	decide_locked(s);
	pthread_mutex_unlock(&s->lock);
	direct(s);
}

void
script_try_complete(struct script *s, uint64_t id)
{
	const struct script_record record = { .id = id };

	pthread_mutex_lock(&s->lock);
	if (s->open && s->count < SCRIPT_CQ / 2) {
		show_locked(s, &record);
		decide_locked(s);
	}
	pthread_mutex_unlock(&s->lock);
	direct(s);
}

void
script_complete_on(struct script *s, uint32_t ep, uint64_t id)
{
	script_show_record(s, &(struct script_record){ .id = id, .ep = ep });
	script_decide(s);
}

void
script_complete(struct script *s, uint64_t id)
{
	script_complete_on(s, 0, id);
}

void
script_spurious(struct script *s)
{
	pthread_mutex_lock(&s->lock);
	must(s->armed);
	raise_locked(s);
	pthread_mutex_unlock(&s->lock);
	direct(s);
}

void
script_duplicate(struct script *s)
{
	pthread_mutex_lock(&s->lock);
	s->tolerant = true;
	s->raised++;
	if (s->fd >= 0)
		os_event_set(s->fd);
	pthread_mutex_unlock(&s->lock);
	direct(s);
}

bool
script_get(struct script *s)
{
	bool got;

	pthread_mutex_lock(&s->lock);
	got = get_locked(s);
	pthread_mutex_unlock(&s->lock);
	return got;
}

void
script_book(struct script *s)
{
	evd_notified(script_ref(s));
}

bool
script_deliver(struct script *s)
{
	if (!script_get(s))
		return false;
	script_book(s);
	return true;
}

/* ---- what the test asks ---- */

static unsigned int
peek(struct script *s, const unsigned int *member)
{
	unsigned int value;

	pthread_mutex_lock(&s->lock);
	value = *member;
	pthread_mutex_unlock(&s->lock);
	return value;
}

unsigned int
script_raised(struct script *s)
{
	return peek(s, &s->raised);
}

bool
script_due(struct script *s)
{
	return script_raised(s) > 0 || peek(s, &s->undecided_count) > 0;
}

unsigned int
script_queued(struct script *s)
{
	return peek(s, &s->count);
}

unsigned int
script_arms(struct script *s)
{
	return peek(s, &s->arms);
}

uint64_t
script_id(const void *event)
{
	return ((const struct script_event *)event)->id;
}

struct script_event
script_event(uint64_t id)
{
	return (struct script_event){ .kind = SCRIPT_SOFTWARE, .id = id };
}

bool
script_is_software(const void *event)
{
	return ((const struct script_event *)event)->kind == SCRIPT_SOFTWARE;
}

bool
script_is_bind(const void *event)
{
	return ((const struct script_event *)event)->kind == SCRIPT_BIND;
}

int
script_post(struct script *s, uint64_t id)
{
	struct script_event event = script_event(id);

	return evd_post(script_ref(s), EVD_STREAM_SOFTWARE, &event);
}

bool
script_evd_is(struct evd *evd, const void *handle)
{
	bool is;

	os_lock(&evd->lock);
	is = evd->alive && evd->cfg.handle == handle;
	os_unlock(&evd->lock);
	return is;
}

void
script_sleep_ms(unsigned int ms)
{
	const struct timespec ts = { .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000 };

	nanosleep(&ts, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "personality.h"
#include "cq.h"
#include "judge.h"
#include "softverbs/device/complaint.h"
#include "softverbs/soft_arm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * A coalesced event covers this many completions, or those that came within this time in
 * nanoseconds.
 */
#define COALESCE_COUNT 8
#define COALESCE_TIME 100000u

/* The longest time that a delayed completion or event is held back, in nanoseconds. */
#define DELAY_TIME 300000u

/* One in this many completions, and one in this many arms, raises a spurious event. */
#define SPURIOUS_ENTRIES 16
#define SPURIOUS_ARMS 8

/* True if the CQ is armed for an entry. */
static bool
personality_is_armed(const struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	return cq->armed == SOFT_ARMED_ANY || (cq->armed == SOFT_ARMED_SOLICITED && solicited);
}

/* Posts an event, which uses up the request. */
static void
personality_fire(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	cq->armed = SOFT_UNARMED;
	if (cq->channel)
		soft_channel_post(cq->channel, cq);
}

static void
personality_post_held(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	if (!cq->due)
		return;
	cq->due = 0;
	soft_channel_post(cq->channel, cq);
}

/* xorshift32: good enough to choose when an event is late or spurious */
static uint32_t
personality_noise(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	cq->noise ^= cq->noise << 13;
	cq->noise ^= cq->noise >> 17;
	cq->noise ^= cq->noise << 5;
	return cq->noise;
}

/* --- strict: exactly the InfiniBand rule */

static void
personality_strict_on_entry(struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	soft_counter_store(&cq->shown, cq->tail);
	if (personality_is_armed(cq, solicited))
		personality_fire(cq);
}

/* --- late: an event also for a completion that came before the arm */

static void
personality_late_on_arm(struct soft_cq *cq, bool solicited_only, bool there) REQUIRES(soft_locks.cq)
{
	if (there &&
	    (!solicited_only || (int32_t)(cq->solicited - soft_counter_load(&cq->head)) > 0))
		personality_fire(cq);
}

/* --- spurious: extra events now and then */

static void
personality_spurious_on_entry(struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	soft_counter_store(&cq->shown, cq->tail);
	if (personality_is_armed(cq, solicited))
		personality_fire(cq);
	else if (cq->channel && personality_noise(cq) % SPURIOUS_ENTRIES == 0)
		soft_channel_post(cq->channel, cq);
}

static void
personality_spurious_on_arm(struct soft_cq *cq, bool solicited_only, bool there)
    REQUIRES(soft_locks.cq)
{
	(void)solicited_only, (void)there;
	if (cq->channel && personality_noise(cq) % SPURIOUS_ARMS == 0)
		soft_channel_post(cq->channel, cq);
}

/* --- coalescing: one event for several completions */

/*
 * An entry was added.  Its event is held back, or is one with the event that is; `at_once`: neither
 * waits.
 */
static void
personality_coalescing_add(struct soft_cq *cq, bool solicited, bool at_once) REQUIRES(soft_locks.cq)
{
	const bool held = cq->due > 0;

	soft_counter_store(&cq->shown, cq->tail);
	if (personality_is_armed(cq, solicited)) {
		cq->armed = SOFT_UNARMED;
		if (!cq->channel)
			return;
	} else if (!held) {
		return;
	}
	cq->due++;
	if (at_once || cq->due >= cq->moderation.count) {
		if (held)
			soft_timer_stop(&cq->timer);
		personality_post_held(cq);
	} else if (!held) {
		soft_timer_start(&cq->timer, soft_now() + cq->moderation.period);
	}
}

static void
personality_coalescing_on_entry(struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	personality_coalescing_add(cq, solicited, false);
}

/*
 * --- moderated: coalescing as the program sets it, which does not delay what the other end or a
 * failure asks for
 */

static void
personality_moderated_on_entry(struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	personality_coalescing_add(cq, solicited, solicited);
}

/* --- delayed: completions and events become visible a little later, in order */

static void
personality_delayed_start_timer(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	soft_timer_start(&cq->timer, soft_now() + personality_noise(cq) % DELAY_TIME);
}

static void
personality_delayed_on_entry(struct soft_cq *cq, bool solicited) REQUIRES(soft_locks.cq)
{
	(void)solicited; /* cq->solicited has it */
	if (cq->tail - soft_counter_load(&cq->shown) == 1)
		personality_delayed_start_timer(cq);
}

/* Entries up to `end` become visible. */
static void
personality_delayed_show(struct soft_cq *cq, uint32_t end) REQUIRES(soft_locks.cq)
{
	const uint32_t before = soft_counter_load(&cq->shown);
	const bool solicited =
	    (int32_t)(cq->solicited - before) > 0 && (int32_t)(end - cq->solicited) >= 0;

	soft_counter_store(&cq->shown, end);
	if (!personality_is_armed(cq, solicited))
		return;
	cq->armed = SOFT_UNARMED;
	if (!cq->channel)
		return;
	cq->due++;
	personality_delayed_start_timer(cq);
}

static void
personality_delayed_on_timer(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	uint32_t left;

	personality_post_held(cq);
	left = cq->tail - soft_counter_load(&cq->shown);
	if (!left)
		return;
	personality_delayed_show(
	    cq, soft_counter_load(&cq->shown) + 1 + personality_noise(cq) % left);
	if (soft_counter_load(&cq->shown) != cq->tail)
		personality_delayed_start_timer(cq);
}

static void
personality_delayed_on_show(struct soft_cq *cq) REQUIRES(soft_locks.cq)
{
	if (soft_counter_load(&cq->shown) != cq->tail)
		personality_delayed_show(cq, cq->tail);
}

/* Of the queues of a strict device that are moderated. */
static const struct soft_personality moderated = {
	.name = "moderated",
	.on_entry = personality_moderated_on_entry,
	.on_timer = personality_post_held,
};

static const struct soft_personality personalities[] = {
	{ .name = "strict", .on_entry = personality_strict_on_entry },
	{ .name = "late",
	    .on_entry = personality_strict_on_entry,
	    .on_arm = personality_late_on_arm },
	{ .name = "spurious",
	    .on_entry = personality_spurious_on_entry,
	    .on_arm = personality_spurious_on_arm },
	{ .name = "coalescing",
	    .on_entry = personality_coalescing_on_entry,
	    .on_timer = personality_post_held },
	{ .name = "delayed",
	    .on_entry = personality_delayed_on_entry,
	    .on_timer = personality_delayed_on_timer,
	    .on_show = personality_delayed_on_show },
};
#define PERSONALITIES (sizeof personalities / sizeof personalities[0])

/* The default is the first. */
static const struct soft_personality *const strict = &personalities[0];

/* The choice of the program; it has precedence over the environment. */
static _Atomic(const struct soft_personality *) chosen;

static const struct soft_personality *
personality_find(const char *name)
{
	for (size_t i = 0; i < PERSONALITIES; i++)
		if (!strcmp(name, personalities[i].name))
			return &personalities[i];
	return NULL;
}

const char *
soft_personality_names(char *to, size_t size)
{
	size_t n = 0;

	*to = '\0';
	for (size_t i = 0; i < PERSONALITIES && n < size; i++)
		n += (size_t)snprintf(
		    to + n, size - n, "%s%s", i ? ", " : "", personalities[i].name);
	return to;
}

static void
personality_complain(const char *name)
{
	char known[128];

	soft_complain("SOFTVERBS_PERSONALITY=%s: not one of %s", name,
	    soft_personality_names(known, sizeof known));
}

void
soft_personality_init_cq(struct soft_cq *cq, const struct soft_personality *personality) UNCHECKED
{
	cq->personality = personality;
	cq->moderation = (struct soft_moderation){ COALESCE_COUNT, COALESCE_TIME };
}

void
soft_personality_moderate(struct soft_cq *cq, uint32_t count, uint64_t period)
{
	const bool wanted = count > 1 && period;

	soft_cq_lock(cq);
	if (cq->personality == strict || cq->personality == &moderated) {
		/* An event that was held back under the old rule is not held any longer. */
		soft_timer_stop(&cq->timer);
		personality_post_held(cq);
		cq->personality = wanted ? &moderated : strict;
		if (wanted)
			cq->moderation = (struct soft_moderation){ count, period };
	}
	soft_cq_unlock(cq);
}

int
soft_personality_choose(const char *name)
{
	const struct soft_personality *personality = personality_find(name);

	if (!personality)
		return -EINVAL;
	chosen = personality;
	return 0;
}

int
soft_personality_open_context(struct soft_context *ctx)
{
	const char *name = secure_getenv("SOFTVERBS_PERSONALITY");

	ctx->personality = chosen;
	if (ctx->personality)
		return 0;
	if (soft_judge && !(name && *name))
		ctx->personality = soft_judge->personality;
	else
		ctx->personality = personality_find(name && *name ? name : "strict");
	if (ctx->personality)
		return 0;
	personality_complain(name);
	return -EINVAL;
}

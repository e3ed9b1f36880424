/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * standing -- what queries of objects return, and their reference counts, while no thread uses them
 */
#include <string.h>

#include "play.h"

static void
check(const struct play_evd *evd, const char *what, uint64_t said, uint64_t is)
{
	if (said != is)
		violation("at rest EVD %c says %llu for its %s, and it is %llu", 'a' + evd->index,
		    (unsigned long long)said, what, (unsigned long long)is);
}

static void
check_setting(const struct play_evd *evd, const char *what, uint64_t said, const struct setting *s)
{
	if (!s->unknown && !s->busy)
		check(evd, what, said, s->value);
}

/* ---- what its endpoints want of an EVD ---- */

struct wants {
	int room; /* requests that may be outstanding */
	DAT_EVD_STATE notice;
};

static DAT_EVD_STATE
wider(DAT_EVD_STATE a, DAT_EVD_STATE b)
{
	static const DAT_EVD_STATE order[] = { DAT_EVD_STATE_CONFIG_THRESHOLD,
		DAT_EVD_STATE_CONFIG_NOTIFY, DAT_EVD_STATE_CONFIG_SOLICITED };

	for (unsigned int i = 0; i < 3; i++)
		if (a == order[i] || b == order[i])
			return order[i];
	return a;
}

static DAT_EVD_STATE
notice_of(int flags)
{
	if (flags & DAT_COMPLETION_SOLICITED_WAIT_FLAG)
		return DAT_EVD_STATE_CONFIG_SOLICITED;
	if (flags & DAT_COMPLETION_UNSIGNALLED_FLAG || !(flags & DAT_COMPLETION_EVD_THRESHOLD_FLAG))
		return DAT_EVD_STATE_CONFIG_NOTIFY;
	return DAT_EVD_STATE_CONFIG_THRESHOLD;
}

static void
add(struct wants *wants, int depth, int flags)
{
	wants->room += depth ? depth : REQUESTS_MAX;
	wants->notice = wider(wants->notice, notice_of(flags));
}

static struct wants
wants_of(const struct play_evd *evd)
{
	struct wants wants = { 0, (DAT_EVD_STATE)0 };
	bool shared = false; /* all buffers of the queue may complete here */

	for (int i = 0; i < play.scenario->n_eps; i++) {
		const struct ep_spec *ep = &play.scenario->eps[i];

		if (play.eps[i].freed)
			continue;
		if (ep->recv == evd->index && ep->shared) {
			wants.notice = wider(wants.notice, notice_of(ep->in_flags));
			shared |= play.eps[i].object->member.evd != NULL; /* a reset may fail */
		} else if (ep->recv == evd->index) {
			add(&wants, ep->depth, ep->in_flags);
		}
		if (ep->request == evd->index)
			add(&wants, ep->depth, ep->out_flags);
		if (ep->request == evd->index)
			wants.room += dapl_ep_parts_spare(
			    &play.eps[i].object->parts, &play.eps[i].object->attr);
	}
	if (shared)
		wants.room += play.shared->depth;
	return wants;
}

bool
standing_is_narrow(const struct play_evd *evd, bool surely)
{
	const bool changes = play_has(DO_EP_FREE) || play_has(DO_EP_NEW) || play.closing;

	for (int i = 0; i < play.scenario->n_eps; i++) {
		const struct ep_spec *ep = &play.scenario->eps[i];

		if ((ep->recv == evd->index && ep->in_flags != DAT_COMPLETION_EVD_THRESHOLD_FLAG) ||
		    (ep->request == evd->index &&
			ep->out_flags != DAT_COMPLETION_EVD_THRESHOLD_FLAG))
			return !surely || !changes;
	}
	return false;
}

/* ---- at rest ---- */

static void
check_query(const struct play_evd *evd, const struct play_evd_life *life, DAT_EVD_STATE notice)
{
	const DAT_EVD_STATE pairs =
	    (DAT_EVD_STATE)(DAT_EVD_STATE_ENABLED | DAT_EVD_STATE_DISABLED |
			    DAT_EVD_STATE_WAITABLE | DAT_EVD_STATE_UNWAITABLE);
	DAT_EVD_PARAM is;

	if (dapl_evd_query(life->handle, DAT_EVD_FIELD_ALL, &is) != DAT_SUCCESS)
		violation("at rest EVD %c cannot be queried", 'a' + evd->index);
	check(evd, "adapter", (uintptr_t)is.ia_handle, (uintptr_t)play.ia);
	check_setting(evd, "length", (uint64_t)is.evd_qlen, &life->length);
	if (is.evd_qlen < evd->spec->qlen && !play_has(DO_RESIZE))
		violation("EVD %c is shorter than it was asked for", 'a' + evd->index);
	check_setting(evd, "CNO", (uintptr_t)is.cno_handle, &life->listener);
	check(evd, "flags", (uint64_t)is.evd_flags, (uint64_t)life->flags);
	check(evd, "configuration", is.evd_state & ~(unsigned int)pairs, notice);
	check_setting(
	    evd, "state of its CNO's link", is.evd_state & DAT_EVD_STATE_ENABLED, &life->enabled);
	check_setting(evd, "waitability", is.evd_state & DAT_EVD_STATE_WAITABLE, &life->waitable);
	check(evd, "pairs of states", (uint64_t)__builtin_popcount(is.evd_state & pairs), 2);
}

/* The counters are those of the dispatcher, as many bytes of them as the caller has room for. */
static void
check_counters(const struct play_evd *evd, const struct play_evd_life *life)
{
	struct dat_rearm_evd_counters part, all;
	const DAT_UINT32 some = sizeof part / 2;
	struct evd_counters now;
	struct evd_status status;

	memset(&part, 0xa5, sizeof part);
	memset(&all, 0xa5, sizeof all);
	if (evd_query_counters(dapl_evd_ref(life->object), &now) ||
	    evd_query(dapl_evd_ref(life->object), &status) ||
	    dapl_evd_query_upcall_counters(life->handle, &all, sizeof all) != DAT_SUCCESS ||
	    dapl_evd_query_upcall_counters(life->handle, &part, some) != DAT_SUCCESS)
		violation("at rest EVD %c cannot be queried", 'a' + evd->index);
	if (memcmp(&all, &now, sizeof now) || memcmp(&part, &now, some) ||
	    ((unsigned char *)&part)[some] != 0xa5)
		violation("EVD %c: the query returns other counters than the dispatcher keeps",
		    'a' + evd->index);
	check_setting(evd, "policy", (uint64_t)status.policy, &life->policy);
	check(evd, "count of upcalls", now.upcalls, life->upcalls);
	check(evd, "overflows", now.overflows > 0, status.overflowed);
}

void
standing_rest(const struct play_evd *evd)
{
	const struct play_evd_life *life = &evd->lives[evd->life];
	const struct wants wants = wants_of(evd);

	if (life->over || evd->spec->async || evd->spec->all)
		return;
	check_query(evd, life, wants.notice);
	check_counters(evd, life);
	/* What a queue that cannot be polled was to hold is never given back. */
	if (!evd->lost || life->object->room < wants.room)
		check(evd, "promised requests", (uint64_t)life->object->room, (uint64_t)wants.room);
	check(evd, "wish for solicited completions", life->object->core.solicited_only,
	    wants.notice == DAT_EVD_STATE_CONFIG_SOLICITED);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cause -- what happens to a connection, and the events that this may cause
 *
 * Each endpoint in a slot has its own causes. If two actors use a slot, one may reset the endpoint
 * while the other goes on. Then a cause may have been noted for the endpoint before, and the causes
 * of all of them count together.
 */
#include "play.h"

static struct play_ep *
endpoint_of(const void *context)
{
	for (int i = 0; i < play.scenario->n_eps; i++)
		if (!play.eps[i].freed && play.eps[i].object == context)
			return &play.eps[i];
	return NULL;
}

static void
begin_end(struct play_life *life, unsigned int index)
{
	if (life->ending_at)
		return;
	life->ending_at = sched.steps ? sched.steps : 1;
	life->ending_time = sched.now;
	sched_touch(OP_EVENT, OBJECT_CNO(index));
}

void
judge_ending(struct play_ep *ep)
{
	begin_end(play_life(ep), (unsigned int)ep->index);
}

void
judge_cause(struct play_ep *ep, enum cause cause)
{
	play_life(ep)->causes |= cause;
}

/* A reset that has not returned yet may have made the next life's queue pair. */
void
judge_broke(const void *context, uint32_t generation)
{
	struct play_ep *ep = endpoint_of(context);
	struct play_life *life;

	if (!ep) {
		play.unknown_broke = true;
		return;
	}
	life = play_life(ep);
	if (generation != life->generation && ep->life + 1 < PLAY_LIVES)
		life++;
	begin_end(life, (unsigned int)ep->index);
	life->causes |= CAUSE_BROKE;
}

/* Those that connect meanwhile may have no queue pair yet: they break, or not. */
void
judge_device_broke(void)
{
	play.unknown_broke = true;
	for (int i = 0; i < play.scenario->n_eps; i++) {
		struct play_life *life = play_life(&play.eps[i]);

		if (play.eps[i].object->state != DAT_EP_STATE_CONNECTED)
			continue;
		begin_end(life, (unsigned int)i);
		life->causes |= CAUSE_BROKE;
	}
}

void
judge_left(const void *context)
{
	struct play_ep *ep = endpoint_of(context);

	if (!ep)
		return;
	judge_ending(ep);
	judge_cause(ep, CAUSE_LEFT);
}

void
judge_answered(const void *context, enum connection_answer how)
{
	struct play_ep *ep = endpoint_of(context);

	if (!ep)
		return;
	judge_cause(ep, how == ANSWER_ACCEPTS  ? CAUSE_ACCEPTED :
			how == ANSWER_REJECTS  ? CAUSE_REJECTED :
			how == ANSWER_DECLINES ? CAUSE_DECLINED :
						 CAUSE_UNREACHABLE);
	if (how != ANSWER_ACCEPTS)
		judge_ending(ep);
}

/* ---- private data: which endpoint, and which of its answers ---- */

#define DATA_SIZE 3
#define DATA_MARK 0xd7

uint8_t
judge_private_data(const void *context, uint8_t *data)
{
	struct play_ep *ep = endpoint_of(context);

	if (!ep)
		return 0;
	play_life(ep)->answered = ++ep->answers;
	data[0] = DATA_MARK;
	data[1] = (uint8_t)ep->index;
	data[2] = ep->answers;
	return DATA_SIZE;
}

static void
check_data(const struct play_ep *ep, unsigned int life, const DAT_CONNECTION_EVENT_DATA *data,
    DAT_EVENT_NUMBER number)
{
	const uint8_t *bytes = data->private_data;
	const bool some = number == DAT_CONNECTION_EVENT_ESTABLISHED ||
			  number == DAT_CONNECTION_EVENT_PEER_REJECTED;

	if (data->private_data_size != (some ? DATA_SIZE : 0))
		violation("event %x of endpoint %c has %d bytes of private data", number,
		    'e' + ep->index, data->private_data_size);
	/* They are the endpoint's, and its next attempt's by and by. */
	if (!some || life != ep->life || ep->freed || ep->life > 0)
		return;
	if (bytes[0] != DATA_MARK || bytes[1] != ep->index || bytes[2] != ep->lives[life].answered)
		violation(
		    "event %x of endpoint %c has private data of another", number, 'e' + ep->index);
}

/* ---- events ---- */

static bool
acts_on(const struct actor *actor, int ep)
{
	for (unsigned int i = 0; i < actor->n_actions; i++)
		if (verb_prefix(actor->actions[i].verb) == 'e' && actor->actions[i].object == ep &&
		    verb_is_of_consumer(actor->actions[i].verb))
			return true;
	return false;
}

bool
judge_is_exact(const struct play_ep *ep)
{
	unsigned int n = 0;

	for (int i = 0; i < play.scenario->n_actors; i++)
		n += acts_on(&play.scenario->actors[i], ep->index);
	return n <= 1;
}

static bool
had(const struct play_ep *ep, unsigned int life, bool exact, unsigned int causes)
{
	unsigned int any = 0;

	/* A reset that has not returned yet may have made the next life's queue pair. */
	for (unsigned int l = 0; l <= ep->life + 1 && l < PLAY_LIVES; l++)
		if (!exact || l == life)
			any |= ep->lives[l].causes;
	/* What became of requests whose completion queue is lost is not known. */
	if (play.unknown_broke || play.evds[ep->spec->request].lost)
		any |= CAUSE_BROKE;
	return any & causes;
}

static void
check_disconnected(const struct play_ep *ep, unsigned int l, bool exact)
{
	const struct play_life *life = &ep->lives[l];
	const bool leaving = had(ep, l, exact, CAUSE_LEAVING);
	/* Completions of a lost queue are not waited for, and a reset waits for none. */
	const bool hastened = (exact ? life->hastened : play_has(DO_EP_RESET)) ||
			      play.evds[ep->spec->request].lost || play.evds[ep->spec->recv].lost;
	const char name = (char)('e' + ep->index);

	if (!had(ep, l, exact, CAUSE_LEFT | CAUSE_LEAVING))
		violation("endpoint %c was not disconnected", name);
	/* The other end's leaving may be its answer to what failed; a reset does not wait. */
	if (!leaving && life->causes & CAUSE_FAILED && !hastened &&
	    sched.now < life->ending_time + PATIENCE_NS)
		violation("endpoint %c failed, and is reported as disconnected", name);
	/* A graceful disconnect waits for all requests, and checks their results. */
	if (leaving && !had(ep, l, exact, CAUSE_CUT | CAUSE_LEFT) &&
	    life->causes & CAUSE_FAILED_LEAVING && !hastened && !play_has(DO_IA_CLOSE))
		violation(
		    "a request of endpoint %c failed, and it is reported as disconnected", name);
}

void
judge_connection_cause(const struct play_ep *ep, unsigned int l, bool sure,
    const DAT_CONNECTION_EVENT_DATA *data, DAT_EVENT_NUMBER number)
{
	const bool exact = sure && judge_is_exact(ep);
	const struct play_life *life = &ep->lives[l];
	unsigned int causes = 0;

	check_data(ep, l, data, number);
	switch (number) {
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		causes = CAUSE_ACCEPTED;
		break;
	case DAT_CONNECTION_EVENT_BROKEN:
		causes = CAUSE_FAILED | CAUSE_BROKE;
		break;
	case DAT_CONNECTION_EVENT_PEER_REJECTED:
		causes = CAUSE_REJECTED;
		break;
	case DAT_CONNECTION_EVENT_NON_PEER_REJECTED:
		causes = CAUSE_DECLINED;
		break;
	case DAT_CONNECTION_EVENT_UNREACHABLE:
		causes = CAUSE_UNREACHABLE;
		break;
	case DAT_CONNECTION_EVENT_TIMED_OUT:
		if (exact && (!life->patience || sched.now < life->patience))
			violation("endpoint %c times out before its time", 'e' + ep->index);
		return;
	case DAT_CONNECTION_EVENT_DISCONNECTED:
		check_disconnected(ep, l, exact);
		return;
	default:
		violation("endpoint %c: event %x", 'e' + ep->index, number);
	}
	if (!had(ep, l, exact, causes))
		violation("event %x of endpoint %c has no cause", number, 'e' + ep->index);
}

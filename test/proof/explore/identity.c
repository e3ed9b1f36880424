/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * identity -- the object of a call, and what a late call may do
 *
 * An actor uses the EVD and the CNO that were in a slot when the scenario began, that it created
 * there itself, or that it found there with `see`. An upcall and an agent use their own. So a
 * thread whose EVD was freed by another thread goes on with the old serial number, and meets the
 * successor.
 *
 * It must do no harm to the successor: a lock section that is entered with an earlier serial number
 * leaves every byte of the object as it was, and does nothing but drop the lock.
 */
#include "call.h"

#include <string.h>

#include "world.h"

static unsigned int
self(void)
{
	return (unsigned int)(sched.self - sched.fibers);
}

unsigned int
identity_of(const struct stage_evd *e)
{
	const unsigned int f = self();

	if (stage.handed[f] && stage.handed[f]->evd == e)
		return stage.handed[f]->serial;
	if (stage.frames[f][e->index])
		return stage.frame_life[f][e->index];
	return stage.acting[f] < 0 ? e->serial : stage.knows[stage.acting[f]][e->index];
}

unsigned int
identity_of_cno(const struct stage_cno *c)
{
	const unsigned int f = self();

	if (stage.in_agent[f] && stage.in_agent[f]->cno == c)
		return stage.in_agent[f]->serial;
	return stage.acting[f] < 0 ? c->serial : stage.knows_cno[stage.acting[f]][c->index];
}

/* ---- a call ---- */

/* Members that this lock does not guard: the lock itself, the links of a loop's or a CNO's list. */
static const struct range {
	size_t at, size;
} others_evd[] = {
	{ offsetof(struct evd, lock), sizeof(struct os_mutex) },
	{ offsetof(struct evd, triggered_next), sizeof(struct evd *) },
	{ offsetof(struct evd, triggered), sizeof(bool) },
	{ offsetof(struct evd, agent_unseen), sizeof(bool) },
	{ offsetof(struct evd, handed_link), sizeof(((struct evd *)0)->handed_link) },
	{ offsetof(struct evd, handed), sizeof(bool) },
	{ offsetof(struct evd, job), sizeof(struct loop_job) },
}, others_cno[] = {
	{ offsetof(struct cno, lock), sizeof(struct os_mutex) },
	{ offsetof(struct cno, job), sizeof(struct loop_job) },
};

static struct meant {
	struct os_mutex *lock; /* NULL: the fiber is in no call */
	const void *object;
	size_t size;
	const struct range *others;
	unsigned int n_others;
	const uint64_t *serial;
	uint64_t means;
} meanings[FIBERS];

void
identity_reset(void)
{
	memset(meanings, 0, sizeof meanings);
}

static bool
gone(const struct call *c)
{
	return c->evd ? !c->evd->evd.alive || c->evd->evd.serial != c->serial :
			!c->cno->cno.alive || c->cno->cno.serial != c->serial;
}

struct call
call_begins(struct stage_evd *e)
{
	struct call c = { .evd = e, .serial = identity_of(e) };

	c.late = gone(&c);
	meanings[self()] = (struct meant){ &e->evd.lock, &e->evd, sizeof e->evd, others_evd,
		sizeof others_evd / sizeof *others_evd, &e->evd.serial, c.serial };
	return c;
}

struct call
call_begins_cno(struct stage_cno *n)
{
	struct call c = { .cno = n, .serial = identity_of_cno(n) };

	c.late = gone(&c);
	meanings[self()] = (struct meant){ &n->cno.lock, &n->cno, sizeof n->cno, others_cno,
		sizeof others_cno / sizeof *others_cno, &n->cno.serial, c.serial };
	return c;
}

void
call_ends(void)
{
	meanings[self()].lock = NULL;
	sched_step(OP_EVENT);
}

void
call_ends_with(const struct call *c, const char *what, int r)
{
	call_ends();
	if (c->late && r != -ENODEV)
		violation("identity: %s of %c, which was freed before, returned %d", what,
		    c->evd ? 'a' + c->evd->index : 'n' + c->cno->index, r);
}

bool
call_gone(const struct call *c, int r)
{
	return r == -ENODEV && gone(c);
}

/* ---- its sections ---- */

union copy {
	struct evd evd;
	struct cno cno;
};

static struct section {
	unsigned char before[sizeof(union copy)];
	uint32_t ops;
	bool late;
} sections[FIBERS];

/*
 * Not by memcpy(): ThreadSanitizer judges its reads, and what other locks guard is read here, and
 * dropped.
 */
static void
take_copy(const struct meant *m, unsigned char *copy)
{
	const volatile unsigned char *from = m->object;

	for (size_t i = 0; i < m->size; i++)
		copy[i] = from[i];
	for (unsigned int i = 0; i < m->n_others; i++)
		memset(copy + m->others[i].at, 0, m->others[i].size);
}

void
identity_section(struct os_mutex *lock, bool begins)
{
	const struct meant *m = &meanings[self()];
	struct section *s = &sections[self()];
	unsigned char after[sizeof s->before];

	if (!begins)
		claim_section(lock);
	if (m->lock != lock)
		return;
	if (begins) {
		s->late = *m->serial != m->means;
		if (!s->late)
			return;
		take_copy(m, s->before);
		s->ops = sched.self->ops;
		return;
	}
	if (!s->late)
		return;
	s->late = false;
	take_copy(m, after);
	if (memcmp(after, s->before, m->size))
		violation("identity: a call that comes too late changes the successor");
	if (!sched.no_choices && sched.self->ops != s->ops)
		violation("identity: a call that comes too late acts for the successor");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* source -- the descriptors that a loop reads */
#include <string.h>

#include "evd/loop_body.h"

static uint64_t
loop_source_id(uint32_t index, uint32_t generation)
{
	return (uint64_t)generation << 32 | (index + 1);
}

/* NULL for 0, the id of the doorbell, and for a source that was removed. */
static struct loop_source *
loop_source_find(struct loop *loop, uint64_t id) REQUIRES(core_locks.loop)
{
	uint32_t index = (uint32_t)id - 1; /* for id 0 it is beyond any table */

	if (index >= loop->n_sources)
		return NULL;
	if (loop->sources[index].fd < 0 || loop->sources[index].generation != id >> 32)
		return NULL;
	return &loop->sources[index];
}

static int
loop_source_slot(struct loop *loop, uint32_t *index) REQUIRES(core_locks.loop)
{
	struct loop_source *grown;
	const uint32_t n = loop->n_sources, room = n ? 2 * n : LOOP_SOURCES;
	uint32_t i;

	for (i = 0; i < n; i++)
		if (loop->sources[i].fd < 0 && !loop->sources[i].busy)
			goto found;
	grown = os_alloc(room, sizeof *grown);
	if (!grown)
		return -ENOMEM;
	if (n)
		memcpy(grown, loop->sources, n * sizeof *grown);
	os_free(loop->sources);
	loop->sources = grown;
	loop->n_sources = room;
	for (uint32_t j = n; j < room; j++)
		grown[j].fd = -1;
found:
	*index = i;
	return 0;
}

int
loop_add(struct loop *loop, int fd, void (*handler)(void *arg, uint64_t serial), void *arg,
    uint64_t serial, struct loop_ticket *ticket)
{
	struct loop_source *source;
	uint32_t index, generation;
	int r;

	loop_lock(loop);
	r = loop_source_slot(loop, &index);
	if (r)
		goto out;
	generation = loop->sources[index].generation + 1;
	r = os_epoll_ctl(loop->epfd, EPOLL_CTL_ADD, fd, EPOLLIN, loop_source_id(index, generation));
	if (r)
		goto out;
	source = &loop->sources[index];
	*source = (struct loop_source){
		.fd = fd, .generation = generation, .handler = handler, .arg = arg, .serial = serial
	};
	ticket->id = loop_source_id(index, generation);
out:
	loop_unlock(loop);
	return r;
}

void
loop_watch(struct loop *loop, const struct loop_ticket *ticket, bool on)
{
	struct loop_source *source;

	loop_lock(loop);
	source = loop_source_find(loop, ticket->id);
	if (source)
		(void)os_epoll_ctl(
		    loop->epfd, EPOLL_CTL_MOD, source->fd, on ? EPOLLIN : 0, ticket->id);
	loop_unlock(loop);
}

static struct loop_source *
loop_source_forget(struct loop *loop, struct loop_ticket *ticket) REQUIRES(core_locks.loop)
{
	struct loop_source *source = loop_source_find(loop, ticket->id);

	ticket->id = 0;
	if (!source)
		return NULL;
	(void)os_epoll_ctl(loop->epfd, EPOLL_CTL_DEL, source->fd, 0, 0);
	source->fd = -1;
	return source;
}

void
loop_forget(struct loop *loop, struct loop_ticket *ticket)
{
	loop_lock(loop);
	(void)loop_source_forget(loop, ticket);
	loop_unlock(loop);
}

/* An index, because the array may move while the thread sleeps. */
struct removal {
	const struct loop *loop;
	size_t index;
};

static bool
loop_source_is_idle(void *arg) REQUIRES(core_locks.loop)
{
	const struct removal *removal = arg;

	return !removal->loop->sources[removal->index].busy;
}

void
loop_remove(struct loop *loop, struct loop_ticket *ticket)
{
	struct loop_source *source;

	loop_lock(loop);
	source = loop_source_forget(loop, ticket);
	if (source && source->busy && loop_current() != loop) {
		struct removal removal = { loop, (size_t)(source - loop->sources) };

		park_list_await(&loop->removers, &loop->lock, loop_source_is_idle, &removal);
	}
	loop_unlock(loop);
}

int
loop_serve(struct loop *loop, const struct epoll_event *events, int n)
{
	struct loop_source *source;
	void (*handler)(void *, uint64_t);
	void *arg;
	uint64_t serial;
	uint32_t index;
	int served = 0;

	for (int i = 0; i < n; i++) {
		source = loop_source_find(loop, events[i].data.u64);
		/*
		 * NULL: removed, or the doorbell, which the sleeping thread accounts for.
		 * busy: a handler of this thread is parked and pumps; it continues to read when it
		 * resumes.
		 */
		if (!source || source->busy)
			continue;
		source->busy = true;
		index = (uint32_t)(source - loop->sources);
		handler = source->handler;
		arg = source->arg;
		serial = source->serial;
		loop_unlock(loop);

		handler(arg, serial);
		served++;

		loop_lock(loop);
		loop->sources[index].busy = false;
		park_list_wake_all(&loop->removers);
	}
	return served;
}

int
loop_read_some(struct loop_pace *pace, int (*read)(void *arg), void *arg)
{
	int n = 1, r = read(arg);

	if (r != 1)
		return r;
	if (pace->rest > 0) {
		pace->rest--;
		return r;
	}
	while (n < LOOP_READS && (r = read(arg)) == 1)
		n++;
	if (n > 1)
		pace->singles = 0;
	else if (pace->singles < LOOP_SINGLES)
		pace->singles = 2 * pace->singles + 1;
	pace->rest = pace->singles;
	return r;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "evd/park.h"

#include "evd/loop.h"
#include "evd/os.h"

/* The value of the flag. */
enum {
	PARK_AWAKE,
	PARK_WOKEN,  /* the next sleep ends at once */
	PARK_ASLEEP, /* on the flag */
	PARK_POLLS,  /* the owner sleeps on descriptors, the event among them */
};

/*
 * The owner alone changes the flag from AWAKE and back to it.  A thread that wakes it changes the
 * flag to WOKEN, and then ends the sleep.  It holds the lock of the list, which the owner takes
 * before it leaves the list: so the park exists until then.
 */
struct park {
	struct os_flag flag;
	int event;
};

#define NAP_NS 1000000u

static void
park_fini(struct os_self *self)
{
	struct park *park = self->park;

	if (!park)
		return;
	self->park = NULL;
	os_close(park->event);
	os_free(park);
}

struct park *
park_self(void)
{
	struct os_self *self = os_self();
	struct park *park = self->park;

	if (park)
		return park;
	park = os_alloc(1, sizeof *park);
	if (!park)
		return NULL;
	park->event = os_event_open(false);
	if (park->event < 0) {
		errno = -park->event;
		os_free(park);
		return NULL;
	}
	self->park = park;
	os_self_at_exit(park_fini);
	return park;
}

void
park_close_self(void)
{
	park_fini(os_self());
}

void
park_reset(struct park *park)
{
	if (park && os_flag_get(&park->flag) == PARK_WOKEN)
		(void)os_flag_swap(&park->flag, PARK_AWAKE);
}

void
park_wake(struct park *park)
{
	if (!park || park == os_self()->park)
		return;
	switch (os_flag_swap(&park->flag, PARK_WOKEN)) {
	case PARK_ASLEEP:
		os_flag_wake(&park->flag);
		break;
	case PARK_POLLS:
		os_event_set(park->event);
		break;
	}
}

void
park_list_add(struct park_list *list, struct park_entry *entry, struct park *park)
{
	struct park_entry **end = &list->first;

	while (*end)
		end = &(*end)->next;
	entry->next = NULL;
	entry->park = park;
	*end = entry;
}

void
park_list_remove(struct park_list *list, struct park_entry *entry)
{
	struct park_entry **p = &list->first;

	while (*p && *p != entry)
		p = &(*p)->next;
	if (*p)
		*p = entry->next;
}

void
park_list_wake_all(struct park_list *list)
{
	for (struct park_entry *e = list->first; e; e = e->next)
		park_wake(e->park);
}

bool
park_list_wake_first(struct park_list *list)
{
	if (!list->first)
		return false;
	park_wake(list->first->park);
	return true;
}

/* Sleeps on the flag alone.  `leave` is NULL for a thread that is not cancelled here. */
static int
park_sleep_alone(struct park *park, uint64_t deadline, const struct os_leave *leave)
{
	int r;

	if (!os_flag_change(&park->flag, PARK_AWAKE, PARK_ASLEEP))
		return 0;
	r = leave ? os_flag_wait_or_leave(&park->flag, PARK_ASLEEP, deadline, leave) :
		    os_flag_wait(&park->flag, PARK_ASLEEP, deadline);
	(void)os_flag_change(&park->flag, PARK_ASLEEP, PARK_AWAKE);
	return r;
}

/*
 * Sleeps on descriptors; the first one is the event of the park, if there is a park.  A thread that
 * wakes this one may write to the event after the sleep has ended for another reason: the next
 * sleep on descriptors then ends too early.  Returns what os_poll() returns, and 1 if it was woken
 * before: then it has not looked at the descriptors, and the next sleep does.
 */
static inline int
park_poll(struct park *park, struct pollfd *fds, unsigned int n, uint64_t until,
    const struct os_leave *leave)
{
	int r;

	if (park && !os_flag_change(&park->flag, PARK_AWAKE, PARK_POLLS))
		return 1;
	r = leave ? os_poll_or_leave(fds, n, until, leave) : os_poll(fds, n, until);
	if (!park)
		return r;
	(void)os_flag_change(&park->flag, PARK_POLLS, PARK_AWAKE);
	if (r > 0 && fds[0].revents)
		(void)os_event_clear(park->event);
	return r;
}

/* Sleeps on the event and one descriptor. */
static int
park_sleep_at(
    struct park *park, uint64_t deadline, int fd, bool *fd_ready, const struct os_leave *leave)
{
	struct pollfd fds[2] = { { .fd = park->event, .events = POLLIN },
		{ .fd = fd, .events = POLLIN } };
	const int r = park_poll(park, fds, 2, deadline, leave);

	*fd_ready = fds[1].revents != 0;
	if (r == 0)
		return -ETIMEDOUT;
	return r < 0 ? r : 0;
}

/* The general way, for a thread that has a loop to pump, or no park. */
static __attribute__((noinline)) int
park_sleep_any(
    struct park *park, struct loop *loop, uint64_t deadline, int fd, bool *fd_ready) NO_CORE_LOCK
{
	struct pollfd fds[3];
	unsigned int n = 0, at_fd = 0, at_loop = 0;
	uint64_t until = deadline, due = PARK_FOREVER;
	int r;

	if (fd_ready)
		*fd_ready = false;
	if (loop && !loop_sleep_begin(loop, false, &due)) {
		loop_pump(loop);
		return 0;
	}
	if (park) {
		fds[n++] = (struct pollfd){ .fd = park->event, .events = POLLIN };
	} else {
		/*
		 * No other thread can wake a thread without a descriptor: it checks again by
		 * itself.
		 */
		uint64_t nap = os_clock_ns() + NAP_NS;

		until = nap < deadline ? nap : deadline;
	}
	until = due < until ? due : until;
	if (fd >= 0) {
		at_fd = n;
		fds[n++] = (struct pollfd){ .fd = fd, .events = POLLIN };
	}
	if (loop) {
		at_loop = n;
		fds[n++] = (struct pollfd){ .fd = loop_fd(loop), .events = POLLIN };
	}

	r = park_poll(park, fds, n, until, NULL);
	if (loop)
		loop_sleep_end(loop);
	if (r < 0)
		return r;
	if (r == 0)
		return until == deadline ? -ETIMEDOUT : 0;
	if (loop && fds[at_loop].revents)
		loop_pump(loop);
	if (fd >= 0 && fds[at_fd].revents)
		*fd_ready = true;
	return 0;
}

static inline int
park_sleep_with(
    struct park *park, uint64_t deadline, int fd, bool *fd_ready, const struct os_leave *leave)
{
	struct loop *const loop = loop_to_pump();

	if (loop || !park)
		return park_sleep_any(park, loop, deadline, fd, fd_ready);
	if (fd >= 0)
		return park_sleep_at(park, deadline, fd, fd_ready, leave);
	if (fd_ready)
		*fd_ready = false;
	return park_sleep_alone(park, deadline, leave);
}

int
park_sleep(struct park *park, uint64_t deadline, int fd, bool *fd_ready)
{
	return park_sleep_with(park, deadline, fd, fd_ready, NULL);
}

/* A wait that is cancelled. */
struct park_leave {
	struct park *park;
	void (*leave)(void *arg);
	void *arg;
};

/* What leave() calls may sleep again, so the thread is awake before. */
static void
park_leave(void *arg)
{
	const struct park_leave *left = arg;

	(void)os_flag_swap(&left->park->flag, PARK_AWAKE);
	left->leave(left->arg);
}

int
park_sleep_or_leave(struct park *park, uint64_t deadline, int fd, bool *fd_ready,
    void (*leave)(void *arg), void *arg)
{
	struct park_leave left = { park, leave, arg };

	return park_sleep_with(
	    park, deadline, fd, fd_ready, &(struct os_leave){ park_leave, &left });
}

void
park_list_await(struct park_list *list, struct os_mutex *lock, bool (*over)(void *arg), void *arg)
{
	struct park *park = park_self();
	struct park_entry entry;

	park_list_add(list, &entry, park);
	for (;;) {
		park_reset(park);
		if (over(arg))
			break;
		os_unlock(lock);
		(void)park_sleep(park, PARK_FOREVER, -1, NULL);
		os_lock(lock);
	}
	park_list_remove(list, &entry);
}

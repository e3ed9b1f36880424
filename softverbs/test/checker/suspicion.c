/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is suspected of a queue, and how strongly: the rules of softverbs/check/suspicion.h, a row
 * for each side of each condition.
 */
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "fake.h"
#include "lib/runner.h"
#include "softverbs/check/suspicion.h"

/* What a thread does: 900 is the descriptor of the channel, 901 that of another one. */
enum doing {
	NOTHING,
	ON,	     /* sleeps in read() of the channel */
	ON_TWO,	     /* in poll() of it and another descriptor */
	ON_TIMED,    /* in read() of it, which a time limit ends */
	ELSEWHERE,   /* in read() of another channel */
	WAITS,	     /* for another thread */
	WAITS_TIMED, /* the same, for a time */
	SLEEPS,	     /* for a time */
	OUTSIDE,     /* in a system call that the checker does not know */
	RUNS,
	RUNS_ON, /* its last call was read() of the channel */
	SPINS	 /* runs, and only polls other queues */
};

#define THREADS 3

/* The other queue of the process. */
enum other {
	NO_OTHER,
	ARMED,	     /* of the same channel, and armed */
	UNREAD,	     /* ..., with an event */
	DUE,	     /* ..., with an event that the device holds */
	UNARMED,     /* ..., and nothing */
	DESTROYED,   /* ..., armed, but destroyed */
	SENDING,     /* ..., armed, with a send that is outstanding */
	RECEIVING,   /* ..., with a receive */
	ALL_GONE,    /* ..., with both, of connections that have ended */
	NOT_COUNTED, /* ..., of which this is not known */
	FAR,	     /* of another channel, which is 901, with a send that is outstanding; armed */
	FAR_DESTROYED, /* the same, destroyed */
	FAR_SAME       /* on the descriptor 901, of the same channel */
};

struct row {
	const char *what;
	enum soft_kind kind;
	enum soft_strength strength;
	struct soft_check_view view;
	enum doing threads[THREADS];
	enum other other;
	bool unknown; /* the threads could not be read */
	pid_t napper;
};

static struct pollfd two[2];

static void
act(struct soft_sleepers *all, struct soft_sleeper *one, pid_t number, enum doing doing)
{
	*one = (struct soft_sleeper){ .thread = number, .asleep = true, .call = SYS_read };
	one->arguments[0] = 900;
	switch (doing) {
	case ON:
		all->outside = true;
		break;
	case ON_TWO:
		one->call = SYS_ppoll;
		two[0] = (struct pollfd){ .fd = 905, .events = POLLIN };
		two[1] = (struct pollfd){ .fd = 900, .events = POLLIN };
		one->arguments[0] = (unsigned long)(uintptr_t)two;
		one->arguments[1] = 2;
		all->outside = true;
		break;
	case ON_TIMED:
		one->timed = all->timed = true;
		break;
	case ELSEWHERE:
		one->arguments[0] = 901;
		all->outside = true;
		break;
	case WAITS_TIMED:
		one->arguments[3] = 1;
		one->timed = all->timed = true;
		one->call = SYS_futex;
		break;
	case WAITS:
		one->call = SYS_futex;
		break;
	case SLEEPS:
		one->call = SYS_nanosleep;
		one->timed = all->timed = true;
		break;
	case OUTSIDE:
		one->call = SYS_wait4;
		all->outside = true;
		break;
	case RUNS:
		one->call = -1;
		/* fall through */
	case RUNS_ON:
		all->busy = true;
		/* fall through */
	case SPINS:
		one->asleep = false;
		all->running = true;
		break;
	default:
		break;
	}
}

static void
add_other(enum other other)
{
	const bool far = other == FAR || other == FAR_DESTROYED;
	struct soft_check_view *view;

	if (other == NO_OTHER)
		return;
	view = fake_queue(far)->view;
	*view = (struct soft_check_view){ .exists = other != DESTROYED && other != FAR_DESTROYED,
		.fd = far || other == FAR_SAME ? 901 : 900,
		.channel = far ? &fake_channel[1] : &fake_channel[0],
		.counted = other != NOT_COUNTED,
		.state.armed = SOFT_ARMED_ANY };
	view->sends = other == SENDING || other == ALL_GONE || far ? 1 : 0;
	view->receives = other == RECEIVING || other == ALL_GONE ? 1 : 0;
	view->gone = other == ALL_GONE ? 2 : 0;
	if (other == UNARMED || other == UNREAD || other == DUE)
		view->state.armed = SOFT_UNARMED;
	view->state.unread = other == UNREAD;
	view->state.due = other == DUE;
}

#define INNOCENT SOFT_INNOCENT
#define WEAK SOFT_WEAK
#define STRONG SOFT_STRONG

/* Completions to poll; the queue was armed before, and an event was read. */
#define VISIBLE(...) \
	{ \
		.state = { .visible = 1 }, .was_armed = true, .events_read = 1, .polled = 7, \
		__VA_ARGS__ \
	}
#define VISIBLE_STATE(...) \
	{ \
		.state = { .visible = 1, __VA_ARGS__ }, .was_armed = true, .events_read = 1, \
		.polled = 7 \
	}
/* An event to read. */
#define EVENT(...) \
	{ \
		.state = { .visible = 1, .unread = 1 }, .was_armed = true, .events_read = 1, \
		.polled = 7, __VA_ARGS__ \
	}
/* Nothing to poll, and armed; all receives are gone. */
#define ENDED(...) \
	{ \
		.state = { .armed = SOFT_ARMED_ANY }, .counted = true, .receives = 2, .gone = 2, \
		__VA_ARGS__ \
	}
#define OUTSTANDING(...) \
	{ \
		.counted = true, .was_armed = true, __VA_ARGS__ \
	}

/* clang-format off */
static const struct row rows[] = {
	/* A destroy. */
	{ .what = "destroyed, an event is not acknowledged", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = STRONG,
	    .view = { .destroying = 100, .events_read = 2, .events_acknowledged = 1 }, .threads = { WAITS } },
	{ .what = "destroyed, all are acknowledged", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = STRONG,
	    .view = { .destroying = 100, .events_read = 2, .events_acknowledged = 2 }, .threads = { WAITS } },
	{ .what = "destroyed, too many are", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = INNOCENT,
	    .view = { .destroying = 100, .events_read = 2, .events_acknowledged = 3 }, .threads = { WAITS } },
	{ .what = "destroyed, the thread runs", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = INNOCENT,
	    .view = { .destroying = 100, .events_read = 2 }, .threads = { RUNS, WAITS } },
	{ .what = "destroyed by the second thread", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = STRONG,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { WAITS, WAITS } },
	/* One of the others may handle an event before it acknowledges it. */
	{ .what = "destroyed, another runs", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = WEAK,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { RUNS, WAITS } },
	{ .what = "destroyed, another spins", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = WEAK,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { SPINS, WAITS } },
	{ .what = "destroyed, another sleeps for a time", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = WEAK,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { SLEEPS, WAITS } },
	{ .what = "destroyed, another waits for a time", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = WEAK,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { WAITS_TIMED, WAITS } },
	{ .what = "destroyed, another is in a call that is not known", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = WEAK,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { OUTSIDE, WAITS } },
	{ .what = "destroyed, another reads", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = WEAK,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { ELSEWHERE, WAITS } },
	{ .what = "destroyed, the others are not known", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = WEAK,
	    .view = { .destroying = 101, .events_read = 2 }, .threads = { WAITS, WAITS }, .unknown = true },
	{ .what = "destroyed by a thread that is gone", .kind = SOFT_NEVER_ACKNOWLEDGED, .strength = INNOCENT,
	    .view = { .destroying = 109, .events_read = 2 }, .threads = { WAITS, WAITS } },

	/* Completions, and a thread that waits. */
	{ .what = "not armed", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON } },
	{ .what = "not armed, another thread is busy", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { ON, RUNS } },
	{ .what = "not armed, another thread only polls", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { SPINS, ON } },
	{ .what = "not armed, another thread sleeps", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON, SLEEPS } },
	{ .what = "not armed, another thread that used it last sleeps", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.keeper = 101), .threads = { ON, SLEEPS } },
	{ .what = "not armed, another thread sleeps that did not", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(.keeper = 100), .threads = { ON, SLEEPS } },
	{ .what = "not armed, the event was taken", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(.taken = true), .threads = { ON } },
	{ .what = "taken, another thread sleeps for a time", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.taken = true), .threads = { ON, SLEEPS } },
	{ .what = "taken, the first sleeps for a time", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.taken = true), .threads = { SLEEPS, ON } },
	{ .what = "taken, another waits for a thread", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(.taken = true), .threads = { ON, WAITS } },
	{ .what = "taken, another waits for a thread and a time", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.taken = true), .threads = { ON, WAITS, WAITS_TIMED } },
	{ .what = "taken, another reads", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.taken = true), .threads = { ON, ELSEWHERE } },
	{ .what = "taken, another is in a call that is not known", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.taken = true), .threads = { ON, OUTSIDE } },
	{ .what = "taken, another spins", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(.taken = true), .threads = { ON, SPINS } },
	{ .what = "waits for two descriptors", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON_TWO } },
	{ .what = "armed", .kind = SOFT_NOT_LOOKED_AT_AGAIN, .strength = STRONG,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_ANY), .threads = { ON } },
	{ .what = "armed for solicited ones, with one", .kind = SOFT_NOT_LOOKED_AT_AGAIN, .strength = STRONG,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_SOLICITED, .solicited = true), .threads = { ON } },
	{ .what = "armed for all, with a message", .kind = SOFT_NOT_LOOKED_AT_AGAIN, .strength = STRONG,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_ANY, .received = true), .threads = { ON } },
	{ .what = "armed for solicited ones, a message that is none", .kind = SOFT_UNSOLICITED, .strength = WEAK,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_SOLICITED, .received = true), .threads = { ON } },
	{ .what = "armed for solicited ones, a send", .kind = SOFT_UNSOLICITED, .strength = INNOCENT,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_SOLICITED), .threads = { ON } },
	{ .what = "armed for solicited ones, nothing waits", .kind = SOFT_UNSOLICITED, .strength = INNOCENT,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_SOLICITED, .received = true), .threads = { RUNS } },
	{ .what = "armed for solicited ones, the program asks", .kind = SOFT_UNSOLICITED, .strength = WEAK,
	    .view = { .state = { .visible = 1, .armed = SOFT_ARMED_SOLICITED, .received = true }, .asks = true }, .threads = { RUNS } },
	{ .what = "never armed", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = { .state = { .visible = 1 }, .events_read = 1, .polled = 7 }, .threads = { ON } },
	{ .what = "never armed, another queue is", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = { .state = { .visible = 1 }, .events_read = 1, .polled = 7 }, .threads = { ON }, .other = ARMED },
	{ .what = "never armed, another queue is, a message", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = { .state = { .visible = 1, .received = true } }, .threads = { ON }, .other = ARMED },
	{ .what = "never armed, another queue is, a message, nothing waits", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = { .state = { .visible = 1, .received = true } }, .threads = { WAITS }, .other = ARMED },
	{ .what = "armed before, another queue is armed", .kind = SOFT_STRANDED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON }, .other = ARMED },
	{ .what = "another queue has an event", .kind = SOFT_STRANDED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON }, .other = UNREAD },
	{ .what = "another queue has an event that is held", .kind = SOFT_STRANDED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON }, .other = DUE },
	{ .what = "another queue has nothing", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON }, .other = UNARMED },
	{ .what = "another queue is destroyed", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON }, .other = DESTROYED },
	{ .what = "a queue of another channel is armed", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { ON }, .other = FAR },
	{ .what = "the program asks", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.asks = true), .threads = { SLEEPS } },
	{ .what = "the program asks, and a thread sleeps", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(.asks = true), .threads = { SLEEPS, ON } },
	{ .what = "a thread has come back", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { RUNS_ON } },

	/* A thread that will come back.  origin: out33.J3 */
	{ .what = "never armed, waits for a time", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK, .napper = 100,
	    .view = { .state = { .visible = 1 }, .polled = 7 }, .threads = { ON_TIMED } },
	{ .what = "never armed, waits for a time, another queue is", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK, .napper = 101,
	    .view = { .state = { .visible = 1, .received = true } }, .threads = { SLEEPS, ON_TIMED }, .other = ARMED },
	{ .what = "never armed, another sleeps for a time", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = { .state = { .visible = 1 }, .keeper = 101 }, .threads = { ON, SLEEPS } },
	{ .what = "armed before, waits for a time", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE(.keeper = 100), .threads = { ON_TIMED } },
	{ .what = "armed, waits for a time", .kind = SOFT_NOT_LOOKED_AT_AGAIN, .strength = STRONG,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_ANY), .threads = { ON_TIMED } },
	{ .what = "the keeper sleeps for a time", .kind = SOFT_STRANDED, .strength = WEAK, .napper = 101,
	    .view = VISIBLE(.keeper = 101), .threads = { WAITS, SLEEPS } },
	{ .what = "another sleeps for a time", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(.keeper = 100), .threads = { WAITS, SLEEPS } },
	{ .what = "the keeper sleeps for a time, and the program asks", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = VISIBLE(.keeper = 100, .asks = true), .threads = { SLEEPS } },

	/* Completions, and none that waits. */
	{ .what = "all wait for each other", .kind = SOFT_STRANDED, .strength = STRONG,
	    .view = VISIBLE(), .threads = { WAITS, WAITS } },
	{ .what = "armed, and all wait", .kind = SOFT_NOT_LOOKED_AT_AGAIN, .strength = STRONG,
	    .view = VISIBLE_STATE(.armed = SOFT_ARMED_ANY), .threads = { WAITS } },
	{ .what = "no event was ever read", .kind = SOFT_STRANDED, .strength = INNOCENT,
	    .view = { .state = { .visible = 1 }, .was_armed = true, .polled = 7 }, .threads = { WAITS } },
	{ .what = "one runs", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { WAITS, RUNS } },
	{ .what = "one spins", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { SPINS } },
	{ .what = "one sleeps for a time", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { SLEEPS } },
	{ .what = "one is outside", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { OUTSIDE } },
	{ .what = "one reads elsewhere", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { ELSEWHERE } },
	{ .what = "what they do is not known", .kind = SOFT_STRANDED, .strength = WEAK,
	    .view = VISIBLE(), .threads = { WAITS }, .unknown = true },
	{ .what = "all were flushed", .kind = SOFT_STRANDED, .strength = INNOCENT,
	    .view = VISIBLE_STATE(.flushed = true), .threads = { WAITS } },
	{ .what = "flushed, and one waits", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = VISIBLE_STATE(.flushed = true), .threads = { ON } },
	{ .what = "never armed, none waits", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = { .state = { .visible = 1 }, .events_read = 1, .polled = 7 }, .threads = { WAITS } },

	/* A request that failed. */
	{ .what = "arm failed", .kind = SOFT_ARM_ERROR_IGNORED, .strength = STRONG,
	    .view = VISIBLE(.arm_failed = true), .threads = { ON } },
	{ .what = "arm failed, nothing to poll", .kind = SOFT_ARM_ERROR_IGNORED, .strength = STRONG,
	    .view = OUTSTANDING(.arm_failed = true), .threads = { ON } },
	{ .what = "arm failed, another queue wakes", .kind = SOFT_ARM_ERROR_IGNORED, .strength = INNOCENT,
	    .view = VISIBLE(.arm_failed = true), .threads = { ON }, .other = ARMED },
	{ .what = "arm failed, one is busy", .kind = SOFT_ARM_ERROR_IGNORED, .strength = WEAK,
	    .view = VISIBLE(.arm_failed = true), .threads = { ON, RUNS } },
	{ .what = "arm failed, none waits", .kind = SOFT_ARM_ERROR_IGNORED, .strength = INNOCENT,
	    .view = VISIBLE(.arm_failed = true), .threads = { WAITS } },
	{ .what = "arm failed, the program asks", .kind = SOFT_ARM_ERROR_IGNORED, .strength = WEAK,
	    .view = VISIBLE(.arm_failed = true, .asks = true), .threads = { WAITS } },
	{ .what = "arm failed, but it was armed before", .kind = SOFT_NOT_LOOKED_AT_AGAIN, .strength = STRONG,
	    .view = { .state = { .visible = 1, .armed = SOFT_ARMED_ANY }, .arm_failed = true }, .threads = { ON } },
	{ .what = "arm failed, but an event is there", .kind = SOFT_EVENT_UNREAD, .strength = STRONG,
	    .view = EVENT(.arm_failed = true), .threads = { ON } },

	/* An event. */
	{ .what = "event, one waits", .kind = SOFT_EVENT_UNREAD, .strength = STRONG,
	    .view = EVENT(), .threads = { ON } },
	{ .what = "event, one waits, armed again", .kind = SOFT_EVENT_UNREAD, .strength = STRONG,
	    .view = { .state = { .unread = 1, .armed = SOFT_ARMED_ANY } }, .threads = { ON } },
	{ .what = "event, one waits, one is busy", .kind = SOFT_EVENT_UNREAD, .strength = WEAK,
	    .view = EVENT(), .threads = { RUNS, ON } },
	{ .what = "event, all wait for each other", .kind = SOFT_EVENT_UNREAD, .strength = WEAK,
	    .view = EVENT(), .threads = { WAITS } },
	{ .what = "event, one runs", .kind = SOFT_EVENT_UNREAD, .strength = INNOCENT,
	    .view = EVENT(), .threads = { RUNS } },
	{ .what = "event, never read one, but polled", .kind = SOFT_EVENT_UNREAD, .strength = INNOCENT,
	    .view = { .state = { .visible = 1, .unread = 1 }, .was_armed = true, .polled = 7 }, .threads = { WAITS } },
	{ .what = "event, never looked at", .kind = SOFT_EVENT_UNREAD, .strength = WEAK,
	    .view = { .state = { .visible = 1, .unread = 1 }, .was_armed = true }, .threads = { RUNS } },
	{ .what = "event, read one, never polled", .kind = SOFT_EVENT_UNREAD, .strength = INNOCENT,
	    .view = { .state = { .visible = 1, .unread = 1 }, .was_armed = true, .events_read = 1 }, .threads = { RUNS } },
	{ .what = "event, waits for another channel", .kind = SOFT_EVENT_UNREAD, .strength = WEAK,
	    .view = EVENT(), .threads = { RUNS, ELSEWHERE }, .other = FAR },
	{ .what = "event, waits for a descriptor that is no channel", .kind = SOFT_EVENT_UNREAD, .strength = INNOCENT,
	    .view = EVENT(), .threads = { RUNS, ELSEWHERE } },
	{ .what = "event, waits for another channel of a queue that is gone", .kind = SOFT_EVENT_UNREAD, .strength = INNOCENT,
	    .view = EVENT(), .threads = { RUNS, ELSEWHERE }, .other = FAR_DESTROYED },
	{ .what = "event, the other queue is of this channel", .kind = SOFT_EVENT_UNREAD, .strength = INNOCENT,
	    .view = EVENT(), .threads = { RUNS, ELSEWHERE }, .other = FAR_SAME },
	{ .what = "event, flushed", .kind = SOFT_EVENT_UNREAD, .strength = INNOCENT,
	    .view = { .state = { .visible = 1, .unread = 1, .flushed = true }, .events_read = 1 }, .threads = { WAITS } },
	{ .what = "event, flushed, one waits", .kind = SOFT_EVENT_UNREAD, .strength = STRONG,
	    .view = { .state = { .visible = 1, .unread = 1, .flushed = true }, .events_read = 1 }, .threads = { ON } },

	/* The connections have ended. */
	{ .what = "ended, was read", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(), .threads = { ON } },
	{ .what = "ended, was not read", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(.unread_end = true), .threads = { ON } },
	{ .what = "ended, was read, it listens", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(.listens = true), .threads = { ON } },
	{ .what = "ended, was not read, it listens", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(.unread_end = true, .listens = true), .threads = { ON } },
	{ .what = "ended, was read, one runs", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(), .threads = { ON, RUNS } },
	{ .what = "ended, was read, one sleeps", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(), .threads = { ON, SLEEPS } },
	{ .what = "ended, was read, one is outside", .kind = SOFT_CONNECTION_ENDED, .strength = WEAK,
	    .view = ENDED(), .threads = { ON, OUTSIDE } },
	{ .what = "ended, was not read, one runs", .kind = SOFT_CONNECTION_ENDED, .strength = WEAK,
	    .view = ENDED(.unread_end = true), .threads = { ON, RUNS } },
	{ .what = "ended, was not read, one sleeps", .kind = SOFT_CONNECTION_ENDED, .strength = WEAK,
	    .view = ENDED(.unread_end = true), .threads = { ON, SLEEPS } },
	{ .what = "ended, was not read, waits for two descriptors", .kind = SOFT_CONNECTION_ENDED, .strength = WEAK,
	    .view = ENDED(.unread_end = true), .threads = { ON_TWO } },
	{ .what = "ended, one waits for a thread", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(), .threads = { WAITS, ON, WAITS } },
	{ .what = "ended, not known what they do", .kind = SOFT_CONNECTION_ENDED, .strength = WEAK,
	    .view = ENDED(), .threads = { ON }, .unknown = true },
	{ .what = "ended, none waits", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(.unread_end = true), .threads = { WAITS } },
	{ .what = "nothing has ended", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = { .state = { .armed = SOFT_ARMED_ANY }, .counted = true, .receives = 2 }, .threads = { ON } },
	{ .what = "one has not ended", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = { .state = { .armed = SOFT_ARMED_ANY }, .counted = true, .receives = 2, .gone = 1 }, .threads = { ON } },
	{ .what = "a send has not ended", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(.sends = 1), .threads = { ON } },
	{ .what = "a send has ended, too", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = { .state = { .armed = SOFT_ARMED_ANY }, .counted = true, .receives = 2, .sends = 1, .gone = 3 }, .threads = { ON } },
	{ .what = "not counted", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = { .state = { .armed = SOFT_ARMED_ANY }, .receives = 2, .gone = 2 }, .threads = { ON } },
	{ .what = "ended, another queue has nothing", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(), .threads = { ON }, .other = ARMED },
	{ .what = "ended, another queue has a send", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(), .threads = { ON }, .other = SENDING },
	{ .what = "ended, another queue has a receive", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(), .threads = { ON }, .other = RECEIVING },
	{ .what = "ended, another queue has ended", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(), .threads = { ON }, .other = ALL_GONE },
	{ .what = "ended, another queue is not counted", .kind = SOFT_CONNECTION_ENDED, .strength = INNOCENT,
	    .view = ENDED(), .threads = { ON }, .other = NOT_COUNTED },
	{ .what = "ended, a destroyed queue", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(), .threads = { ON }, .other = DESTROYED },
	{ .what = "ended, another channel has a send", .kind = SOFT_CONNECTION_ENDED, .strength = STRONG,
	    .view = ENDED(), .threads = { ON }, .other = FAR },

	/* Requests that are outstanding. */
	{ .what = "receives, stuck", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = OUTSTANDING(.receives = 1), .threads = { ON } },
	{ .what = "sends, stuck", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = OUTSTANDING(.sends = 1), .threads = { ON } },
	{ .what = "receives, one sleeps", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = OUTSTANDING(.receives = 1), .threads = { ON, SLEEPS } },
	{ .what = "sends, one sleeps", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = OUTSTANDING(.sends = 1), .threads = { ON, SLEEPS } },
	{ .what = "sends, one runs", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = OUTSTANDING(.sends = 1), .threads = { RUNS, ON } },
	{ .what = "receives, one is outside", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = OUTSTANDING(.receives = 1), .threads = { ON, OUTSIDE } },
	{ .what = "receives, waits for two descriptors", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = OUTSTANDING(.receives = 1), .threads = { ON_TWO } },
	{ .what = "receives, one reads elsewhere", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = OUTSTANDING(.receives = 1), .threads = { ON, ELSEWHERE } },
	{ .what = "receives, one waits for a thread", .kind = SOFT_SLEEPS_UNARMED, .strength = STRONG,
	    .view = OUTSTANDING(.receives = 1), .threads = { ON, WAITS } },
	{ .what = "sends, another queue wakes", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = OUTSTANDING(.sends = 1), .threads = { ON }, .other = ARMED },
	{ .what = "sends, nothing waits", .kind = SOFT_SLEEPS_UNARMED, .strength = INNOCENT,
	    .view = OUTSTANDING(.sends = 1), .threads = { WAITS } },
	{ .what = "sends, the program asks", .kind = SOFT_SLEEPS_UNARMED, .strength = WEAK,
	    .view = OUTSTANDING(.sends = 1, .asks = true), .threads = { RUNS } },
};
/* clang-format on */

static void
expect_row(const struct row *row)
{
	struct soft_check_view *view;
	struct soft_sleeper threads[THREADS];
	struct soft_sleepers sleepers = { .threads = threads, .known = !row->unknown };
	struct soft_suspicion found;
	pid_t sleeper = 0;

	fake_reset();
	add_other(row->other);
	view = fake_queue(0)->view;
	*view = row->view;
	view->exists = true;
	view->fd = 900;
	view->channel = &fake_channel[0];
	for (int i = 0; i < THREADS && row->threads[i]; i++) {
		act(&sleepers, &threads[i], 100 + i, row->threads[i]);
		sleepers.count++;
		if (!sleeper && (row->threads[i] == ON || row->threads[i] == ON_TWO ||
				    row->threads[i] == ON_TIMED))
			sleeper = 100 + i;
	}
	found = soft_suspect(view, &sleepers);
	ck_assert_msg(found.kind == row->kind && found.strength == row->strength,
	    "%s: %s %d, expected %s %d", row->what, soft_kinds[found.kind].name, found.strength,
	    soft_kinds[row->kind].name, row->strength);
	ck_assert_msg(
	    found.napper == row->napper, "%s: expects thread %d", row->what, (int)found.napper);
	if (view->destroying)
		return;
	ck_assert_msg(found.sleeper == sleeper, "%s: thread %d", row->what, (int)found.sleeper);
	if (sleeper)
		ck_assert_str_eq(found.call,
		    row->threads[0] == ON_TWO ? "ppoll()" : "ibv_get_cq_event() or read()");
}

CASE("checker_suspicion:suspicion");

/* origin: out33.R6 */
TEST(suspect__each_side_of_each_rule__kind_and_strength)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		expect_row(&rows[i]);
}

static const struct {
	const char *what;
	bool possible;
	struct soft_check_view view;
} possible[] = {
	{ "destroyed", false, { .fd = 900, .state.visible = 1 } },
	{ "being destroyed", true, { .exists = true, .fd = -1, .destroying = 1 } },
	{ "without a channel", false, { .exists = true, .fd = -1, .state.visible = 1 } },
	{ "the least descriptor", true, { .exists = true, .state.visible = 1 } },
	{ "one is held", false,
	    { .exists = true, .fd = 900, .state = { .visible = 1, .held = 1 } } },
	{ "an event is held", false,
	    { .exists = true, .fd = 900, .state = { .visible = 1, .due = 1 } } },
	{ "a connection has ended", true,
	    { .exists = true, .fd = 900, .gone = 1, .state.armed = SOFT_ARMED_ANY } },
	{ "nothing", false, { .exists = true, .fd = 900 } },
	{ "a send", true, { .exists = true, .fd = 900, .sends = 1 } },
	{ "a receive", true, { .exists = true, .fd = 900, .receives = 1 } },
	{ "armed, a send", false,
	    { .exists = true, .fd = 900, .sends = 1, .state.armed = SOFT_ARMED_ANY } },
	{ "armed for solicited ones, a receive", false,
	    { .exists = true, .fd = 900, .receives = 1, .state.armed = SOFT_ARMED_SOLICITED } },
	{ "an arm failed", true, { .exists = true, .fd = 900, .arm_failed = true } },
	{ "an arm failed, but it is armed", false,
	    { .exists = true, .fd = 900, .arm_failed = true, .state.armed = SOFT_ARMED_ANY } },
	{ "an arm failed, but there is an event", false,
	    { .exists = true, .fd = 900, .arm_failed = true, .state.unread = 1 } },
};

TEST(possible__each_side_of_each_rule)
{
	for (size_t i = 0; i < sizeof possible / sizeof possible[0]; i++)
		ck_assert_msg(soft_suspicion_is_possible(&possible[i].view) == possible[i].possible,
		    "%s", possible[i].what);
}

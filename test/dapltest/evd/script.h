/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * script -- a device that does what the test says, and the EVD it feeds
 *
 * A completion becomes visible (script_show) and decides about its notification (script_decide) in
 * two separate steps, as on hardware: what lies between is where events get lost.  The device
 * raises one event per arm; the test reads it (script_get) and counts it (script_book), or leaves
 * that to a channel.  The device checks the dispatcher all the time: no arm while an arm is
 * outstanding, no more acknowledgements than notifications, and both equal before destroyed().
 */
#ifndef REARM_TEST_EVD_SCRIPT_H
#define REARM_TEST_EVD_SCRIPT_H

#include <pthread.h>

#include "evd/evd.h"
#include "lib/runner.h"

/* What the consumer of these tests reads. */
struct script_event {
	uint64_t kind; /* enum script_kind */
	void *evd;     /* the script */
	uint64_t id;   /* a short event ends here */
	uint64_t more[3];
};

enum script_kind { SCRIPT_SOFTWARE = 1, SCRIPT_COMPLETION, SCRIPT_REQUEST, SCRIPT_BIND };

/* Its functions: for one event, and for n. */
typedef void script_function(void *instance, const struct script_event *event, int more);
typedef void script_array_function(
    void *instance, const struct script_event *events, unsigned int n, int more);

/* As ck_assert(), but silent (no pipe, no lock) when it holds: for threads and inner loops. */
#define must(cond) \
	do { \
		if (!(cond)) \
			ck_abort_msg("must hold: %s", #cond); \
	} while (0)

/* A barrier of an endpoint. */
extern const struct evd_order script_barrier;

#define SCRIPT_CQ 4096
#define SCRIPT_EPS 4

enum script_flags { SCRIPT_SOLICITED = 1, SCRIPT_EFFECT = 2, SCRIPT_QUIET = 4 };

struct script_record {
	uint64_t id;
	uint32_t ep;
	uint32_t flags;
};

enum script_channel {
	SCRIPT_BY_HAND, /* script_get() and script_book() */
	SCRIPT_PRIVATE, /* channel_fd of the EVD */
	SCRIPT_SHARED,	/* a source of the loop reads it */
	SCRIPT_LED,	/* the test reads it, by a struct lead */
	/* the thread that raises the event calls evd_notified(): a reader that is always awake */
	SCRIPT_DIRECT,
};

struct script_options {
	int qlen; /* 0: 16 */
	bool no_device;
	bool posted_on_demand;
	uint64_t spin_ns;
	bool exact; /* the device has the exact hint */
	enum script_channel channel;
	struct loop *loop, *pool;
	struct lead *lead;
};

struct script;

/* Called once, with the trigger lock held, outside the device's lock. */
struct script_hook {
	void (*fn)(struct script *s, void *arg);
	void *arg;
	int skip; /* so many passes first */
};

struct script {
	struct evd evd;
	struct script_options opt;
	struct evd_source_ops ops;
	pthread_mutex_t lock; /* the device's; guards what follows */

	struct script_record cq[SCRIPT_CQ];
	unsigned int head, count;
	uint32_t undecided[SCRIPT_CQ]; /* flags of visible completions that have not decided */
	unsigned int undecided_head, undecided_count;
	bool armed, armed_solicited;
	bool outstanding;    /* an arm whose event was not read yet */
	unsigned int raised; /* events in the channel */
	unsigned int gets, acks, arms, polls;
	unsigned int tries; /* to read the channel */
	int fd;
	struct loop_ticket ticket;
	struct loop_pace pace;
	bool open; /* between script_open() and destroyed() */
	int destroyed;

	/* misbehaviour */
	int arm_error, poll_error; /* what a failing arm and poll return; 0: -EIO */
	int fail_arms, fail_polls, greedy_polls;
	int read_error;	   /* what a read of the channel returns; 0: it works */
	bool inexact_hint; /* arm answers >0 whatever is queued */
	bool tolerant;	   /* a duplicate event was injected: I3 cannot be checked by us */
	struct script_hook before_poll, after_poll, before_arm, after_arm;

	/* what the owner above the EVD would do */
	struct evd_hold *hold[SCRIPT_EPS];
	bool gone[SCRIPT_EPS];
	int effects, faults, last_fault;
	void (*on_effect)(struct script *s, uint64_t id);
	void (*on_fault)(struct script *s);
	void (*on_destroyed)(struct script *s);
	void *arg; /* the test's */
};

/*
 * The EVD, for any thread: those of a script all have life 0, so the next is as good as the last.
 */
static inline struct evd_ref
script_ref(struct script *s)
{
	return (struct evd_ref){ &s->evd, 0 };
}

/* Once per slot; then open (and the EVD's free) as often as the test likes. */
void script_init(struct script *s);
void script_open(struct script *s, const struct script_options *opt);
/* Frees the EVD unless the test did; checks that nothing is left. */
void script_close(struct script *s);

/* The two steps of a completion, and both at once. */
void script_show(struct script *s, uint64_t id);
void script_show_record(struct script *s, const struct script_record *record);
void script_decide(struct script *s);
void script_complete(struct script *s, uint64_t id);
void script_complete_on(struct script *s, uint32_t ep, uint64_t id);

/* As script_complete(), unless the EVD is not open just now. */
void script_try_complete(struct script *s, uint64_t id);

/* An event of the armed device without a completion; an event without an arm. */
void script_spurious(struct script *s);
void script_duplicate(struct script *s);

/* Reads one event from the channel; false when there is none.  Then books what was read. */
bool script_get(struct script *s);
void script_book(struct script *s);
/* Both; false when no event was there. */
bool script_deliver(struct script *s);

unsigned int script_raised(struct script *s);
/* A notification is on its way: raised and unread, or yet to be decided about. */
bool script_due(struct script *s);
unsigned int script_queued(struct script *s);
unsigned int script_arms(struct script *s);

/* The number a test gave to a completion or a posted event. */
uint64_t script_id(const void *event);

/* What calls a script_function. */
evd_call_function script_call;

/* For evd_purge_endpoint(). */
bool script_is_software(const void *event);
bool script_is_bind(const void *event);

/* Posts the software event `id`. */
int script_post(struct script *s, uint64_t id);
/* Whether the slot is alive and open for the handle. */
bool script_evd_is(struct evd *evd, const void *handle);
struct script_event script_event(uint64_t id);

void script_sleep_ms(unsigned int ms);

#endif

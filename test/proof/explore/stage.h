/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * stage -- a scenario being played: its EVDs, CNOs, loops and actors, and what is known of them
 */
#ifndef REARM_EXPLORE_STAGE_H
#define REARM_EXPLORE_STAGE_H

#include "cno/cno.h"
#include "evd/lead.h"
#include "device.h"
#include "scenario.h"
#include "sched.h"
#include "setting.h"

#define LIVES 4 /* of the EVDs and CNOs of a slot; they count from 1 */

/* An event's id: EVD, its life, stream, number within the stream. */
#define STREAM_CQ 0				  /* + the endpoint's number */
#define STREAM_ACTOR EPS			  /* + the actor's number */
#define STREAM_BARRIER (STREAM_ACTOR + ACTORS)	  /* + the endpoint's number */
#define STREAM_ESTABLISHED (STREAM_BARRIER + EPS) /* + the endpoint's number */
#define STREAMS (STREAM_ESTABLISHED + EPS)

static inline uint64_t
event_id(unsigned int evd, unsigned int serial, unsigned int stream, unsigned int number)
{
	return (uint64_t)evd << 40 | (uint64_t)serial << 32 | (uint64_t)stream << 16 | number;
}

static inline unsigned int
stream_of(uint64_t id)
{
	return (unsigned int)(id >> 16) & 0xffff;
}

/* The endpoint that the stream is of; -1: software events are of none. */
static inline int
stream_ep(unsigned int stream)
{
	if (stream < STREAM_ACTOR)
		return (int)stream;
	return stream < STREAM_BARRIER ? -1 : (int)((stream - STREAM_BARRIER) % EPS);
}

/* What a handle of an EVD points to. */
struct stage_cell {
	struct stage_evd *evd;
	unsigned int serial;
};

/* The upcall objects: each policy has one, and a second one that may replace it. */
struct stage_object {
	struct stage_evd *evd;
	unsigned int serial;
	int policy;
	bool replaced;
	int claimed; /* calls with it that were claimed when it was replaced, and have not begun */
};

#define STAGE_OBJECTS 6
#define ENTRIES 64

/* An event that was produced: when it began to enter, and when it surely had. */
struct stage_entry {
	uint64_t id;
	uint32_t from, to;
	bool out;      /* delivered, or refused */
	uint8_t after; /* completions of its endpoint that were visible when it was posted */
};

/* An EVD that is or was in a slot. */
struct stage_life {
	struct stage_cell cell;
	struct stage_object objects[STAGE_OBJECTS];
	uint16_t produced[STREAMS];
	uint16_t posts[EVD_STREAM_ASYNC + 1]; /* that were accepted */
	uint16_t upcalls;
	unsigned int unheld;	    /* endpoints whose ESTABLISHED was refused, a bit each */
	uint32_t freed_at;	    /* step at which its free had returned; 0: it did not */
	uint32_t detached_at[CNOS]; /* the same of what detached it from the CNO */
	/*
	 * Endpoints whose ESTABLISHED is being posted, and what left meanwhile though it was held.
	 */
	uint8_t establishing, escaped;
	uint64_t delivered[STREAMS];
	unsigned int n_entries;
	struct stage_entry entries[ENTRIES];
};

struct stage_evd {
	struct evd evd;
	int index;
	const struct evd_spec *spec;
	enum evd_base base; /* of the EVD that is in the slot now */
	struct device_cq cq;
	struct evd_ref cq_ref;	   /* the EVD that the events of the queue belong to */
	struct device_channel own; /* the private channel */
	struct evd_hold holds[EPS];
	struct stage_cno *cno; /* it is attached to; guarded by `link` where that changes */
	struct os_mutex link;
	bool unlinked; /* by free: it is attached no more */
	bool open, closing;
	bool vacant;	 /* another one may be opened in the slot */
	bool overflowed; /* a call has reported it */
	bool purged;
	/* Events of a stream that are numbered below this are of a connection that is over. */
	uint16_t gone[STREAMS];
	/* step of the section that purged the last one's events; 0: none did */
	uint32_t gone_at[EPS];
	bool departed; /* that happened to one of its endpoints */
	int qlen;      /* as the last resize left it */
	struct setting length, enabled, waitable, solicited, policy, listener;
	unsigned int faults;	    /* reported */
	unsigned int arms_reported; /* arms that there had been before the last failure reported */

	/* the consumer's calls */
	int enabling;	       /* calls that enable, in progress */
	uint32_t enabled_at;   /* step of the last section of the last of them that returned */
	uint32_t stopped_at;   /* step of the last section of the last TEARDOWN that returned */
	uint32_t disabled_at;  /* the same of a DISABLE */
	uint32_t dismissed_at; /* the same of the call that made it unwaitable */
	uint32_t inside_wait;  /* fibers in evd_wait() */

	/* upcalls */
	int running, exempt;
	unsigned int upcalls;
	uint64_t claims; /* seen so far */

	unsigned int n_delivered; /* of all EVDs of the slot */
	unsigned int serial;
	struct stage_life lives[LIVES]; /* each as new when it begins */
};

/* The EVD that is in the slot, or was the last one there. */
static inline struct stage_life *
stage_life(struct stage_evd *e)
{
	return &e->lives[e->serial];
}

/* The event may be missing: its endpoint was freed, or has connected again. */
static inline bool
stage_is_gone(const struct stage_evd *e, uint64_t id)
{
	return (id & 0xffff) < e->gone[stream_of(id)];
}

/* The first n events of a stream, a bit each. */
static inline uint64_t
stage_first(unsigned int n)
{
	return n < 64 ? (1ull << n) - 1 : UINT64_MAX;
}

struct stage_agent {
	struct stage_cno *cno;
	unsigned int serial;
	int installs; /* that had no call yet */
};

struct stage_cno {
	struct cno cno;
	int index;
	bool open, vacant;
	unsigned int serial;
	struct stage_agent agents[LIVES];
	unsigned int agent_calls;
	int in_agent;
	uint32_t inside_wait;		/* fibers in cno_wait() */
	uint32_t taking;		/* in that, or in cno_trigger() */
	uint32_t looked;		/* of those, the ones that had a section since */
	uint64_t last_detaches[FIBERS]; /* how often the last EVD had been detached by then */
};

struct stage_loop {
	struct loop *loop;
	struct device_channel channel;
	struct loop_ticket ticket;
	struct loop_pace pace;
	struct lead lead;
};

/* Of the loop, or NULL if the loop always reads its channel. */
struct lead *stage_lead(void);

struct stage {
	const struct scenario *scenario;
	struct stage_evd evds[EVDS];
	struct stage_cno cnos[CNOS];
	struct stage_loop loops[2];
	int n_loops;
	struct loop *pool;
	uint8_t frames[FIBERS][EVDS];	  /* upcalls the fiber is inside of */
	uint8_t frame_life[FIBERS][EVDS]; /* and of which life the innermost is */
	bool exempted[FIBERS][EVDS];	  /* its upcall called TEARDOWN or free */
	uint8_t calling[FIBERS];	  /* the fiber is inside a call of the library */
	int8_t actor_of[FIBERS];
	int8_t acting[FIBERS];			 /* the actor of the fiber; -1: none */
	const struct stage_cell *handed[FIBERS]; /* the EVD that a CNO named to the fiber */
	const struct stage_agent *in_agent[FIBERS];
	uint8_t knows[ACTORS][EVDS]; /* the life that the actor means */
	uint8_t knows_cno[ACTORS][CNOS];
	uint16_t last[FIBERS][EVDS][STREAMS];
	int closes; /* threads inside a close */
	unsigned int closes_begun;
};

extern struct stage stage;

/* Plays the scenario once. */
enum outcome stage_play(const struct scenario *scenario, struct strategy *strategy, uint64_t seed);

/* actor.c */
void *actor_body(void *actor);
void actor_upcall(void *instance, const struct device_event *event, int more);
#define STAGE_ARRAY 2
void actor_upcall_array(
    void *instance, const struct device_event *events, unsigned int n, int more);
/* Installs the object, of the kind that the EVD has; NULL keeps the one that is installed. */
int stage_modify(const struct stage_evd *e, struct evd_ref ref, int policy,
    struct stage_object *object, enum evd_pending pending);
evd_call_function actor_call;
evd_call_array_function actor_call_array;
void actor_agent(void *instance, void *handle);

/* slot.c: another life begins in the slot. */
void stage_evd_open(struct stage_evd *e, enum evd_base base);
void stage_cno_open(struct stage_cno *c, bool with_agent);
extern const char *const evd_names[EVDS];
unsigned int call_drain(struct stage_evd *e); /* call_evd.c */

/* entry.c: what was produced, and what may come before what */
struct stage_entry *entry_begins(struct stage_life *l, uint64_t id);
void entry_ends(struct stage_entry *entry, bool refused);
struct stage_entry *entry_find(struct stage_life *l, uint64_t id); /* that is not out; or NULL */
void entry_delivered(struct stage_evd *e, struct stage_life *l, uint64_t id);
bool entry_is_dropped(const struct stage_evd *e, uint64_t id);
/* How many were delivered by now. */
int entry_delivered_of(const struct stage_evd *e);
/*
 * How many a call may have found, at most: those produced by now, but `gone`, delivered before it.
 */
int entry_most(const struct stage_evd *e, int gone);
int entry_queued(const struct stage_evd *e, uint32_t step, int most, bool with_ends);

/* claim.c: what a claim under MANY takes */
void claim_reset(void);
void claim_section(const struct os_mutex *lock);
/* An upcall begins, with `object`. */
void claim_called(const struct stage_evd *e, const struct stage_object *object);

/* account.c: what a query of an EVD must return when no thread uses it */
void account_rest(struct stage_evd *e);

/* identity.c: the object of a call */
unsigned int identity_of(const struct stage_evd *e);
unsigned int identity_of_cno(const struct stage_cno *c);
void identity_section(struct os_mutex *m, bool begins);

/* oracle.c */
void oracle_step(void);
void oracle_rest(void);
void oracle_end(void);
/* A call that meant the EVD of this life took it. */
void oracle_deliver(struct stage_evd *e, unsigned int serial, const struct device_event *event);
void oracle_upcall_begins(struct stage_evd *e, struct stage_object *object);
void oracle_upcall_ends(struct stage_evd *e);
/* After the call that installed it returned. */
void oracle_installed(struct stage_evd *e, const struct stage_object *object);
/* After TEARDOWN or free returned. */
void oracle_stopped(struct stage_evd *e, const char *what);

/* EVDs are attached to CNOs while others run. */
static inline bool
stage_moves(void)
{
	return stage.scenario->verbs[DO_ATTACH] || stage.scenario->verbs[DO_DETACH];
}

/* The step at which the calling fiber last took the EVD's trigger lock. */
static inline uint32_t
stage_locked_at(const struct stage_evd *e)
{
	return sched.self->locked_at[e->evd.lock.id];
}

/* The calls may return in another order than they were made. */
static inline void
stage_later(uint32_t *step, uint32_t than)
{
	if (*step < than)
		*step = than;
}

static inline uint8_t *
stage_frames(const struct stage_evd *e)
{
	return &stage.frames[sched.self - sched.fibers][e->index];
}

#endif

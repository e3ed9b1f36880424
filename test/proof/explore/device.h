/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * device -- a scripted device: completion queues and the channels their events go to
 *
 * A completion becomes visible and decides about its event in two steps, and anything may happen
 * between them; a strict queue does both at once.  An arm asks for one event.
 *
 * Judges its user: no arm while an arm's event was not read, but for one
 * that widens a request for solicited completions to all; no acknowledgement without an event,
 * nothing done to a queue that was destroyed; and a destroy waits until what was read has been
 * acknowledged, as ibv_destroy_cq() does.
 */
#ifndef REARM_EXPLORE_DEVICE_H
#define REARM_EXPLORE_DEVICE_H

#include "evd/evd.h"

/* What the consumer reads; all of it is in a short event. */
struct device_event {
	uint64_t id;
	void *evd; /* the handle of its EVD */
	uint64_t spare;
};
#include "sched.h"

#define DEVICE_DEPTH 32

struct device_record {
	uint64_t id;
	uint64_t spare; /* records are no machine word, so that mixing two up shows */
};

struct device_channel {
	int fd;
	int8_t events[DEVICE_DEPTH]; /* a ring: numbers of queues, -1: destroyed since */
	unsigned int first, n_events;
	bool lost; /* it can never be read again */
};

/* What an event was asked for. */
enum device_armed { DEVICE_UNARMED, DEVICE_ARMED_SOLICITED, DEVICE_ARMED };

struct device_cq {
	int index;
	bool alive;
	bool exact, strict, effect;
	void *evd; /* in events that are built when they are polled */
	struct device_channel *channel;
	struct device_record queue[DEVICE_DEPTH];
	unsigned int head, count;
	unsigned int depth; /* what its queue pairs may have complete in it */
	unsigned int idle;  /* endpoints that have no queue pair at this moment, a bit each */
	unsigned int undecided;
	uint32_t unsolicited;		/* of the completions, by their number's last bits */
	enum device_armed armed, asked; /* now; by the last arm */
	bool blurred; /* a request was widened when it had been answered: see cq_arm() */
	unsigned int arms, arm_faults, raised, gets, acks;
	/* arms that there had been when this fiber's last one failed */
	unsigned int failed_after[FIBERS];
	unsigned int shown;	/* completions ever visible */
	const uint64_t *booked; /* events that the user counts as read; NULL: those that are */
	uint64_t (*next_id)(struct device_cq *cq, int ep); /* of the one that becomes visible */
	bool (*holds)(struct device_cq *cq, uint64_t id, struct evd_hold **hold);
	bool (*drops)(struct device_cq *cq, uint64_t id);
	bool (*unsignalled)(struct device_cq *cq, uint64_t id);
	bool (*solicited)(struct device_cq *cq, uint64_t id); /* NULL: all are */
};

void device_cq_open(struct device_cq *cq, int index, struct device_channel *channel);
/* False: it holds more. */
bool device_set_depth(struct device_cq *cq, unsigned int depth);
/* Waits for the acknowledgements that are due. */
void device_cq_destroy(struct device_cq *cq);

/* The device's own moves; those of a dead queue are void. */
void device_complete(struct device_cq *cq, int ep); /* a completion of this endpoint */
void device_show(struct device_cq *cq, int ep);
void device_decide(struct device_cq *cq);
void device_spurious(struct device_cq *cq);

/* A completion becomes visible, in the course of a step of the caller's. */
void device_push(struct device_cq *cq, uint64_t id, bool solicited);

/* Completions that are visible, or undecided, and of the kind that an event is asked for. */
bool device_has(const struct device_cq *cq, enum device_armed kind);
bool device_will_raise(const struct device_cq *cq);

/* From now on the channel cannot be read, and stays readable; in a step of the caller's. */
void device_lose(struct device_channel *channel);

/* Reads an event of the channel: the queue's number, or -1. */
int device_read(struct device_channel *channel, const struct os_site *site);

extern const struct evd_source_ops device_ops, device_ops_exact, device_ops_private,
    device_ops_private_exact;

/* The id of a completion, as the event carries it. */
uint64_t device_event_id(const void *event);
void device_event(struct device_event *event, uint64_t id, void *evd);

#endif

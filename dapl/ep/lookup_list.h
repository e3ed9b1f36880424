/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lookup_list -- the lookups of an endpoint; see lookup.h
 */
#ifndef REARM_DAPL_LOOKUP_LIST_H
#define REARM_DAPL_LOOKUP_LIST_H

#include "dapl/ep/ep.h"

#define DAPL_CARD_MAGIC 0x52554431u

/* In network byte order. */
struct dapl_card {
	uint32_t magic;
	uint32_t qpn;
	uint16_t lid;
	uint16_t zero;
	uint8_t gid[16];
};

_Static_assert(sizeof(struct dapl_card) == 28, "a card has no holes");

struct dapl_lookup {
	struct dapl_lookup *next; /* (L) of the endpoint's */
	struct dapl_conn *conn;
	struct sockaddr_storage remote;
	uint64_t deadline;    /* (L) UINT64_MAX: none */
	unsigned int retries; /* (L) */
	unsigned int users;   /* (L) */
	bool over;	      /* (L) not in the list any more */
	uint8_t size;	      /* of the private data */
	uint8_t data[sizeof(struct dapl_card) + DAPL_IA_MAX_PRIVATE_DATA];
};

/* Queues an event of the endpoint, which is pinned. */
void dapl_lookup_post(struct dapl_ep *ep, DAT_EVENT *event) DAPL_NO_LOCK;

/* Sets the timer of the endpoint for the first of its lookups whose time will be over. */
void dapl_lookup_set_timer(struct dapl_ep *ep) REQUIRES(dapl_locks.object);

/* Becomes a user of the lookup with that id, and pins the endpoint; NULL if there is none. */
struct dapl_lookup *dapl_lookup_enter(
    struct dapl_ep *ep, const struct dapl_conn *conn, uint32_t generation) DAPL_NO_LOCK;
void dapl_lookup_leave(struct dapl_ep *ep, struct dapl_lookup *lookup) DAPL_NO_LOCK;
/* For a user: ends the lookup; false if another thread did. */
bool dapl_lookup_end(struct dapl_ep *ep, struct dapl_lookup *lookup) DAPL_NO_LOCK;

/* The timer of the endpoint has run: ends those whose time is over. */
void dapl_lookups_expire(struct dapl_ep *ep) RELEASE(dapl_locks.object);

/*
 * The endpoint disconnects, is reset or freed: its lookups end without an event.  The caller calls
 * dapl_lookups_close() with the result, without the lock.
 */
struct dapl_lookup *dapl_lookups_end(struct dapl_ep *ep) REQUIRES(dapl_locks.object);
void dapl_lookups_close(struct dapl_lookup *ended) DAPL_NO_LOCK;

/*
 * The private data of the last rejections.  The consumer may read that of one until as many more
 * came, or the endpoint is reset or freed.
 */
#define DAPL_REFUSALS 64

struct dapl_refusals {
	unsigned int next;
	uint8_t data[DAPL_REFUSALS][DAPL_EP_ANSWER_MAX];
};

void dapl_refusals_free(struct dapl_ep *ep) DAPL_NO_OBJECT_LOCK;

/* Reports that there is none; the data are copied. */
void dapl_lookup_fail(
    struct dapl_ep *ep, bool by_peer, const uint8_t *data, size_t size) DAPL_NO_LOCK;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* evd -- the record of an EVD: its posted events, its settings, and the calls that use it */
#ifndef REARM_HOSTILE_EVD_H
#define REARM_HOSTILE_EVD_H

#include "life.h"
#include "setting.h"
#include "stream.h"

#define EVD_RECORDS 512 /* a power of two: see life_find_bits() */
#define EVD_LANES 3
#define EVD_OBJECTS 16
#define EVD_ENDPOINTS 8
#define EVD_WAITS 4

struct adapter;
struct ep;
struct call;

/* An upcall object that was passed to the library.  Its number is in the instance data. */
struct object {
	uint32_t number; /* 0: none */
	DAT_UPCALL_POLICY policy;
	bool array;	     /* its function takes several events */
	bool unsure;	     /* its policy may have changed while it was in force */
	bool refused;	     /* the call that passed it failed */
	uint64_t begin;	     /* stamps: the call that passed it; when another object replaced it */
	uint64_t superseded; /* 0: in force, as far as is known */
};

/* A call of dat_evd_wait(). */
struct waiting {
	uint64_t begin; /* 0: none */
	uint64_t tick;
	DAT_COUNT threshold;
	bool infinite;
};

struct evd {
	struct life life;
	DAT_EVD_FLAGS streams;
	DAT_EVD_HANDLE early; /* where dat_evd_kcreate() writes the handle */
	/* The rest is locked by life.lock. */
	struct setting qlen;
	unsigned int attaches; /* endpoints and service points, ever */
	struct stream lane[EVD_LANES];
	unsigned int posts_begun;
	bool overflowed;
	uint64_t takings; /* events taken from it */

	struct setting policy; /* DAT_UPCALL_POLICY */
	uint32_t objects;      /* the last number given */
	bool has_object;       /* for sure */
	uint32_t in_force;     /* the number of the object that is sure to be in force, or 0 */
	struct object object[EVD_OBJECTS];
	unsigned int enabling, enables_begun, same_in_flight;
	uint64_t many_end; /* stamp of the return of the last call that may have set MANY */
	unsigned int many_in_flight;
	bool ever_enabled; /* since it was created, or certainly torn down */
	bool torn;	   /* TEARDOWN returned and nothing has enabled it since */
	unsigned int inside;
	uint64_t last_exit; /* stamp of the last return of an upcall */
	bool ended_inside;  /* freed by its own upcall */
	unsigned int late;  /* upcalls that began since DISABLE returned */

	unsigned int takes_in_progress,
	    takes_begun; /* calls that take events: in progress, and ever begun */
	struct waiting waiting[EVD_WAITS];

	struct setting cno; /* the serial number of the CNO, or 0 */
	struct setting enabled;
	struct setting waitable;

	struct ep *ep[EVD_ENDPOINTS]; /* whose receives, requests or connection events come here */
	uint64_t ep_serial[EVD_ENDPOINTS];
};

struct evd *evd_of(struct life *life);

/* How an EVD is created. */
struct evd_plan {
	DAT_EVD_FLAGS streams;
	DAT_COUNT qlen;
	bool tame;
	bool kernel_style; /* created by dat_evd_kcreate(), with this policy */
	DAT_UPCALL_POLICY policy;
	struct life *cno; /* used by the caller, or NULL */
};

/* Both return it used, or NULL. */
struct evd *evd_make(struct adapter *adapter, const struct evd_plan *plan);
struct evd *evd_make_any(struct adapter *adapter, bool tame);
/* Picks a length for an EVD with these streams. */
DAT_COUNT evd_some_length(DAT_EVD_FLAGS streams, bool tame);
/* Creates an EVD that no other thread can pick. */
struct evd *evd_make_apart(struct adapter *adapter, const struct evd_plan *plan);

/* The instance data that stands for an object of an EVD. */
DAT_PVOID evd_instance(const struct evd *evd, uint32_t number);
struct evd *evd_of_instance(DAT_PVOID instance, uint32_t *number);

/* dat_evd_modify_upcall() with a new object, or the same; judged. */
DAT_RETURN evd_set_policy(
    struct evd *evd, DAT_UPCALL_POLICY policy, bool same, DAT_UPCALL_FLAG flag);
/* dat_evd_kcreate(), into evd->early. */
DAT_RETURN policy_create(struct adapter *adapter, struct evd *evd, const struct evd_plan *plan);

/* Posts one software event; QUEUE_FULL and ended EVDs are allowed. */
DAT_RETURN evd_post(struct evd *evd, bool stale);

DAT_RETURN evd_resize(struct evd *evd, DAT_COUNT qlen);
void evd_query(struct evd *evd);

/* Frees it at once. */
DAT_RETURN evd_free_rudely(struct evd *evd);
/* Empties and frees a tame EVD that only the caller uses.  False if other threads or objects use
 * it. */
bool evd_free_politely(struct evd *evd);
/* Takes all events and checks that none is missing.  For the only user, with a closed gate. */
void evd_audit(struct evd *evd);

/* A service point uses the EVD, until life_unhold(). */
void evd_hold(struct evd *evd);
/* An endpoint uses the EVD, and stops. */
bool evd_attach(struct evd *evd, struct ep *ep);
void evd_detach(struct evd *evd, struct ep *ep);
/* Uses the EVD, as life_use() does.  False if the endpoint has ended: its record may be reused. */
bool evd_use_of(struct evd *evd, const struct ep *ep);

/* The adapter's asynchronous EVD reported an overflow of this one. */
void evd_note_overflow(struct adapter *adapter, DAT_HANDLE handle);

void evd_print(const struct evd *evd);

#endif

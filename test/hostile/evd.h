/* SPDX-License-Identifier: BSD-3-Clause */
/* evd -- the record of an EVD: what was posted to it, who may take from it, what it must do */
#ifndef REARM_HOSTILE_EVD_H
#define REARM_HOSTILE_EVD_H

#include "life.h"
#include "setting.h"
#include "stream.h"

#define EVD_RECORDS   512 /* a power of two: see life_find_bits() */
#define EVD_LANES     3
#define EVD_OBJECTS   16
#define EVD_ENDPOINTS 8
#define EVD_WAITS     4

struct adapter;
struct ep;
struct call;

/* An upcall object that was given to the library: its number is in the instance data. */
struct object {
	uint32_t number; /* 0: none */
	DAT_UPCALL_POLICY policy;
	bool unsure;	/* the policy may be another while it is in force */
	bool refused;	/* the call that brought it failed */
	uint64_t begin; /* stamps: of the call that brought it; since when another is in force */
	uint64_t superseded; /* 0: is in force, as far as is known */
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
	uint64_t takings; /* events that left it */

	struct setting policy; /* DAT_UPCALL_POLICY */
	uint32_t objects;      /* the last number given */
	bool has_object;       /* for sure */
	uint32_t in_force;     /* the number of the object that is sure to be in force, or 0 */
	struct object object[EVD_OBJECTS];
	unsigned int enabling, enables_begun, same_in_flight;
	uint64_t
	    many_end; /* the stamp at which the last call that may have brought MANY returned */
	unsigned int many_in_flight;
	bool ever_enabled; /* since it was created, or torn down for sure */
	bool torn;	   /* TEARDOWN returned and nothing has enabled it since */
	unsigned int inside;
	uint64_t last_exit; /* stamp of the last return of an upcall */
	bool ended_inside;  /* freed by an upcall of its own */
	unsigned int late;  /* upcalls that began since DISABLE returned */

	unsigned int takers_in, takers_begun; /* calls that take, in flight and ever */
	struct waiting waiting[EVD_WAITS];

	struct setting cno; /* the serial number of the CNO, or 0 */
	struct setting enabled;
	struct setting waitable;

	struct ep *ep[EVD_ENDPOINTS]; /* whose receives, requests or connections come here */
	uint64_t ep_serial[EVD_ENDPOINTS];
};

struct evd *evd_of(struct life *life);

/* How an EVD is made. */
struct evd_plan {
	DAT_EVD_FLAGS streams;
	DAT_COUNT qlen;
	bool tame;
	bool kernel_style; /* by dat_evd_kcreate(), with this policy */
	DAT_UPCALL_POLICY policy;
	struct life *cno; /* used by the caller, or NULL */
};

/* Both return it used, or NULL. */
struct evd *evd_make(struct adapter *adapter, const struct evd_plan *plan);
struct evd *evd_make_any(struct adapter *adapter, bool tame);
/* A length for one of these streams. */
DAT_COUNT evd_some_length(DAT_EVD_FLAGS streams, bool tame);
/* One that no other thread can pick. */
struct evd *evd_make_apart(struct adapter *adapter, const struct evd_plan *plan);

/* The instance data that stands for an object of an EVD. */
DAT_PVOID evd_instance(const struct evd *evd, uint32_t number);
struct evd *evd_of_instance(DAT_PVOID instance, uint32_t *number);

/* dat_evd_modify_upcall() with a new object, or the same; judged. */
DAT_RETURN evd_set_policy(struct evd *evd, DAT_UPCALL_POLICY policy, bool same,
			  DAT_UPCALL_FLAG flag);
/* dat_evd_kcreate(), into evd->early. */
DAT_RETURN policy_create(struct adapter *adapter, struct evd *evd, const struct evd_plan *plan);

/* Posts one software event; QUEUE_FULL and ended EVDs are all right. */
DAT_RETURN evd_post(struct evd *evd, bool stale);

DAT_RETURN evd_resize(struct evd *evd, DAT_COUNT qlen);
void evd_query(struct evd *evd);

/* Frees it without a care. */
DAT_RETURN evd_free_rudely(struct evd *evd);
/* Frees a tame one, used by the caller alone, after it was emptied: false if it was not to be had.
 */
bool evd_free_politely(struct evd *evd);
/* Takes what is there and demands that nothing is missing.  Alone with a closed gate. */
void evd_audit(struct evd *evd);

/* A service point comes; it goes by life_unhold(). */
void evd_hold(struct evd *evd);
/* An endpoint comes and goes. */
bool evd_attach(struct evd *evd, struct ep *ep);
void evd_detach(struct evd *evd, struct ep *ep);
/* Uses the EVD, as life_use() does, if the endpoint has not gone: then it may be another EVD by now. */
bool evd_use_of(struct evd *evd, const struct ep *ep);

/* The adapter's asynchronous EVD says that this one overflowed. */
void evd_note_overflow(struct adapter *adapter, DAT_HANDLE handle);

void evd_print(const struct evd *evd);

#endif

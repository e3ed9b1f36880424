/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ia -- an opened adapter: the device, the address, and the loops that read its channels
 *
 * A CM id that is bound to the address of the IA provides the device; it exists as long as the
 * IA. The verbs context belongs to librdmacm and is shared by all IAs of the device.
 */
#ifndef REARM_DAPL_IA_H
#define REARM_DAPL_IA_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include <infiniband/verbs.h>
#include <rdma/rdma_cma.h>

#include <dat2/dat_ib_extensions.h>

#include "evd/lead.h"
#include "evd/loop.h"
#include "evd/park.h"

#include "dapl/ia/address.h"
#include "dapl/ia/ia_removal.h"
#include "dapl/object/counter.h"
#include "dapl/object/object.h"
#include "dapl/object/provider_key.h"

#define DAPL_IA_LOOPS_MAX 32
#define DAPL_IA_POOL_THREADS 4
#define DAPL_IA_STATS_MS_MIN 10
#define DAPL_IA_STATS_MS_MAX 60000
#define DAPL_IA_MAX_IOV 32 /* segments a request may have, whatever the device allows */
#define DAPL_IA_MAX_SRQ_WR (1 << 22)
#define DAPL_IA_MAX_PRIVATE_DATA 56
#define DAPL_IA_DATAGRAM 256 /* bytes that every port carries in one packet */
#define DAPL_IA_MAX_MESSAGE \
	0x80000000u /* bytes that a message may have, whatever the port allows */

struct dapl_evd;
struct dapl_ia;
struct dapl_ia_loop;
struct evd_source_ops;

/* The parameters of a dat.conf record. */
struct dapl_ia_options {
	char where[256];
	unsigned int loops;
	unsigned int spin_us; /* a wait polls at most so long before it sleeps */
	unsigned int moderation_count, moderation_us; /* of completion queues; 0: none */
	unsigned int slow_us;  /* an upcall that takes longer is reported; 0: none is */
	unsigned int stats_ms; /* statistics are published so often; 0: DAPL_STATS decides */
	bool stepped;
};

/*
 * What an adapter uses from the folders above this one.  Set when the adapter is opened; see
 * provider/ia_open.c.
 */
struct dapl_ia_ops {
	/*
	 * Readers of the connection manager's channel and of the device's asynchronous events.  The
	 * adapter has no serial number here: its sources are removed, which waits for their
	 * readers, before the last reference to it goes and with it the slot.
	 */
	void (*read_cm)(void *ia, uint64_t serial);
	void (*read_async)(void *ia, uint64_t serial);
	/* How EVDs poll and convert completions. */
	const struct evd_source_ops *completions;
	/* Refuses a connection request whose event no consumer will see; takes the handle of the
	 * CR. */
	int (*refuse)(DAT_HANDLE request);
	/*
	 * The first datagram endpoint of the adapter is being created: from now on its public
	 * service points take requests of others.  Called between dapl_ia_enter() and
	 * dapl_ia_leave().
	 */
	void (*hear_datagrams)(struct dapl_ia *ia);
	/* The channel of one of its loops can never be read again.  On the thread of the loop. */
	void (*lost_channel)(struct dapl_ia *ia, struct dapl_ia_loop *loop);
};

/* A loop and the completion channel that EVDs without one of their own share. */
struct dapl_ia_loop {
	struct dapl_ia *ia;
	struct loop *loop;
	struct ibv_comp_channel *channel;
	struct loop_ticket ticket;
	struct loop_pace pace; /* of the channel's handler */
	struct lead lead;      /* of the channel, see dapl_ia_lead() */
	bool lost; /* the channel can never be read again; guarded by the adapter's lock */
};

/* ia_count.h */
struct dapl_ia_counts {
	_Atomic(uint64_t) now[DCNT_IA_ALL_COUNTERS];
	uint64_t base[DCNT_IA_ALL_COUNTERS]; /* (L) */
};

struct dapl_ia {
	/* its lock guards what is marked (L); the rest is constant while open */
	struct dapl_object obj;
	struct dapl_parent parent; /* of the objects below it */
	const struct dapl_ia_ops *ops;
	DAT_IA_HANDLE
	self; /* the handle in events and in results of queries; kept after it was freed */
	struct dapl_provider *provider;
	struct dapl_evd *async;	  /* (L) where asynchronous events go; holds a reference */
	bool async_ours;	  /* the IA made it */
	bool async_elsewhere;	  /* opened with DAT_EVD_ASYNC_EXISTS */
	bool published;		  /* statistics of its EVDs: dapl_stats_start() */
	bool catastrophe;	  /* (L) IA_CATASTROPHIC was reported */
	struct loop *pool;	  /* (L) */
	unsigned int next_vector; /* (L) */
	struct dapl_ia *next;	  /* among all open IAs; guarded by that list's lock */

	struct sockaddr_storage address;
	struct rdma_event_channel *events;
	/* innermost; held while librdmacm reads an event, which may change a QP */
	struct os_mutex cm_lock;
	struct rdma_cm_id *id;
	struct ibv_context *verbs;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	/* for the send or receive queue of endpoints without an EVD; always empty */
	struct ibv_cq *idle_cq;
	bool fixed_cqs;	 /* the device cannot give a completion queue another depth */
	bool zero_based; /* the device makes zero-based regions */
	struct ibv_moderate_cq moderation; /* of each completion queue; count 0: none */
	unsigned int loop_count;
	uint64_t spin_ns; /* of each EVD: struct evd_config */
	uint64_t slow_ns; /* of each EVD */
	bool stepped;
	struct dapl_ia_loop loops[DAPL_IA_LOOPS_MAX];
	struct loop_ticket cm_ticket, async_ticket;
	struct dapl_removal removal;
	struct dapl_ia_names *names; /* of ia_attr.c */
	struct dapl_ia_counts counts;
	atomic_bool datagrams; /* it has had a datagram endpoint */
};

/* The adapter that an object belongs to; not for an adapter itself. */
static inline struct dapl_ia *
dapl_ia_of(const struct dapl_object *obj)
{
	return (struct dapl_ia *)((char *)obj->parent - offsetof(struct dapl_ia, parent));
}

static inline void
dapl_ia_lock(struct dapl_ia *ia) ACQUIRE(dapl_locks.adapter) DAPL_NO_OBJECT_LOCK UNCHECKED
{
	dapl_object_lock(&ia->obj);
}

static inline void
dapl_ia_unlock(struct dapl_ia *ia) RELEASE(dapl_locks.adapter) UNCHECKED
{
	dapl_object_unlock(&ia->obj);
}

/*
 * Of the channel that all EVDs share which have none of their own: threads that wait for a CNO may
 * read it.  NULL if there are several, because the EVDs of a CNO may be on any of them, or if the
 * adapter is stepped: its owner decides when it is read.
 */
static inline struct lead *
dapl_ia_lead(struct dapl_ia *ia)
{
	return ia->loop_count == 1 && !ia->stepped ? &ia->loops[0].lead : NULL;
}

/* The locked adapter of a handle, or NULL. */
static inline struct dapl_ia *
dapl_ia_lock_handle(DAT_IA_HANDLE handle)
    TRY_ACQUIRE(dapl_locks.adapter) DAPL_NO_ADAPTER_LOCK UNCHECKED
{
	return dapl_object_lock_handle(handle, DAPL_KIND_IA);
}

/* For the thread that closes the adapter: no handle leads to it afterwards. */
static inline void
dapl_ia_free_handle(struct dapl_ia *ia) REQUIRES(dapl_locks.adapter) UNCHECKED
{
	dapl_object_free_locked(&ia->obj);
}

/* While librdmacm reads an event it may change a queue pair. */
static inline void
dapl_ia_cm_lock(struct dapl_ia *ia) ACQUIRE(dapl_locks.cm)
    EXCLUDES(dapl_locks.handles, dapl_locks.slab) NO_CORE_LOCK UNCHECKED
{
	os_lock(&ia->cm_lock);
}

static inline void
dapl_ia_cm_unlock(struct dapl_ia *ia) RELEASE(dapl_locks.cm) UNCHECKED
{
	os_unlock(&ia->cm_lock);
}

/* The maximum length of a message in bytes. A port without a limit reports 0. */
static inline DAT_SEG_LENGTH
dapl_ia_max_message(const struct dapl_ia *ia)
{
	const uint32_t limit = ia->port.max_msg_sz;

	return limit && limit < DAPL_IA_MAX_MESSAGE ? limit : DAPL_IA_MAX_MESSAGE;
}

/* Memory windows, through which RMRs are bound; and those that belong to one queue pair. */
static inline bool
dapl_ia_has_windows_of_type_1(const struct dapl_ia *ia)
{
	return ia->device.device_cap_flags & IBV_DEVICE_MEM_WINDOW;
}

static inline bool
dapl_ia_has_windows_of_type_2(const struct dapl_ia *ia)
{
	return ia->device.device_cap_flags &
	       (IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B);
}

static inline bool
dapl_ia_has_windows(const struct dapl_ia *ia)
{
	return dapl_ia_has_windows_of_type_1(ia) || dapl_ia_has_windows_of_type_2(ia);
}

/* Sends that invalidate a region of the other end. */
static inline bool
dapl_ia_can_invalidate(const struct dapl_ia *ia)
{
	return ia->device.device_cap_flags & IBV_DEVICE_MEM_MGT_EXTENSIONS;
}

/* The kernel's soft-RoCE has this in place of the number of a vendor. */
#define DAPL_IA_VENDOR_SOFT_ROCE 0xffffff

static inline bool
dapl_ia_is_soft_roce(const struct dapl_ia *ia)
{
	return ia->device.vendor_id == DAPL_IA_VENDOR_SOFT_ROCE;
}

/* Datagrams, and the bytes that one may have. */
static inline bool
dapl_ia_has_datagrams(const struct dapl_ia *ia)
{
	return ia->verbs->device->transport_type != IBV_TRANSPORT_IWARP;
}

static inline DAT_SEG_LENGTH
dapl_ia_max_datagram(const struct dapl_ia *ia)
{
	/* 1: 256, 2: 512, ... */
	return ia->port.active_mtu ? 128u << ia->port.active_mtu : DAPL_IA_DATAGRAM;
}

/* RDMA writes of iWARP carry no immediate data. */
static inline bool
dapl_ia_is_iwarp(const struct dapl_ia *ia)
{
	return ia->verbs->device->transport_type == IBV_TRANSPORT_IWARP;
}

/*
 * Receives of a shared receive queue, or 0 when the device has none; the most that a wr_id names.
 */
static inline int
dapl_ia_max_srq_wr(const struct dapl_ia *ia)
{
	const int limit = ia->device.max_srq_wr;

	if (ia->device.max_srq <= 0)
		return 0;
	return limit < DAPL_IA_MAX_SRQ_WR ? limit : DAPL_IA_MAX_SRQ_WR;
}

/* Without the flag some drivers return EINVAL for a longer queue. */
static inline bool
dapl_ia_can_resize_srq(const struct dapl_ia *ia)
{
	return ia->device.device_cap_flags & IBV_DEVICE_SRQ_RESIZE;
}

static inline int
dapl_ia_max_srq_iov(const struct dapl_ia *ia)
{
	return ia->device.max_srq_sge < DAPL_IA_MAX_IOV ? ia->device.max_srq_sge : DAPL_IA_MAX_IOV;
}

/* The maximum number of segments of a request.  Some devices allow fewer for an RDMA read. */
static inline int
dapl_ia_max_iov(const struct dapl_ia *ia)
{
	return ia->device.max_sge < DAPL_IA_MAX_IOV ? ia->device.max_sge : DAPL_IA_MAX_IOV;
}

static inline int
dapl_ia_max_read_iov(const struct dapl_ia *ia)
{
	const int all = dapl_ia_max_iov(ia), read = ia->device.max_sge_rd;

	return read > 0 && read < all ? read : all;
}

/* ia_options.c.  -EINVAL. */
int dapl_ia_options_parse(const char *params, struct dapl_ia_options *options);

/* ia_device.c: address, CM id, device, channels, loops.  0 or -errno with nothing left behind. */
int dapl_ia_device_open(struct dapl_ia *ia, const struct dapl_ia_options *options) DAPL_NO_LOCK;
/*
 * Sets the moderation that the parameters of the adapter ask for, if they do: the device then
 * notifies once for several completions, and so later, but not more rarely than the arm / poll /
 * sleep rule needs.  -errno.
 */
int dapl_ia_moderate(const struct dapl_ia *ia, struct ibv_cq *cq);
/* Stops reading the channels. */
void dapl_ia_device_stop(struct dapl_ia *ia) DAPL_NO_LOCK;
void dapl_ia_device_close(struct dapl_ia *ia) DAPL_NO_LOCK;

/* The loop for a new EVD and its completion vector. */
struct dapl_ia_loop *dapl_ia_pick_loop(struct dapl_ia *ia, int *vector) DAPL_NO_ADAPTER_LOCK;

/*
 * The pool for upcalls of DAT_UPCALL_MANY, created at its first use: not of an adapter that is
 * stepped.  0 or -errno.
 */
int dapl_ia_pool(struct dapl_ia *ia, struct loop **pool) DAPL_NO_ADAPTER_LOCK;

/*
 * The IA of a handle, or NULL.  Until dapl_ia_put() its device and loops stay, but dat_ia_close()
 * does not wait: it may be called by an upcall in a loop that the caller runs.
 */
struct dapl_ia *dapl_ia_get(DAT_IA_HANDLE handle) DAPL_NO_ADAPTER_LOCK;
void dapl_ia_put(struct dapl_ia *ia) DAPL_NO_LOCK;

/*
 * For a call that uses objects of the IA.  The call must not wait for an event or call the
 * consumer.  dat_ia_close() destroys no object until dapl_ia_leave().
 */
struct dapl_ia *dapl_ia_enter(DAT_IA_HANDLE handle) DAPL_NO_ADAPTER_LOCK;
void dapl_ia_leave(struct dapl_ia *ia) DAPL_NO_LOCK;

/* A slot for a new IA, or NULL; it is freed here or by its last reference. */
struct dapl_ia *dapl_ia_alloc(void);
void dapl_ia_free(struct dapl_ia *ia);

/*
 * Adds an IA to the list of open IAs, or removes it.  dapl_ia_list_remove() returns true if no IA
 * is left.
 */
void dapl_ia_list_add(struct dapl_ia *ia) DAPL_NO_LOCK;
bool dapl_ia_list_remove(struct dapl_ia *ia) DAPL_NO_LOCK;
/*
 * The first open IA for which fn returns true, or NULL.  fn runs with the lock of the list of IAs
 * held: it is REQUIRES(dapl_locks.adapters).
 */
struct dapl_ia *dapl_ia_find(bool (*fn)(struct dapl_ia *ia, void *arg), void *arg) DAPL_NO_LOCK;
/* Calls fn for every open IA on the device, with the same lock held. */
void dapl_ia_for_each_on(
    struct ibv_context *verbs, void (*fn)(struct dapl_ia *ia, void *arg), void *arg) DAPL_NO_LOCK;

/* The flags that attributes and posts may have. */
#define DAPL_IA_COMPLETION_FLAGS \
	(DAT_COMPLETION_SUPPRESS_FLAG | DAT_COMPLETION_SOLICITED_WAIT_FLAG | \
	    DAT_COMPLETION_UNSIGNALLED_FLAG | DAT_COMPLETION_BARRIER_FENCE_FLAG | \
	    DAT_COMPLETION_EVD_THRESHOLD_FLAG | DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG)

/* ia_attr.c: the attributes of the adapter and of the provider. */
void dapl_ia_get_attr(const struct dapl_ia *ia, DAT_IA_ATTR *attr);
void dapl_ia_get_provider_attr(const struct dapl_ia *ia, DAT_PROVIDER_ATTR *attr);
/* The named attributes of ia_query(). */
int dapl_ia_names_create(struct dapl_ia *ia);
void dapl_ia_names_free(struct dapl_ia *ia);

#endif

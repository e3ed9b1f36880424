/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cm -- the types that all parts of the connection manager share
 *
 * One lock guards all of them.  Two ids exchange messages that are named as in the
 * InfiniBand specification (REQ, REP, RTU, REJ, DREQ, DREP) and addressed by process slot and id
 * number, in one process or in two.  Delivering a message does the work of the kernel; reading an
 * event does the work of librdmacm: it sets up the queue pair or creates the id of a request.
 */
#ifndef SOFT_CM_H
#define SOFT_CM_H

#include "served.h"
#include "softverbs/device/context.h"
#include "softverbs/device/topology.h"

#include <rdma/rdma_cma.h>

/* Private data is padded to these sizes: those of InfiniBand less the IP service header. */
#define SOFT_CM_REQ_DATA 56
#define SOFT_CM_REQ_DATA_IB 92
#define SOFT_CM_REP_DATA 196
#define SOFT_CM_REJ_DATA 148

/*
 * The life time of packets in the path record, 4.096 us * 2^17.  Queue pairs of ids wait twice as
 * long for an acknowledgement, 1.07 s, as elsewhere.
 */
#define SOFT_CM_PACKET_LIFE 17
#define SOFT_CM_ACK_TIMEOUT (SOFT_CM_PACKET_LIFE + 1)

/* Reasons of a REJ, as consumers see them in the status of the event. */
#define SOFT_CM_REJ_TIMEOUT 4
#define SOFT_CM_REJ_NO_SERVICE 8
#define SOFT_CM_REJ_CONSUMER 28
#define SOFT_CM_REJ_VENDOR_OPTION 35

enum soft_cm_type {
	SOFT_CM_REQ = 1,
	SOFT_CM_REP,
	SOFT_CM_RTU,
	SOFT_CM_REJ,
	SOFT_CM_DREQ,
	SOFT_CM_DREP,
	SOFT_CM_MRA, /* "received; my consumer decides"; the answer to a REQ has the number of the
			new id */
	SOFT_CM_ASK, /* "does your consumer still decide?" */
	SOFT_CM_ABSENT, /* answers a REQ: "no id listens at the port, and none of mine has" */
};

struct soft_cm_message {
	enum soft_cm_type type;
	unsigned int from_slot;
	bool incoming;	   /* the message, and so its answer, is on the link that the peer opened */
	uint32_t from, to; /* id numbers; a REQ has no `to` */
	uint16_t reason;   /* REJ */
	/* REQ: */
	uint16_t port_space;
	uint16_t port; /* of the listener, host order */
	struct sockaddr_storage source, target;
	/* REQ and REP: */
	uint32_t qpn;
	uint32_t psn;
	uint8_t responder_resources;
	uint8_t initiator_depth;
	uint8_t retry_count;
	uint8_t rnr_retry_count;
	uint8_t flow_control;
	uint8_t srq;
	uint8_t data_length; /* the length that the consumer gave; zeroes follow */
	uint8_t data[SOFT_CM_REP_DATA];
};

enum soft_id_state {
	SOFT_ID_IDLE,
	SOFT_ID_BOUND,
	SOFT_ID_ADDR_RESOLVED,
	SOFT_ID_ROUTE_RESOLVED,
	SOFT_ID_LISTENING,
	SOFT_ID_REQUESTING,    /* REQ sent */
	SOFT_ID_REQUESTED,     /* REQ received */
	SOFT_ID_ANSWERED,      /* REP sent */
	SOFT_ID_ACCEPTED,      /* REP received */
	SOFT_ID_CONNECTED,     /* RTU sent or received */
	SOFT_ID_DISCONNECTING, /* DREQ sent */
	SOFT_ID_DISCONNECTED,  /* the event is queued or delivered; rejected, too */
};

struct soft_id;
struct soft_service;

struct soft_event {
	struct rdma_cm_event public;
	struct soft_id *id; /* the id that the event is queued for; for a request, the listener */
	struct soft_id *child; /* of a request */
	bool allocated, queued GUARDED_BY(soft_locks.cm);
	TAILQ_ENTRY(soft_event) link;
	uint8_t data[SOFT_CM_REP_DATA];
};

struct soft_event_channel {
	struct rdma_event_channel public;
	unsigned int generation; /* of the process */
	TAILQ_HEAD(, soft_event) events GUARDED_BY(soft_locks.cm);
	struct soft_ready ready GUARDED_BY(soft_locks.cm);
};

struct soft_id {
	struct rdma_cm_id public;
	unsigned int generation; /* of the process */
	enum soft_id_state state GUARDED_BY(soft_locks.cm);
	uint32_t number;
	unsigned int made; /* which one of the process it is; 0 without rules of incidents */
	bool attached;	   /* has a reference to the devices, once it is bound */
	struct soft_context *context; /* of shared.h: of its port, or NULL */
	/*
	 * The port that it is bound to, and that of its peer; the first one until addresses have
	 * chosen.
	 */
	const struct soft_device_port *port, *peer_port;
	struct soft_service *service GUARDED_BY(soft_locks.cm);
	LIST_ENTRY(soft_id) service_link;
	int backlog GUARDED_BY(soft_locks.cm); /* requests that may wait */
	int waiting GUARDED_BY(soft_locks.cm); /* requests that wait now */
	bool sync;
	bool reuse_address, family_only;   /* options */
	bool incoming;			   /* the request came to us, on the peer's link */
	struct ibv_qp_init_attr *endpoint; /* of a listening rdma_create_ep() */
	void *connect; /* data of rdma_create_ep(), sent before the consumer's */
	size_t connect_length;

	unsigned int peer_slot GUARDED_BY(soft_locks.cm);
	uint32_t peer_number GUARDED_BY(soft_locks.cm); /* 0: not known yet */
	uint32_t peer_qpn, peer_psn;
	uint32_t psn;
	/* Of rdma_create_qp(), or 0: the program may free its queue pair at any time. */
	uint32_t qpn GUARDED_BY(soft_locks.cm);
	uint8_t responder_resources, initiator_depth, retry_count, rnr_retry_count;
	uint8_t ack_timeout; /* of the queue pair */
	bool peer_srq GUARDED_BY(soft_locks.cm);

	/* Used by wait.c: */
	bool is_waiting GUARDED_BY(soft_locks.cm);
	bool rejected GUARDED_BY(soft_locks.cm); /* by rdma_reject() */
	bool asked GUARDED_BY(soft_locks.cm);	 /* at a removal: a request without an answer */
	uint64_t sent,
	    heard;     /* when the message was sent, and when the peer last gave a sign of life */
	uint64_t tick; /* the next check of the wait */
	TAILQ_ENTRY(soft_id) wait_link;

	/* Used by call.c: */
	struct soft_cm_message *request GUARDED_BY(soft_locks.cm); /* until it is answered */
	uint64_t retry_at;   /* when the request is sent again; 0: not again so far */
	uint64_t held_until; /* for a listener; 0: not held */
	TAILQ_ENTRY(soft_id) retry_link;

	/* Used by timewait.c: */
	uint64_t timewait_until GUARDED_BY(soft_locks.cm); /* 0: not in its list */
	TAILQ_ENTRY(soft_id) timewait_link;

	uint32_t reported GUARDED_BY(soft_locks.cm); /* events */
	uint32_t acknowledged GUARDED_BY(soft_locks.cm);
	struct soft_event answer;	/* how the connection attempt ended */
	struct soft_event disconnected; /* DISCONNECTED: needs no memory, so it cannot fail */
	struct soft_event timewait_exit;
};

void soft_cm_lock(void) ACQUIRE(soft_locks.cm) SOFT_NO_SEND_LOCK;
void soft_cm_unlock(void) RELEASE(soft_locks.cm);
/* Sleeps until the condition is signalled; the lock is released meanwhile. */
void soft_cm_sleep(pthread_cond_t *condition) REQUIRES(soft_locks.cm) SOFT_NO_SEND_LOCK;
void soft_cm_lock_reset(void); /* in a forked child */

static inline struct soft_id *
soft_id_of(struct rdma_cm_id *id)
{
	return soft_container_of(id, struct soft_id, public);
}

static inline struct soft_event_channel *
soft_event_channel_of(struct rdma_event_channel *channel)
{
	return soft_container_of(channel, struct soft_event_channel, public);
}

/*
 * The event channel of the id was destroyed, which ended the id for all others.  Its calls fail
 * with EBADF, as those of librdmacm, which writes to the descriptor of the channel.
 */
static inline bool
soft_id_is_orphan(const struct soft_id *id)
{
	return !id->public.channel;
}

/*
 * What each call with an id, or with an event channel, begins with: true, with errno, if it is
 * refused.  EIO: the object is the parent's, and this is the child of a fork().  EBADF: the id is
 * an orphan.
 */
bool soft_id_refuses(const struct soft_id *id);
bool soft_event_channel_refuses(const struct rdma_event_channel *channel);

/* Of the device that the id is bound to. */
static inline const struct ibv_device_attr *
soft_id_limits(const struct soft_id *id)
{
	return &soft_topology()->devices[id->port->device].attr;
}

/* Sets errno to r and returns -1, or returns 0. */
int soft_cm_result(int r);

#endif

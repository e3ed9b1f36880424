/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * incidents -- what a rule can let happen that is no call that fails
 *
 * X(identifier, name, kind, takes, (values), clause): the first value is the one of a rule that
 * names none.  The clause says which part of a specification, of a manual page or of the kernel
 * allows the incident.  Also a part of softverbs-run.
 */
#ifndef SOFT_FAULT_INCIDENTS_H
#define SOFT_FAULT_INCIDENTS_H

#include <config.h>

#include <errno.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stddef.h>

/* When it happens, and what its value is. */
enum soft_incident_kind {
	SOFT_COMPLETES, /* a request is about to be executed: its status */
	SOFT_ANSWERS,	/* something ends in the connection manager: an errno */
	SOFT_REJECTS,	/* the same: the reason of a rejection */
	SOFT_HAPPENS,	/* something is done; it has no value */
	SOFT_OCCURS,	/* at a time, or when a call is made; it has no value */
};

/* What a rule may say of it, besides. */
#define SOFT_TAKES_NOTHING 0u
#define SOFT_TAKES_FOR 1u      /* for=SECONDS: it ends */
#define SOFT_TAKES_OF 2u       /* of=N: the Nth object of its kind */
#define SOFT_TAKES_TIME 4u     /* time=SECONDS: how long something lasts each time; it must */
#define SOFT_TAKES_WAY 8u      /* way=out, way=in */
#define SOFT_TAKES_DATA 16u    /* data=HEX */
#define SOFT_TAKES_PEER 32u    /* peer=N|NAME|slotN */
#define SOFT_TAKES_RATE 64u    /* rate=BYTES a second; it must */
#define SOFT_TAKES_DEVICE 128u /* device=NAME: only this one; else all */
#define SOFT_TAKES_PORT 256u   /* port=N */
#define SOFT_TAKES_BYTES 512u  /* bytes=N; it must */
#define SOFT_TAKES_PORTS (SOFT_TAKES_DEVICE | SOFT_TAKES_PORT)
#define SOFT_TAKES_PORTS_FOR (SOFT_TAKES_FOR | SOFT_TAKES_PORTS)
#define SOFT_TAKES_DEVICE_FOR (SOFT_TAKES_FOR | SOFT_TAKES_DEVICE)
#define SOFT_TAKES_CUT (SOFT_TAKES_FOR | SOFT_TAKES_WAY | SOFT_TAKES_PEER)
#define SOFT_TAKES_DELAY (SOFT_TAKES_FOR | SOFT_TAKES_TIME)
#define SOFT_TAKES_LIMIT (SOFT_TAKES_FOR | SOFT_TAKES_BYTES)
#define SOFT_TAKES_SPEED (SOFT_TAKES_FOR | SOFT_TAKES_RATE)

/* clang-format off */

/* The statuses that the requester of a connected queue pair finds itself, whatever the request. */
#define SOFT_OWN_STATUSES IBV_WC_RETRY_EXC_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_BAD_RESP_ERR, IBV_WC_FATAL_ERR, IBV_WC_GENERAL_ERR
#define SOFT_STATUSES "IBA 11.6.2, completion return status; ibv_poll_cq(3)"
#define SOFT_AFFILIATED_ERROR "IBA 11.6.3.2, affiliated asynchronous errors; ibv_get_async_event(3)"
#define SOFT_AFFILIATED_EVENT "IBA 11.6.3.1, affiliated asynchronous events; ibv_get_async_event(3)"
#define SOFT_UNAFFILIATED "IBA 11.6.3.3 and 11.6.3.4, unaffiliated asynchronous events and errors; ibv_get_async_event(3)"
#define SOFT_LOST "IBA 12.6, messages of the CM are datagrams, which can be lost; IBA 12.9.8, timeouts and retries; here all retries are lost"

#define SOFT_INCIDENTS(X) \
	X(COMPLETION_SEND, "completion.send", COMPLETES, NOTHING, (SOFT_OWN_STATUSES, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_INV_REQ_ERR, IBV_WC_RNR_RETRY_EXC_ERR), SOFT_STATUSES) \
	X(COMPLETION_WRITE, "completion.rdma_write", COMPLETES, NOTHING, (SOFT_OWN_STATUSES, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_ACCESS_ERR), SOFT_STATUSES) \
	X(COMPLETION_WRITE_IMM, "completion.rdma_write_with_imm", COMPLETES, NOTHING, (SOFT_OWN_STATUSES, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_ACCESS_ERR, IBV_WC_RNR_RETRY_EXC_ERR), SOFT_STATUSES) \
	X(COMPLETION_READ, "completion.rdma_read", COMPLETES, NOTHING, (SOFT_OWN_STATUSES, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_ACCESS_ERR), SOFT_STATUSES) \
	X(COMPLETION_ATOMIC, "completion.atomic", COMPLETES, NOTHING, (SOFT_OWN_STATUSES, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_REM_ACCESS_ERR, IBV_WC_REM_INV_REQ_ERR), SOFT_STATUSES) \
	X(COMPLETION_BIND, "completion.bind_mw", COMPLETES, NOTHING, (IBV_WC_MW_BIND_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_FATAL_ERR, IBV_WC_GENERAL_ERR), SOFT_STATUSES "; IBA 10.6.7, memory window errors") \
	X(COMPLETION_INVALIDATE, "completion.local_inv", COMPLETES, NOTHING, (IBV_WC_MW_BIND_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_FATAL_ERR, IBV_WC_GENERAL_ERR), SOFT_STATUSES "; IBA 10.6.7, memory window errors") \
	X(COMPLETION_RECV, "completion.recv", COMPLETES, NOTHING, (IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_FATAL_ERR, IBV_WC_GENERAL_ERR), SOFT_STATUSES "; IBA 9.9.3, the requester gets REM_OP_ERR, or REM_INV_REQ_ERR for LOC_LEN_ERR") \
	X(COMPLETION_RECV_IMM, "completion.recv_rdma_with_imm", COMPLETES, NOTHING, (IBV_WC_LOC_QP_OP_ERR, IBV_WC_FATAL_ERR, IBV_WC_GENERAL_ERR), SOFT_STATUSES "; IBA 9.9.3, the requester gets REM_OP_ERR") \
	X(COMPLETION_UD_SEND, "completion.ud_send", COMPLETES, NOTHING, (IBV_WC_LOC_QP_OP_ERR, IBV_WC_LOC_LEN_ERR, IBV_WC_LOC_PROT_ERR, IBV_WC_FATAL_ERR, IBV_WC_GENERAL_ERR), SOFT_STATUSES "; a datagram has no answer, so no remote error") \
	X(COMPLETION_UD_RECV, "completion.ud_recv", COMPLETES, NOTHING, (IBV_WC_LOC_PROT_ERR, IBV_WC_LOC_QP_OP_ERR, IBV_WC_FATAL_ERR, IBV_WC_GENERAL_ERR), SOFT_STATUSES) \
	X(CQ_ERR, "event.cq_err", OCCURS, OF, (0), SOFT_AFFILIATED_ERROR) \
	X(QP_FATAL, "event.qp_fatal", OCCURS, OF, (0), SOFT_AFFILIATED_ERROR) \
	X(QP_REQ_ERR, "event.qp_req_err", OCCURS, OF, (0), SOFT_AFFILIATED_ERROR) \
	X(QP_ACCESS_ERR, "event.qp_access_err", OCCURS, OF, (0), SOFT_AFFILIATED_ERROR) \
	X(PATH_MIG, "event.path_mig", OCCURS, OF, (0), SOFT_AFFILIATED_EVENT "; the peer or a switch may migrate a path") \
	X(PATH_MIG_ERR, "event.path_mig_err", OCCURS, OF, (0), SOFT_AFFILIATED_ERROR) \
	X(SRQ_ERR, "event.srq_err", OCCURS, OF, (0), SOFT_AFFILIATED_ERROR) \
	X(SRQ_LIMIT, "event.srq_limit_reached", OCCURS, OF, (0), SOFT_AFFILIATED_EVENT "; only of a queue whose limit is armed") \
	X(PORT_ERR, "event.port_err", OCCURS, PORTS_FOR, (0), SOFT_UNAFFILIATED) \
	X(PORT_ACTIVE, "event.port_active", OCCURS, PORTS, (0), SOFT_UNAFFILIATED) \
	X(LID_CHANGE, "event.lid_change", OCCURS, PORTS, (0), SOFT_UNAFFILIATED "; IBA 14.2.5.6, the subnet manager sets PortInfo") \
	X(GID_CHANGE, "event.gid_change", OCCURS, PORTS, (0), SOFT_UNAFFILIATED "; IBA 14.2.5.6, the subnet manager sets the prefix") \
	X(PKEY_CHANGE, "event.pkey_change", OCCURS, PORTS, (0), SOFT_UNAFFILIATED "; IBA 14.2.5.7, the subnet manager sets the table") \
	X(SM_CHANGE, "event.sm_change", OCCURS, PORTS, (0), SOFT_UNAFFILIATED) \
	X(CLIENT_REREGISTER, "event.client_reregister", OCCURS, PORTS, (0), SOFT_UNAFFILIATED) \
	X(DEVICE_FATAL, "event.device_fatal", OCCURS, DEVICE_FOR, (0), SOFT_UNAFFILIATED "; EIO afterwards: uverbs_main.c, a removed device") \
	X(LINK_CUT, "link.cut", OCCURS, CUT, (0), "IBA 9.7.6.1.3, transport timer and retries; IBA 7.2, states of a link; 7.4, packets that are discarded") \
	X(LINK_DELAY, "link.delay", OCCURS, DELAY, (0), "IBA 9.7.6.1.3, the timeout bounds no delay below it") \
	X(LINK_RATE, "link.rate", OCCURS, SPEED, (0), "IBA 9.11, static rate control, and 7.9, flow control: the slowest part of a path sets its rate") \
	X(LINK_HEAL, "link.heal", OCCURS, NOTHING, (0), "IBA 9.7.6.1.3, a retry that arrives is answered as the first try") \
	X(LINK_RNR, "link.rnr", OCCURS, FOR, (0), "IBA 9.7.5.2.8, RNR NAK: a responder that cannot accept a request now") \
	X(MEMORY_LIMIT, "memory.limit", OCCURS, LIMIT, (0), "umem.c, ib_umem_get, and RLIMIT_MEMLOCK of setrlimit(2); prlimit(2) changes it at any time") \
	X(ADDR_ERROR, "cm.addr_error", ANSWERS, NOTHING, (ETIMEDOUT, ENETUNREACH, ENODEV), "rdma_get_cm_event(3); addr.c, process_one_req") \
	X(ROUTE_ERROR, "cm.route_error", ANSWERS, NOTHING, (ETIMEDOUT, EINVAL, EIO), "rdma_get_cm_event(3); cma.c, cma_query_handler, and sa_query.c, send_handler") \
	X(REJECTED, "cm.rejected", REJECTS, DATA, (28, 1, 3, 4, 5, 8, 10, 12), "IBA 12.6.7.2, rejection reasons; rdma_get_cm_event(3)") \
	X(UNREACHABLE, "cm.unreachable", ANSWERS, NOTHING, (ETIMEDOUT), "IBA 12.9.8, retries of the REQ; cma.c, cma_ib_handler") \
	X(CONNECT_ERROR, "cm.connect_error", ANSWERS, NOTHING, (EINVAL, ENOMEM, EIO), "rdma_get_cm_event(3); librdmacm, ucma_process_conn_resp: the queue pair cannot be modified; the status is -1, the error in errno") \
	X(LOST_REQ, "cm.lost_req", HAPPENS, NOTHING, (0), SOFT_LOST) \
	X(LOST_REP, "cm.lost_rep", HAPPENS, NOTHING, (0), SOFT_LOST) \
	X(LOST_RTU, "cm.lost_rtu", HAPPENS, NOTHING, (0), SOFT_LOST) \
	X(LOST_REJ, "cm.lost_rej", HAPPENS, NOTHING, (0), SOFT_LOST) \
	X(LOST_DREQ, "cm.lost_dreq", HAPPENS, NOTHING, (0), SOFT_LOST) \
	X(LOST_DREP, "cm.lost_drep", HAPPENS, NOTHING, (0), SOFT_LOST) \
	X(DISCONNECTED_TWICE, "cm.disconnected_twice", HAPPENS, NOTHING, (0), "rdma_get_cm_event(3) does not say that it comes once") \
	X(TIMEWAIT_EXIT, "cm.timewait_exit", HAPPENS, TIME, (0), "IBA 12.9.8.4, time wait depends on the life time of packets and the delay of the peer") \
	X(DISCONNECTED, "cm.disconnected", OCCURS, OF, (0), "IBA 12.9.6, a DREQ, which the CM of a peer sends also when its consumer has ended; rdma_get_cm_event(3)") \
	X(UNREACHABLE_LATER, "cm.unreachable_later", OCCURS, OF, (0), "cma.c, cma_netevent_work_handler: the neighbour of a connected id has changed") \
	X(DEVICE_REMOVAL, "cm.device_removal", OCCURS, DEVICE_FOR, (0), "rdma_get_cm_event(3); cma.c, cma_process_remove; uverbs_main.c, ib_uverbs_remove_one") \
	X(ARRIVAL, "device.arrival", OCCURS, DEVICE, (0), "ibv_get_device_list(3), the devices that are there now; uverbs_main.c, ib_uverbs_add_one")

/* clang-format on */

#define SOFT_INCIDENT_NUMBER(identifier, ...) SOFT_INCIDENT_##identifier,
enum soft_incident { SOFT_INCIDENTS(SOFT_INCIDENT_NUMBER) SOFT_INCIDENT_COUNT };
#undef SOFT_INCIDENT_NUMBER

#define SOFT_INCIDENT_VALUES 12

struct soft_incident_line {
	const char *name;
	enum soft_incident_kind kind;
	unsigned int takes;
	int values[SOFT_INCIDENT_VALUES]; /* up to a 0 */
	const char *clause;
};

extern const struct soft_incident_line soft_incidents[SOFT_INCIDENT_COUNT];

/* What a rule names the value by: "status", "errno" or "reason"; NULL if it has none. */
const char *soft_incident_key(enum soft_incident incident);

/* "RETRY_EXC_ERR", "ETIMEDOUT" or "28": returns `text`. */
const char *soft_incident_value_name(
    enum soft_incident incident, int value, char *text, size_t size);

/* The value of that name which the incident can have, or 0. */
int soft_incident_value_find(enum soft_incident incident, const char *name, size_t length);

/* All of them, "ETIMEDOUT or EINVAL": returns `text`. */
const char *soft_incident_values(enum soft_incident incident, char *text, size_t size);

#endif

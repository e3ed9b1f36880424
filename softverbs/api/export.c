/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * export -- the functions of libibverbs and librdmacm that can fail, as a program calls them
 *
 * Each calls the function of the device (device/served.h, cm/served.h), which itself calls no other
 * by these names.
 */
#include "operations.h"
#include "softverbs/cm/served.h"
#include "softverbs/cq/channel.h"
#include "softverbs/device/soft.h"
#include "softverbs/fault/seam.h"

#define VERB(type, name, parameters, arguments, context, after) \
	SEAM_NUMBER(, type, name, name, soft_##name, parameters, arguments, context, SEAM_NOTHING, \
	    SEAM_NOTHING, after)
#define OBJECT(type, name, parameters, arguments, context, after) \
	SEAM_POINTER(, type, name, name, soft_##name, parameters, arguments, context, \
	    SEAM_NOTHING, SEAM_NOTHING, after)

/* clang-format off */

/* ---- devices ---- */

SEAM_POINTER(, struct ibv_device **, ibv_get_device_list, ibv_get_device_list, soft_ibv_get_device_list, (int *num_devices),
    (num_devices), NULL, if (num_devices) *num_devices = 0, SEAM_NOTHING, SEAM_NOTHING)
OBJECT(struct ibv_context *, ibv_open_device, (struct ibv_device *device), (device), NULL, SEAM_MADE(CONTEXT))
VERB(int, ibv_close_device, (struct ibv_context *context), (context), context, SEAM_ENDED(CONTEXT))
VERB(int, ibv_query_device, (struct ibv_context *context, struct ibv_device_attr *attr), (context, attr), context, SEAM_NOTHING)
VERB(int, ibv_query_port, (struct ibv_context *context, uint8_t port, struct _compat_ibv_port_attr *attr),
    (context, port, attr), context, SEAM_NOTHING)
VERB(int, ibv_query_gid, (struct ibv_context *context, uint8_t port, int index, union ibv_gid *gid),
    (context, port, index, gid), context, SEAM_NOTHING)
VERB(int, _ibv_query_gid_ex, (struct ibv_context *context, uint32_t port, uint32_t index, struct ibv_gid_entry *entry,
    uint32_t flags, size_t size), (context, port, index, entry, flags, size), context, SEAM_NOTHING)
VERB(ssize_t, _ibv_query_gid_table, (struct ibv_context *context, struct ibv_gid_entry *entries, size_t max, uint32_t flags,
    size_t size), (context, entries, max, flags, size), context, SEAM_NOTHING)
VERB(int, ibv_query_pkey, (struct ibv_context *context, uint8_t port, int index, __be16 *pkey),
    (context, port, index, pkey), context, SEAM_NOTHING)
VERB(int, ibv_get_pkey_index, (struct ibv_context *context, uint8_t port, __be16 pkey), (context, port, pkey), context,
    SEAM_NOTHING)
VERB(int, ibv_fork_init, (void), (), NULL, SEAM_NOTHING)
VERB(int, ibv_get_async_event, (struct ibv_context *context, struct ibv_async_event *event), (context, event), context,
    SEAM_NOTHING)

/* ---- memory ---- */

OBJECT(struct ibv_pd *, ibv_alloc_pd, (struct ibv_context *context), (context), context, SEAM_MADE(PD))
VERB(int, ibv_dealloc_pd, (struct ibv_pd *pd), (pd), pd->context, SEAM_ENDED(PD))
OBJECT(struct ibv_mr *, ibv_reg_mr, (struct ibv_pd *pd, void *addr, size_t length, int access),
    (pd, addr, length, access), pd->context, SEAM_MADE(MR))
OBJECT(struct ibv_mr *, ibv_reg_mr_iova, (struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, int access),
    (pd, addr, length, iova, access), pd->context, SEAM_MADE(MR))
OBJECT(struct ibv_mr *, ibv_reg_mr_iova2,
    (struct ibv_pd *pd, void *addr, size_t length, uint64_t iova, unsigned int access),
    (pd, addr, length, iova, access), pd->context, SEAM_MADE(MR))
VERB(int, ibv_rereg_mr, (struct ibv_mr *mr, int flags, struct ibv_pd *pd, void *addr, size_t length, int access),
    (mr, flags, pd, addr, length, access), mr->context, SEAM_NOTHING)
VERB(int, ibv_dereg_mr, (struct ibv_mr *mr), (mr), mr->context, SEAM_ENDED(MR))

/* ---- completions ---- */

OBJECT(struct ibv_comp_channel *, ibv_create_comp_channel, (struct ibv_context *context), (context), context,
    SEAM_MADE(COMP_CHANNEL))
VERB(int, ibv_destroy_comp_channel, (struct ibv_comp_channel *channel), (channel), channel->context, SEAM_ENDED(COMP_CHANNEL))
OBJECT(struct ibv_cq *, ibv_create_cq, (struct ibv_context *context, int cqe, void *cq_context,
    struct ibv_comp_channel *channel, int comp_vector), (context, cqe, cq_context, channel, comp_vector), context,
    SEAM_MADE(CQ))
VERB(int, ibv_resize_cq, (struct ibv_cq *cq, int cqe), (cq, cqe), cq->context, SEAM_NOTHING)
VERB(int, ibv_destroy_cq, (struct ibv_cq *cq), (cq), cq->context, SEAM_ENDED(CQ))
SEAM_NUMBER(, int, ibv_get_cq_event, ibv_get_cq_event, soft_ibv_get_cq_event, (struct ibv_comp_channel *channel,
    struct ibv_cq **cq, void **cq_context), (channel, cq, cq_context), channel->context,
    soft_channel_of(channel)->refused = true, soft_channel_of(channel)->refused = false, SEAM_NOTHING)

/* ---- queue pairs ---- */

OBJECT(struct ibv_srq *, ibv_create_srq, (struct ibv_pd *pd, struct ibv_srq_init_attr *init), (pd, init), pd->context,
    SEAM_MADE(SRQ))
VERB(int, ibv_modify_srq, (struct ibv_srq *srq, struct ibv_srq_attr *attr, int mask), (srq, attr, mask), srq->context,
    SEAM_NOTHING)
VERB(int, ibv_query_srq, (struct ibv_srq *srq, struct ibv_srq_attr *attr), (srq, attr), srq->context, SEAM_NOTHING)
VERB(int, ibv_destroy_srq, (struct ibv_srq *srq), (srq), srq->context, SEAM_ENDED(SRQ))
OBJECT(struct ibv_qp *, ibv_create_qp, (struct ibv_pd *pd, struct ibv_qp_init_attr *init), (pd, init), pd->context,
    SEAM_MADE(QP))
VERB(int, ibv_modify_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask), (qp, attr, mask), qp->context, SEAM_NOTHING)
VERB(int, ibv_query_qp, (struct ibv_qp *qp, struct ibv_qp_attr *attr, int mask, struct ibv_qp_init_attr *init),
    (qp, attr, mask, init), qp->context, SEAM_NOTHING)
VERB(int, ibv_destroy_qp, (struct ibv_qp *qp), (qp), qp->context, SEAM_ENDED(QP))
OBJECT(struct ibv_ah *, ibv_create_ah, (struct ibv_pd *pd, struct ibv_ah_attr *attr), (pd, attr), pd->context, SEAM_MADE(AH))
OBJECT(struct ibv_ah *, ibv_create_ah_from_wc, (struct ibv_pd *pd, struct ibv_wc *wc, struct ibv_grh *grh, uint8_t port),
    (pd, wc, grh, port), pd->context, SEAM_MADE(AH))
VERB(int, ibv_init_ah_from_wc, (struct ibv_context *context, uint8_t port, struct ibv_wc *wc, struct ibv_grh *grh,
    struct ibv_ah_attr *attr), (context, port, wc, grh, attr), context, SEAM_NOTHING)
VERB(int, ibv_destroy_ah, (struct ibv_ah *ah), (ah), ah->context, SEAM_ENDED(AH))

/* ---- ids ---- */

SEAM_POINTER(, struct ibv_context **, rdma_get_devices, rdma_get_devices, soft_rdma_get_devices, (int *num_devices),
    (num_devices), NULL, if (num_devices) *num_devices = 0, SEAM_NOTHING, SEAM_NOTHING)
VERB(int, rdma_getaddrinfo, (const char *node, const char *service, const struct rdma_addrinfo *hints,
    struct rdma_addrinfo **res), (node, service, hints, res), NULL, SEAM_NOTHING)
OBJECT(struct rdma_event_channel *, rdma_create_event_channel, (void), (), NULL, SEAM_MADE(EVENT_CHANNEL))
SEAM_ENDING(rdma_destroy_event_channel, (struct rdma_event_channel *channel), (channel), SEAM_NOTHING, SEAM_ENDED(EVENT_CHANNEL))
VERB(int, rdma_create_id, (struct rdma_event_channel *channel, struct rdma_cm_id **id, void *context,
    enum rdma_port_space ps), (channel, id, context, ps), NULL, SEAM_MADE(ID))
VERB(int, rdma_destroy_id, (struct rdma_cm_id *id), (id), id->verbs, SEAM_ENDED(ID))
VERB(int, rdma_create_ep, (struct rdma_cm_id **id, struct rdma_addrinfo *res, struct ibv_pd *pd,
    struct ibv_qp_init_attr *init), (id, res, pd, init), NULL,
    SEAM_MADE(ID); if ((*id)->qp) SEAM_MADE(QP))
SEAM_ENDING(rdma_destroy_ep, (struct rdma_cm_id *id), (id),
    const bool qp_ = id->qp; const bool srq_ = id->srq,
    SEAM_ENDED(ID); if (qp_) SEAM_ENDED(QP); if (srq_) SEAM_ENDED(SRQ))
VERB(int, rdma_get_request, (struct rdma_cm_id *listen, struct rdma_cm_id **id), (listen, id), listen->verbs,
    SEAM_MADE(ID); if ((*id)->qp) SEAM_MADE(QP))
VERB(int, rdma_migrate_id, (struct rdma_cm_id *id, struct rdma_event_channel *channel), (id, channel), id->verbs, SEAM_NOTHING)
VERB(int, rdma_set_option, (struct rdma_cm_id *id, int level, int name, void *value, size_t length),
    (id, level, name, value, length), id->verbs, SEAM_NOTHING)

/* ---- queue pairs of ids ---- */

VERB(int, rdma_create_qp, (struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_qp_init_attr *init), (id, pd, init), id->verbs,
    SEAM_MADE(QP))
VERB(int, rdma_create_qp_ex, (struct rdma_cm_id *id, struct ibv_qp_init_attr_ex *init), (id, init), id->verbs,
    SEAM_MADE(QP); soft_operations_of_qp(id->qp))
SEAM_ENDING(rdma_destroy_qp, (struct rdma_cm_id *id), (id), const bool qp_ = id->qp, if (qp_) SEAM_ENDED(QP))
VERB(int, rdma_create_srq, (struct rdma_cm_id *id, struct ibv_pd *pd, struct ibv_srq_init_attr *init), (id, pd, init), id->verbs,
    SEAM_MADE(SRQ))
VERB(int, rdma_create_srq_ex, (struct rdma_cm_id *id, struct ibv_srq_init_attr_ex *init), (id, init), id->verbs,
    SEAM_MADE(SRQ))
SEAM_ENDING(rdma_destroy_srq, (struct rdma_cm_id *id), (id), const bool srq_ = id->srq, if (srq_) SEAM_ENDED(SRQ))
VERB(int, rdma_init_qp_attr, (struct rdma_cm_id *id, struct ibv_qp_attr *attr, int *mask), (id, attr, mask), id->verbs,
    SEAM_NOTHING)

/* ---- connections ---- */

VERB(int, rdma_bind_addr, (struct rdma_cm_id *id, struct sockaddr *addr), (id, addr), id->verbs, SEAM_NOTHING)
VERB(int, rdma_resolve_addr, (struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int timeout),
    (id, from, to, timeout), id->verbs, SEAM_NOTHING)
VERB(int, rdma_resolve_route, (struct rdma_cm_id *id, int timeout), (id, timeout), id->verbs, SEAM_NOTHING)
VERB(int, rdma_listen, (struct rdma_cm_id *id, int backlog), (id, backlog), id->verbs, SEAM_NOTHING)
VERB(int, rdma_connect, (struct rdma_cm_id *id, struct rdma_conn_param *param), (id, param), id->verbs, SEAM_NOTHING)
VERB(int, rdma_accept, (struct rdma_cm_id *id, struct rdma_conn_param *param), (id, param), id->verbs, SEAM_NOTHING)
VERB(int, rdma_reject, (struct rdma_cm_id *id, const void *data, uint8_t length), (id, data, length), id->verbs, SEAM_NOTHING)
VERB(int, rdma_reject_ece, (struct rdma_cm_id *id, const void *data, uint8_t length), (id, data, length), id->verbs,
    SEAM_NOTHING)
VERB(int, rdma_disconnect, (struct rdma_cm_id *id), (id), id->verbs, SEAM_NOTHING)
VERB(int, rdma_notify, (struct rdma_cm_id *id, enum ibv_event_type event), (id, event), id->verbs, SEAM_NOTHING)
VERB(int, rdma_establish, (struct rdma_cm_id *id), (id), id->verbs, SEAM_NOTHING)
VERB(int, rdma_set_local_ece, (struct rdma_cm_id *id, struct ibv_ece *ece), (id, ece), id->verbs, SEAM_NOTHING)
VERB(int, rdma_get_remote_ece, (struct rdma_cm_id *id, struct ibv_ece *ece), (id, ece), id->verbs, SEAM_NOTHING)
/* The id of a request belongs to the program from here on. */
VERB(int, rdma_get_cm_event, (struct rdma_event_channel *channel, struct rdma_cm_event **event), (channel, event), NULL,
    if ((*event)->event == RDMA_CM_EVENT_CONNECT_REQUEST) SEAM_MADE(ID))

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * calls -- the calls of libibverbs and librdmacm: how each fails, and with which errors
 *
 * Every name of run/softverbs.map is here, or is refused in run/unserved.c; test/check-faults
 * compares them.  X(name, convention, (errors), clause): the first error is the one of a rule that
 * names none, and of a sweep.  The clause says where the errors come from: a manual page, a verb of
 * the InfiniBand Architecture Specification (IBA), or a place of rdma-core or of the kernel, as in
 * errno-softverbs.md.  Also a part of softverbs-run.
 */
#ifndef SOFT_CALLS_H
#define SOFT_CALLS_H

#include <config.h>

#include <errno.h>

/* What a call returns when it fails. */
enum soft_convention {
	SOFT_FAILS_NULL,     /* NULL, and errno */
	SOFT_FAILS_MINUS,    /* -1, and errno */
	SOFT_FAILS_ERROR,    /* the error, which is also in errno */
	SOFT_FAILS_NEGATIVE, /* the negative error */
	SOFT_FAILS_REREG,    /* IBV_REREG_MR_ERR_CMD, and errno */
};

/* Any command to a device that was removed. */
#define SOFT_REMOVED "; EIO: uverbs_main.c, a removed device"
#define SOFT_RESOURCES "IBA: insufficient resources, invalid attribute" SOFT_REMOVED

/* clang-format off */

/* Functions of libibverbs that the device has, also where it is linked in. */
#define SOFT_VERBS_CALLS(X) \
	X(ibv_get_device_list, NULL, (ENOMEM, EPERM, ENOSYS), "ibv_get_device_list(3), ERRORS") \
	X(ibv_open_device, NULL, (ENOMEM, ENODEV, EACCES, EMFILE, EIO), "IBA Open HCA; open(2) of the file of the device") \
	X(ibv_close_device, MINUS, (EIO), "ibv_close_device(3)") \
	X(ibv_query_device, ERROR, (EIO, ENOMEM), "IBA Query HCA" SOFT_REMOVED) \
	X(ibv_query_port, ERROR, (EIO, ENOMEM, EINVAL), "IBA Query HCA" SOFT_REMOVED) \
	X(ibv_query_gid, MINUS, (EIO, EINVAL), "ibv_query_gid(3)" SOFT_REMOVED) \
	X(_ibv_query_gid_ex, ERROR, (EIO, EINVAL, ENODATA), "ibv_query_gid_ex(3), ERRORS" SOFT_REMOVED) \
	X(_ibv_query_gid_table, NEGATIVE, (EIO, EINVAL, ENOMEM), "ibv_query_gid_table(3)" SOFT_REMOVED) \
	X(ibv_query_pkey, MINUS, (EIO, EINVAL), "ibv_query_pkey(3)" SOFT_REMOVED) \
	X(ibv_get_pkey_index, MINUS, (EIO, EINVAL), "ibv_get_pkey_index(3)" SOFT_REMOVED) \
	X(ibv_fork_init, ERROR, (EINVAL, ENOMEM, ENOSYS), "ibv_fork_init(3); libibverbs, ibv_fork_init") \
	X(ibv_alloc_pd, NULL, (ENOMEM, EIO), "IBA Allocate Protection Domain: " SOFT_RESOURCES) \
	X(ibv_dealloc_pd, ERROR, (EBUSY, EIO), "ibv_dealloc_pd(3), NOTES" SOFT_REMOVED) \
	X(ibv_reg_mr, NULL, (ENOMEM, EFAULT, EINVAL, EIO), "IBA Register Memory Region: " SOFT_RESOURCES) \
	X(ibv_reg_mr_iova, NULL, (ENOMEM, EFAULT, EINVAL, EIO), "IBA Register Memory Region: " SOFT_RESOURCES) \
	X(ibv_reg_mr_iova2, NULL, (ENOMEM, EFAULT, EINVAL, EIO), "IBA Register Memory Region: " SOFT_RESOURCES) \
	X(ibv_rereg_mr, REREG, (ENOMEM, EFAULT, EINVAL, EIO), "ibv_rereg_mr(3): MR should not be used, command error") \
	X(ibv_dereg_mr, ERROR, (EBUSY, EIO), "ibv_dereg_mr(3), NOTES" SOFT_REMOVED) \
	X(ibv_create_comp_channel, NULL, (ENOMEM, EMFILE, ENFILE, EIO), "ibv_create_comp_channel(3)" SOFT_REMOVED) \
	X(ibv_destroy_comp_channel, ERROR, (EBUSY), "ibv_destroy_comp_channel(3), NOTES") \
	X(ibv_create_cq, NULL, (ENOMEM, EINVAL, EIO), "IBA Create Completion Queue: " SOFT_RESOURCES) \
	X(ibv_resize_cq, ERROR, (ENOMEM, EINVAL, EIO), "IBA Resize Completion Queue: " SOFT_RESOURCES) \
	X(ibv_destroy_cq, ERROR, (EBUSY, EIO), "ibv_destroy_cq(3), NOTES" SOFT_REMOVED) \
	X(ibv_get_cq_event, MINUS, (EINTR, EAGAIN, EIO), "read(2); uverbs_main.c, ib_uverbs_event_read; EIO is for ever") \
	X(ibv_get_async_event, MINUS, (EINTR, EAGAIN, EIO), "read(2); uverbs_main.c, ib_uverbs_event_read; EIO is for ever") \
	X(ibv_create_srq, NULL, (ENOMEM, EINVAL, EIO), "IBA Create Shared Receive Queue: " SOFT_RESOURCES) \
	X(ibv_modify_srq, ERROR, (ENOMEM, EINVAL, EIO), "IBA Modify Shared Receive Queue: " SOFT_RESOURCES) \
	X(ibv_query_srq, ERROR, (EIO, ENOMEM), "ibv_query_srq(3)" SOFT_REMOVED) \
	X(ibv_destroy_srq, ERROR, (EBUSY, EIO), "ibv_destroy_srq(3), NOTES" SOFT_REMOVED) \
	X(ibv_create_qp, NULL, (ENOMEM, EINVAL, EIO), "IBA Create Queue Pair: " SOFT_RESOURCES) \
	X(ibv_modify_qp, ERROR, (ENOMEM, EINVAL, ETIMEDOUT, EIO), "IBA Modify Queue Pair: " SOFT_RESOURCES "; ETIMEDOUT: addr.c, a gateway that does not answer") \
	X(ibv_query_qp, ERROR, (EIO, ENOMEM), "ibv_query_qp(3)" SOFT_REMOVED) \
	X(ibv_destroy_qp, ERROR, (EBUSY, EIO), "ibv_destroy_qp(3), NOTES" SOFT_REMOVED) \
	X(ibv_create_ah, NULL, (ENOMEM, EINVAL, EIO), "IBA Create Address Handle: " SOFT_RESOURCES) \
	X(ibv_create_ah_from_wc, NULL, (ENOMEM, EINVAL, EIO), "ibv_create_ah_from_wc(3): " SOFT_RESOURCES) \
	X(ibv_init_ah_from_wc, MINUS, (EINVAL, EIO), "ibv_init_ah_from_wc(3)" SOFT_REMOVED) \
	X(ibv_destroy_ah, ERROR, (EIO, EINVAL), "IBA Destroy Address Handle: invalid address handle" SOFT_REMOVED)

/* Functions of librdmacm that the device has, also where it is linked in. */
#define SOFT_CM_CALLS(X) \
	X(rdma_create_event_channel, NULL, (ENOMEM, ENODEV, EACCES, EMFILE), "rdma_create_event_channel(3); open(2) of rdma_cm") \
	X(rdma_create_id, MINUS, (ENOMEM, ENODEV, EINVAL), "rdma_create_id(3); ucma.c, ucma_create_id") \
	X(rdma_destroy_id, MINUS, (EINVAL, EIO), "rdma_destroy_id(3); ucma.c, ucma_destroy_id") \
	X(rdma_bind_addr, MINUS, (EADDRINUSE, EADDRNOTAVAIL, ENODEV, EACCES, EINVAL, ENOMEM), "rdma_bind_addr(3); cma.c, rdma_bind_addr") \
	X(rdma_resolve_addr, MINUS, (ENODEV, ENETUNREACH, EADDRNOTAVAIL, EINVAL, ENOMEM), "rdma_resolve_addr(3); cma.c, rdma_resolve_addr") \
	X(rdma_resolve_route, MINUS, (ENOMEM, ENODEV, EINVAL), "rdma_resolve_route(3); cma.c, rdma_resolve_route") \
	X(rdma_create_qp, MINUS, (ENOMEM, EINVAL, EIO), "rdma_create_qp(3), ibv_create_qp(3)") \
	X(rdma_create_qp_ex, MINUS, (ENOMEM, EINVAL, EIO), "rdma_create_qp(3), ibv_create_qp(3)") \
	X(rdma_create_srq, MINUS, (ENOMEM, EINVAL, EIO), "rdma_create_srq(3), ibv_create_srq(3)") \
	X(rdma_create_srq_ex, MINUS, (ENOMEM, EINVAL, EIO), "rdma_create_srq(3), ibv_create_srq(3)") \
	X(rdma_listen, MINUS, (EADDRINUSE, EINVAL, ENOMEM), "rdma_listen(3); cma.c, rdma_listen") \
	X(rdma_connect, MINUS, (ENOMEM, EINVAL, ENODEV), "rdma_connect(3); cma.c, rdma_connect_locked") \
	X(rdma_accept, MINUS, (ENOMEM, EINVAL), "rdma_accept(3); cma.c, rdma_accept") \
	X(rdma_reject, MINUS, (EINVAL, ENOMEM), "rdma_reject(3); cma.c, rdma_reject") \
	X(rdma_reject_ece, MINUS, (EINVAL, ENOMEM), "rdma_reject(3); cma.c, rdma_reject") \
	X(rdma_disconnect, MINUS, (EINVAL, ENOMEM), "rdma_disconnect(3); cma.c, rdma_disconnect") \
	X(rdma_notify, MINUS, (EINVAL, EISCONN), "rdma_notify(3); cma.c, rdma_notify") \
	X(rdma_establish, MINUS, (EINVAL, ENOMEM), "rdma_establish(3); cma.c, rdma_accept") \
	X(rdma_get_cm_event, MINUS, (ENOMEM, EINTR, EAGAIN, EIO), "rdma_get_cm_event(3); ucma.c, ucma_get_event") \
	X(rdma_get_request, MINUS, (ENOMEM, EINTR, EIO), "rdma_get_request(3), rdma_get_cm_event(3)") \
	X(rdma_create_ep, MINUS, (ENOMEM, ENODEV, EINVAL, EADDRINUSE), "rdma_create_ep(3) and the calls that it makes") \
	X(rdma_migrate_id, MINUS, (ENOMEM, EINVAL), "rdma_migrate_id(3); ucma.c, ucma_migrate_id") \
	X(rdma_set_option, MINUS, (ENOMEM, EINVAL, ENOSYS), "rdma_set_option(3); ucma.c, ucma_set_option") \
	X(rdma_init_qp_attr, MINUS, (EINVAL, ENOMEM), "rdma_init_qp_attr(3); ucma.c, ucma_init_qp_attr") \
	X(rdma_getaddrinfo, MINUS, (ENOMEM), "rdma_getaddrinfo(3)") \
	X(rdma_get_devices, NULL, (ENOMEM, ENODEV), "rdma_get_devices(3)") \
	X(rdma_set_local_ece, MINUS, (ENOMEM, EINVAL), "rdma_set_local_ece(3)") \
	X(rdma_get_remote_ece, MINUS, (EINVAL), "rdma_get_remote_ece(3)")

/* Functions of libibverbs that only programs under softverbs-run have. */
#define SOFT_RUN_CALLS(X) \
	X(ibv_query_gid_type, MINUS, (EIO, EINVAL), "libibverbs, ibv_query_gid_type") \
	X(ibv_read_sysfs_file, MINUS, (ENOENT, EACCES, EIO), "open(2) and read(2) of the file") \
	X(ibv_query_port_speed, ERROR, (EIO, EINVAL), "IBA Query HCA" SOFT_REMOVED) \
	X(ibv_alloc_buf, NULL, (ENOMEM, EINVAL), "mmap(2)") \
	X(ibv_reg_buf_mr, NULL, (ENOMEM, EINVAL, EIO), "IBA Register Memory Region: " SOFT_RESOURCES) \
	X(ibv_reg_mr_ex, NULL, (ENOMEM, EFAULT, EINVAL, EIO), "IBA Register Memory Region: " SOFT_RESOURCES)

/* Operations of a context, a completion queue or a queue pair, which verbs.h calls. */
#define SOFT_OPERATION_CALLS(X) \
	X(ibv_poll_cq, NEGATIVE, (EIO), "ibv_poll_cq(3)") \
	X(ibv_req_notify_cq, ERROR, (EIO, ENOMEM), "ibv_req_notify_cq(3)" SOFT_REMOVED) \
	X(ibv_post_send, ERROR, (ENOMEM, EINVAL, EFAULT, EIO), "IBA Post Send Request: too many, invalid; ibv_post_send(3)") \
	X(ibv_post_recv, ERROR, (ENOMEM, EINVAL, EFAULT, EIO), "IBA Post Receive Request: too many, invalid; ibv_post_recv(3)") \
	X(ibv_post_srq_recv, ERROR, (ENOMEM, EINVAL, EFAULT, EIO), "IBA Post Receive Request: too many, invalid; ibv_post_srq_recv(3)") \
	X(ibv_alloc_mw, NULL, (ENOMEM, EINVAL, EIO), "IBA Allocate Memory Window: " SOFT_RESOURCES) \
	X(ibv_bind_mw, ERROR, (ENOMEM, EINVAL, EIO), "IBA Bind Memory Window: too many, invalid; ibv_bind_mw(3)") \
	X(ibv_dealloc_mw, ERROR, (EIO, EINVAL), "IBA Deallocate Memory Window: invalid memory window" SOFT_REMOVED) \
	X(ibv_query_device_ex, ERROR, (EIO, ENOMEM), "IBA Query HCA" SOFT_REMOVED) \
	X(ibv_query_rt_values_ex, ERROR, (EIO, EOPNOTSUPP), "ibv_query_rt_values_ex(3)" SOFT_REMOVED) \
	X(ibv_alloc_td, NULL, (ENOMEM, EOPNOTSUPP), "ibv_alloc_td(3)") \
	X(ibv_dealloc_td, ERROR, (EBUSY), "ibv_alloc_td(3): the parent domains that use it come first") \
	X(ibv_alloc_parent_domain, NULL, (ENOMEM, EINVAL, EOPNOTSUPP), "ibv_alloc_parent_domain(3)") \
	X(ibv_create_cq_ex, NULL, (ENOMEM, EINVAL, EOPNOTSUPP, EIO), "IBA Create Completion Queue: " SOFT_RESOURCES) \
	X(ibv_modify_cq, ERROR, (EIO, EINVAL, EOPNOTSUPP), "ibv_modify_cq(3)" SOFT_REMOVED) \
	X(ibv_create_qp_ex, NULL, (ENOMEM, EINVAL, EOPNOTSUPP, EIO), "IBA Create Queue Pair: " SOFT_RESOURCES) \
	X(ibv_start_poll, ERROR, (EIO), "ibv_create_cq_ex(3): an error code") \
	X(ibv_next_poll, ERROR, (EIO), "ibv_create_cq_ex(3): an error code") \
	X(ibv_wr_complete, ERROR, (ENOMEM, EINVAL), "ibv_wr_post(3): the entire posting is aborted")

#define SOFT_CALLS(X) \
	SOFT_VERBS_CALLS(X) \
	SOFT_CM_CALLS(X) \
	SOFT_RUN_CALLS(X) \
	SOFT_OPERATION_CALLS(X)

/* X(name, reason): what no device lets fail. */
#define SOFT_SURE_CALLS(X) \
	X(ibv_free_device_list, "no result") \
	X(ibv_get_device_name, "reads the list") \
	X(ibv_get_device_guid, "reads the list") \
	X(ibv_get_device_index, "reads the list; -1 is an answer") \
	X(ibv_ack_cq_events, "no result") \
	X(ibv_ack_async_event, "no result") \
	X(ibv_free_buf, "no result") \
	X(ibv_qp_to_qp_ex, "computes; NULL is an answer") \
	X(ibv_query_qp_data_in_order, "0 is an answer") \
	X(ibv_is_fork_initialized, "computes") \
	X(ibv_dofork_range, "no manual page, for drivers") \
	X(ibv_dontfork_range, "no manual page, for drivers") \
	X(ibv_get_sysfs_path, "computes") \
	X(ibv_event_type_str, "computes") \
	X(ibv_node_type_str, "computes") \
	X(ibv_port_state_str, "computes") \
	X(ibv_wc_status_str, "computes") \
	X(ibv_wr_opcode_str, "computes") \
	X(ibv_rate_to_mbps, "computes; -1 is an answer") \
	X(ibv_rate_to_mult, "computes; -1 is an answer") \
	X(mbps_to_ibv_rate, "computes") \
	X(mult_to_ibv_rate, "computes") \
	X(ibv_register_driver, "for drivers") \
	X(verbs_register_driver_34, "for drivers") \
	X(verbs_register_driver_65, "for drivers") \
	X(verbs_allow_disassociate_destroy, "a variable") \
	X(__verbs_log, "no result") \
	X(rdma_destroy_event_channel, "no result") \
	X(rdma_destroy_qp, "no result") \
	X(rdma_destroy_srq, "no result") \
	X(rdma_destroy_ep, "no result") \
	X(rdma_free_devices, "no result") \
	X(rdma_freeaddrinfo, "no result") \
	X(rdma_ack_cm_event, "librdmacm, rdma_ack_cm_event: fails without an event only") \
	X(rdma_event_str, "computes") \
	X(rdma_get_src_port, "reads the id") \
	X(rdma_get_dst_port, "reads the id")

/* X(name): fails always, since the device does not have it; others are in run/unserved.c. */
#define SOFT_REFUSED_CALLS(X) \
	X(ibv_attach_mcast) \
	X(ibv_detach_mcast) \
	X(ibv_reg_dmabuf_mr) \
	X(ibv_import_device) \
	X(ibv_set_ece) \
	X(ibv_query_ece) \
	X(ibv_export_buf_dmabuf_fd) \
	X(rdma_join_multicast) \
	X(rdma_join_multicast_ex) \
	X(rdma_leave_multicast)

/* clang-format on */

#define SOFT_CALL_NUMBER(name, ...) SOFT_CALL_##name,
enum soft_call { SOFT_CALLS(SOFT_CALL_NUMBER) SOFT_CALL_COUNT };
#undef SOFT_CALL_NUMBER

#define SOFT_CALL_ERRORS 8

struct soft_call_line {
	const char *name;
	enum soft_convention convention;
	int errors[SOFT_CALL_ERRORS]; /* up to a 0 */
	const char *clause;
};

extern const struct soft_call_line soft_calls[SOFT_CALL_COUNT];

#endif

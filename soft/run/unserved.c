/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unserved -- the functions of the two libraries that softverbs does not serve
 *
 * A program or library that was linked with one of them loads.  The first call of each prints one line that
 * names it; every call fails in the way that its type allows.  No header is included that declares them: the
 * arguments do not matter.
 */
#include "soft/device/unserved.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define UNSERVED(type, name, result) \
	type name(void); \
	type name(void) \
	{ \
		SOFT_UNSERVED(#name); \
		return result; \
	}

/* By what they return when they fail. */
#define CODE(name) UNSERVED(int, name, EOPNOTSUPP)
#define MINUS(name) UNSERVED(ssize_t, name, -1)
#define NONE(name) UNSERVED(void *, name, NULL)
#define NUMBER(name) UNSERVED(uint64_t, name, 0)
#define NOTHING(name) UNSERVED(void, name, )

/* ---- imported objects ---- */

NONE(ibv_import_dm)
NONE(ibv_import_mr)
NONE(ibv_import_pd)
NOTHING(ibv_unimport_dm)
NOTHING(ibv_unimport_mr)
NOTHING(ibv_unimport_pd)

/* ---- copies of what the kernel returns ---- */

NOTHING(ibv_copy_ah_attr_from_kern)
NOTHING(ibv_copy_path_rec_from_kern)
NOTHING(ibv_copy_path_rec_to_kern)
NOTHING(ibv_copy_qp_attr_from_kern)

/* ---- sockets over RDMA ---- */

/* The code of librdmacm reaches into ids of its own, which only the kernel's connection manager makes. */
MINUS(raccept)
MINUS(rbind)
MINUS(rclose)
MINUS(rconnect)
MINUS(rfcntl)
MINUS(rgetpeername)
MINUS(rgetsockname)
MINUS(rgetsockopt)
MINUS(riomap)
MINUS(riounmap)
MINUS(riowrite)
MINUS(rlisten)
MINUS(rpoll)
MINUS(rread)
MINUS(rreadv)
MINUS(rrecv)
MINUS(rrecvfrom)
MINUS(rrecvmsg)
MINUS(rselect)
MINUS(rsend)
MINUS(rsendmsg)
MINUS(rsendto)
MINUS(rsetsockopt)
MINUS(rshutdown)
MINUS(rsocket)
MINUS(rwrite)
MINUS(rwritev)

/* ---- between libibverbs and its drivers ---- */

/* Drivers of real devices are linked with libibverbs and bind at start.  Nothing calls them: there is no such device. */
NONE(_verbs_init_and_alloc_context)
NONE(verbs_open_device)
NOTHING(verbs_init_cq)
NOTHING(verbs_set_ops)
NOTHING(verbs_uninit_context)
CODE(execute_ioctl)
CODE(ibv_resolve_eth_l2_from_gid)
MINUS(ibv_read_ibdev_sysfs_file)
NUMBER(__ioctl_final_num_attrs)
CODE(ibv_cmd_advise_mr)
CODE(ibv_cmd_alloc_dm)
CODE(ibv_cmd_alloc_mw)
CODE(ibv_cmd_alloc_pd)
CODE(ibv_cmd_attach_mcast)
CODE(ibv_cmd_close_xrcd)
CODE(ibv_cmd_create_ah)
CODE(ibv_cmd_create_counters)
CODE(ibv_cmd_create_cq)
CODE(ibv_cmd_create_cq_ex)
CODE(ibv_cmd_create_flow)
CODE(ibv_cmd_create_flow_action_esp)
CODE(ibv_cmd_create_qp)
CODE(ibv_cmd_create_qp_ex2)
CODE(ibv_cmd_create_qp_ex)
CODE(ibv_cmd_create_rwq_ind_table)
CODE(ibv_cmd_create_srq)
CODE(ibv_cmd_create_srq_ex)
CODE(ibv_cmd_create_wq)
CODE(ibv_cmd_dealloc_mw)
CODE(ibv_cmd_dealloc_pd)
CODE(ibv_cmd_dereg_mr)
CODE(ibv_cmd_destroy_ah)
CODE(ibv_cmd_destroy_counters)
CODE(ibv_cmd_destroy_cq)
CODE(ibv_cmd_destroy_flow)
CODE(ibv_cmd_destroy_flow_action)
CODE(ibv_cmd_destroy_qp)
CODE(ibv_cmd_destroy_rwq_ind_table)
CODE(ibv_cmd_destroy_srq)
CODE(ibv_cmd_destroy_wq)
CODE(ibv_cmd_detach_mcast)
CODE(ibv_cmd_free_dm)
CODE(ibv_cmd_get_context)
CODE(ibv_cmd_modify_cq)
CODE(ibv_cmd_modify_flow_action_esp)
CODE(ibv_cmd_modify_qp)
CODE(ibv_cmd_modify_qp_ex)
CODE(ibv_cmd_modify_srq)
CODE(ibv_cmd_modify_wq)
CODE(ibv_cmd_open_qp)
CODE(ibv_cmd_open_xrcd)
CODE(ibv_cmd_poll_cq)
CODE(ibv_cmd_post_recv)
CODE(ibv_cmd_post_send)
CODE(ibv_cmd_post_srq_recv)
CODE(ibv_cmd_query_context)
CODE(ibv_cmd_query_device_any)
CODE(ibv_cmd_query_mr)
CODE(ibv_cmd_query_port)
CODE(ibv_cmd_query_qp)
CODE(ibv_cmd_query_srq)
CODE(ibv_cmd_read_counters)
CODE(ibv_cmd_reg_dm_mr)
CODE(ibv_cmd_reg_dmabuf_mr)
CODE(ibv_cmd_reg_mr)
CODE(ibv_cmd_req_notify_cq)
CODE(ibv_cmd_rereg_mr)
CODE(ibv_cmd_resize_cq)

/* ---- the interface of 2006 ---- */

/* Programs built before libibverbs 1.1 have other structures. */
#define OLD(kind, name) \
	kind(soft_old_##name) __asm__(".symver soft_old_" #name ", " #name "@IBVERBS_1.0");

OLD(NOTHING, ibv_ack_async_event)
OLD(NOTHING, ibv_ack_cq_events)
OLD(NONE, ibv_alloc_pd)
OLD(CODE, ibv_attach_mcast)
OLD(CODE, ibv_close_device)
OLD(NONE, ibv_create_ah)
OLD(NONE, ibv_create_cq)
OLD(NONE, ibv_create_qp)
OLD(NONE, ibv_create_srq)
OLD(CODE, ibv_dealloc_pd)
OLD(CODE, ibv_dereg_mr)
OLD(CODE, ibv_destroy_ah)
OLD(CODE, ibv_destroy_cq)
OLD(CODE, ibv_destroy_qp)
OLD(CODE, ibv_destroy_srq)
OLD(CODE, ibv_detach_mcast)
OLD(NOTHING, ibv_free_device_list)
OLD(CODE, ibv_get_async_event)
OLD(CODE, ibv_get_cq_event)
OLD(NUMBER, ibv_get_device_guid)
OLD(NONE, ibv_get_device_list)
OLD(NONE, ibv_get_device_name)
OLD(CODE, ibv_modify_qp)
OLD(CODE, ibv_modify_srq)
OLD(NONE, ibv_open_device)
OLD(CODE, ibv_query_device)
OLD(CODE, ibv_query_gid)
OLD(CODE, ibv_query_pkey)
OLD(CODE, ibv_query_port)
OLD(CODE, ibv_query_qp)
OLD(CODE, ibv_query_srq)
OLD(NONE, ibv_reg_mr)
OLD(CODE, ibv_resize_cq)

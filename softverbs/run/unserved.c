/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * unserved -- the functions of the two libraries that softverbs does not serve
 *
 * A program or library that was linked with one of them loads.  The first call of each prints one
 * line that names it; every call fails in the way that its type allows.  No header is included that
 * declares them: the arguments do not matter.  The same calls with the structures of 2006, which
 * have versions of their own, are refused by the library in front of this one (stub.h), and end in
 * soft_refused().
 */
#include "softverbs/device/unserved.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
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

/* ---- functions of releases after 44 ---- */

CODE(ibv_dealloc_dmah)
CODE(ibv_destroy_comp_cntr)
CODE(ibv_inc_comp_cntr)
CODE(ibv_inc_err_comp_cntr)
CODE(ibv_qp_attach_comp_cntr)
CODE(ibv_read_comp_cntr)
CODE(ibv_read_err_comp_cntr)
CODE(ibv_set_comp_cntr)
CODE(ibv_set_err_comp_cntr)
MINUS(ibv_dm_export_dmabuf_fd)
MINUS(rdma_query_addrinfo)
MINUS(rdma_resolve_addrinfo)
MINUS(rdma_write_cm_event)
NONE(ibv_alloc_dmah)
NONE(ibv_create_comp_cntr)

/* Without a line: programs ask this of each device. */
int _ibv_query_comp_cntr_caps(void);
int
_ibv_query_comp_cntr_caps(void)
{
	return EOPNOTSUPP;
}

/* ---- copies of what the kernel returns ---- */

NOTHING(ibv_copy_ah_attr_from_kern)
NOTHING(ibv_copy_path_rec_from_kern)
NOTHING(ibv_copy_path_rec_to_kern)
NOTHING(ibv_copy_qp_attr_from_kern)

/* ---- sockets over RDMA ---- */

/*
 * The code of librdmacm reaches into ids of its own, which only the kernel's connection manager
 * makes.
 */
MINUS(repoll_create)
MINUS(repoll_ctl)
MINUS(repoll_wait)
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

/*
 * Drivers of real devices are linked with libibverbs and bind at start.  Nothing calls them: there
 * is no such device.
 */
NONE(_verbs_init_and_alloc_context)
NONE(verbs_open_device)
NOTHING(verbs_init_cq)
NOTHING(verbs_set_ops)
NOTHING(verbs_uninit_context)
CODE(execute_ioctl)
CODE(ibv_dmabuf_heap_alloc)
CODE(ibv_dmabuf_heap_cc_shared_init)
CODE(ibv_dmabuf_heap_destroy)
CODE(ibv_dmabuf_heap_free)
CODE(ibv_resolve_eth_l2_from_gid)
MINUS(ibv_read_ibdev_sysfs_file)
NUMBER(__ioctl_final_num_attrs)
CODE(ibv_cmd_advise_mr)
CODE(ibv_cmd_alloc_dm)
CODE(ibv_cmd_alloc_dmah)
CODE(ibv_cmd_alloc_mw)
CODE(ibv_cmd_alloc_pd)
CODE(ibv_cmd_attach_mcast)
CODE(ibv_cmd_close_xrcd)
CODE(ibv_cmd_create_ah)
CODE(ibv_cmd_create_comp_cntr)
CODE(ibv_cmd_create_counters)
CODE(ibv_cmd_create_cq)
CODE(ibv_cmd_create_cq_ex)
CODE(ibv_cmd_create_cq_ex2)
CODE(ibv_cmd_create_flow)
CODE(ibv_cmd_create_flow_action_esp)
CODE(ibv_cmd_create_qp)
CODE(ibv_cmd_create_qp_ex)
CODE(ibv_cmd_create_qp_ex2)
CODE(ibv_cmd_create_rwq_ind_table)
CODE(ibv_cmd_create_srq)
CODE(ibv_cmd_create_srq_ex)
CODE(ibv_cmd_create_wq)
CODE(ibv_cmd_dealloc_mw)
CODE(ibv_cmd_dealloc_pd)
CODE(ibv_cmd_dereg_mr)
CODE(ibv_cmd_destroy_ah)
CODE(ibv_cmd_destroy_comp_cntr)
CODE(ibv_cmd_destroy_counters)
CODE(ibv_cmd_destroy_cq)
CODE(ibv_cmd_destroy_flow)
CODE(ibv_cmd_destroy_flow_action)
CODE(ibv_cmd_destroy_qp)
CODE(ibv_cmd_destroy_rwq_ind_table)
CODE(ibv_cmd_destroy_srq)
CODE(ibv_cmd_destroy_wq)
CODE(ibv_cmd_detach_mcast)
CODE(ibv_cmd_export_dmabuf_fd)
CODE(ibv_cmd_free_dm)
CODE(ibv_cmd_free_dmah)
CODE(ibv_cmd_get_context)
CODE(ibv_cmd_inc_comp_cntr)
CODE(ibv_cmd_inc_err_comp_cntr)
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
CODE(ibv_cmd_qp_attach_comp_cntr)
CODE(ibv_cmd_query_comp_cntr_caps)
CODE(ibv_cmd_query_context)
CODE(ibv_cmd_query_device_any)
CODE(ibv_cmd_query_mr)
CODE(ibv_cmd_query_port)
CODE(ibv_cmd_query_port_speed)
CODE(ibv_cmd_query_qp)
CODE(ibv_cmd_query_srq)
CODE(ibv_cmd_read_comp_cntr)
CODE(ibv_cmd_read_counters)
CODE(ibv_cmd_read_err_comp_cntr)
CODE(ibv_cmd_reg_dm_mr)
CODE(ibv_cmd_reg_dmabuf_mr)
CODE(ibv_cmd_reg_mr)
CODE(ibv_cmd_reg_mr_ex)
CODE(ibv_cmd_req_notify_cq)
CODE(ibv_cmd_rereg_mr)
CODE(ibv_cmd_resize_cq)
CODE(ibv_cmd_set_comp_cntr)
CODE(ibv_cmd_set_err_comp_cntr)

/* ---- what only the libraries of the host have ---- */

/*
 * A function of a release that is younger than this file, by the library that soft_stub_image()
 * made.
 */
struct refused {
	atomic_flag printed;
	char name[];
};

long soft_refused(struct refused *function);

/* Names of functions that return an object, or NULL. */
static bool
unserved_makes_object(const char *name)
{
	static const char *const verbs[] = { "alloc_", "create_", "import_", "open_", "reg_",
		"get_device_list" };

	if (strncmp(name, "ibv_", 4) != 0)
		return false;
	for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
		if (!strncmp(name + 4, verbs[i], strlen(verbs[i])))
			return true;
	return false;
}

/*
 * What the function fails with.  No header tells its type: NULL for one that makes an object, -1
 * for one of librdmacm, as all of these, else the error.
 */
long
soft_refused(struct refused *function)
{
	/* As that of a release that is known (private.c): it succeeds without a word. */
	if (!strncmp(function->name, "verbs_register_driver_", strlen("verbs_register_driver_")))
		return 0;
	soft_unserved(&function->printed, function->name);
	if (unserved_makes_object(function->name))
		return 0;
	return function->name[0] == 'r' ? -1 : EOPNOTSUPP;
}

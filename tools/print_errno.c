/* SPDX-License-Identifier: BSD-3-Clause */
/* print-errno -- writes what calls of DAT return for an errno of the device, as doc/errno.md */
#define _GNU_SOURCE /* strerrorname_np() */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <dat2/udat.h>

#include "dapl/state/device_errno.h"
#include "dapl/trace/err.h"
#include "dapl/trace/name.h"

/*
 * ---- the calls of DAT that make a call of the device: what they return if it has this meaning
 * ----
 */

#define CONVERT(stem, value) \
	static DAT_RETURN convert_##stem(int e) \
	{ \
		return value; \
	}
CONVERT(ia_open, dapl_err_ia_open(e))
CONVERT(psp_create, dapl_err_listen("dat_psp_create", e == -ENODEV ? -EIO : e))
CONVERT(psp_create_any, dapl_err_listen_any(e == -ENODEV ? -EIO : e))
CONVERT(csp_create, dapl_err_listen_at(e == -ENODEV ? -EIO : e))
CONVERT(memory, dapl_err_resource("", e, DAT_RESOURCE_MEMORY))
CONVERT(zone, dapl_err_resource("", e, DAT_RESOURCE_PROTECTION_DOMAIN))
CONVERT(endpoint, dapl_err_resource("", e, DAT_RESOURCE_TEP))
CONVERT(lmr_create, dapl_err_register(e))
CONVERT(rmr_create, dapl_err_perhaps("", e, DAT_RESOURCE_MEMORY_REGION))
CONVERT(srq, dapl_err_perhaps("", e, DAT_RESOURCE_SRQ))
CONVERT(cr_accept, dapl_err_perhaps("", e, DAT_RESOURCE_MEMORY))
CONVERT(evd_resize, dapl_err_evd_resize(e))

static const struct use {
	const char *device_call, *dat_call;
	DAT_RETURN (*convert)(int error); /* NULL: a post */
} uses[] = {
	{ "rdma_create_event_channel", "dat_ia_open", convert_ia_open },
	{ "rdma_create_id", "dat_ia_open", convert_ia_open },
	{ "rdma_create_id", "dat_psp_create", convert_psp_create },
	{ "rdma_create_id", "dat_ep_connect", convert_memory },
	{ "rdma_bind_addr", "dat_ia_open", convert_ia_open },
	{ "rdma_bind_addr", "dat_psp_create", convert_psp_create },
	{ "rdma_bind_addr", "dat_psp_create_any", convert_psp_create_any },
	{ "rdma_bind_addr", "dat_rsp_create", convert_psp_create },
	{ "rdma_bind_addr", "dat_csp_create", convert_csp_create },
	{ "rdma_listen", "dat_psp_create", convert_psp_create },
	{ "rdma_listen", "dat_psp_create_any", convert_psp_create_any },
	{ "rdma_listen", "dat_rsp_create", convert_psp_create },
	{ "rdma_listen", "dat_csp_create", convert_csp_create },
	{ "ibv_query_device", "dat_ia_open", convert_ia_open },
	{ "ibv_query_port", "dat_ia_open", convert_ia_open },
	{ "ibv_create_comp_channel", "dat_ia_open", convert_ia_open },
	{ "ibv_create_comp_channel", "dat_evd_create", convert_memory },
	{ "ibv_create_cq", "dat_ia_open", convert_ia_open },
	{ "ibv_create_cq", "dat_evd_create", convert_memory },
	{ "ibv_resize_cq", "dat_evd_resize", convert_evd_resize },
	{ "ibv_alloc_pd", "dat_pz_create", convert_zone },
	{ "ibv_create_qp", "dat_ep_create", convert_endpoint },
	{ "ibv_create_qp", "dat_ep_reset", convert_endpoint },
	{ "ibv_modify_qp", "dat_ep_create", convert_endpoint },
	{ "ibv_create_srq", "dat_srq_create", convert_srq },
	{ "ibv_modify_srq", "dat_srq_resize", convert_srq },
	{ "ibv_modify_srq", "dat_srq_set_lw", convert_srq },
	{ "ibv_alloc_mw", "dat_rmr_create", convert_rmr_create },
	{ "ibv_create_ah", "dat_cr_accept", convert_cr_accept },
	{ "ibv_reg_mr", "dat_lmr_create", convert_lmr_create },
	{ "ibv_post_send", "dat_ep_post_send", NULL },
	{ "ibv_post_recv", "dat_ep_post_recv", NULL },
	{ "ibv_post_recv", "dat_srq_post_recv", NULL },
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static DAT_RETURN
use_returns(const struct use *use, const struct dapl_device_errno *e)
{
	return use->convert ? use->convert(-e->meaning) : dapl_err_post(e->call, e->error);
}

/* "DAT_CONN_QUAL_IN_USE", "DAT_INVALID_PARAMETER/ARG3": as the headers write it. */
static void
print_code(DAT_RETURN ret)
{
	const char *type = dapl_name_return_type(ret), *subtype = dapl_name_return_subtype(ret);
	const size_t prefix = strlen("DAT_");

	printf("%s", type);
	if (!subtype || !*subtype)
		return;
	subtype += strncmp(subtype, "DAT_RESOURCE_", strlen("DAT_RESOURCE_")) == 0 ?
		       strlen("DAT_RESOURCE_") :
		   strncmp(subtype, "DAT_INVALID_ARG", strlen("DAT_INVALID_ARG")) == 0 ?
		       strlen("DAT_INVALID_") :
		   strncmp(subtype, type, strlen(type)) == 0 ? strlen(type) + 1 :
							       prefix;
	printf("/%s", subtype);
}

static void
print_row(const struct dapl_device_errno *e)
{
	printf("| `%s` | ", strerrorname_np(e->error));
	for (size_t i = 0, n = 0; i < COUNT(uses); i++) {
		if (strcmp(uses[i].device_call, e->call) != 0)
			continue;
		printf("%s`%s` ", n++ ? "<br>" : "", uses[i].dat_call);
		print_code(use_returns(&uses[i], e));
	}
	printf(" | %s |\n", e->where);
}

static void
print_introduction(void)
{
	puts("# What an error of the device becomes\n"
	     "\n"
	     "`print-errno` prints this page from the table of the provider, "
	     "`dapl/state/device_errno.c`; `doc/check-states` compares\n"
	     "them, and a test of `test-device` makes each call fail with each errno and reads the "
	     "code from here.\n"
	     "\n"
	     "Who returns an errno: a file of the kernel, in `drivers/infiniband/core`, "
	     "`drivers/infiniband/hw` (\"the driver\") or\n"
	     "`mm`; or of rdma-core, in `libibverbs` or `librdmacm`. An errno that is not here is "
	     "`DAT_INTERNAL_ERROR`, and a line has\n"
	     "its number. `DAT_INSUFFICIENT_RESOURCES` without a subtype is a limit of the process "
	     "or the host, and a line names it.\n"
	     "\n"
	     "Of other calls the result is an event, whatever the errno: `rdma_resolve_addr`, "
	     "`rdma_resolve_route` and `rdma_connect`\n"
	     "give UNREACHABLE, `rdma_accept` ACCEPT_COMPLETION_ERROR. `ibv_resize_cq` only fails "
	     "a call for lack of memory: with any other\n"
	     "errno the EVD keeps the queue that it has. What a call that frees returns is not "
	     "looked at, but for `ibv_dereg_mr` with EBUSY\n"
	     "or EINVAL, which is a bound window: DAT_INVALID_STATE/LMR_IN_USE.");
}

int
main(void)
{
	const char *call = "";

	print_introduction();
	for (const struct dapl_device_errno *e = dapl_device_errnos; e->call; e++) {
		if (strcmp(call, e->call) != 0)
			printf(
			    "\n## %s\n\n| errno | what the calls return | from |\n|---|---|---|\n",
			    e->call);
		call = e->call;
		print_row(e);
	}
	return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Compiled as C and as C++ with -Wwrite-strings and -Wpedantic: names are literals, in C++ private
 * data is constant, and the constants that are structures compile.
 */
#include <dat2/udat.h>
#include <dat2/dat_event_str.h>
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_upcall.h>
#include <dat2/dat_version.h>
#include <dat2/kdat.h>

DAT_RETURN literals(DAT_EP_HANDLE ep, DAT_CR_HANDLE cr, DAT_IA_ADDRESS_PTR address);

DAT_RETURN
literals(DAT_EP_HANDLE ep, DAT_CR_HANDLE cr, DAT_IA_ADDRESS_PTR address)
{
	const DAT_NAME_PTR name = "soft";
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_HA_RELATIONSHIP relation;
	DAT_UPCALL_OBJECT none = DAT_UPCALL_NULL;
	const char *major, *minor;
	DAT_BOOLEAN related;
	DAT_CNO_HANDLE cno;
	DAT_UINT64 counts[DCNT_EP_ALL_COUNTERS];
	DAT_RMR_TRIPLET rbuf;
	DAT_LMR_TRIPLET lbuf;
	DAT_DTO_COOKIE cookie;
	DAT_IA_HANDLE ia;
	DAT_IA_ATTR attr;
#ifdef __cplusplus
	const char data[] = "constant";
#else
	char data[] = "constant";
#endif

	(void)none;
	cookie.as_64 = 1;
	(void)dat_ia_open("soft", 8, &async, &ia);
	(void)dat_ia_openv(name, 8, &async, &ia, DAT_VERSION_MAJOR, DAT_VERSION_MINOR, DAT_FALSE);
	(void)dat_ia_ha_related(ia, "other", &related);
	(void)dat_registry_providers_related("soft", "other", &relation);
	(void)dat_ib_open_query("soft", &ia, DAT_IA_FIELD_ALL, &attr, 0, NULL);
	(void)dat_cno_create(ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
	(void)dat_cno_modify_agent(cno, DAT_OS_WAIT_PROXY_AGENT_NULL);
	(void)dat_ib_post_fetch_and_add(ep, 1, &lbuf, cookie, &rbuf, DAT_COMPLETION_DEFAULT_FLAG);
	(void)dat_ib_post_cmp_and_swap(ep, 1, 2, &lbuf, cookie, &rbuf, DAT_COMPLETION_DEFAULT_FLAG);
	(void)dat_ib_post_rdma_write_immed(
	    ep, 1, &lbuf, cookie, &rbuf, 3, DAT_COMPLETION_DEFAULT_FLAG);
	(void)dat_ib_query_counters(ep, DCNT_EP_ALL_COUNTERS, counts, 0);
	(void)dat_strerror(DAT_ABORT, &major, &minor);
	(void)dat_event_str(DAT_SOFTWARE_EVENT);
	(void)dat_rearm_version();
	(void)dat_ep_connect(ep, address, 1, DAT_TIMEOUT_INFINITE, sizeof data, data,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
	(void)dat_ep_dup_connect(
	    ep, ep, DAT_TIMEOUT_INFINITE, sizeof data, data, DAT_QOS_BEST_EFFORT);
	(void)dat_ep_common_connect(ep, address, DAT_TIMEOUT_INFINITE, sizeof data, data);
	(void)dat_cr_accept(cr, ep, sizeof data, data);
	return dat_cr_reject(cr, sizeof data, data);
}

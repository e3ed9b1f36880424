/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/udat.h>

/*
 * An endpoint whose completions and connection events go to one EVD.  Then
 * they have one order: ESTABLISHED is the first event of a connection,
 * DISCONNECTED or BROKEN the last, except for what is posted later.
 */
static DAT_RETURN
create_endpoint(DAT_IA_HANDLE ia, DAT_PZ_HANDLE pz, DAT_EVD_HANDLE evd,
    DAT_EP_HANDLE *ep)
{
	return dat_ep_create(ia, pz, evd, evd, evd, NULL, ep);
}

/*
 * Receives are posted before the connection exists, because the other side may
 * send at once.
 */
static DAT_RETURN
start_to_connect(DAT_EP_HANDLE ep, struct sockaddr *address,
    DAT_CONN_QUAL port, DAT_LMR_TRIPLET *buffer)
{
	char hello[] = "hello";
	const DAT_DTO_COOKIE cookie = { .as_64 = 1 };
	DAT_RETURN ret = dat_ep_post_recv(
	    ep, 1, buffer, cookie, DAT_COMPLETION_DEFAULT_FLAG);

	if (ret != DAT_SUCCESS)
		return ret;
	return dat_ep_connect(ep, address, port, 10 * 1000000,
	    sizeof hello, hello, DAT_QOS_BEST_EFFORT,
	    DAT_CONNECT_DEFAULT_FLAG);
}

/*
 * After ESTABLISHED.  The completion, a DAT_DTO_COMPLETION_EVENT, returns the
 * cookie.
 */
static DAT_RETURN
send_message(DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *message)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 2 };

	return dat_ep_post_send(
	    ep, 1, message, cookie, DAT_COMPLETION_DEFAULT_FLAG);
}

/*
 * `remote` came in a message of the other side, whose dat_lmr_create() returned
 * its rmr_context: see dat_api_memory.h(3).  That side gets no event; a message
 * that is sent after a write arrives after the data.
 */
static DAT_RETURN
write_remote(
    DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *from, const DAT_RMR_TRIPLET *remote)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 3 };

	return dat_ep_post_rdma_write(
	    ep, 1, from, cookie, remote, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
read_remote(
    DAT_EP_HANDLE ep, DAT_LMR_TRIPLET *to, const DAT_RMR_TRIPLET *remote)
{
	const DAT_DTO_COOKIE cookie = { .as_64 = 4 };

	return dat_ep_post_rdma_read(
	    ep, 1, to, cookie, remote, DAT_COMPLETION_DEFAULT_FLAG);
}

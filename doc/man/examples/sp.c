/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/udat.h>

/* Listens; requests become events of `evd`, which has DAT_EVD_CR_FLAG. */
static DAT_RETURN
start_to_listen(DAT_IA_HANDLE ia, DAT_EVD_HANDLE evd, DAT_CONN_QUAL *port,
    DAT_PSP_HANDLE *psp)
{
	return dat_psp_create_any(
	    ia, port, evd, DAT_PSP_CONSUMER_FLAG, psp);
}

/*
 * Answers a DAT_CONNECTION_REQUEST_EVENT.  ESTABLISHED follows on the connect
 * EVD of `ep`, on which receives are posted already.
 */
static DAT_RETURN
answer(const DAT_EVENT *event, DAT_EP_HANDLE ep)
{
	const DAT_CR_HANDLE cr =
	    event->event_data.cr_arrival_event_data.cr_handle;
	const char *hello;
	DAT_CR_PARAM param;
	DAT_RETURN ret;

	ret = dat_cr_query(cr, DAT_CR_FIELD_ALL, &param);
	if (ret != DAT_SUCCESS)
		return ret;
	/* On InfiniBand and RoCE there are 56 bytes, however many were sent. */
	hello = param.private_data;
	if (param.private_data_size < 1 || hello[0] != 'h')
		return dat_cr_reject(cr, 0, NULL);
	return dat_cr_accept(cr, ep, 0, NULL);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "common.h"

#include <dat2/dat_version.h>
#include <err.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How long a connection may take. */
#define CONNECT_TIMEOUT (10 * 1000000)

/* Room for the 16 requests and 16 receives of two endpoints, and their connection events. */
#define EVD_LENGTH (2 * (16 + 16 + 2))

void
take_arguments(int argc, char **argv, int least, int most, const char *usage)
{
	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		printf("Usage: %s\n", usage);
		exit(0);
	}
	if (argc > 1 && strcmp(argv[1], "--version") == 0) {
		printf("%s (rearm) %s\n", program_invocation_short_name, REARM_VERSION);
		exit(0);
	}
	if (argc - 1 < least || argc - 1 > most)
		errx(2, "usage: %s", usage);
}

void
must(const char *call, DAT_RETURN ret)
{
	const char *type = "", *detail = "";

	dat_strerror(ret, &type, &detail);
	if (ret != DAT_SUCCESS)
		errx(1, "%s: %s %s", call, type, detail);
}

void
wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore))
		; /* a signal handler ran */
}

void
adapter_open(struct adapter *adapter, const char *name)
{
	DAT_EVD_HANDLE async_evd = DAT_HANDLE_NULL;
	DAT_IA_ATTR attr;
	DAT_RETURN ret;

	ret = dat_ia_open((char *)name, 8, &async_evd, &adapter->ia);
	if (ret != DAT_SUCCESS)
		warnx("cannot open the adapter \"%s\"", name);
	must("dat_ia_open", ret);
	must("dat_ia_query", dat_ia_query(adapter->ia, NULL, DAT_IA_FIELD_ALL, &attr,
				 DAT_PROVIDER_FIELD_NONE, NULL));
	adapter->address = attr.ia_address_ptr;
	must("dat_pz_create", dat_pz_create(adapter->ia, &adapter->pz));
}

void
adapter_close(struct adapter *adapter)
{
	must("dat_pz_free", dat_pz_free(adapter->pz));
	/* The graceful close is refused while an object is left. */
	must("dat_ia_close", dat_ia_close(adapter->ia, DAT_CLOSE_GRACEFUL_FLAG));
}

void
buffer_create(struct buffer *buffer, const struct adapter *adapter, size_t length)
{
	DAT_REGION_DESCRIPTION region;

	buffer->bytes = calloc(1, length);
	if (!buffer->bytes)
		err(1, "no memory for a buffer of %zu bytes", length);
	region.for_va = buffer->bytes;
	must("dat_lmr_create",
	    dat_lmr_create(adapter->ia, DAT_MEM_TYPE_VIRTUAL, region, length, adapter->pz,
		DAT_MEM_PRIV_LOCAL_READ_FLAG | DAT_MEM_PRIV_LOCAL_WRITE_FLAG, DAT_VA_TYPE_VA,
		&buffer->lmr, &buffer->lmr_context, NULL, NULL, NULL));
}

void
buffer_free(struct buffer *buffer)
{
	must("dat_lmr_free", dat_lmr_free(buffer->lmr));
	free(buffer->bytes);
}

static DAT_LMR_TRIPLET
buffer_part(const struct buffer *buffer, size_t offset, size_t length)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)(buffer->bytes + offset),
		.segment_length = length,
		.lmr_context = buffer->lmr_context,
	};
}

void
post_recv(
    DAT_EP_HANDLE ep, const struct buffer *buffer, size_t offset, size_t length, DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET part = buffer_part(buffer, offset, length);

	must("dat_ep_post_recv", dat_ep_post_recv(ep, 1, &part, (DAT_DTO_COOKIE){ .as_64 = cookie },
				     DAT_COMPLETION_DEFAULT_FLAG));
}

void
post_send(
    DAT_EP_HANDLE ep, const struct buffer *buffer, size_t offset, size_t length, DAT_UINT64 cookie)
{
	DAT_LMR_TRIPLET part = buffer_part(buffer, offset, length);

	must("dat_ep_post_send", dat_ep_post_send(ep, 1, &part, (DAT_DTO_COOKIE){ .as_64 = cookie },
				     DAT_COMPLETION_DEFAULT_FLAG));
}

DAT_EVD_HANDLE
evd_create(const struct adapter *adapter, DAT_CNO_HANDLE cno)
{
	DAT_EVD_HANDLE evd;

	must("dat_evd_create", dat_evd_create(adapter->ia, EVD_LENGTH, cno,
				   DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, &evd));
	return evd;
}

DAT_EP_HANDLE
ep_create(const struct adapter *adapter, DAT_EVD_HANDLE evd)
{
	DAT_EP_HANDLE ep;

	/* NULL: the default attributes, which allow 16 requests and 16 receives. */
	must("dat_ep_create", dat_ep_create(adapter->ia, adapter->pz, evd, evd, evd, NULL, &ep));
	return ep;
}

/* Waits for the next event of an EVD, which has to be `number`. */
static DAT_EVENT
event_wait(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number)
{
	DAT_EVENT event;
	DAT_COUNT more;

	must("dat_evd_wait", dat_evd_wait(evd, CONNECT_TIMEOUT, 1, &event, &more));
	if (event.event_number != number)
		errx(1, "%s instead of %s", dat_event_str(event.event_number),
		    dat_event_str(number));
	return event;
}

static DAT_EVD_HANDLE
ep_connect_evd(DAT_EP_HANDLE ep)
{
	DAT_EP_PARAM param;

	must("dat_ep_query", dat_ep_query(ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &param));
	return param.connect_evd_handle;
}

void
ep_connect(const struct adapter *adapter, DAT_EP_HANDLE client, DAT_EP_HANDLE server)
{
	DAT_EVD_HANDLE requests;
	DAT_CONN_QUAL port;
	DAT_PSP_HANDLE psp;
	DAT_EVENT request;

	must("dat_evd_create",
	    dat_evd_create(adapter->ia, 1, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &requests));
	must("dat_psp_create_any",
	    dat_psp_create_any(adapter->ia, &port, requests, DAT_PSP_CONSUMER_FLAG, &psp));
	must("dat_ep_connect", dat_ep_connect(client, adapter->address, port, CONNECT_TIMEOUT, 0,
				   NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	request = event_wait(requests, DAT_CONNECTION_REQUEST_EVENT);
	must("dat_cr_accept",
	    dat_cr_accept(request.event_data.cr_arrival_event_data.cr_handle, server, 0, NULL));
	event_wait(ep_connect_evd(client), DAT_CONNECTION_EVENT_ESTABLISHED);
	event_wait(ep_connect_evd(server), DAT_CONNECTION_EVENT_ESTABLISHED);
	must("dat_psp_free", dat_psp_free(psp));
	must("dat_evd_free", dat_evd_free(requests));
}

const DAT_DTO_COMPLETION_EVENT_DATA *
completion(const DAT_EVENT *event)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event->event_data.dto_completion_event_data;

	if (event->event_number != DAT_DTO_COMPLETION_EVENT)
		errx(1, "%s instead of a completion", dat_event_str(event->event_number));
	if (data->status != DAT_DTO_SUCCESS)
		errx(1, "a transfer failed: %s", dat_dto_status_str(data->status));
	return data;
}

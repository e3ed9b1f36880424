/* SPDX-License-Identifier: BSD-3-Clause */
#include "pair.h"
#include "lines.h"
#include "text.h"

#include <err.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dat2/dat_event_str.h>
#include <dat2/dat_upcall.h>

enum { EVENTS = 8, PATIENCE_US = 10000000, STEP_MS = 100 };

#define TRY(function, ...) \
	do { \
		const DAT_RETURN ret_ = function(__VA_ARGS__); \
		if (ret_ != DAT_SUCCESS) \
			return lines_explain(#function, ret_); \
	} while (0)

static json_t *
pair_failure(json_t *text)
{
	json_t *failure = lines_take_errors();

	json_array_append_new(failure, text);
	return failure;
}

void
pair_init(struct pair *pair, const struct adapter *adapter)
{
	*pair = (struct pair){ .adapter = adapter };
	pair->steps = adapter_has(adapter, DAT_REARM_ATTR_UPCALLS) &&
		      dat_ia_step(adapter->ia, 0, NULL) == DAT_SUCCESS;
	for (int i = 0; i < 2; i++) {
		pair->ends[i].memory = calloc(1, PAIR_MEMORY);
		if (pair->ends[i].memory == NULL)
			err(1, NULL);
	}
}

void
pair_free(struct pair *pair)
{
	for (int i = 0; i < 2; i++)
		free(pair->ends[i].memory);
}

json_t *
pair_register(struct pair *pair)
{
	const DAT_IA_HANDLE ia = pair->adapter->ia;

	TRY(dat_pz_create, ia, &pair->pz);
	for (int i = 0; i < 2; i++) {
		struct pair_end *end = &pair->ends[i];
		const DAT_REGION_DESCRIPTION region = { .for_va = end->memory };

		TRY(dat_lmr_create, ia, DAT_MEM_TYPE_VIRTUAL, region, PAIR_MEMORY, pair->pz,
		    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &end->lmr, &end->lmr_context,
		    &end->rmr_context, NULL, NULL);
	}
	return NULL;
}

json_t *
pair_create(struct pair *pair)
{
	const DAT_IA_HANDLE ia = pair->adapter->ia;

	for (int i = 0; i < 2; i++) {
		struct pair_end *end = &pair->ends[i];

		TRY(dat_evd_create, ia, EVENTS, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &end->dto);
		TRY(dat_evd_create, ia, EVENTS, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG,
		    &end->connection);
		TRY(dat_ep_create, ia, pair->pz, end->dto, end->dto, end->connection, NULL,
		    &end->ep);
	}
	TRY(dat_evd_create, ia, EVENTS, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &pair->requests);
	TRY(dat_psp_create_any, ia, &pair->qual, pair->requests, DAT_PSP_CONSUMER_FLAG, &pair->psp);
	return NULL;
}

/* dat_evd_wait() of an adapter that has no threads of its own: the caller's runs it. */
static DAT_RETURN
pair_step(DAT_IA_HANDLE ia, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	const time_t until = time(NULL) + PATIENCE_US / 1000000;
	DAT_RETURN ret;

	while (DAT_GET_TYPE(ret = dat_evd_dequeue(evd, event)) == DAT_QUEUE_EMPTY) {
		if (time(NULL) > until)
			return DAT_ERROR(DAT_TIMEOUT_EXPIRED, DAT_NO_SUBTYPE);
		ret = dat_ia_step(ia, STEP_MS, NULL);
		if (ret != DAT_SUCCESS)
			return ret;
	}
	return ret;
}

/* The next event, which must be this one. */
static json_t *
pair_await(const struct pair *pair, DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	const char *name;
	DAT_RETURN ret;
	DAT_COUNT more;

	ret = pair->steps ? pair_step(pair->adapter->ia, evd, event) :
			    dat_evd_wait(evd, PATIENCE_US, 1, event, &more);
	if (DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED)
		return pair_failure(text_format(
		    "no %s within %d seconds", dat_event_name(number), PATIENCE_US / 1000000));
	if (ret != DAT_SUCCESS)
		return lines_explain("dat_evd_wait", ret);
	name = dat_event_name(event->event_number);
	if (event->event_number != number)
		return pair_failure(text_format("%s instead of %s",
		    name != NULL ? name : "an unknown event", dat_event_name(number)));
	return NULL;
}

json_t *
pair_connect(struct pair *pair)
{
	const DAT_IA_ADDRESS_PTR address = pair->adapter->ia_attr.ia_address_ptr;
	json_t *failure;
	DAT_EVENT event;

	TRY(dat_ep_connect, pair->ends[0].ep, address, pair->qual, PATIENCE_US, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
	failure = pair_await(pair, pair->requests, DAT_CONNECTION_REQUEST_EVENT, &event);
	if (failure != NULL) {
		/* The end that connects may know more. */
		if (dat_evd_dequeue(pair->ends[0].connection, &event) == DAT_SUCCESS &&
		    dat_event_name(event.event_number) != NULL)
			json_array_append_new(
			    failure, json_string(dat_event_name(event.event_number)));
		return failure;
	}
	TRY(dat_cr_accept, event.event_data.cr_arrival_event_data.cr_handle, pair->ends[1].ep, 0,
	    NULL);
	for (int i = 0; i < 2; i++) {
		failure = pair_await(
		    pair, pair->ends[i].connection, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
		if (failure != NULL)
			return failure;
	}
	return NULL;
}

static json_t *
pair_await_dto(const struct pair *pair, DAT_EVD_HANDLE evd, const char *operation)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data;
	const char *status;
	json_t *failure;
	DAT_EVENT event;

	failure = pair_await(pair, evd, DAT_DTO_COMPLETION_EVENT, &event);
	if (failure != NULL)
		return failure;
	data = &event.event_data.dto_completion_event_data;
	if (data->status == DAT_DTO_SUCCESS)
		return NULL;
	status = dat_dto_status_name(data->status);
	return pair_failure(
	    text_format("%s: %s", operation, status != NULL ? status : "an unknown status"));
}

static DAT_LMR_TRIPLET
pair_local(const struct pair_end *end, size_t at, DAT_SEG_LENGTH length)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)(end->memory + at),
		.segment_length = length,
		.lmr_context = end->lmr_context,
	};
}

static DAT_RMR_TRIPLET
pair_remote(const struct pair_end *end, size_t at, DAT_SEG_LENGTH length)
{
	return (DAT_RMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)(end->memory + at),
		.segment_length = length,
		.rmr_context = end->rmr_context,
	};
}

static json_t *
pair_compare(const unsigned char *want, const unsigned char *got, size_t length, const char *what)
{
	size_t i;

	for (i = 0; i < length; i++)
		if (want[i] != got[i])
			return pair_failure(text_format(
			    "%s: byte %zu of %zu is 0x%02x and not 0x%02x: the data is wrong", what,
			    i, length, got[i], want[i]));
	return NULL;
}

/* The bytes that are sent have another value at each place of a page, and in each page. */
static void
pair_fill(unsigned char *memory, size_t length)
{
	for (size_t i = 0; i < length; i++)
		memory[i] = (unsigned char)(i * 31 + i / 251 + 1);
}

/*
 * The first end writes into the lower half of the second one's memory and sends to the upper half;
 * then it reads what it has written back into its own upper half.  The message comes after what was
 * written.
 */
json_t *
pair_transfer(struct pair *pair, DAT_SEG_LENGTH length)
{
	const struct pair_end *a = &pair->ends[0], *b = &pair->ends[1];
	const size_t half = PAIR_MEMORY / 2;
	DAT_LMR_TRIPLET from = pair_local(a, 0, length), to = pair_local(b, half, length),
			back = pair_local(a, half, length);
	DAT_RMR_TRIPLET remote = pair_remote(b, 0, length);
	const DAT_DTO_COOKIE cookie = { .as_64 = 1 };
	json_t *failure;

	pair_fill(a->memory, length);
	TRY(dat_ep_post_recv, b->ep, 1, &to, cookie, DAT_COMPLETION_DEFAULT_FLAG);
	TRY(dat_ep_post_rdma_write, a->ep, 1, &from, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG);
	TRY(dat_ep_post_send, a->ep, 1, &from, cookie, DAT_COMPLETION_DEFAULT_FLAG);
	if ((failure = pair_await_dto(pair, a->dto, "RDMA write")) != NULL ||
	    (failure = pair_await_dto(pair, a->dto, "send")) != NULL ||
	    (failure = pair_await_dto(pair, b->dto, "receive")) != NULL ||
	    (failure = pair_compare(a->memory, b->memory, length, "RDMA write")) != NULL ||
	    (failure = pair_compare(a->memory, b->memory + half, length, "send")) != NULL)
		return failure;
	TRY(dat_ep_post_rdma_read, a->ep, 1, &back, cookie, &remote, DAT_COMPLETION_DEFAULT_FLAG);
	failure = pair_await_dto(pair, a->dto, "RDMA read");
	return failure != NULL ? failure :
				 pair_compare(a->memory, a->memory + half, length, "RDMA read");
}

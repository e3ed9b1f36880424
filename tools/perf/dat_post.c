/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_post -- requests of an endpoint, and their completions */
#include "dat_adapter.h"

#include "fail.h"

#include <dat2/dat_event_str.h>

static inline DAT_LMR_TRIPLET
dat_triplet(const struct piece *piece)
{
	return (DAT_LMR_TRIPLET){
		.virtual_address = (DAT_VADDR)(uintptr_t)piece->bytes,
		.segment_length = piece->length,
		.lmr_context = piece->key,
	};
}

static inline DAT_RMR_TRIPLET
dat_remote(const struct remote *remote, uint32_t length)
{
	return (DAT_RMR_TRIPLET){
		.virtual_address = remote->address,
		.segment_length = length,
		.rmr_context = remote->key,
	};
}

static inline DAT_COMPLETION_FLAGS
dat_flags(bool silent)
{
	return silent ? DAT_COMPLETION_SUPPRESS_FLAG : DAT_COMPLETION_DEFAULT_FLAG;
}

void
dat_receive(void *arg, const struct piece *piece, uint64_t cookie)
{
	const struct dat_wire *wire = arg;
	DAT_LMR_TRIPLET iov = dat_triplet(piece);

	fail_dat("dat_ep_post_recv",
	    dat_ep_post_recv(wire->ep, 1, &iov, (DAT_DTO_COOKIE){ .as_64 = cookie },
		DAT_COMPLETION_DEFAULT_FLAG));
}

void
dat_send(void *arg, const struct piece *piece, uint64_t cookie, bool silent)
{
	const struct dat_wire *wire = arg;
	DAT_LMR_TRIPLET iov = dat_triplet(piece);

	fail_dat("dat_ep_post_send", dat_ep_post_send(wire->ep, 1, &iov,
					 (DAT_DTO_COOKIE){ .as_64 = cookie }, dat_flags(silent)));
}

void
dat_write(
    void *arg, const struct piece *piece, const struct remote *to, uint64_t cookie, bool silent)
{
	const struct dat_wire *wire = arg;
	const DAT_RMR_TRIPLET remote = dat_remote(to, piece->length);
	DAT_LMR_TRIPLET iov = dat_triplet(piece);

	fail_dat("dat_ep_post_rdma_write",
	    dat_ep_post_rdma_write(wire->ep, 1, &iov, (DAT_DTO_COOKIE){ .as_64 = cookie }, &remote,
		dat_flags(silent)));
}

void
dat_read(void *arg, const struct piece *piece, const struct remote *from, uint64_t cookie)
{
	const struct dat_wire *wire = arg;
	const DAT_RMR_TRIPLET remote = dat_remote(from, piece->length);
	DAT_LMR_TRIPLET iov = dat_triplet(piece);

	fail_dat("dat_ep_post_rdma_read",
	    dat_ep_post_rdma_read(wire->ep, 1, &iov, (DAT_DTO_COOKIE){ .as_64 = cookie }, &remote,
		DAT_COMPLETION_DEFAULT_FLAG));
}

void
dat_complete(const DAT_EVENT *event, struct completion *completion)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *data = &event->event_data.dto_completion_event_data;

	if (event->event_number != DAT_DTO_COMPLETION_EVENT)
		fail("%s instead of a completion", dat_event_str(event->event_number));
	completion->cookie = data->user_cookie.as_64;
	completion->length = data->transfered_length;
	completion->error =
	    data->status == DAT_DTO_SUCCESS ? NULL : dat_dto_status_str(data->status);
}

uint64_t
dat_reap(void *arg)
{
	const struct dat_wire *wire = arg;
	struct completion completion;
	DAT_EVENT event;
	DAT_RETURN ret;

	ret = dat_evd_dequeue(wire->sends, &event);
	if (ret != DAT_SUCCESS) {
		dat_check_empty("dat_evd_dequeue", ret);
		return 0;
	}
	dat_complete(&event, &completion);
	if (completion.error)
		fail("a request failed: %s", completion.error);
	return completion.cookie;
}

bool
dat_arrived(void *arg, struct completion *completion)
{
	const struct dat_wire *wire = arg;
	DAT_EVENT event;
	DAT_RETURN ret;

	ret = dat_evd_dequeue(wire->receives, &event);
	if (ret != DAT_SUCCESS) {
		dat_check_empty("dat_evd_dequeue", ret);
		return false;
	}
	dat_complete(&event, completion);
	return true;
}

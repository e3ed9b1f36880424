/* SPDX-License-Identifier: BSD-3-Clause */
#include <netdb.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd.h"

double
cmd_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

bool
cmd_ia_open(const char *name, DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_RETURN ret = dat_ia_open((DAT_NAME_PTR)(uintptr_t)name, 8, &async, ia);

	if (ret == DAT_SUCCESS)
		return true;
	cmd_fail("cannot open the adapter %s", name);
	return cmd_failed_call("dat_ia_open()", ret);
}

bool
cmd_end_open(struct cmd_end *end, DAT_IA_HANDLE ia, size_t length, bool poll, bool cno)
{
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	DAT_REGION_DESCRIPTION region;

	memset(end, 0, sizeof *end);
	end->ia = ia;
	end->poll = poll;
	end->length = CMD_HEADER + length;
	end->buffer = calloc(1, end->length);
	if (!end->buffer)
		return cmd_fail("no memory for %zu bytes", end->length);
	region.for_va = end->buffer;
	return (!cno || cmd_ok(dat_cno_create(ia, no_agent, &end->cno))) &&
	       cmd_ok(dat_pz_create(ia, &end->pz)) &&
	       cmd_ok(dat_evd_create(ia, 2 * CMD_DEPTH, end->cno, DAT_EVD_DTO_FLAG, &end->recv)) &&
	       cmd_ok(
		   dat_evd_create(ia, 2 * CMD_DEPTH, end->cno, DAT_EVD_DTO_FLAG, &end->request)) &&
	       cmd_ok(dat_evd_create(
		   ia, 8, DAT_HANDLE_NULL, DAT_EVD_CONNECTION_FLAG, &end->connect)) &&
	       cmd_ok(dat_ep_create(
		   ia, end->pz, end->recv, end->request, end->connect, NULL, &end->ep)) &&
	       cmd_ok(dat_lmr_create(ia, DAT_MEM_TYPE_VIRTUAL, region, end->length, end->pz,
		   DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &end->lmr, &end->lmr_context,
		   &end->rmr_context, NULL, NULL)) &&
	       cmd_end_post_recv(end, 0, 64, 1, 0);
}

void
cmd_end_close(struct cmd_end *end)
{
	DAT_EVENT event;

	if (end->ep) {
		(void)dat_ep_disconnect(end->ep, DAT_CLOSE_ABRUPT_FLAG);
		(void)cmd_ok(dat_ep_free(end->ep));
	}
	if (end->lmr)
		(void)cmd_ok(dat_lmr_free(end->lmr));
	for (int i = 0; i < 3; i++) {
		DAT_EVD_HANDLE evd = i == 0 ? end->recv : i == 1 ? end->request : end->connect;

		if (!evd)
			continue;
		while (dat_evd_dequeue(evd, &event) == DAT_SUCCESS)
			;
		(void)cmd_ok(dat_evd_free(evd));
	}
	if (end->cno)
		(void)cmd_ok(dat_cno_free(end->cno));
	if (end->pz)
		(void)cmd_ok(dat_pz_free(end->pz));
	free(end->buffer);
	memset(end, 0, sizeof *end);
}

static bool
expect(DAT_EVD_HANDLE evd, DAT_EVENT_NUMBER number, DAT_EVENT *event)
{
	DAT_COUNT more;

	if (!cmd_ok(dat_evd_wait(evd, CMD_PATIENCE, 1, event, &more)))
		return false;
	return event->event_number == number || cmd_failed_event(event->event_number, number);
}

bool
cmd_end_connect(struct cmd_end *end, const char *server, DAT_CONN_QUAL qual, DAT_QOS qos)
{
	const struct addrinfo hints = { .ai_family = AF_INET };
	struct addrinfo *address;
	DAT_EVENT event;
	bool good;
	int r = getaddrinfo(server, NULL, &hints, &address);

	if (r)
		return cmd_fail("%s: %s", server, gai_strerror(r));
	good = cmd_ok(dat_ep_connect(end->ep, address->ai_addr, qual, CMD_PATIENCE, 0, NULL, qos,
		   DAT_CONNECT_DEFAULT_FLAG)) &&
	       expect(end->connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
	freeaddrinfo(address);
	return good || cmd_fail("no connection to %s, port %llu; is dapltest -T S running there?",
			   server, (unsigned long long)qual);
}

bool
cmd_end_accept(struct cmd_end *end, DAT_EVD_HANDLE cr_evd)
{
	DAT_EVENT event;

	return expect(cr_evd, DAT_CONNECTION_REQUEST_EVENT, &event) &&
	       cmd_ok(dat_cr_accept(
		   event.event_data.cr_arrival_event_data.cr_handle, end->ep, 0, NULL)) &&
	       expect(end->connect, DAT_CONNECTION_EVENT_ESTABLISHED, &event);
}

/* What an end sends about its buffer. */
struct greeting {
	uint64_t address;
	uint32_t context;
};

bool
cmd_end_greet(struct cmd_end *end)
{
	struct greeting mine = { (uintptr_t)end->buffer, end->rmr_context }, theirs;

	memcpy(end->buffer + 64, &mine, sizeof mine);
	if (!cmd_end_post(end, CMD_SEND, 64, sizeof mine, 1, 0) ||
	    !cmd_end_reap(end, end->request, 0, sizeof mine) ||
	    !cmd_end_reap(end, end->recv, 0, sizeof mine))
		return false;
	memcpy(&theirs, end->buffer, sizeof theirs);
	end->there = theirs.address;
	end->there_context = theirs.context;
	return true;
}

static void
segments_of(const struct cmd_end *end, size_t offset, uint32_t size, uint32_t segments,
    DAT_LMR_TRIPLET *iov)
{
	for (uint32_t i = 0; i < segments; i++)
		iov[i] = (DAT_LMR_TRIPLET){
			.virtual_address = (uintptr_t)end->buffer + offset + (size_t)i * size,
			.segment_length = size,
			.lmr_context = end->lmr_context,
		};
}

bool
cmd_end_post_recv(
    struct cmd_end *end, size_t offset, uint32_t size, uint32_t segments, uint64_t cookie)
{
	DAT_DTO_COOKIE c = { .as_64 = cookie };
	DAT_LMR_TRIPLET iov[CMD_SEGMENTS];

	segments_of(end, offset, size, segments, iov);
	return cmd_ok(
	    dat_ep_post_recv(end->ep, (DAT_COUNT)segments, iov, c, DAT_COMPLETION_DEFAULT_FLAG));
}

bool
cmd_end_post(struct cmd_end *end, enum cmd_kind kind, size_t offset, uint32_t size,
    uint32_t segments, uint64_t cookie)
{
	const DAT_COMPLETION_FLAGS flags = DAT_COMPLETION_DEFAULT_FLAG;
	const DAT_COUNT n = (DAT_COUNT)segments;
	DAT_DTO_COOKIE c = { .as_64 = cookie };
	DAT_LMR_TRIPLET iov[CMD_SEGMENTS];
	DAT_RMR_TRIPLET remote = {
		.virtual_address = end->there + offset,
		.segment_length = size * segments,
		.rmr_context = end->there_context,
	};

	segments_of(end, offset, size, segments, iov);
	switch (kind) {
	case CMD_READ:
		return cmd_ok(dat_ep_post_rdma_read(end->ep, n, iov, c, &remote, flags));
	case CMD_WRITE:
		return cmd_ok(dat_ep_post_rdma_write(end->ep, n, iov, c, &remote, flags));
	default:
		return cmd_ok(dat_ep_post_send(end->ep, n, iov, c, flags));
	}
}

static DAT_RETURN
next_event(struct cmd_end *end, DAT_EVD_HANDLE evd, DAT_EVENT *event)
{
	double deadline = cmd_seconds() + CMD_PATIENCE / 1e6;
	DAT_EVD_HANDLE triggered;
	DAT_COUNT more;
	DAT_RETURN ret;

	if (!end->poll && !end->cno)
		return dat_evd_wait(evd, CMD_PATIENCE, 1, event, &more);
	for (;;) {
		ret = dat_evd_dequeue(evd, event);
		if (DAT_GET_TYPE(ret) != DAT_QUEUE_EMPTY)
			return ret;
		if (cmd_seconds() > deadline)
			return DAT_ERROR(DAT_TIMEOUT_EXPIRED, DAT_NO_SUBTYPE);
		if (!end->cno)
			sched_yield();
		else if (dat_cno_wait(end->cno, CMD_PATIENCE, &triggered) != DAT_SUCCESS)
			deadline = 0; /* one more check */
	}
}

bool
cmd_end_reap(struct cmd_end *end, DAT_EVD_HANDLE evd, uint64_t cookie, size_t length)
{
	const DAT_DTO_COMPLETION_EVENT_DATA *dto;
	DAT_EVENT event;
	DAT_RETURN ret = next_event(end, evd, &event);

	if (ret != DAT_SUCCESS)
		return cmd_failed_call("waiting for a completion", ret);
	if (event.event_number != DAT_DTO_COMPLETION_EVENT)
		return cmd_failed_event(event.event_number, DAT_DTO_COMPLETION_EVENT);
	dto = &event.event_data.dto_completion_event_data;
	if (dto->status != DAT_DTO_SUCCESS)
		return cmd_failed_completion(dto);
	if (dto->user_cookie.as_64 != cookie || dto->ep_handle != end->ep)
		return cmd_fail("operation %llu completed, %llu was due",
		    (unsigned long long)dto->user_cookie.as_64, (unsigned long long)cookie);
	if (dto->transfered_length != length)
		return cmd_fail(
		    "%u bytes were transferred, not %zu", dto->transfered_length, length);
	return true;
}

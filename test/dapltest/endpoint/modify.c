/* SPDX-License-Identifier: BSD-3-Clause */
/* dat_ep_modify(): each field, and the effect on the next connection. */
#include "endpoint.h"

#include <dat2/dat_ib_extensions.h>

#include <pthread.h>

#define COUNT(array) (int)(sizeof(array) / sizeof(array)[0])
#define FIELD(name) DAT_EP_FIELD_EP_ATTR_##name

#define BAD_MASK DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2)
#define BAD_VALUE DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3)

static DAT_EP_PARAM
query(DAT_EP_HANDLE ep)
{
	DAT_EP_PARAM param;

	dt_ok(dat_ep_query(ep, DAT_EP_FIELD_ALL, &param));
	return param;
}

/* Member by member: a copy of a structure need not have its padding. */
#define SAME(member) ck_assert_mem_eq(&now->member, &before->member, sizeof now->member)

static void
assert_same_attributes(const DAT_EP_ATTR *now, const DAT_EP_ATTR *before)
{
	SAME(service_type);
	SAME(max_message_size);
	SAME(max_rdma_size);
	SAME(qos);
	SAME(recv_completion_flags);
	SAME(request_completion_flags);
	SAME(max_recv_dtos);
	SAME(max_request_dtos);
	SAME(max_recv_iov);
	SAME(max_request_iov);
	SAME(max_rdma_read_in);
	SAME(max_rdma_read_out);
	SAME(srq_soft_hw);
	SAME(max_rdma_read_iov);
	SAME(max_rdma_write_iov);
	SAME(ep_transport_specific_count);
	SAME(ep_transport_specific);
	SAME(ep_provider_specific_count);
	SAME(ep_provider_specific);
}

static void
assert_same(const DAT_EP_PARAM *now, const DAT_EP_PARAM *before)
{
	SAME(ia_handle);
	SAME(ep_state);
	SAME(comm);
	SAME(local_ia_address_ptr);
	SAME(local_port_qual);
	SAME(remote_ia_address_ptr);
	SAME(remote_port_qual);
	SAME(pz_handle);
	SAME(recv_evd_handle);
	SAME(request_evd_handle);
	SAME(connect_evd_handle);
	SAME(srq_handle);
	assert_same_attributes(&now->ep_attr, &before->ep_attr);
}

/* The numeric attributes that can be changed. */
static const struct {
	DAT_EP_PARAM_MASK field;
	size_t offset;
} numbers[] = {
#define NUMBER(bit, member) \
	{ \
		FIELD(bit), offsetof(DAT_EP_ATTR, member) \
	}
	NUMBER(RECV_COMPLETION_FLAGS, recv_completion_flags),
	NUMBER(REQUEST_COMPLETION_FLAGS, request_completion_flags),
	NUMBER(MAX_RECV_DTOS, max_recv_dtos),
	NUMBER(MAX_REQUEST_DTOS, max_request_dtos),
	NUMBER(MAX_RECV_IOV, max_recv_iov),
	NUMBER(MAX_REQUEST_IOV, max_request_iov),
	NUMBER(MAX_RDMA_READ_IN, max_rdma_read_in),
	NUMBER(MAX_RDMA_READ_OUT, max_rdma_read_out),
	NUMBER(MAX_RDMA_READ_IOV, max_rdma_read_iov),
	NUMBER(MAX_RDMA_WRITE_IOV, max_rdma_write_iov),
#undef NUMBER
};

static DAT_COUNT *
number_at(DAT_EP_ATTR *attr, int i)
{
	return (DAT_COUNT *)((char *)attr + numbers[i].offset);
}

DT_CASE("modify:attribute");

/* clause: e.1.15 */
TEST_LOOP(modify__one_attribute__changes_it_alone, COUNT(numbers))
{
	DAT_EP_PARAM before, asked, after;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	before = query(s.me->ep);
	memset(&asked, 0x5a, sizeof asked); /* fields outside the mask are ignored */
	*number_at(&asked.ep_attr, _i) = 0; /* no flags, or: */
	if (_i >= 2)
		*number_at(&asked.ep_attr, _i) = 3;
	dt_ok(dat_ep_modify(s.me->ep, numbers[_i].field, &asked));
	after = query(s.me->ep);
	ck_assert_int_eq(*number_at(&after.ep_attr, _i), *number_at(&asked.ep_attr, _i));
	*number_at(&after.ep_attr, _i) = *number_at(&before.ep_attr, _i);
	assert_same_attributes(&after.ep_attr, &before.ep_attr);
	dt_connect_pair(&s.pair);
	scene_close(&s);
}

/* clause: e.1.15 */
TEST(modify__sizes__are_kept)
{
	DAT_EP_PARAM param;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	param = query(s.me->ep);
	param.ep_attr.max_message_size = 4096;
	param.ep_attr.max_rdma_size = 8192;
	dt_ok(dat_ep_modify(s.me->ep, FIELD(MAX_MESSAGE_SIZE) | FIELD(MAX_RDMA_SIZE), &param));
	ck_assert_uint_eq(query(s.me->ep).ep_attr.max_message_size, 4096);
	ck_assert_uint_eq(query(s.me->ep).ep_attr.max_rdma_size, 8192);
	dt_ok(dat_ep_modify(s.me->ep, FIELD(SERVICE_TYPE) | FIELD(QOS), &param));
	scene_close(&s);
}

/* clause: e.1.15 */
TEST(modify__what_never_changes__is_a_bad_mask)
{
	static const DAT_EP_PARAM_MASK fields[] = {
		DAT_EP_FIELD_IA_HANDLE,
		DAT_EP_FIELD_EP_STATE,
		DAT_EP_FIELD_COMM,
		DAT_EP_FIELD_LOCAL_IA_ADDRESS_PTR,
		DAT_EP_FIELD_LOCAL_PORT_QUAL,
		DAT_EP_FIELD_REMOTE_IA_ADDRESS_PTR,
		DAT_EP_FIELD_REMOTE_PORT_QUAL,
		DAT_EP_FIELD_SRQ_HANDLE,
		FIELD(SRQ_SOFT_HW),
		FIELD(NUM_TRANSPORT_ATTR),
		FIELD(TRANSPORT_SPECIFIC_ATTR),
		FIELD(NUM_PROVIDER_ATTR),
		FIELD(PROVIDER_SPECIFIC_ATTR),
		DAT_EP_FIELD_ALL,
		DAT_EP_FIELD_ALL + 1,
	};
	DAT_EP_PARAM param;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	param = query(s.me->ep);
	for (int i = 0; i < COUNT(fields); i++)
		dt_assert_ret(dat_ep_modify(s.me->ep, fields[i], &param), BAD_MASK);
	dt_assert_ret(dat_ep_modify(s.me->ep, FIELD(MAX_RDMA_READ_IN), NULL), BAD_VALUE);
	dt_ok(dat_ep_modify(s.me->ep, 0, &param));
	scene_close(&s);
}

/* clause: e.1.15, e.6.2 */
TEST(modify__beyond_the_device__is_a_bad_value_and_changes_nothing)
{
	DAT_EP_PARAM before, asked, after;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	before = query(s.me->ep);
	asked = before;
	for (int i = 2; i < COUNT(numbers); i++) {
		*number_at(&asked.ep_attr, i) = 10000000;
		dt_assert_ret(dat_ep_modify(s.me->ep, numbers[i].field, &asked), BAD_VALUE);
		*number_at(&asked.ep_attr, i) = -1;
		dt_assert_ret(dat_ep_modify(s.me->ep, numbers[i].field, &asked), BAD_VALUE);
	}
	asked.ep_attr.service_type = (DAT_SERVICE_TYPE)1;
	dt_assert_ret(dat_ep_modify(s.me->ep, FIELD(SERVICE_TYPE), &asked), BAD_VALUE);
	asked.ep_attr.qos = DAT_QOS_PREMIUM;
	dt_assert_ret(dat_ep_modify(s.me->ep, FIELD(QOS), &asked), BAD_VALUE);
	after = query(s.me->ep);
	assert_same(&after, &before);
	dt_connect_pair(&s.pair);
	scene_close(&s);
}

DT_CASE("modify:part");

/* clause: e.1.15, d.0.1 */
TEST(modify__evds__later_events_come_there_and_the_old_ones_are_free)
{
	DAT_EVD_HANDLE recv, request, connect;
	DAT_EP_PARAM param;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	param.recv_evd_handle = recv = dt_evd(s.me, DAT_EVD_DTO_FLAG, 8);
	param.request_evd_handle = request = dt_evd(s.me, DAT_EVD_DTO_FLAG, 8);
	param.connect_evd_handle = connect = dt_evd(s.me, DAT_EVD_CONNECTION_FLAG, 8);
	dt_ok(dat_ep_modify(s.me->ep,
	    DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_REQUEST_EVD_HANDLE |
		DAT_EP_FIELD_CONNECT_EVD_HANDLE,
	    &param));
	dt_ok(dat_evd_free(s.me->recv));
	dt_ok(dat_evd_free(s.me->request));
	dt_ok(dat_evd_free(s.me->connect));
	dt_assert_ret(
	    dat_evd_free(recv), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
	s.me->recv = recv;
	s.me->request = request;
	s.me->connect = connect;
	ck_assert_ptr_eq(query(s.me->ep).recv_evd_handle, recv);
	ck_assert_ptr_eq(query(s.me->ep).request_evd_handle, request);
	ck_assert_ptr_eq(query(s.me->ep).connect_evd_handle, connect);
	dt_recv(s.me, 0, 8, 1);
	dt_recv(s.peer, 0, 8, 2);
	dt_connect_pair(&s.pair);
	dt_send(s.me, 0, 8, 3);
	dt_send(s.peer, 0, 8, 4);
	dt_expect_dto(recv, s.me->ep, 1, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(request, s.me->ep, 3, DAT_DTO_SUCCESS, &event);
	scene_close(&s);
}

/* clause: e.1.15, d.4.3 */
TEST(modify__to_one_evd_for_all__merges_in_order)
{
	DAT_EP_PARAM param;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	s.me = &s.pair.b;
	param.recv_evd_handle = param.connect_evd_handle =
	    dt_evd(s.me, DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG, 16);
	dt_ok(dat_ep_modify(
	    s.me->ep, DAT_EP_FIELD_RECV_EVD_HANDLE | DAT_EP_FIELD_CONNECT_EVD_HANDLE, &param));
	s.me->recv = s.me->connect = param.recv_evd_handle;
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_recv(s.me, 0, 8, i);
	dt_connect(&s.pair.a, &s.pair.b, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(s.me), s.me->ep, 0, NULL));
	dt_expect_established(&s.pair.a);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_send(&s.pair.a, 0, 8, i);
	dt_expect_established(s.me);
	for (DAT_UINT64 i = 0; i < 4; i++)
		dt_expect_dto(s.me->recv, s.me->ep, i, DAT_DTO_SUCCESS, &event);
	scene_close(&s);
}

/* clause: e.1.15, e.1.3 */
TEST(modify__an_evd_to_none__the_calls_that_need_it_report_it)
{
	DAT_EP_PARAM param = { .connect_evd_handle = DAT_HANDLE_NULL };
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	dt_ok(dat_ep_modify(s.me->ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &param));
	ck_assert_ptr_null(query(s.me->ep).connect_evd_handle);
	dt_ok(dat_evd_free(s.me->connect));
	dt_assert_ret(dat_ep_connect(s.me->ep, dt_address(s.peer->ia), s.peer->qual, 1000, 0, NULL,
			  DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
	dt_ok(dat_ep_modify(s.me->ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param));
	dt_assert_ret(dt_try_recv(s.me, 0, 8, 1),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_EVD_RECV));
	scene_close(&s);
}

/* clause: e.1.15 */
TEST(modify__to_a_bad_evd_or_zone__is_refused_and_changes_nothing)
{
	static const struct {
		DAT_EP_PARAM_MASK field;
		DAT_RETURN_SUBTYPE bad;
	} fields[] = {
		{ DAT_EP_FIELD_PZ_HANDLE, DAT_INVALID_HANDLE_PZ },
		{ DAT_EP_FIELD_RECV_EVD_HANDLE, DAT_INVALID_HANDLE_EVD_RECV },
		{ DAT_EP_FIELD_REQUEST_EVD_HANDLE, DAT_INVALID_HANDLE_EVD_REQUEST },
		{ DAT_EP_FIELD_CONNECT_EVD_HANDLE, DAT_INVALID_HANDLE_EVD_CONN },
	};
	DAT_EVD_HANDLE freed, software;
	DAT_EP_PARAM param, before, after;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	before = query(s.me->ep);
	freed = dt_evd(s.me, DAT_EVD_DTO_FLAG, 8);
	dt_ok(dat_evd_free(freed));
	software = dt_evd(s.me, DAT_EVD_SOFTWARE_FLAG, 8);
	for (int i = 0; i < COUNT(fields); i++) {
		const DAT_HANDLE bad[] = { freed, software, s.me->ep, (DAT_HANDLE)7 };

		for (int j = 0; j < COUNT(bad); j++) {
			param.pz_handle = param.recv_evd_handle = param.request_evd_handle =
			    param.connect_evd_handle = bad[j];
			dt_assert_ret(dat_ep_modify(s.me->ep, fields[i].field, &param),
			    DAT_ERROR(DAT_INVALID_HANDLE, fields[i].bad));
		}
	}
	after = query(s.me->ep);
	assert_same(&after, &before);
	dt_connect_pair(&s.pair);
	scene_close(&s);
}

/* clause: e.1.15, e.7.7 */
TEST(modify__protection_zone__memory_of_the_new_one_can_be_used)
{
	DAT_REGION_DESCRIPTION region;
	DAT_EP_PARAM param;
	DAT_LMR_HANDLE lmr;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	dt_ok(dat_pz_create(s.me->ia, &param.pz_handle));
	dt_ok(dat_ep_modify(s.me->ep, DAT_EP_FIELD_PZ_HANDLE, &param));
	ck_assert_ptr_eq(query(s.me->ep).pz_handle, param.pz_handle);
	dt_assert_ret(dat_pz_free(param.pz_handle),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	region.for_va = s.me->buffer;
	dt_ok(dat_lmr_create(s.me->ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, param.pz_handle,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, &s.me->lmr_context, NULL, NULL, NULL));
	dt_recv(s.peer, 0, 8, 1);
	dt_connect_pair(&s.pair);
	dt_send(s.me, 0, 8, 2);
	dt_expect_dto(s.me->request, s.me->ep, 2, DAT_DTO_SUCCESS, &event);
	dt_ok(dat_lmr_free(s.me->lmr));
	dt_ok(dat_pz_free(s.me->pz)); /* nothing uses the old one any more */
	scene_close(&s);
}

DT_CASE("modify:attribute");

/* clause: e.1.15, e.1.17 */
TEST(modify__depth__is_what_can_be_posted)
{
	DAT_EP_PARAM param = { .ep_attr = { .max_recv_dtos = 40, .max_recv_iov = 7 } };
	const DAT_EP_PARAM_MASK both = FIELD(MAX_RECV_DTOS) | FIELD(MAX_RECV_IOV);
	DAT_LMR_TRIPLET iov[8];
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	dt_ok(dat_ep_modify(s.me->ep, both, &param));
	for (int i = 0; i < COUNT(iov); i++)
		iov[i] = dt_local(s.me, 0, 1);
	dt_ok(dat_ep_post_recv(s.me->ep, 7, iov, dt_cookie(0), DAT_COMPLETION_DEFAULT_FLAG));
	dt_assert_ret(dat_ep_post_recv(s.me->ep, 8, iov, dt_cookie(0), DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	for (DAT_UINT64 i = 1; i < 40; i++)
		dt_recv(s.me, 0, 8, i);
	dt_assert_type(dt_try_recv(s.me, 0, 8, 40), DAT_INSUFFICIENT_RESOURCES);
	scene_close(&s);
}

/*
 * Each number of segments, raised alone: so many can be sent, written, read or received, and
 * arrive; no more.
 */
static const DAT_EP_PARAM_MASK segments[] = {
	FIELD(MAX_RECV_IOV),
	FIELD(MAX_REQUEST_IOV),
	FIELD(MAX_RDMA_READ_IOV),
	FIELD(MAX_RDMA_WRITE_IOV),
};

static DAT_RETURN
post_segments(struct scene *s, int kind, DAT_COUNT n)
{
	const DAT_RMR_TRIPLET remote = dt_remote(s->peer, 512, 8 * (size_t)n);
	const DAT_COMPLETION_FLAGS none = DAT_COMPLETION_DEFAULT_FLAG;
	const DAT_DTO_COOKIE cookie = dt_cookie(7);
	DAT_LMR_TRIPLET iov[8];

	for (int i = 0; i < n; i++)
		iov[i] = dt_local(s->me, 16 * (size_t)i, 8);
	switch (kind) {
	case 0:
		return dat_ep_post_recv(s->me->ep, n, iov, cookie, none);
	case 1:
		return dat_ep_post_send(s->me->ep, n, iov, cookie, none);
	case 2:
		return dat_ep_post_rdma_read(s->me->ep, n, iov, cookie, &remote, none);
	case 3:
		return dat_ep_post_rdma_write(s->me->ep, n, iov, cookie, &remote, none);
	default: /* another kind of write */
		return dat_ib_post_rdma_write_immed(s->me->ep, n, iov, cookie, &remote, 1, none);
	}
}

/* clause: e.1.15, e.1.17 */
TEST_LOOP(modify__segments__are_what_can_be_posted, COUNT(segments))
{
	const DAT_EP_PARAM_MASK all = segments[0] | segments[1] | segments[2] | segments[3];
	DAT_EP_PARAM param;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	param.ep_attr.max_recv_iov = param.ep_attr.max_request_iov = 1;
	param.ep_attr.max_rdma_read_iov = param.ep_attr.max_rdma_write_iov = 1;
	dt_ok(dat_ep_modify(s.me->ep, all, &param));
	param.ep_attr.max_recv_iov = param.ep_attr.max_request_iov = 7;
	param.ep_attr.max_rdma_read_iov = param.ep_attr.max_rdma_write_iov = 7;
	dt_ok(dat_ep_modify(s.me->ep, segments[_i], &param));
	dt_connect_pair(&s.pair);
	for (int i = 0; i < 7; i++) {
		memset(s.me->buffer + 16 * i, 'a' + i, 8);
		memset(s.peer->buffer + 512 + 8 * i, 'A' + i, 8);
	}
	if (_i == 1)
		dt_recv(s.peer, 0, 56, 9);
	dt_assert_ret(post_segments(&s, _i, 8), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_ok(post_segments(&s, _i, 7));
	if (_i == 0)
		dt_send(s.peer, 512, 56, 9);
	dt_expect_dto(_i ? s.me->request : s.me->recv, s.me->ep, 7, DAT_DTO_SUCCESS, &event);
	if (_i == 1)
		dt_expect_dto(s.peer->recv, s.peer->ep, 9, DAT_DTO_SUCCESS, &event);
	for (int i = 0; i < 7; i++)
		ck_assert_int_eq(_i == 0 || _i == 2 ? s.me->buffer[16 * i + 7] :
				 _i == 1	    ? s.peer->buffer[8 * i + 7] :
						      s.peer->buffer[512 + 8 * i + 7],
		    (_i == 0 || _i == 2 ? 'A' : 'a') + i);
	for (int kind = 0; kind < COUNT(segments); kind++)
		if (kind != _i)
			dt_assert_ret(post_segments(&s, kind, 2),
			    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(post_segments(&s, COUNT(segments), _i == 3 ? 8 : 2),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_ok(post_segments(&s, COUNT(segments), _i == 3 ? 7 : 1));
	scene_close(&s);
}

/* clause: e.1.15 */
TEST(modify__with_receives_posted__keeps_them)
{
	DAT_EP_PARAM param;
	DAT_EVENT event;
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	dt_recv(s.me, 0, 8, 5);
	param = query(s.me->ep);
	param.ep_attr.max_recv_dtos = 40;
	dt_assert_ret(dat_ep_modify(s.me->ep, FIELD(MAX_RECV_DTOS), &param),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
	dt_assert_ret(dat_ep_modify(s.me->ep, DAT_EP_FIELD_RECV_EVD_HANDLE, &param),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
	param.ep_attr.max_rdma_read_in = 1;
	dt_ok(dat_ep_modify(s.me->ep, FIELD(MAX_RDMA_READ_IN), &param));
	dt_connect_pair(&s.pair);
	dt_send(s.peer, 0, 8, 6);
	dt_expect_dto(s.me->recv, s.me->ep, 5, DAT_DTO_SUCCESS, &event);
	scene_close(&s);
}

struct crowd {
	struct dt_side *side;
	DAT_EVD_HANDLE evds[2];
	_Atomic(int) stop, changed, posted;
};

static void *
change_often(void *arg)
{
	struct crowd *c = arg;
	DAT_EP_PARAM param;

	for (int i = 0; !c->stop; i++) {
		DAT_RETURN ret;

		param.recv_evd_handle = c->evds[i % 2];
		param.ep_attr.max_recv_dtos = 8 + i % 8;
		ret = dat_ep_modify(
		    c->side->ep, DAT_EP_FIELD_RECV_EVD_HANDLE | FIELD(MAX_RECV_DTOS), &param);
		if (ret == DAT_SUCCESS)
			c->changed++;
		else /* a receive is posted, or the endpoint left the state */
			dt_assert_type(ret, DAT_INVALID_STATE);
	}
	return NULL;
}

static void *
look_often(void *arg)
{
	struct crowd *c = arg;
	DAT_BOOLEAN idle;

	while (!c->stop) {
		DAT_EVD_HANDLE evd = query(c->side->ep).recv_evd_handle;

		ck_assert(evd == c->evds[0] || evd == c->evds[1] || evd == c->side->recv);
		dt_ok(dat_ep_get_status(c->side->ep, NULL, &idle, NULL));
	}
	return NULL;
}

DT_CASE("modify:part");

/* clause: e.1.15, e.1.11 */
TEST(modify__against_posts_queries_and_connections__is_safe)
{
	pthread_t changer, looker;
	struct crowd c = { 0 };
	struct scene s;

	scene_open(&s, SCENE_FRESH);
	c.side = s.me;
	c.evds[0] = dt_evd(s.me, DAT_EVD_DTO_FLAG, 8);
	c.evds[1] = dt_evd(s.me, DAT_EVD_DTO_FLAG, 8);
	ck_assert_int_eq(pthread_create(&changer, NULL, change_often, &c), 0);
	ck_assert_int_eq(pthread_create(&looker, NULL, look_often, &c), 0);
	for (int round = 0; round < 10; round++) {
		DAT_RETURN ret;

		dt_await_count(&c.changed, 5 * (round + 1));
		/* Between two queue pairs nothing can be posted or connected. */
		do
			ret = dt_try_recv(s.me, 0, 8, 1);
		while (DAT_GET_TYPE(ret) == DAT_INVALID_STATE);
		dt_ok(ret);
		dt_connect_pair(&s.pair);
		dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_disconnected(s.me);
		dt_expect_disconnected(s.peer);
		dt_ok(dat_ep_reset(s.peer->ep));
		dt_ok(dat_ep_reset(s.me->ep));
	}
	c.stop = 1;
	pthread_join(changer, NULL);
	pthread_join(looker, NULL);
	dt_ok(dat_ep_free(s.me->ep));
	dt_ok(dat_evd_free(c.evds[0]));
	dt_ok(dat_evd_free(c.evds[1]));
	scene_close(&s);
}

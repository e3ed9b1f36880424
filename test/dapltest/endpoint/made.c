/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints that the provider creates for the requests of a public service point. */
#include <stddef.h>

#include "endpoint.h"

#define BAD_EP DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EP)
#define BAD_CR DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CR)

static void
exchange(struct dt_side *from, struct dt_side *to, DAT_UINT64 cookie)
{
	DAT_EVENT event;

	strcpy(from->buffer, "there");
	memset(to->buffer, 0, 16);
	dt_send(from, 0, 6, cookie);
	dt_expect_dto(from->request, from->ep, cookie, DAT_DTO_SUCCESS, &event);
	dt_expect_dto(to->recv, to->ep, cookie, DAT_DTO_SUCCESS, &event);
	ck_assert_str_eq(to->buffer, "there");
}

DT_CASE("made:made");

/* clause: e.1.19, e.3.13 */
TEST_LOOP(made__given_what_it_needs__is_an_endpoint_like_any_other, 4 * dt_personalities())
{
	const enum dt_evds evds = _i % 2 ? DT_MERGED : DT_SEPARATE;
	const bool named = _i / 2 % 2;
	DAT_CR_HANDLE cr;
	struct scene s;

	dt_personality(_i / 4);
	scene_open_listening(&s, evds);
	cr = scene_offer(&s);
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONFIGURED_TENTATIVE);
	dt_ok(scene_give(&s, SCENE_PARTS));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
	dt_recv(s.me, 0, 64, 1);
	dt_recv(s.peer, 0, 64, 2);
	dt_ok(dat_cr_accept(cr, named ? s.me->ep : DAT_HANDLE_NULL, 0, NULL));
	dt_assert_ret(dat_cr_accept(cr, s.me->ep, 0, NULL), BAD_CR);
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	exchange(s.peer, s.me, 1);
	exchange(s.me, s.peer, 2);
	dt_ok(dat_ep_disconnect(s.me->ep, DAT_CLOSE_GRACEFUL_FLAG));
	dt_expect_disconnected(s.me);
	dt_expect_disconnected(s.peer);
	/* From here it connects by itself. */
	dt_ok(dat_ep_reset(s.me->ep));
	dt_side_listen(s.peer);
	dt_ok(dat_ep_reset(s.peer->ep));
	dt_connect(s.me, s.peer, NULL, 0);
	dt_ok(dat_cr_accept(dt_request(s.peer), s.peer->ep, 0, NULL));
	dt_expect_established(s.me);
	dt_ok(dat_ep_free(s.me->ep));
	dt_expect_established(s.peer);
	dt_expect_disconnected(s.peer);
	scene_close_empty(&s);
}

/* clause: e.1.19, e.1.14 */
TEST(made__queried_before_it_is_configured__returns_defaults_and_the_requester)
{
	DAT_CONTEXT context = { .as_64 = 12 };
	DAT_EP_PARAM param, plain;
	DAT_HANDLE_TYPE type;
	DAT_CR_PARAM request;
	struct scene s;

	scene_open(&s, SCENE_MADE);
	dt_ok(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL, &param));
	dt_ok(dat_ep_query(dt_ep(s.me, NULL), DAT_EP_FIELD_ALL, &plain));
	/* Behind the last of the numbers the members are padded. */
	ck_assert_mem_eq(
	    &param.ep_attr, &plain.ep_attr, offsetof(DAT_EP_ATTR, ep_transport_specific));
	ck_assert_ptr_null(param.ep_attr.ep_transport_specific);
	ck_assert_int_eq(param.ep_attr.ep_provider_specific_count, 0);
	ck_assert_ptr_null(param.ep_attr.ep_provider_specific);
	dt_ok(dat_cr_query(s.cr, DAT_CR_FIELD_ALL, &request));
	ck_assert_ptr_eq(request.local_ep_handle, s.me->ep);
	ck_assert_uint_eq(param.remote_port_qual, request.remote_port_qual);
	ck_assert_uint_eq(param.local_port_qual, 0);
	dt_ok(dat_get_handle_type(s.me->ep, &type));
	ck_assert_int_eq(type, DAT_HANDLE_TYPE_EP);
	dt_ok(dat_set_consumer_context(s.me->ep, context));
	dt_ok(scene_give(&s, SCENE_PARTS));
	context.as_64 = 0;
	dt_ok(dat_get_consumer_context(s.me->ep, &context));
	ck_assert_uint_eq(context.as_64, 12);
	scene_close(&s);
}

/* clause: e.1.19, e.7.3 */
TEST(made__given_one_thing_after_another__is_configured_by_the_zone)
{
	const DAT_RETURN in_use = DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE);
	DAT_EP_PARAM param = { .ep_attr.max_recv_dtos = 3 };
	struct scene s;

	scene_open(&s, SCENE_MADE);
	dt_ok(dat_lmr_free(s.me->lmr));
	dt_ok(scene_give(&s, DAT_EP_FIELD_RECV_EVD_HANDLE));
	dt_ok(scene_give(&s, DAT_EP_FIELD_CONNECT_EVD_HANDLE));
	dt_ok(dat_ep_modify(s.me->ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_DTOS, &param));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_UNCONFIGURED_TENTATIVE);
	dt_assert_ret(dat_evd_free(s.me->recv), in_use);
	dt_assert_ret(dat_evd_free(s.me->connect), in_use);
	/* No object uses the zone yet. */
	dt_ok(dat_pz_free(s.me->pz));
	dt_ok(dat_pz_create(s.me->ia, &s.me->pz));
	dt_ok(scene_give(&s, DAT_EP_FIELD_PZ_HANDLE));
	ck_assert_int_eq(dt_state(s.me->ep), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
	dt_assert_ret(
	    dat_pz_free(s.me->pz), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_PZ_IN_USE));
	dt_ok(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_int_eq(param.ep_attr.max_recv_dtos, 3);
	ck_assert_ptr_eq(param.recv_evd_handle, s.me->recv);
	ck_assert_ptr_null(param.request_evd_handle);
	for (DAT_UINT64 i = 0; i < 3; i++)
		dt_ok(
		    dat_ep_post_recv(s.me->ep, 0, NULL, dt_cookie(i), DAT_COMPLETION_DEFAULT_FLAG));
	dt_assert_ret(
	    dat_ep_post_recv(s.me->ep, 0, NULL, dt_cookie(3), DAT_COMPLETION_DEFAULT_FLAG),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY));
	dt_ok(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	scene_close(&s);
}

/* clause: e.1.19, e.1.15 */
TEST_LOOP(made__given_a_bad_thing__stays_as_it_was, 2)
{
	DAT_EP_PARAM param = { .ep_attr.max_recv_iov = -1 };
	struct scene s;

	scene_open(&s, _i ? SCENE_MADE_COMPLETE : SCENE_MADE);
	dt_assert_ret(dat_ep_modify(s.me->ep, DAT_EP_FIELD_PZ_HANDLE, &param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	param.pz_handle = s.peer->pz;
	dt_assert_ret(dat_ep_modify(s.me->ep, DAT_EP_FIELD_PZ_HANDLE, &param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_PZ));
	param.pz_handle = s.me->pz;
	param.recv_evd_handle = s.me->connect;
	dt_assert_ret(dat_ep_modify(s.me->ep, SCENE_PARTS, &param),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_RECV));
	dt_assert_ret(dat_ep_modify(s.me->ep, DAT_EP_FIELD_EP_ATTR_MAX_RECV_IOV, &param),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	ck_assert_int_eq(dt_state(s.me->ep), s.state);
	dt_ok(dat_ep_query(s.me->ep, DAT_EP_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.pz_handle, _i ? s.me->pz : DAT_HANDLE_NULL);
	dt_ok(scene_give(&s, SCENE_PARTS));
	dt_ok(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	scene_close(&s);
}

/* clause: e.3.13 */
TEST_LOOP(made__not_ready__the_accept_is_refused_and_the_request_stays, dt_personalities())
{
	struct scene s;

	dt_personality(_i);
	scene_open(&s, SCENE_MADE);
	dt_assert_ret(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONFTENTATIVE));
	dt_ok(scene_give(&s, SCENE_EVDS));
	dt_assert_ret(dat_cr_accept(s.cr, s.me->ep, 0, NULL),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_UNCONFTENTATIVE));
	dt_ok(scene_give(&s, DAT_EP_FIELD_PZ_HANDLE));
	dt_ok(dat_ep_modify(
	    s.me->ep, DAT_EP_FIELD_CONNECT_EVD_HANDLE, &(DAT_EP_PARAM){ .ia_handle = s.me->ia }));
	dt_assert_ret(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EP_NOTREADY));
	dt_ok(scene_give(&s, DAT_EP_FIELD_CONNECT_EVD_HANDLE));
	dt_ok(dat_cr_accept(s.cr, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	dt_expect_established(s.peer);
	scene_close(&s);
}

/* clause: e.3.13 */
TEST(made__another_endpoint__cannot_accept_its_request)
{
	DAT_CR_HANDLE first, second;
	DAT_EP_HANDLE plain, made;
	struct dt_side client;
	struct scene s;

	scene_open_listening(&s, DT_SEPARATE);
	plain = dt_ep(s.me, NULL);
	first = scene_offer(&s);
	made = s.me->ep;
	dt_ok(scene_give(&s, SCENE_PARTS));
	client = *s.peer;
	client.ep = dt_ep(s.peer, NULL);
	dt_connect(&client, s.me, NULL, 0);
	second = scene_offered(&s);
	ck_assert_ptr_ne(s.me->ep, made);
	dt_assert_ret(dat_cr_accept(first, plain, 0, NULL), BAD_EP);
	dt_assert_ret(dat_cr_accept(first, s.me->ep, 0, NULL), BAD_EP);
	dt_assert_ret(dat_cr_accept(second, made, 0, NULL), BAD_EP);
	ck_assert_int_eq(dt_state(plain), DAT_EP_STATE_UNCONNECTED);
	ck_assert_int_eq(dt_state(made), DAT_EP_STATE_TENTATIVE_CONNECTION_PENDING);
	dt_ok(scene_give(&s, SCENE_PARTS));
	dt_ok(dat_cr_accept(second, DAT_HANDLE_NULL, 0, NULL));
	dt_expect_established(s.me);
	dt_ok(dat_cr_accept(first, made, 0, NULL));
	dt_expect_connection(s.me->connect, DAT_CONNECTION_EVENT_ESTABLISHED, made);
	scene_close(&s);
}

struct upcall {
	struct scene *s;
	_Atomic(int) done;
};

static void
accepts(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	struct upcall *u = instance;
	DAT_CR_HANDLE cr = event->event_data.cr_arrival_event_data.cr_handle;
	DAT_CR_PARAM param;

	(void)more;
	dt_ok(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	ck_assert_mem_eq(param.private_data, "hello", 5);
	u->s->me->ep = param.local_ep_handle;
	dt_ok(scene_give(u->s, SCENE_PARTS));
	dt_recv(u->s->me, 0, 64, 1);
	dt_ok(dat_cr_accept(cr, DAT_HANDLE_NULL, 0, NULL));
	u->done++;
}

/* clause: e.3.13, c.14.24 */
TEST_LOOP(made__inside_the_upcall_of_its_request__is_ready_to_be_accepted, 2 * dt_personalities())
{
	static const DAT_UPCALL_POLICY policies[] = { DAT_UPCALL_SINGLE_INSTANCE, DAT_UPCALL_MANY };
	struct scene s;
	struct upcall u = { .s = &s };
	const DAT_UPCALL_OBJECT object = { &u, accepts };

	dt_personality(_i / 2);
	scene_open_listening(&s, DT_SEPARATE);
	dt_ok(dat_psp_free(s.me->psp));
	dt_ok(dat_evd_free(s.me->cr));
	dt_ok(dat_evd_kcreate(s.me->ia, 8, policies[_i % 2], &object, DAT_EVD_CR_FLAG, &s.me->cr));
	dt_ok(dat_psp_create(s.me->ia, s.me->qual, s.me->cr, DAT_PSP_PROVIDER_FLAG, &s.me->psp));
	for (int i = 1; i <= 10; i++) {
		dt_connect(s.peer, s.me, "hello", 5);
		dt_await_count(&u.done, i);
		dt_expect_established(s.me);
		dt_expect_established(s.peer);
		exchange(s.peer, s.me, 1);
		dt_ok(dat_ep_free(s.me->ep));
		dt_expect_disconnected(s.peer);
		dt_ok(dat_ep_reset(s.peer->ep));
	}
	scene_close(&s);
}

/* clause: e.3.13, e.9.7 */
TEST(made__where_the_attribute_allows__as_the_service_point_asked)
{
	DAT_PROVIDER_ATTR attr = { 0 };
	DAT_PSP_PARAM param;
	struct scene s;

	scene_open_listening(&s, DT_SEPARATE);
	dt_ok(dat_ia_query(s.me->ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_EP_CREATOR, &attr));
	ck_assert_int_eq(attr.ep_creator, DAT_PSP_CREATES_EP_IFASKED);
	dt_ok(dat_psp_query(s.me->psp, DAT_PSP_FIELD_ALL, &param));
	ck_assert_int_eq(param.psp_flags, DAT_PSP_PROVIDER_FLAG);
	scene_close(&s);
}

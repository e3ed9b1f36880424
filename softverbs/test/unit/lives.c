/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lives -- what the connection manager has of a device that is removed and arrives again
 */
#include "incidents.h"
#include "other.h"
#include "patience.h"
#include "starve.h"
#include "story.h"

#include "softverbs/device/context.h"

#define LIVES 70

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener; /* of all addresses: it hears of no removal */
static uint16_t port;

static void
begin(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	incidents_begin();
	channel = cm_channel();
	ck_assert_int_eq(rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(listener, (struct sockaddr *)&any), 0);
	ck_assert_int_eq(rdma_listen(listener, 4), 0);
	port = rdma_get_src_port(listener);
}

static void
end(void)
{
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	patience_end();
}

static void
begin_to_count(void)
{
	starve_begin();
	begin();
}

static void
end_to_count(void)
{
	end();
	starve_end();
}

/* One that is bound to the address of a port. */
static struct rdma_cm_id *
bound(void)
{
	struct sockaddr_in here = { .sin_family = AF_INET };
	struct rdma_cm_id *id;

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(id, (struct sockaddr *)&here), 0);
	return id;
}

static void
remove_and_add(const char *removal, int events)
{
	struct rdma_cm_event *event;

	incident(removal);
	while (events--) {
		ck_assert_int_eq(rdma_get_cm_event(channel, &event), 0);
		ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	}
	incident("device.arrival");
}

/* The ids of a life: of a port, and of both ends of a connection that is asked for. */
static void
live(const char *removal)
{
	struct rdma_conn_param param = { .retry_count = 7 };
	struct rdma_cm_id *of_port = bound(), *active = cm_resolved(channel, port), *passive;
	struct rdma_cm_event *event;

	cm_qp(active, NULL);
	ck_assert_int_eq(rdma_connect(active, &param), 0);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	passive = event->id;
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	ck_assert_ptr_eq(passive->verbs, active->verbs);
	/* The end that asks has REJECTED, too. */
	remove_and_add(removal, strstr(removal, "removal") ? 3 : 0);
	ck_assert_int_eq(rdma_destroy_id(of_port), 0);
	cm_forget(&active);
	cm_forget(&passive);
}

CASE("soft-lives:lives", begin_to_count, end_to_count);

/* origin: out33.EE4 */
TEST_LOOP(device__is_removed_again_and_again__nothing_is_left_of_its_ids, 2)
{
	const char *removal = _i ? "event.device_fatal" : "cm.device_removal";
	struct starve_held before;

	live(removal);
	live(removal);
	before = starve_held_now(-1);
	for (int i = 0; i < LIVES; i++)
		live(removal);
	starve_expect_held(&before, removal);
}

/* Lists and ids of former lives have what they had; it ends with the last of them. */
/* origin: out33.EE4 */
TEST(device__was_removed__lists_and_ids_keep_what_they_have)
{
	struct rdma_cm_id *old, *other;
	struct ibv_context **list;
	struct starve_held before, held;
	struct ibv_pd *pd;

	remove_and_add("cm.device_removal", 0);
	ck_assert_int_eq(rdma_destroy_id(bound()), 0);
	before = starve_held_now(-1);
	old = bound();
	list = rdma_get_devices(NULL);
	ck_assert_ptr_eq(list[0], old->verbs);
	remove_and_add("cm.device_removal", 1);
	other = bound();
	ck_assert_ptr_ne(other->verbs, old->verbs);
	ck_assert_ptr_ne(other->pd, old->pd);
	held = starve_held_now(-1);
	ck_assert_int_eq(rdma_destroy_id(old), 0);
	ck_assert_int_eq(rdma_destroy_id(bound()), 0);
	/* The id and its address: the list has the context. */
	ck_assert_int_eq(starve_held_now(-1).memory, held.memory - 2);
	/* As a program that goes on with the context: it has an object. */
	pd = ibv_alloc_pd(list[0]);
	ck_assert_ptr_nonnull(pd);
	rdma_free_devices(list);
	ck_assert_int_eq(rdma_destroy_id(other), 0);
	ck_assert_str_eq(ibv_get_device_name(pd->context->device), "soft0");
	ck_assert_int_eq(starve_held_now(-1).memory, before.memory + 2);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	starve_expect_held(&before, "at the end");
}

/* Connects to the listener. */
static void
call(void)
{
	struct rdma_event_channel *own = cm_channel();
	struct rdma_cm_id *id;

	other_hear(&port, sizeof port);
	id = cm_resolved(own, port);
	cm_qp(id, NULL);
	ck_assert_int_eq(rdma_connect(id, NULL), 0);
	cm_expect(own, RDMA_CM_EVENT_ESTABLISHED, id);
	other_meet();
	cm_forget(&id);
	rdma_destroy_event_channel(own);
}

CASE("soft-lives:processes");

/* A listener of all addresses goes on; what it gets is of the device as it is now. */
/* origin: out33.EE4 */
TEST(request__after_a_removal_and_an_arrival__has_the_device_as_it_is_now)
{
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	other_start(call);
	begin();
	remove_and_add("cm.device_removal", 0);
	other_tell(&port, sizeof port);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	id = event->id;
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	ck_assert(!soft_context_is_removed(soft_context_of(id->verbs)));
	cm_qp(id, NULL);
	ck_assert_int_eq(rdma_accept(id, NULL), 0);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, id);
	other_meet();
	cm_forget(&id);
	end();
	other_finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* dump -- what softverbs-ctl prints of a process: devices, queue pairs and ids, in each state */
#include "datagram_story.h"
#include "story.h"

#include "softverbs/control/json.h"
#include "softverbs/control/state.h"
#include "softverbs/device/changes.h"
#include "softverbs/device/slot.h"
#include "softverbs/fault/fault.h"
#include "softverbs/fault/process.h"

static void
expect_dump(const char *words)
{
	size_t size = 0;
	char *text = NULL;
	FILE *stream = open_memstream(&text, &size);

	ck_assert_ptr_nonnull(stream);
	soft_state_print(stream);
	ck_assert_int_eq(fclose(stream), 0);
	ck_assert_msg(strstr(text, words), "%s is not in %s", words, text);
	free(text);
}

CASE("soft-dump:dump");

/* One that is bound to any address has no device, nor one that has not read ADDR_RESOLVED. */
/* origin: out33.W7 */
TEST(dump__id_in_each_state__has_a_device_or_none)
{
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct rdma_event_channel *events = cm_channel();
	struct rdma_cm_id *any, *asks;
	struct ibv_qp_init_attr init = { .cap = { 1, 1, 1, 1, 0 }, .qp_type = IBV_QPT_RC };
	char number[64];

	ck_assert_int_eq(rdma_create_id(events, &any, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_create_id(events, &asks, NULL, RDMA_PS_TCP), 0);
	expect_dump("\"state\":\"IDLE\",\"device\":\"\"");
	ck_assert_int_eq(rdma_bind_addr(any, (struct sockaddr *)&address), 0);
	expect_dump("\"state\":\"BOUND\",\"device\":\"\",\"local\":\"0.0.0.0\"");
	ck_assert_int_eq(rdma_listen(any, 1), 0);
	expect_dump("\"state\":\"LISTENING\",\"device\":\"\"");
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	address.sin_port = rdma_get_src_port(any);
	ck_assert_int_eq(rdma_resolve_addr(asks, NULL, (struct sockaddr *)&address, 100), 0);
	expect_dump("\"state\":\"ADDR_RESOLVED\",\"device\":\"\",\"local\":\"127.0.0.1\"");
	cm_expect(events, RDMA_CM_EVENT_ADDR_RESOLVED, asks);
	expect_dump("\"state\":\"ADDR_RESOLVED\",\"device\":\"soft0\"");
	ck_assert_int_eq(rdma_create_qp(asks, NULL, &init), 0);
	snprintf(number, sizeof number, "_port\":%u,\"queue_pair\":%u,", ntohs(address.sin_port),
	    asks->qp->qp_num);
	expect_dump(number);
	rdma_destroy_qp(asks);
	expect_dump(",\"queue_pair\":0,");
	ck_assert_int_eq(rdma_destroy_id(asks), 0);
	ck_assert_int_eq(rdma_destroy_id(any), 0);
	rdma_destroy_event_channel(events);
}

/* origin: out33.W4 */
TEST(text__of_any_bytes__is_json)
{
	static const char *const texts[][2] = {
		{ "", "\"\"" },
		{ "soft0 ~!", "\"soft0 ~!\"" },
		{ "\"\\", "\"\\\"\\\\\"" },
		{ "\n\x1f\x7f\x80\xff", "\"\\u000a\\u001f\\ufffd\\ufffd\\ufffd\"" },
	};
	char text[64];
	FILE *stream;

	for (int i = 0; i < 4; i++) {
		stream = fmemopen(text, sizeof text, "w");
		soft_json_print(stream, texts[i][0]);
		fclose(stream);
		ck_assert_str_eq(text, texts[i][1]);
	}
}

/* By its number, the file of its command, or the name that a line had. */
TEST(request__names_a_process__by_any_of_its_names)
{
	char number[32];

	sprintf(number, "%d", (int)getpid());
	ck_assert(soft_state_is_of(number));
	ck_assert(soft_state_is_of(program_invocation_short_name));
	ck_assert(soft_state_is_of(soft_fault_process()->name));
	strcat(number, "0");
	ck_assert(!soft_state_is_of(number));
	ck_assert(!soft_state_is_of(""));
	ck_assert(!soft_state_is_of("other"));
}

/* What the process has is counted by the calls of the program, which enter elsewhere. */
TEST(dump__process__has_its_calls_faults_and_objects)
{
	struct soft_recorded_process *own = soft_fault_process();
	char words[512];

	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++)
		own->calls[call] = 2;
	for (enum soft_object i = 0; i < SOFT_OBJECTS; i++)
		soft_fault_count(i, (int)i + 1);
	soft_record->fired = 3;
	sprintf(words,
	    "{\"process\":%d,\"name\":\"%s\",\"slot\":%u,\"calls\":%u,\"faults\":3,"
	    "\"contexts\":1,\"protection_domains\":2,\"thread_domains\":3,\"memory_regions\":4,"
	    "\"memory_windows\":5,\"buffers\":6,\"completion_channels\":7,"
	    "\"completion_queues\":8,\"shared_receive_queues\":9,\"queue_pairs\":10,"
	    "\"address_handles\":11,\"event_channels\":12,\"rdma_ids\":13}\n",
	    (int)getpid(), own->name, soft_slot_number(), 2 * SOFT_CALL_COUNT);
	expect_dump(words);
}

TEST(dump__devices_and_ports__with_what_they_are_now)
{
	setenv("SOFTVERBS_TOPOLOGY",
	    "a ports=4; a/2 state=init link=ethernet; a/3 state=armed; b ports=1; b/1 state=down "
	    "lid=99",
	    1);
	ck_assert_uint_eq(soft_topology()->count, 2);
	expect_dump("{\"device\":\"a\",\"ports\":4,\"removed\":false}\n"
		    "{\"port\":\"a/1\",\"state\":\"ACTIVE\",\"lid\":1,\"link\":\"infiniband\"}\n"
		    "{\"port\":\"a/2\",\"state\":\"INIT\",\"lid\":0,\"link\":\"ethernet\"}\n"
		    "{\"port\":\"a/3\",\"state\":\"ARMED\",\"lid\":3,\"link\":\"infiniband\"}\n"
		    "{\"port\":\"a/4\",\"state\":\"ACTIVE\",\"lid\":4,\"link\":\"infiniband\"}\n"
		    "{\"device\":\"b\",\"ports\":1,\"removed\":false}\n"
		    "{\"port\":\"b/1\",\"state\":\"DOWN\",\"lid\":99,\"link\":\"infiniband\"}\n");
	soft_ports_set_down(1, true);
	(void)soft_devices_remove(soft_ports_of("b", 0));
	expect_dump("{\"port\":\"a/1\",\"state\":\"DOWN\",\"lid\":1,");
	expect_dump("{\"port\":\"a/4\",\"state\":\"ACTIVE\",");
	expect_dump("{\"device\":\"b\",\"ports\":1,\"removed\":true}\n");
}

static void
expect_qp(
    const struct side *side, const char *state, const char *type, uint32_t peer, const char *counts)
{
	char words[256];

	sprintf(words,
	    "{\"queue_pair\":0,\"number\":%u,\"device\":\"soft0\",\"type\":\"%s\",\"state\":\"%s\","
	    "\"peer\":%u,%s}\n",
	    side->qp->qp_num, type, state, peer, counts);
	expect_dump(words);
}

/* The counts begin anew with a reset. */
/* origin: out33.U10 */
TEST(dump__queue_pair_in_each_state__with_its_counts)
{
	static const char none[] = "\"sends\":0,\"completed\":0,\"receives\":0,\"received\":0";
	struct ibv_qp_attr attr = { .qp_state = IBV_QPS_SQD };
	struct side a, b;

	side_make(&a, NULL);
	side_make(&b, NULL);
	expect_qp(&a, "RESET", "RC", 0, none);
	side_to_init(&a, NULL);
	expect_qp(&a, "INIT", "RC", 0, none);
	side_to_init(&b, NULL);
	side_to_rtr(&a, b.qp->qp_num);
	expect_qp(&a, "RTR", "RC", b.qp->qp_num, none);
	side_to_rtr(&b, a.qp->qp_num);
	side_to_rts(&a, NULL);
	side_to_rts(&b, NULL);
	for (int i = 0; i < 4; i++)
		side_receive(&b, 1, 0, 8);
	for (int i = 0; i < 3; i++)
		side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	expect_qp(&a, "RTS", "RC", b.qp->qp_num,
	    "\"sends\":3,\"completed\":3,\"receives\":0,\"received\":0");
	expect_qp(&b, "RTS", "RC", a.qp->qp_num,
	    "\"sends\":0,\"completed\":0,\"receives\":4,\"received\":3");
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	expect_qp(&a, "SQD", "RC", b.qp->qp_num,
	    "\"sends\":4,\"completed\":3,\"receives\":0,\"received\":0");
	side_to_error(&b);
	expect_qp(&b, "ERR", "RC", a.qp->qp_num,
	    "\"sends\":0,\"completed\":0,\"receives\":4,\"received\":4");
	attr.qp_state = IBV_QPS_RESET;
	ck_assert_int_eq(ibv_modify_qp(a.qp, &attr, IBV_QP_STATE), 0);
	expect_qp(&a, "RESET", "RC", 0, none);
	datagram_side(&b);
	expect_qp(&b, "RTS", "UD", 0, none);
	pair_free(&a, &b);
}

/* Those of IPv6 have their ports at the same place. */
TEST(dump__connection__has_both_ends_and_what_was_read_of_it)
{
	struct sockaddr_in6 address = { .sin6_family = AF_INET6, .sin6_port = htons(0x1234) };
	struct rdma_event_channel *events = cm_channel();
	struct rdma_cm_event *event;
	struct rdma_cm_id *id;

	address.sin6_addr.s6_addr[15] = 1;
	ck_assert_int_eq(rdma_create_id(events, &id, NULL, RDMA_PS_TCP), 0);
	expect_dump(
	    "{\"connection\":0,\"state\":\"IDLE\",\"device\":\"\",\"local\":\"\",\"local_port\":0,"
	    "\"remote\":\"\",\"remote_port\":0,\"queue_pair\":0,\"peer\":0,\"peer_slot\":0,"
	    "\"events\":0,\"acknowledged\":0}\n");
	ck_assert_int_eq(rdma_resolve_addr(id, NULL, (struct sockaddr *)&address, 100), 0);
	ck_assert_int_eq(rdma_get_cm_event(events, &event), 0);
	expect_dump("\"local\":\"::1\"");
	expect_dump(
	    "\"remote\":\"::1\",\"remote_port\":4660,\"queue_pair\":0,\"peer\":0,\"peer_slot\":0,"
	    "\"events\":1,\"acknowledged\":0}\n");
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	expect_dump("\"events\":1,\"acknowledged\":1}\n");
	ck_assert_int_eq(rdma_resolve_route(id, 100), 0);
	expect_dump("\"state\":\"ROUTE_RESOLVED\"");
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(events);
}

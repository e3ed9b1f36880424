/* SPDX-License-Identifier: BSD-3-Clause */
/* dump -- what softverbs-ctl prints of ids, in each state */
#include "story.h"

#include "softverbs/control/state.h"

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

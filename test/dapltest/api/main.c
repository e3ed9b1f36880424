/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes every call on the whole device, and on devices that lack something. */
#include "api.h"

#include <stdio.h>
#include <stdlib.h>

#include <dat2/dat_ib_extensions.h>

#include "fault/fault.h"

static const struct {
	const char *name, *needs;
	unsigned int lacks;
} devices[] = {
	{ "whole", "", 0 },
	{ "windows", "memory windows (`IBV_DEVICE_MEM_WINDOW`, `_TYPE_2A` or `_TYPE_2B`)",
	    FAULT_WINDOWS_1 | FAULT_WINDOWS_2 },
	{ "invalidate", "send with invalidation (`IBV_DEVICE_MEM_MGT_EXTENSIONS`)",
	    FAULT_INVALIDATE },
	{ "srq", "shared receive queues (`max_srq`)", FAULT_SRQ },
	{ "srq-resize", "longer shared receive queues (`IBV_DEVICE_SRQ_RESIZE`)",
	    FAULT_SRQ_RESIZE },
	{ "atomics", "atomics (`atomic_cap`)", FAULT_ATOMICS },
	{ "infiniband", "InfiniBand or RoCE (`transport_type`); iWARP is neither",
	    FAULT_INFINIBAND },
	{ "zero-based", "regions at the I/O virtual address 0 (`ibv_reg_mr_iova`)",
	    FAULT_ZERO_BASED },
};
#define DEVICES (sizeof devices / sizeof devices[0])

static const struct api_call *const tables[] = { api_ia_calls, api_evd_calls, api_ep_calls,
	api_sp_calls, api_memory_calls, api_srq_calls, api_ib_calls };
#define TABLES (sizeof tables / sizeof tables[0])

const char *api_adapter;

/* ---- what the calls share ---- */

static void
side_open(struct dt_side *side)
{
	const DAT_MEM_PRIV_FLAGS all =
	    (DAT_MEM_PRIV_FLAGS)(DAT_MEM_PRIV_ALL_FLAG | DAT_IB_MEM_PRIV_REMOTE_ATOMIC);
	DAT_REGION_DESCRIPTION region;

	dt_side_open(side, api_adapter, DT_SEPARATE);
	dt_ok(dat_ep_free(side->ep));
	side->request = dt_evd(side, DAT_EVD_DTO_FLAG | DAT_EVD_RMR_BIND_FLAG, 64);
	side->ep = dt_ep(side, NULL);
	dt_ok(dat_lmr_free(side->lmr));
	region.for_va = side->buffer;
	if (dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, side->pz, all,
		DAT_VA_TYPE_VA, &side->lmr, &side->lmr_context, &side->rmr_context, NULL,
		NULL) == DAT_SUCCESS)
		return;
	/* A device without atomics may refuse their privilege. */
	dt_ok(dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, side->pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &side->lmr, &side->lmr_context,
	    &side->rmr_context, NULL, NULL));
}

void
api_open(struct dt_pair *p)
{
	side_open(&p->a);
	side_open(&p->b);
	dt_side_listen(&p->b);
	dt_connect_pair(p);
}

DAT_EP_HANDLE
api_ep(struct dt_side *side)
{
	return dt_ep(side, NULL);
}

DAT_CR_HANDLE
api_request(struct dt_pair *p, DAT_CONN_QUAL to)
{
	DAT_EVENT event;

	p->a.ep = api_ep(&p->a);
	dt_ok(dat_ep_connect(p->a.ep, dt_address(p->b.ia), to, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
	dt_expect(p->b.cr, DAT_CONNECTION_REQUEST_EVENT, &event);
	return event.event_data.cr_arrival_event_data.cr_handle;
}

/* ---- what is printed ---- */

static const char *
name_of(DAT_RETURN ret, char *text, size_t size)
{
	switch (DAT_GET_TYPE(ret)) {
	case DAT_SUCCESS:
		return "DAT_SUCCESS";
	case DAT_MODEL_NOT_SUPPORTED:
		return "DAT_MODEL_NOT_SUPPORTED";
	case DAT_COMM_NOT_SUPPORTED:
		return "DAT_COMM_NOT_SUPPORTED";
	case DAT_NOT_IMPLEMENTED:
		return "DAT_NOT_IMPLEMENTED";
	default:
		snprintf(text, size, "0x%08x", ret);
		return text;
	}
}

static void
print_attributes(const char *device)
{
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_IA_ATTR ia;
	DAT_IA_HANDLE handle = dt_open(api_adapter, NULL);

	dt_ok(dat_ia_query(handle, NULL, DAT_IA_FIELD_ALL, &ia, DAT_PROVIDER_FIELD_ALL, &provider));
#define PRINT(structure, member) \
	printf("attribute %s %s %s\n", device, #member, structure.member ? "TRUE" : "0")
	PRINT(ia, max_rmrs);
	PRINT(ia, max_srqs);
	PRINT(ia, zb_supported);
	PRINT(provider, srq_supported);
#undef PRINT
	for (int i = 0; i < provider.num_provider_specific_attr; i++)
		if (strcmp(provider.provider_specific_attr[i].value, "TRUE") == 0 ||
		    strcmp(provider.provider_specific_attr[i].value, "FALSE") == 0)
			printf("attribute %s %s %s\n", device,
			    provider.provider_specific_attr[i].name,
			    provider.provider_specific_attr[i].value);
	dt_close(handle);
}

DT_CASE("api:calls", .teardown = fault_clear, .seconds = 120);

/* Only the whole device exists where the device is not made of software. */
TEST_LOOP(every_call__on_each_device, DEVICES)
{
	const char *device = devices[_i].name;
	struct dt_pair pair;
	char text[16];

	api_adapter = "soft";
	if (devices[_i].lacks) {
		if (!dt_on_soft("the kernel has no device that lacks these features"))
			return;
		fault_lack(devices[_i].lacks);
		api_adapter = "faulty";
	}
	printf("device %s %s\n", device, devices[_i].needs);
	print_attributes(device);
	for (unsigned int i = 0; i < TABLES; i++)
		for (const struct api_call *c = tables[i]; c->name; c++) {
			DAT_RETURN ret;

			api_open(&pair);
			ret = c->make(&pair);
			printf("call %s %s %s\n", device, c->name, name_of(ret, text, sizeof text));
			fflush(stdout);
			dt_pair_close(&pair);
		}
}

/* clause: a.2.1 */
TEST(table_of_the_provider__has_no_empty_slot)
{
	struct dt_side side;
	const DAT_PROVIDER *table;

	api_adapter = "soft";
	side_open(&side);
	table = *(const DAT_PROVIDER *const *)side.pz;
	ck_assert_ptr_nonnull(table->device_name);
	for (size_t at = offsetof(DAT_PROVIDER, ia_open_func); at < sizeof *table;
	     at += sizeof(void *)) {
		void *slot;

		memcpy(&slot, (const char *)table + at, sizeof slot);
		ck_assert_msg(slot, "slot %zu is empty", at / sizeof slot);
	}
	dt_side_close(&side);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "attribute.h"
#include "text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum kind { TEXT, NUMBER, COUNT, WIDE, BOOLEAN, ADDRESS, ENUM, FLAGS };

/* A value of an enumeration, or a bit. */
struct symbol {
	unsigned int value;
	const char *name;
};

struct attribute {
	const char *name;
	size_t offset;
	enum kind kind;
	const char *unit;
	const struct symbol *symbols;
};

#define SYMBOL(name) \
	{ \
		name, #name \
	}
#define END \
	{ \
		0, NULL \
	}

static const struct symbol extensions[] = { SYMBOL(DAT_EXTENSION_NONE), SYMBOL(DAT_EXTENSION_IB),
	SYMBOL(DAT_EXTENSION_IW), END };
static const struct symbol memory_types[] = { SYMBOL(DAT_MEM_TYPE_VIRTUAL),
	SYMBOL(DAT_MEM_TYPE_LMR), SYMBOL(DAT_MEM_TYPE_SHARED_VIRTUAL), END };
static const struct symbol iov_ownerships[] = { SYMBOL(DAT_IOV_CONSUMER),
	SYMBOL(DAT_IOV_PROVIDER_NOMOD), SYMBOL(DAT_IOV_PROVIDER_MOD), END };
static const struct symbol qualities[] = { SYMBOL(DAT_QOS_BEST_EFFORT),
	SYMBOL(DAT_QOS_HIGH_THROUGHPUT), SYMBOL(DAT_QOS_LOW_LATENCY), SYMBOL(DAT_QOS_ECONOMY),
	SYMBOL(DAT_QOS_PREMIUM), END };
static const struct symbol completions[] = { SYMBOL(DAT_COMPLETION_DEFAULT_FLAG),
	SYMBOL(DAT_COMPLETION_SUPPRESS_FLAG), SYMBOL(DAT_COMPLETION_SOLICITED_WAIT_FLAG),
	SYMBOL(DAT_COMPLETION_UNSIGNALLED_FLAG), SYMBOL(DAT_COMPLETION_BARRIER_FENCE_FLAG),
	SYMBOL(DAT_COMPLETION_EVD_THRESHOLD_FLAG), SYMBOL(DAT_COMPLETION_LMR_INVALIDATE_FENCE_FLAG),
	END };
static const struct symbol creators[] = { SYMBOL(DAT_PSP_CREATES_EP_NEVER),
	SYMBOL(DAT_PSP_CREATES_EP_IFASKED), SYMBOL(DAT_PSP_CREATES_EP_ALWAYS), END };
static const struct symbol zones[] = { SYMBOL(DAT_PZ_UNIQUE), SYMBOL(DAT_PZ_SHAREABLE), END };
static const struct symbol scopes[] = { SYMBOL(DAT_RMR_SCOPE_EP), SYMBOL(DAT_RMR_SCOPE_PZ),
	SYMBOL(DAT_RMR_SCOPE_ANY), END };
static const struct symbol balances[] = { SYMBOL(DAT_HA_LB_NONE), SYMBOL(DAT_HA_LB_INTERCOMM),
	SYMBOL(DAT_HA_LB_INTRACOMM), END };

#define IA(name, kind, unit, symbols) \
	{ \
#name, offsetof(DAT_IA_ATTR, name), kind, unit, symbols \
	}
static const struct attribute ia_attributes[] = {
	IA(adapter_name, TEXT, NULL, NULL),
	IA(vendor_name, TEXT, NULL, NULL),
	IA(hardware_version_major, NUMBER, NULL, NULL),
	IA(hardware_version_minor, NUMBER, NULL, NULL),
	IA(firmware_version_major, NUMBER, NULL, NULL),
	IA(firmware_version_minor, NUMBER, NULL, NULL),
	IA(ia_address_ptr, ADDRESS, NULL, NULL),
	IA(max_eps, COUNT, "endpoints", NULL),
	IA(max_dto_per_ep, COUNT, "requests", NULL),
	IA(max_rdma_read_per_ep_in, COUNT, "requests", NULL),
	IA(max_rdma_read_per_ep_out, COUNT, "requests", NULL),
	IA(max_evds, COUNT, "EVDs", NULL),
	IA(max_evd_qlen, COUNT, "events", NULL),
	IA(max_iov_segments_per_dto, COUNT, "segments", NULL),
	IA(max_lmrs, COUNT, "regions", NULL),
	IA(max_lmr_block_size, NUMBER, "bytes", NULL),
	IA(max_lmr_virtual_address, WIDE, NULL, NULL),
	IA(max_pzs, COUNT, "zones", NULL),
	IA(max_message_size, NUMBER, "bytes", NULL),
	IA(max_rdma_size, NUMBER, "bytes", NULL),
	IA(max_rmrs, COUNT, "regions", NULL),
	IA(max_rmr_target_address, WIDE, NULL, NULL),
	IA(max_srqs, COUNT, "queues", NULL),
	IA(max_ep_per_srq, COUNT, "endpoints", NULL),
	IA(max_recv_per_srq, COUNT, "buffers", NULL),
	IA(max_iov_segments_per_rdma_read, COUNT, "segments", NULL),
	IA(max_iov_segments_per_rdma_write, COUNT, "segments", NULL),
	IA(max_rdma_read_in, COUNT, "requests", NULL),
	IA(max_rdma_read_out, COUNT, "requests", NULL),
	IA(max_rdma_read_per_ep_in_guaranteed, BOOLEAN, NULL, NULL),
	IA(max_rdma_read_per_ep_out_guaranteed, BOOLEAN, NULL, NULL),
	IA(zb_supported, BOOLEAN, NULL, NULL),
	IA(extension_supported, ENUM, NULL, extensions),
	IA(extension_version, COUNT, NULL, NULL),
};

#define PROVIDER(name, kind, unit, symbols) \
	{ \
#name, offsetof(DAT_PROVIDER_ATTR, name), kind, unit, symbols \
	}
static const struct attribute provider_attributes[] = {
	PROVIDER(provider_name, TEXT, NULL, NULL),
	PROVIDER(provider_version_major, NUMBER, NULL, NULL),
	PROVIDER(provider_version_minor, NUMBER, NULL, NULL),
	PROVIDER(dapl_version_major, NUMBER, NULL, NULL),
	PROVIDER(dapl_version_minor, NUMBER, NULL, NULL),
	PROVIDER(lmr_mem_types_supported, FLAGS, NULL, memory_types),
	PROVIDER(iov_ownership_on_return, ENUM, NULL, iov_ownerships),
	PROVIDER(dat_qos_supported, FLAGS, NULL, qualities),
	PROVIDER(completion_flags_supported, FLAGS, NULL, completions),
	PROVIDER(is_thread_safe, BOOLEAN, NULL, NULL),
	PROVIDER(max_private_data_size, COUNT, "bytes", NULL),
	PROVIDER(supports_multipath, BOOLEAN, NULL, NULL),
	PROVIDER(ep_creator, ENUM, NULL, creators),
	PROVIDER(pz_support, ENUM, NULL, zones),
	PROVIDER(optimal_buffer_alignment, NUMBER, "bytes", NULL),
	PROVIDER(srq_supported, BOOLEAN, NULL, NULL),
	PROVIDER(srq_watermarks_supported, COUNT, NULL, NULL),
	PROVIDER(srq_ep_pz_difference_supported, BOOLEAN, NULL, NULL),
	PROVIDER(srq_info_supported, COUNT, NULL, NULL),
	PROVIDER(ep_recv_info_supported, COUNT, NULL, NULL),
	PROVIDER(lmr_sync_req, BOOLEAN, NULL, NULL),
	PROVIDER(dto_async_return_guaranteed, BOOLEAN, NULL, NULL),
	PROVIDER(rdma_write_for_rdma_read_req, BOOLEAN, NULL, NULL),
	PROVIDER(rdma_read_lmr_rmr_context_exposure, BOOLEAN, NULL, NULL),
	PROVIDER(rmr_scope_supported, ENUM, NULL, scopes),
	PROVIDER(is_signal_safe, BOOLEAN, NULL, NULL),
	PROVIDER(ha_supported, BOOLEAN, NULL, NULL),
	PROVIDER(ha_loadbalancing, ENUM, NULL, balances),
};

#define ALL(table) (table), sizeof(table) / sizeof(table)[0]

/* The streams of evd_stream_merging_supported, in the order of its indexes. */
static const char *const streams[] = { "software events", "connection requests", "DTO completions",
	"connection events", "RMR bind completions", "asynchronous events" };
enum { STREAMS = sizeof streams / sizeof streams[0] };

static json_t *
attribute_enum(unsigned int value, const struct symbol *symbol)
{
	for (; symbol->name != NULL; symbol++)
		if (symbol->value == value)
			return json_string(symbol->name);
	return json_integer(value);
}

/* The names of the bits; a value without bits may have a name, too. */
static json_t *
attribute_flags(unsigned int value, const struct symbol *symbol)
{
	json_t *names = json_array();

	for (; symbol->name != NULL; symbol++)
		if (symbol->value == 0 || (value & symbol->value) != 0) {
			json_array_append_new(names, json_string(symbol->name));
			value &= ~symbol->value;
		}
	if (value != 0)
		json_array_append_new(names, json_integer(value));
	return names;
}

static json_t *
attribute_address(const struct sockaddr *address)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (address != NULL && address->sa_family == AF_INET)
		inet_ntop(
		    AF_INET, &((const struct sockaddr_in *)address)->sin_addr, text, sizeof text);
	else if (address != NULL && address->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)address)->sin6_addr, text,
		    sizeof text);
	return *text != '\0' ? json_string(text) : json_null();
}

static json_t *
attribute_value(const void *base, const struct attribute *attribute)
{
	const void *at = (const char *)base + attribute->offset;
	unsigned int number;

	memcpy(&number, at, sizeof number);
	switch (attribute->kind) {
	case TEXT:
		return text_json(at);
	case NUMBER:
		return json_integer(number);
	case COUNT:
		return json_integer(*(const DAT_COUNT *)at);
	case WIDE:
		return text_format("0x%llx", (unsigned long long)*(const DAT_UINT64 *)at);
	case BOOLEAN:
		return json_boolean(*(const DAT_BOOLEAN *)at);
	case ADDRESS:
		return attribute_address(*(const DAT_IA_ADDRESS_PTR *)at);
	case ENUM:
		return attribute_enum(number, attribute->symbols);
	case FLAGS:
		return attribute_flags(number, attribute->symbols);
	}
	return json_null();
}

static json_t *
attribute_report(const void *base, const struct attribute *attributes, size_t count)
{
	json_t *report = json_object();
	size_t i;

	for (i = 0; i < count; i++)
		json_object_set_new(
		    report, attributes[i].name, attribute_value(base, &attributes[i]));
	return report;
}

/* Attributes that have a name and a text. */
static json_t *
attribute_named(const DAT_NAMED_ATTR *attributes, DAT_COUNT count)
{
	json_t *report = json_object();
	DAT_COUNT i;

	for (i = 0; i < count && attributes != NULL; i++) {
		json_t *name = text_json(attributes[i].name);

		json_object_set_new(
		    report, json_string_value(name), text_json(attributes[i].value));
		json_decref(name);
	}
	return report;
}

json_t *
attribute_report_ia(const struct adapter *adapter)
{
	const DAT_IA_ATTR *attr = &adapter->ia_attr;
	json_t *report = attribute_report(attr, ALL(ia_attributes));

	json_object_set_new(report, "transport_attr",
	    attribute_named(attr->transport_attr, attr->num_transport_attr));
	json_object_set_new(
	    report, "vendor_attr", attribute_named(attr->vendor_attr, attr->num_vendor_attr));
	return report;
}

/* For each stream those that it may share an EVD with. */
static json_t *
attribute_merging(const DAT_PROVIDER_ATTR *attr)
{
	json_t *report = json_object(), *others;
	int a, b;

	for (a = 0; a < STREAMS; a++) {
		others = json_array();
		for (b = 0; b < STREAMS; b++)
			if (attr->evd_stream_merging_supported[a][b] != DAT_FALSE)
				json_array_append_new(others, json_string(streams[b]));
		json_object_set_new(report, streams[a], others);
	}
	return report;
}

json_t *
attribute_report_provider(const struct adapter *adapter)
{
	const DAT_PROVIDER_ATTR *attr = &adapter->provider_attr;
	json_t *report = attribute_report(attr, ALL(provider_attributes));

	json_object_set_new(report, "evd_stream_merging_supported", attribute_merging(attr));
	json_object_set_new(report, "provider_specific_attr",
	    attribute_named(attr->provider_specific_attr, attr->num_provider_specific_attr));
	return report;
}

static void
attribute_add_units(json_t *units, const struct attribute *attributes, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (attributes[i].unit != NULL)
			json_object_set_new(
			    units, attributes[i].name, json_string(attributes[i].unit));
}

json_t *
attribute_units(void)
{
	json_t *units = json_object();

	attribute_add_units(units, ALL(ia_attributes));
	attribute_add_units(units, ALL(provider_attributes));
	return units;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Adapters, any handle, and the registry. */
#include "api.h"

#include <stdint.h>

#include <dat2/dat_event_str.h>
#include <dat2/dat_version.h>
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_log.h>

static DAT_RETURN
ia_open(struct dt_pair *p)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	(void)p;
	API_NEED(dat_ia_open((DAT_NAME_PTR)(uintptr_t)api_adapter, 8, &async, &ia));
	dt_close(ia);
	return DAT_SUCCESS;
}

static DAT_RETURN
ia_query(struct dt_pair *p)
{
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_IA_ATTR attr;

	return dat_ia_query(
	    p->a.ia, NULL, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider);
}

static DAT_RETURN
ia_close(struct dt_pair *p)
{
	(void)p;
	return dat_ia_close(dt_open(api_adapter, NULL), DAT_CLOSE_GRACEFUL_FLAG);
}

static DAT_RETURN
set_consumer_context(struct dt_pair *p)
{
	const DAT_CONTEXT context = { .as_64 = 7 };

	return dat_set_consumer_context(p->a.ep, context);
}

static DAT_RETURN
get_consumer_context(struct dt_pair *p)
{
	DAT_CONTEXT context;

	API_NEED(dat_get_consumer_context(p->a.ep, &context));
	ck_assert_uint_eq(context.as_64, 0);
	return DAT_SUCCESS;
}

static DAT_RETURN
get_handle_type(struct dt_pair *p)
{
	DAT_HANDLE_TYPE type;

	API_NEED(dat_get_handle_type(p->a.ep, &type));
	ck_assert_int_eq(type, DAT_HANDLE_TYPE_EP);
	return DAT_SUCCESS;
}

static DAT_RETURN
ia_ha_related(struct dt_pair *p)
{
	DAT_BOOLEAN related = DAT_TRUE;

	API_NEED(dat_ia_ha_related(p->a.ia, (DAT_NAME_PTR)(uintptr_t)api_adapter, &related));
	ck_assert_int_eq(related, DAT_FALSE);
	return DAT_SUCCESS;
}

/* ---- of the registry alone ---- */

static DAT_RETURN
registry_list_providers(struct dt_pair *p)
{
	static DAT_PROVIDER_INFO info[32];
	DAT_PROVIDER_INFO *list[32];
	DAT_COUNT n = 0;

	(void)p;
	for (int i = 0; i < 32; i++)
		list[i] = &info[i];
	API_NEED(dat_registry_list_providers(32, &n, list));
	ck_assert_int_gt(n, 0);
	return DAT_SUCCESS;
}

static DAT_RETURN
registry_providers_related(struct dt_pair *p)
{
	const DAT_NAME_PTR name = (DAT_NAME_PTR)(uintptr_t)api_adapter;
	DAT_HA_RELATIONSHIP related;

	(void)p;
	return dat_registry_providers_related(name, name, &related);
}

/* A provider under another name, with the table of this one. */
static DAT_PROVIDER_INFO
another(const struct dt_pair *p, DAT_PROVIDER *table)
{
	const DAT_PROVIDER_INFO info = {
		.ia_name = "another",
		.dapl_version_major = 2,
		.is_thread_safe = DAT_FALSE,
	};

	*table = **(DAT_PROVIDER *const *)p->a.pz;
	return info;
}

static DAT_PROVIDER table;

static DAT_RETURN
registry_add_provider(struct dt_pair *p)
{
	const DAT_PROVIDER_INFO info = another(p, &table);

	API_NEED(dat_registry_add_provider(&table, &info));
	dt_ok(dat_registry_remove_provider(&table, &info));
	return DAT_SUCCESS;
}

static DAT_RETURN
registry_remove_provider(struct dt_pair *p)
{
	const DAT_PROVIDER_INFO info = another(p, &table);

	dt_ok(dat_registry_add_provider(&table, &info));
	return dat_registry_remove_provider(&table, &info);
}

static DAT_RETURN
registry_add_ranged_provider(struct dt_pair *p)
{
	static DAT_PROVIDER *handles[64] __attribute__((aligned(64)));
	const struct dat_handle_range range = { handles, sizeof handles, sizeof handles[0] };
	const DAT_PROVIDER_INFO info = another(p, &table);

	API_NEED(dat_registry_add_ranged_provider(&table, &info, &range));
	dt_ok(dat_registry_remove_provider(&table, &info));
	return DAT_SUCCESS;
}

static DAT_RETURN
call_strerror(struct dt_pair *p)
{
	const char *major, *minor;

	(void)p;
	return dat_strerror(DAT_MODEL_NOT_SUPPORTED, &major, &minor);
}

static void
count_line(DAT_PVOID count, DAT_LOG_LEVEL level, const char *line)
{
	(void)level;
	(void)line;
	++*(int *)count;
}

static DAT_RETURN
log_line(struct dt_pair *p)
{
	int count = 0;

	(void)p;
	API_NEED(dat_rearm_set_log(count_line, &count));
	API_NEED(dat_rearm_log(DAT_LOG_DEBUG, "a line"));
	ck_assert_int_eq(count, 1);
	return dat_rearm_set_log(NULL, NULL);
}

static DAT_RETURN
get_ia_handle(struct dt_pair *p)
{
	DAT_IA_HANDLE provider, consumer;

	API_NEED(dats_get_ia_handle(p->a.ia, &provider));
	API_NEED(dats_get_ia_handle(provider, &consumer));
	ck_assert_ptr_eq(consumer, p->a.ia);
	return DAT_SUCCESS;
}

static DAT_RETURN
event_strings(struct dt_pair *p)
{
	(void)p;
	ck_assert_str_eq(dat_event_name(DAT_SOFTWARE_EVENT), "DAT_SOFTWARE_EVENT");
	ck_assert_str_eq(dat_event_str(DAT_SOFTWARE_EVENT), "DAT_SOFTWARE_EVENT");
	ck_assert_str_eq(dat_dto_status_name(DAT_DTO_ERR_FLUSHED), "DAT_DTO_ERR_FLUSHED");
	ck_assert_str_eq(dat_dto_status_str(DAT_DTO_ERR_FLUSHED), "DAT_DTO_ERR_FLUSHED");
	return DAT_SUCCESS;
}

static DAT_RETURN
list_records(struct dt_pair *p)
{
	DAT_COUNT n;

	(void)p;
	return dat_rearm_list_records(0, &n, NULL);
}

static DAT_RETURN
rearm_version(struct dt_pair *p)
{
	(void)p;
	ck_assert_str_eq(dat_rearm_version(), REARM_VERSION);
	return DAT_SUCCESS;
}

static DAT_RETURN
strerror_extension(struct dt_pair *p)
{
	const char *text;

	(void)p;
	return dat_strerror_extension(DAT_IB_ERR, &text);
}

static DAT_RETURN
strerror_ext_status(struct dt_pair *p)
{
	const char *text;

	(void)p;
	return dat_strerror_ext_status(DAT_IB_OP_ERR, &text);
}

const struct api_call api_ia_calls[] = {
	{ "ia_openv", ia_open },
	{ "ia_query", ia_query },
	{ "ia_close", ia_close },
	{ "ia_ha_related", ia_ha_related },
	{ "set_consumer_context", set_consumer_context },
	{ "get_consumer_context", get_consumer_context },
	{ "get_handle_type", get_handle_type },
	{ "registry_list_providers", registry_list_providers },
	{ "registry_providers_related", registry_providers_related },
	{ "registry_add_provider", registry_add_provider },
	{ "registry_remove_provider", registry_remove_provider },
	{ "registry_add_ranged_provider", registry_add_ranged_provider },
	{ "rearm_list_records", list_records },
	{ "rearm_set_log", log_line },
	{ "rearm_log", log_line },
	{ "strerror", call_strerror },
	{ "rearm_version", rearm_version },
	{ "event_name", event_strings },
	{ "event_str", event_strings },
	{ "dto_status_name", event_strings },
	{ "dto_status_str", event_strings },
	{ "strerror_extension", strerror_extension },
	{ "strerror_ext_status", strerror_ext_status },
	{ "dats_get_ia_handle", get_ia_handle },
	{ NULL, NULL },
};

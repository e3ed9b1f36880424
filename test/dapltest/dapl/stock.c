/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * test-stock -- the provider under a registry that has only what DAT defines
 *
 * This program is that registry.  Like Debian's libdat2 it keeps the pointer to a table, copies
 * slot 2 when a provider registers, and calls ia_open with a name.  It is not linked with libdat2.
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <dat2/udat.h>
#include <dat2/dat_event_str.h>
#include <dat2/dat_registry.h>

#include "printed.h"

/* ---- the registry ---- */

static struct entry {
	const DAT_PROVIDER *table;
	DAT_PROVIDER_INFO info;
	DAT_IA_OPEN_FUNC open;
} entries[8];

static struct entry *
find(const DAT_PROVIDER_INFO *info)
{
	for (size_t i = 0; i < sizeof entries / sizeof entries[0]; i++)
		if (entries[i].table && memcmp(&entries[i].info, info, sizeof *info) == 0)
			return &entries[i];
	return NULL;
}

DAT_RETURN
dat_registry_add_provider(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	struct entry *e = entries;

	if (find(info))
		return DAT_ERROR(DAT_PROVIDER_ALREADY_REGISTERED, DAT_NO_SUBTYPE);
	while (e->table)
		e++;
	*e = (struct entry){ table, *info, table->ia_open_func };
	return DAT_SUCCESS;
}

DAT_RETURN
dat_registry_remove_provider(const DAT_PROVIDER *table, const DAT_PROVIDER_INFO *info)
{
	struct entry *e = find(info);

	if (!e || e->table != table)
		return DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED);
	e->table = NULL;
	return DAT_SUCCESS;
}

DAT_RETURN
dats_get_ia_handle(DAT_IA_HANDLE in, DAT_IA_HANDLE *out)
{
	*out = in;
	return DAT_SUCCESS;
}

CASE("stock:keys");

/* clause: b.6.9 */
TEST(stock__event_str__needs_no_call_of_the_registry)
{
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "dat_strerror"));
	ck_assert_str_eq(dat_event_str(DAT_CONNECTION_EVENT_BROKEN), "DAT_CONNECTION_EVENT_BROKEN");
	ck_assert_str_eq(dat_dto_status_str(DAT_DTO_ERR_TRANSPORT), "DAT_DTO_ERR_TRANSPORT");
}

/* ---- the provider ---- */

static DAT_PROVIDER_INIT_FUNC init;
static DAT_PROVIDER_FINI_FUNC fini;

static void
load(void)
{
	void *library = dlopen(SOFT_PATH, RTLD_NOW | RTLD_GLOBAL);

	ck_assert_msg(library != NULL, "%s", dlerror());
	*(void **)&init = dlsym(library, DAT_PROVIDER_INIT_FUNC_STR);
	*(void **)&fini = dlsym(library, DAT_PROVIDER_FINI_FUNC_STR);
	ck_assert(init != NULL && fini != NULL);
	ck_assert_ptr_null(dlsym(RTLD_DEFAULT, "dat_ia_openv"));
}

static DAT_PROVIDER_INFO
key(DAT_UINT32 minor, DAT_BOOLEAN thread_safe)
{
	DAT_PROVIDER_INFO info = {
		.dapl_version_major = 2, .dapl_version_minor = minor, .is_thread_safe = thread_safe
	};

	strcpy(info.ia_name, "x");
	return info;
}

static const DAT_PROVIDER *
table_of(DAT_HANDLE handle)
{
	return *(const DAT_PROVIDER **)handle;
}

static DAT_IA_HANDLE
open_key(const DAT_PROVIDER_INFO *info, DAT_EVD_HANDLE *async)
{
	struct entry *e = find(info);
	DAT_IA_HANDLE ia;

	ck_assert_ptr_nonnull(e);
	*async = DAT_HANDLE_NULL;
	ck_assert_uint_eq(e->open((char *)"x", 8, async, &ia), DAT_SUCCESS);
	return ia;
}

static void
assert_is(DAT_IA_HANDLE ia, const DAT_PROVIDER_INFO *info, const char *address)
{
	const DAT_PROVIDER *table = table_of(ia);
	const struct sockaddr_in *in;
	DAT_IA_ATTR attr;
	DAT_PROVIDER_ATTR provider = { 0 };

	ck_assert_ptr_eq(table, find(info)->table);
	ck_assert_str_eq(table->device_name, "x");
	ck_assert_uint_eq(table->ia_query_func(
			      ia, NULL, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider),
	    DAT_SUCCESS);
	in = (const void *)attr.ia_address_ptr;
	ck_assert_int_eq(in->sin_addr.s_addr, inet_addr(address));
	/* A registry finds the record again by these when the IA closes. */
	ck_assert_uint_eq(provider.dapl_version_major, info->dapl_version_major);
	ck_assert_uint_eq(provider.dapl_version_minor, info->dapl_version_minor);
	ck_assert_int_eq(provider.is_thread_safe, info->is_thread_safe);
}

static void
close_ia(DAT_IA_HANDLE ia)
{
	ck_assert_uint_eq(table_of(ia)->ia_close_func(ia, DAT_CLOSE_ABRUPT_FLAG), DAT_SUCCESS);
}

/* origin: attack.P1 */
/* clause: b.2.4 */
TEST(stock__keys_of_one_name__are_distinguished_by_the_function_that_opens)
{
	const DAT_PROVIDER_INFO keys[] = { key(0, DAT_FALSE), key(0, DAT_TRUE), key(1, DAT_TRUE) };
	const char *const addresses[] = { "127.0.0.1", "127.0.0.2", "127.0.0.3" };
	DAT_EVD_HANDLE async[3];
	DAT_IA_HANDLE ia[3], again;

	load();
	for (int i = 0; i < 3; i++)
		init(&keys[i], addresses[i]);
	ck_assert(find(&keys[0])->open != find(&keys[1])->open);
	for (int i = 0; i < 3; i++)
		ia[i] = open_key(&keys[i], &async[i]);
	for (int i = 0; i < 3; i++) {
		assert_is(ia[i], &keys[i], addresses[i]);
		ck_assert_ptr_eq(table_of(async[i]), table_of(ia[i]));
	}
	close_ia(ia[1]);
	fini(&keys[1]);
	ck_assert_ptr_null(find(&keys[1]));
	again = open_key(&keys[0], &async[0]);
	assert_is(again, &keys[0], addresses[0]);
	assert_is(ia[2], &keys[2], addresses[2]);
	close_ia(again);
	close_ia(ia[0]);
	close_ia(ia[2]);
	fini(&keys[0]);
	fini(&keys[2]);
}

/* origin: attack.P1 */
TEST(stock__record_loaded_anew__has_the_parameters_it_was_loaded_with)
{
	const DAT_PROVIDER_INFO info = key(0, DAT_TRUE);
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia;

	load();
	for (int i = 1; i <= 3; i++) {
		char address[] = "127.0.0.0";

		address[8] = (char)('0' + i);
		init(&info, address);
		ia = open_key(&info, &async);
		assert_is(ia, &info, address);
		/* A second initialisation of a registered provider changes nothing. */
		init(&info, "127.0.0.9");
		close_ia(ia);
		ia = open_key(&info, &async);
		assert_is(ia, &info, address);
		close_ia(ia);
		fini(&info);
	}
}

/* Functions cannot be created at run time, so the number of keys per name is limited. */
TEST(stock__more_keys_than_open_functions__are_not_registered)
{
	DAT_PROVIDER_INFO info;
	int registered = 0;

	load();
	for (DAT_UINT32 minor = 0; minor < 40; minor++) {
		info = key(minor, DAT_TRUE);
		init(&info, "127.0.0.1");
		if (!find(&info))
			break;
		registered++;
		fini(&info);
	}
	ck_assert_int_eq(registered, 32);
	strcpy(info.ia_name, "y");
	init(&info, "127.0.0.1");
	ck_assert_ptr_nonnull(find(&info));
	fini(&info);
}

TEST(stock__open__refuses_a_name_that_is_none)
{
	const DAT_PROVIDER_INFO info = key(0, DAT_TRUE);
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	load();
	init(&info, "127.0.0.1");
	ck_assert_uint_eq(find(&info)->open(NULL, 8, &async, &ia),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	ck_assert_uint_eq(find(&info)->open((char *)"y", 8, &async, &ia),
	    DAT_ERROR(DAT_PROVIDER_NOT_FOUND, DAT_NAME_NOT_REGISTERED));
	fini(&info);
}

/* Debian's registry passes every handle unchanged: the provider must check it. */
/* clause: c.2.2 */
TEST(stock__evd_create_on_what_is_no_adapter__is_refused)
{
	const DAT_PROVIDER_INFO info = key(0, DAT_TRUE);
	DAT_EVD_HANDLE async, evd = &evd;
	const DAT_PROVIDER *table;
	DAT_PZ_HANDLE pz;
	DAT_IA_HANDLE ia;

	load();
	init(&info, "127.0.0.1");
	ia = open_key(&info, &async);
	table = table_of(ia);
	ck_assert_uint_eq(table->pz_create_func(ia, &pz), DAT_SUCCESS);
	ck_assert_uint_eq(
	    table->evd_create_func(pz, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	close_ia(ia);
	ck_assert_uint_eq(
	    table->evd_create_func(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
	ck_assert_ptr_eq(evd, &evd);
	fini(&info);
}

/* What it returns that our own registry finds out first. */
/* clause: c.2.2 */
TEST(stock__open__bad_arguments__each_has_its_code)
{
	const DAT_PROVIDER_INFO info = key(0, DAT_TRUE);
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia = &ia;

	load();
	init(&info, "127.0.0.1");
	ck_assert_uint_eq(find(&info)->open((char *)"x", 8, NULL, &ia),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	ck_assert_uint_eq(find(&info)->open((char *)"x", 8, &async, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	for (DAT_COUNT qlen = -1; qlen < 1; qlen++)
		ck_assert_uint_eq(find(&info)->open((char *)"x", qlen, &async, &ia),
		    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	ck_assert_ptr_eq(ia, &ia);
	ck_assert_ptr_eq(async, DAT_HANDLE_NULL);
	fini(&info);
}

/*
 * Each call that takes an adapter, with what is none: an object of another kind, and an adapter
 * that was closed.
 */
static void
assert_no_call_takes(const DAT_PROVIDER *table, DAT_IA_HANDLE bad)
{
	const DAT_RETURN refused = DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	DAT_SRQ_ATTR srq_attr = { 4, 1, DAT_SRQ_LW_DEFAULT };
	DAT_REGION_DESCRIPTION region = { .for_va = &srq_attr };
	DAT_HANDLE made = &made;
	DAT_PROVIDER_ATTR provider_attr = { 0 };
	DAT_EVD_HANDLE async;
	DAT_CONN_QUAL qual;
	DAT_IA_ATTR ia_attr;
	struct sockaddr at = { .sa_family = AF_INET };
	DAT_COMM comm = { .domain = AF_INET, .type = SOCK_STREAM };
	int fd;

#define REFUSES(call) ck_assert_uint_eq(table->call, refused)
	REFUSES(pz_create_func(bad, &made));
	REFUSES(psp_create_func(bad, 7000, made, DAT_PSP_CONSUMER_FLAG, &made));
	REFUSES(psp_create_any_func(bad, &qual, made, DAT_PSP_CONSUMER_FLAG, &made));
	REFUSES(rsp_create_func(bad, 7000, made, made, &made));
	REFUSES(csp_create_func(bad, &comm, &at, made, &made));
	REFUSES(cno_create_func(bad, DAT_OS_WAIT_PROXY_AGENT_NULL, &made));
	REFUSES(cno_fd_create_func(bad, &fd, &made));
	REFUSES(evd_create_func(bad, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &made));
	REFUSES(ep_create_func(bad, made, made, made, made, NULL, &made));
	REFUSES(ep_create_with_srq_func(bad, made, made, made, made, made, NULL, &made));
	REFUSES(srq_create_func(bad, made, &srq_attr, &made));
	REFUSES(lmr_create_func(bad, DAT_MEM_TYPE_VIRTUAL, region, sizeof srq_attr, made,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &made, NULL, NULL, NULL, NULL));
	REFUSES(lmr_sync_rdma_read_func(bad, NULL, 0));
	REFUSES(lmr_sync_rdma_write_func(bad, NULL, 0));
	REFUSES(ia_query_func(
	    bad, &async, DAT_IA_FIELD_ALL, &ia_attr, DAT_PROVIDER_FIELD_ALL, &provider_attr));
	REFUSES(ia_close_func(bad, DAT_CLOSE_ABRUPT_FLAG));
	REFUSES(ia_close_func(bad, DAT_CLOSE_GRACEFUL_FLAG));
#undef REFUSES
	ck_assert_ptr_eq(made, &made);
}

/* clause: c.2.2 */
TEST(stock__calls_on_what_is_no_adapter__are_refused)
{
	const DAT_PROVIDER_INFO info = key(0, DAT_TRUE);
	const DAT_PROVIDER *table;
	DAT_EVD_HANDLE async;
	DAT_PZ_HANDLE pz;
	DAT_IA_HANDLE ia;

	load();
	init(&info, "127.0.0.1");
	ia = open_key(&info, &async);
	table = table_of(ia);
	ck_assert_uint_eq(table->pz_create_func(ia, &pz), DAT_SUCCESS);
	assert_no_call_takes(table, pz);
	assert_no_call_takes(table, async);
	ck_assert_uint_eq(table->pz_free_func(pz), DAT_SUCCESS);
	close_ia(ia);
	assert_no_call_takes(table, ia);
	fini(&info);
}

/* Our own registry complains about its variables, and has a log; this one does neither. */
TEST(stock__wrong_word_in_a_variable_of_the_registry__is_reported)
{
	const DAT_PROVIDER_INFO info = key(0, DAT_TRUE);
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	setenv("DAT_DBG_TYPE", "calls,everything", 1);
	load();
	capture(STDERR_FILENO);
	init(&info, "127.0.0.1 loops=0");
	ck_assert_uint_ne(find(&info)->open((char *)"x", 8, &async, &ia), DAT_SUCCESS);
	captured();
	assert_line("DAT_DBG_TYPE is ignored: \"everything\" is neither a number nor one of none, "
		    "errors, general, conf, registry, connections, calls, hints, all");
	assert_line("dat_ia_open\\(\"x\"\\): loops=0: expected a number from 1 to 32");
	fini(&info);
}

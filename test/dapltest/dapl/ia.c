/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE /* dl_iterate_phdr() */
#include <limits.h>

#include <arpa/inet.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "lib/dt.h"

#include <dat2/dat_registry.h>

static DAT_RETURN
try_open(const char *name, DAT_EVD_HANDLE *async, DAT_IA_HANDLE *ia)
{
	return dat_ia_open((DAT_NAME_PTR)(uintptr_t)name, 8, async, ia);
}

DT_CASE("ia:open");

/* clause: c.2.10 */
TEST(open__bad_arguments__each_gets_its_own_code)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia = (DAT_IA_HANDLE)7;
	char name[] = "soft";

	dt_assert_ret(
	    dat_ia_open(name, 0, &async, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_ia_open(name, -1, &async, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(
	    dat_ia_open(name, 8, NULL, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	ck_assert_ptr_eq(ia, (DAT_IA_HANDLE)7);
	ck_assert_ptr_null(async);
}

/* What dat_evd_create() refuses for its length, too. */
TEST(open__longer_than_any_queue__is_refused)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia = dt_open("soft", &async);
	DAT_IA_ATTR attr;
	char name[] = "soft";

	dt_ok(dat_ia_query(ia, &async, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_NONE, NULL));
	dt_close(ia);
	async = DAT_HANDLE_NULL;
	dt_assert_ret(dat_ia_open(name, attr.max_evd_qlen + 1, &async, &ia),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD));
	ck_assert_ptr_null(async);
	dt_assert_ret(dat_ia_open(name, INT_MAX, &async, &ia),
	    DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEVD));
}

TEST(open__unknown_host__is_an_address_error)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	dt_assert_ret(try_open("bad-host", &async, &ia),
	    DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
}

TEST(open__unreadable_parameters__are_refused)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	dt_assert_ret(
	    try_open("bad-word", &async, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	dt_assert_ret(try_open("bad-personality", &async, &ia),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	dt_assert_ret(
	    try_open("bad-empty", &async, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
}

/* origin: out33.F5 */
TEST(open__address_of_many__is_none_and_nothing_connects_to_it)
{
	static const char *const names[] = { "bad-broadcast", "bad-multicast", "bad-multicast-last",
		"bad-multicast-6" };
	static const char *const addresses[] = { "255.255.255.255", "224.0.0.1" };
	const DAT_RETURN no_address =
	    DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED);
	struct sockaddr_in to = { .sin_family = AF_INET };
	struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	struct dt_side side;
	DAT_IA_HANDLE ia;

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		dt_assert_ret(try_open(names[i], &async, &ia), no_address);
	dt_side_open(&side, "soft", DT_SEPARATE);
	for (size_t i = 0; i < sizeof addresses / sizeof addresses[0]; i++) {
		to.sin_addr.s_addr = inet_addr(addresses[i]);
		dt_assert_ret(dat_ep_connect(side.ep, (DAT_IA_ADDRESS_PTR)(struct sockaddr *)&to, 7,
				  DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT,
				  DAT_CONNECT_DEFAULT_FLAG),
		    no_address);
	}
	to6.sin6_addr.s6_addr[0] = 0xff;
	to6.sin6_addr.s6_addr[1] = 2;
	dt_assert_ret(
	    dat_ep_connect(side.ep, (DAT_IA_ADDRESS_PTR)(struct sockaddr *)&to6, 7,
		DAT_TIMEOUT_INFINITE, 0, NULL, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG),
	    no_address);
	ck_assert_int_eq(dt_state(side.ep), DAT_EP_STATE_UNCONNECTED);
	dt_side_close(&side);
}

static int
find_provider(struct dl_phdr_info *info, size_t size, void *found)
{
	(void)size;
	*(bool *)found |=
	    strstr(info->dlpi_name, "libdaplsoft") || strstr(info->dlpi_name, "libfault");
	return 0;
}

/*
 * A registry closes the library with its last adapter; threads and handles of a program may still
 * be in it.
 */
/* origin: out33.F2 */
TEST(close__of_the_last_adapter__the_provider_stays_loaded)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	bool found = false;

	if (!dt_on_soft("the name of the library is that of the software device"))
		return;
	/* No device is opened for the first, so no device keeps the library. */
	dt_assert_ret(try_open("bad-spin-word", &async, &ia),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
	dl_iterate_phdr(find_provider, &found);
	ck_assert(found);
	dt_close(dt_open("soft", NULL));
	found = false;
	dl_iterate_phdr(find_provider, &found);
	ck_assert(found);
}

TEST_LOOP(open__number_of_a_word_is_wrong__is_refused, 16)
{
	static const char *const names[] = { "bad-slow-none", "bad-slow-word", "bad-spin-empty",
		"bad-spin-word", "bad-spin-sign", "bad-spin-long", "bad-loops",
		"bad-moderation-empty", "bad-moderation-count", "bad-moderation-short",
		"bad-moderation-no-count", "bad-moderation-never", "bad-moderation-none",
		"bad-moderation-many", "bad-moderation-long", "bad-moderation-more" };
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	dt_assert_ret(
	    try_open(names[_i], &async, &ia), DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1));
}

TEST(open__longest_spin__is_accepted)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;

	dt_ok(try_open("soft-spin", &async, &ia));
	dt_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* A spurious device sometimes notifies without a completion. */
TEST(open__with_a_personality__the_device_has_it)
{
	struct dat_rearm_evd_counters counters = { .spurious_notifications = 0 };
	DAT_UPCALL_OBJECT object = { NULL, dt_ignore };
	struct dt_pair pair;
	DAT_EVENT event;

	if (!dt_on_soft("needs a device whose manners a test chooses"))
		return;
	setenv("SOFTVERBS_PERSONALITY", "strict", 1);
	dt_side_open(&pair.a, "soft-spurious", DT_SEPARATE);
	dt_side_open(&pair.b, "soft-spurious", DT_SEPARATE);
	dt_side_listen(&pair.b);
	dt_recv(&pair.b, 0, 16, 1);
	dt_connect_pair(&pair);
	dt_ok(dat_evd_modify_upcall(
	    pair.b.recv, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_UPCALL_INVOC_ANY));
	for (int i = 0; i < 2000 && counters.spurious_notifications == 0; i++) {
		dt_send(&pair.a, 0, 16, 1);
		dt_expect_dto(pair.a.request, pair.a.ep, 1, DAT_DTO_SUCCESS, &event);
		while (dt_try_recv(&pair.b, 0, 16, 1) != DAT_SUCCESS)
			dt_nap_ms(1); /* the upcalls are late */
		dt_ok(dat_evd_query_upcall_counters(pair.b.recv, &counters));
	}
	ck_assert_uint_gt(counters.spurious_notifications, 0);
	dt_pair_close(&pair);
}

TEST(open__no_device__fails_clearly_and_at_once)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	unsigned long long begin = dt_now_us();
	DAT_IA_HANDLE ia;

	/* The loopback address belongs to no RDMA device, on any host. */
	dt_assert_ret(try_open("real", &async, &ia),
	    DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
	ck_assert_uint_lt(dt_now_us() - begin, (unsigned long long)runner_stretch(1000000));
}

TEST(open__twice__gives_two_adapters_of_one_device)
{
	DAT_IA_HANDLE first = dt_open("soft", NULL), second = dt_open("soft", NULL);

	ck_assert_ptr_ne(first, second);
	dt_close(first);
	(void)dt_address(second);
	dt_close(second);
}

DT_CASE("ia:close");

/* clause: b.3.9 */
TEST(close__again__is_a_bad_handle)
{
	DAT_IA_HANDLE ia = dt_open("soft", NULL);

	dt_close(ia);
	dt_assert_ret(dat_ia_close(ia, DAT_CLOSE_ABRUPT_FLAG),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
}

/* clause: e.9.3 */
TEST(close__unknown_flag__is_refused_and_closes_nothing)
{
	DAT_IA_HANDLE ia = dt_open("soft", NULL);

	dt_assert_ret(dat_ia_close(ia, (DAT_CLOSE_FLAGS)5),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_close(ia);
}

/* clause: e.9.2 */
TEST(close__graceful_with_a_child__is_refused_until_it_is_freed)
{
	DAT_IA_HANDLE ia = dt_open("soft", NULL);
	DAT_PZ_HANDLE pz;

	dt_ok(dat_pz_create(ia, &pz));
	dt_assert_ret(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	dt_ok(dat_pz_free(pz));
	dt_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* clause: e.9.1 */
TEST(close__abrupt_with_everything_alive__frees_it_all)
{
	struct dt_pair pair;

	dt_pair_open(&pair, DT_SEPARATE);
	dt_connect_pair(&pair);
	dt_recv(&pair.a, 0, 64, 1);
	dt_pair_close(&pair);
}

DT_CASE("ia:query");

/* clause: e.9.4 */
TEST(query__without_what_is_asked_for__names_the_argument)
{
	DAT_IA_HANDLE ia = dt_open("soft", NULL);
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_IA_ATTR attr;

	dt_assert_ret(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, NULL, 0, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG4));
	dt_assert_ret(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG6));
	dt_assert_ret(dat_ia_query(ia, NULL, UINT64_C(1) << 60, &attr, 0, NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_ok(dat_ia_query(ia, NULL, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
	dt_close(ia);
}

/* clause: e.9.5, e.9.6, e.9.7 */
TEST(query__attributes__are_what_consumers_rely_on)
{
	DAT_EVD_HANDLE async, asked = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia = dt_open("soft", &async);
	const char *rdma_read = "", *mtu = "";
	DAT_PROVIDER_ATTR provider = { 0 };
	DAT_IA_ATTR attr;

	dt_ok(dat_ia_query(ia, &asked, DAT_IA_FIELD_ALL, &attr, DAT_PROVIDER_FIELD_ALL, &provider));
	ck_assert_ptr_eq(asked, async);
	ck_assert_int_eq(attr.ia_address_ptr->sa_family, AF_INET);
	ck_assert_int_gt(attr.max_eps, 0);
	ck_assert_int_ge(attr.max_evd_qlen, 1024);
	ck_assert_str_eq(provider.provider_name, "soft");
	ck_assert_int_eq(provider.is_thread_safe, DAT_FALSE);
	ck_assert_uint_eq(provider.dapl_version_major, 2);
	ck_assert_uint_eq(provider.dapl_version_minor, 0);
	ck_assert_int_eq(provider.max_private_data_size, 56);
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 6; j++)
			ck_assert_int_eq(provider.evd_stream_merging_supported[i][j], DAT_TRUE);
	for (int i = 0; i < provider.num_provider_specific_attr; i++) {
		const DAT_NAMED_ATTR *named = &provider.provider_specific_attr[i];

		if (strcmp(named->name, "DAT_IB_RDMA_READ") == 0)
			rdma_read = named->value;
		if (strcmp(named->name, "DAT_IB_TRANSPORT_MTU") == 0)
			mtu = named->value;
	}
	ck_assert_str_eq(rdma_read, "TRUE");
	ck_assert_str_ne(mtu, "");
	dt_close(ia);
}

DT_CASE("ia:async-evd");

/* clause: c.2.14 */
TEST(async_evd__of_the_provider__is_not_the_consumers_to_free)
{
	DAT_EVD_HANDLE async;
	DAT_IA_HANDLE ia = dt_open("soft", &async);

	dt_assert_ret(
	    dat_evd_free(async), DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_EVD_IN_USE));
	dt_ok(dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG));
}

/* clause: c.2.11 */
/* origin: out33.Q17 */
TEST(async_evd__of_another_opening__is_shared)
{
	DAT_EVD_HANDLE async, shared, asked;
	DAT_IA_HANDLE first = dt_open("soft", &async), second;

	shared = async;
	dt_ok(try_open("soft", &shared, &second));
	ck_assert_ptr_eq(shared, async);
	dt_ok(dat_ia_query(second, &asked, 0, NULL, 0, NULL));
	ck_assert_ptr_eq(asked, async);
	dt_assert_ret(dat_ia_close(first, DAT_CLOSE_GRACEFUL_FLAG),
	    DAT_ERROR(DAT_INVALID_STATE, DAT_INVALID_STATE_IA_IN_USE));
	dt_close(second);
	shared = async;
	dt_ok(try_open("soft", &shared, &second));
	dt_close(first); /* the second still works */
	dt_ok(dat_ia_query(second, &asked, 0, NULL, 0, NULL));
	ck_assert_ptr_null(asked);
	dt_close(second);
}

/* clause: c.2.13 */
TEST(async_evd__exists_elsewhere__is_out_of_scope)
{
	DAT_EVD_HANDLE async = DAT_EVD_ASYNC_EXISTS, asked;
	DAT_IA_HANDLE ia;

	dt_ok(try_open("soft", &async, &ia));
	dt_ok(dat_ia_query(ia, &asked, 0, NULL, 0, NULL));
	ck_assert_ptr_eq(asked, DAT_EVD_OUT_OF_SCOPE);
	dt_close(ia);
}

/* clause: c.2.12 */
TEST(async_evd__without_the_stream__is_refused)
{
	DAT_IA_HANDLE first = dt_open("soft", NULL), second;
	DAT_EVD_HANDLE evd;

	dt_ok(dat_evd_create(first, 4, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_assert_ret(try_open("soft", &evd, &second),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_EVD_ASYNC));
	dt_close(first);
}

DT_CASE("ia:extension");

TEST(step__of_an_adapter_with_threads__is_refused)
{
	DAT_IA_HANDLE ia = dt_open("soft", NULL), stepped = dt_open("soft-step", NULL);
	DAT_COUNT done = -1;

	dt_assert_ret(dat_ia_step(ia, 0, &done), DAT_ERROR(DAT_INVALID_STATE, DAT_NO_SUBTYPE));
	dt_ok(dat_ia_step(stepped, 0, &done));
	ck_assert_int_ge(done, 0);
	dt_close(ia);
	dt_close(stepped);
}

/* clause: f.1.3 */
TEST(extension__unknown_operation__is_not_implemented)
{
	DAT_IA_HANDLE ia = dt_open("soft", NULL);

	dt_assert_ret(dat_extension_op(ia, 0x1ff), DAT_ERROR(DAT_NOT_IMPLEMENTED, DAT_NO_SUBTYPE));
	dt_close(ia);
}

DT_CASE("ia:open");

/* clause: g.1.2 */
/* origin: race.D11 */
TEST(open_and_close__400_times_under_50_descriptors__leaks_nothing)
{
	struct rlimit before, few;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 50, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	for (int i = 0; i < 400; i++) {
		DAT_IA_HANDLE ia = dt_open("soft", NULL);
		DAT_EVD_HANDLE evd;

		dt_ok(dat_evd_create(ia, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd));
		dt_close(ia);
	}
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
}

/* One for each loop, and none where the program steps it; the device has its own. */
TEST(open__threads__are_as_many_as_loops)
{
	static const struct {
		const char *name;
		int threads;
	} kinds[] = { { "soft", 1 }, { "soft-loops", 3 }, { "soft-step", 0 } };
	DAT_IA_HANDLE first, ia;
	int before;

	if (!dt_on_soft("threads of other devices are not known"))
		return;
	first = dt_open("soft", NULL);
	before = runner_count_threads();
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		ia = dt_open(kinds[i].name, NULL);
		ck_assert_int_eq(runner_count_threads() - before, kinds[i].threads);
		dt_close(ia);
		ck_assert_int_eq(runner_await_threads(before), before);
	}
	dt_close(first);
}

DT_CASE("ia:query");

/* clause: b.6.8 */
TEST(ha_related__to_no_other_adapter)
{
	DAT_IA_HANDLE ia = dt_open("soft", NULL);
	DAT_BOOLEAN answer = DAT_TRUE;

	dt_ok(dat_ia_ha_related(ia, (char *)"soft-loops", &answer));
	ck_assert_int_eq(answer, DAT_FALSE);
	dt_assert_ret(dat_ia_ha_related(ia, NULL, &answer),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2));
	dt_assert_ret(dat_ia_ha_related(ia, (char *)"soft", NULL),
	    DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3));
	dt_close(ia);
	dt_assert_ret(dat_ia_ha_related(ia, (char *)"soft", &answer),
	    DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA));
}

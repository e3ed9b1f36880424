/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of dat.conf that share a name: each is a separate adapter. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "lib/dt.h"

/* As lib/dt.c writes them. */
static const struct key {
	DAT_UINT32 major, minor;
	DAT_BOOLEAN thread_safe;
	int host;
} keys[] = {
	{ 2, 0, DAT_FALSE, 1 }, { 2, 0, DAT_TRUE, 2 }, { 2, 1, DAT_TRUE, 3 },
	{ 1, 2, DAT_FALSE, 4 }, /* second of its chain */
};
#define KEYS ((int)(sizeof keys / sizeof keys[0]))

static DAT_RETURN
try_open(const struct key *key, DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "keyed";

	return dat_ia_openv(name, 8, &async, ia, key->major, key->minor, key->thread_safe);
}

static DAT_IA_HANDLE
open_key(const struct key *key)
{
	DAT_IA_HANDLE ia;

	dt_ok(try_open(key, &ia));
	return ia;
}

/* Checks that the adapter belongs to that record, and that it works. */
static void
assert_is(DAT_IA_HANDLE ia, const struct key *key)
{
	const struct sockaddr_in *in = (const void *)dt_address(ia);
	char address[INET_ADDRSTRLEN];
	DAT_PROVIDER_ATTR attr = { 0 };
	DAT_PZ_HANDLE pz;

	ck_assert_int_eq(in->sin_family, AF_INET);
	ck_assert_ptr_nonnull(inet_ntop(AF_INET, &in->sin_addr, address, sizeof address));
	ck_assert_msg(dt_on_network(address, key->host), "%s is not host %d", address, key->host);
	dt_ok(dat_ia_query(ia, NULL, 0, NULL, DAT_PROVIDER_FIELD_ALL, &attr));
	ck_assert_str_eq(attr.provider_name, "keyed");
	ck_assert_uint_eq(attr.dapl_version_major, key->major);
	ck_assert_uint_eq(attr.dapl_version_minor, key->minor);
	ck_assert_int_eq(attr.is_thread_safe, key->thread_safe);
	dt_ok(dat_pz_create(ia, &pz));
	dt_ok(dat_pz_free(pz));
}

DT_CASE("record:record");

/* origin: attack.P1 */
/* clause: b.2.4 */
TEST(record__of_each_key__is_opened_with_its_own_parameters)
{
	DAT_IA_HANDLE ia[3][KEYS];

	if (!dt_has_network())
		return;
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < KEYS; i++)
			ia[round][i] = open_key(&keys[i]);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < KEYS; i++)
			assert_is(ia[round][i], &keys[i]);
	for (int i = 0; i < KEYS; i++)
		for (int round = 0; round < 3; round++)
			dt_close(ia[round][i]);
	for (int i = KEYS - 1; i >= 0; i--) {
		ia[0][0] = open_key(&keys[i]);
		assert_is(ia[0][0], &keys[i]);
		dt_close(ia[0][0]);
	}
}

/* origin: attack.P1 */
TEST(record__closed_by_all__leaves_the_others_of_its_name_alone)
{
	DAT_IA_HANDLE first, second, third;
	DAT_PZ_HANDLE pz;

	if (!dt_has_network())
		return;
	first = open_key(&keys[0]);
	second = open_key(&keys[1]);
	third = open_key(&keys[0]);
	dt_ok(dat_pz_create(third, &pz));
	dt_close(second);
	dt_ok(dat_pz_free(pz));
	assert_is(third, &keys[0]);
	assert_is(first, &keys[0]);
	dt_close(third);
	dt_close(first);
}

#define CHAINLESS (KEYS - 1) /* those that open without a message */

static atomic_int failures;

static void *
open_in_turn(void *arg)
{
	DAT_IA_HANDLE ia;

	for (int i = 0; i < 30; i++)
		if (try_open(&keys[((uintptr_t)arg + (uintptr_t)i) % CHAINLESS], &ia) !=
			DAT_SUCCESS ||
		    dat_ia_close(ia, DAT_CLOSE_GRACEFUL_FLAG) != DAT_SUCCESS)
			failures++;
	return NULL;
}

/* origin: attack.P1 */
TEST(record__opened_by_threads_beside_its_namesakes__always_opens)
{
	pthread_t threads[8];

	if (!dt_has_network())
		return;
	for (uintptr_t i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, open_in_turn, (void *)i), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(failures, 0);
}

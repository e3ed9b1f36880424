/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail because a resource runs out: the code, and the line that explains it */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/dt.h"
#include "printed.h"

#define NO_DESCRIPTOR DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE)
#define NO_REGION DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION)

static struct rlimit usual;

/* So many descriptors can still be opened. */
static void
leave_descriptors(int n)
{
	struct rlimit limit;
	int next = open("/dev/null", O_RDONLY | O_CLOEXEC);

	ck_assert_int_ge(next, 0);
	close(next);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
	limit = usual;
	limit.rlim_cur = (rlim_t)(next + n);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

static void
allow_descriptors(void)
{
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
}

static DAT_RETURN
try_open(DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "soft";

	return dat_ia_open(name, 8, &async, ia);
}

/* Each descriptor that the open needs is the one that is missing in one of the turns. */
/* clause: e.9.9 */
START_TEST(open__without_descriptors__says_so)
{
	DAT_RETURN ret = ~0u;
	DAT_IA_HANDLE ia;
	int n;

	if (!dt_on_soft("other devices need other descriptors"))
		return;
	dt_close(dt_open("soft", NULL)); /* loads the library */
	for (n = 0; ret != DAT_SUCCESS; n++) {
		ck_assert_int_lt(n, 50);
		capture(STDERR_FILENO);
		leave_descriptors(n);
		ret = try_open(&ia);
		allow_descriptors();
		captured();
		if (ret == DAT_SUCCESS)
			break;
		dt_assert_ret(ret, NO_DESCRIPTOR);
		assert_line("no descriptor is left: this process may have [0-9]+ "
			    "\\(ulimit -n, LimitNOFILE=\\)");
	}
	ck_assert_int_gt(n, 0);
	dt_close(ia);
}
END_TEST

/* clause: e.9.9 */
START_TEST(evd_and_cno__without_descriptors__say_so)
{
	struct dt_side side;
	DAT_CNO_HANDLE cno;
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;
	DAT_FD fd;

	dt_side_open(&side, "soft", DT_SEPARATE);
	for (int i = 0; i < 2; i++) {
		capture(STDERR_FILENO);
		leave_descriptors(0);
		ret = i ? dat_cno_fd_create(side.ia, &fd, &cno) :
			  dat_evd_create(side.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd);
		allow_descriptors();
		captured();
		dt_assert_ret(ret, NO_DESCRIPTOR);
		assert_line("no descriptor is left: .*");
	}
	dt_side_close(&side);
}
END_TEST

static char memory[64 * 4096];

static DAT_RETURN
reg(const struct dt_side *side, size_t size, DAT_LMR_HANDLE *lmr)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = memory };

	return dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, size, side->pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, lmr, NULL, NULL, NULL, NULL);
}

/* clause: e.9.9 */
START_TEST(lmr__more_than_may_be_locked__says_how_much_that_is)
{
	struct rlimit limit;
	DAT_LMR_HANDLE lmr;
	struct dt_side side;
	DAT_RETURN ret;

	if (!dt_on_soft("root may lock memory without limit"))
		return;
	ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	limit.rlim_cur = 32 * 4096;
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &limit), 0);
	setenv("SOFTVERBS_MEMLOCK", "1", 1);
	dt_side_open(&side, "soft", DT_SEPARATE); /* it registers one or two pages */
	capture(STDERR_FILENO);
	ret = reg(&side, 40 * 4096, &lmr);
	captured();
	dt_assert_ret(ret, NO_REGION);
	assert_line(
	    "ibv_reg_mr: 163840 bytes cannot be registered, 4096 are: Cannot allocate memory; "
	    "this process may lock 131072 bytes of memory \\(ulimit -l, LimitMEMLOCK=\\)");
	dt_ok(reg(&side, 20 * 4096, &lmr));
	dt_assert_ret(reg(&side, 20 * 4096, &lmr), NO_REGION);
	dt_ok(dat_lmr_free(lmr));
	dt_ok(reg(&side, 20 * 4096, &lmr));
	dt_side_close(&side);
}
END_TEST

/* clause: e.9.9 */
START_TEST(open__no_device_at_the_address__says_what_to_do)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "real";
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;

	capture(STDERR_FILENO);
	ret = dat_ia_open(name, 8, &async, &ia);
	captured();
	dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
	ck_assert_msg(has_line("no RDMA device has the address of .*: `rdma link show` .*") ||
			  has_line("this host has no RDMA connection manager: modprobe rdma_ucm.*"),
	    "%s", printed);
}
END_TEST

Suite *
shortage_suite(void)
{
	Suite *s = suite_create("shortage");
	TCase *tc = dt_tcase(s, "resources");

	tcase_add_test(tc, open__without_descriptors__says_so);
	tcase_add_test(tc, evd_and_cno__without_descriptors__say_so);
	tcase_add_test(tc, lmr__more_than_may_be_locked__says_how_much_that_is);
	tcase_add_test(tc, open__no_device_at_the_address__says_what_to_do);
	return s;
}

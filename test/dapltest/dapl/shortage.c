/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fail because a resource runs out: the code, and the line that explains it */
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/dt.h"
#include "lib/feature.h"
#include "printed.h"

#define NO_DESCRIPTOR DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_NO_SUBTYPE)
#define NO_REGION DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY_REGION)

#define STATS_PAGES 10 /* names of pages of a process */

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

DT_CASE("shortage:resources");

/* All names that the page may have are there. */
TEST(statistics__no_page_can_be_made__says_why_and_the_adapter_works)
{
	char path[128];
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;
	int fd;

	if (!feature_shm()) {
		runner_skip(FEATURE_NO_SHM);
		return;
	}
	setenv("DAPL_STATS", "100", 1);
	for (int n = 0; n < STATS_PAGES; n++) {
		snprintf(path, sizeof path, "/dev/shm/rearm-stats-%ld-%d", (long)getpid(), n);
		fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
		ck_assert_int_ge(fd, 0);
		close(fd);
	}
	capture(STDERR_FILENO);
	ret = try_open(&ia);
	captured();
	unsetenv("DAPL_STATS");
	for (int n = 0; n < STATS_PAGES; n++) {
		snprintf(path, sizeof path, "/dev/shm/rearm-stats-%ld-%d", (long)getpid(), n);
		unlink(path);
	}
	dt_ok(ret);
	dt_close(ia);
	assert_line(
	    "dat_ia_open\\(\"soft\"\\): no statistics are published: /dev/shm: File exists");
}

/* The library is loaded then, and reserves no range for its handles. */
TEST(open__no_address_space_when_the_library_is_loaded__works_when_there_is)
{
	struct rlimit before, limit;
	DAT_EVD_HANDLE evd;
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;

	if (!dt_on_soft("other devices need other memory"))
		return;
	if (!feature_limit()) {
		runner_skip(FEATURE_NO_LIMIT);
		return;
	}
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)dt_mapped_pages() * (rlim_t)sysconf(_SC_PAGESIZE) + (64u << 20);
	capture(STDERR_FILENO);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	ret = try_open(&ia);
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
	captured();
	dt_assert_type(ret, DAT_INSUFFICIENT_RESOURCES);
	dt_ok(try_open(&ia));
	dt_ok(dat_evd_create(ia, 8, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd));
	dt_post_se(evd, 1);
	dt_ok(dat_evd_free(evd));
	dt_close(ia);
}

/* Each descriptor that the open needs is the one that is missing in one of the turns. */
/* clause: e.9.9 */
TEST(open__without_descriptors__says_so)
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
		assert_line(
		    "dat_ia_open\\(\"soft\"\\): no descriptor is left: raise the limit with "
		    "ulimit -n \\(now [0-9]+\\), or LimitNOFILE= of the service");
		ck_assert_ptr_eq(strchr(printed, '\n'), printed + strlen(printed) - 1);
	}
	ck_assert_int_gt(n, 0);
	dt_close(ia);
}

/* clause: e.9.9 */
TEST(evd_and_cno__without_descriptors__say_so)
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
		assert_line(i ? "dat_cno_fd_create: no descriptor is left: .*" :
				"dat_evd_create: no descriptor is left: .*");
		ck_assert_ptr_eq(strchr(printed, '\n'), printed + strlen(printed) - 1);
	}
	dt_side_close(&side);
}

static char memory[64 * 4096];

static DAT_RETURN
reg(const struct dt_side *side, size_t size, DAT_LMR_HANDLE *lmr)
{
	const DAT_REGION_DESCRIPTION region = { .for_va = memory };

	return dat_lmr_create(side->ia, DAT_MEM_TYPE_VIRTUAL, region, size, side->pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, lmr, NULL, NULL, NULL, NULL);
}

/* clause: e.9.9 */
TEST(lmr__more_than_may_be_locked__says_how_much_that_is)
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
	assert_line("dat_lmr_create: ibv_reg_mr: 163840 bytes cannot be registered, 4096 are: "
		    "Cannot allocate "
		    "memory; this process may lock 131072 bytes of memory: raise the limit with "
		    "ulimit -l, or "
		    "LimitMEMLOCK= of the service; or the device has no more: ibv_devinfo -v "
		    "prints its limits");
	dt_ok(reg(&side, 20 * 4096, &lmr));
	dt_assert_ret(reg(&side, 20 * 4096, &lmr), NO_REGION);
	dt_ok(dat_lmr_free(lmr));
	dt_ok(reg(&side, 20 * 4096, &lmr));
	dt_side_close(&side);
}

/* clause: e.9.9 */
TEST(open__no_device_at_the_address__says_what_to_do)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char name[] = "real";
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;

	capture(STDERR_FILENO);
	ret = dat_ia_open(name, 8, &async, &ia);
	captured();
	dt_assert_ret(ret, DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED));
	ck_assert_msg(
	    has_line("dat_ia_open\\(\"real\"\\): no RDMA device has the address of .*: `rdma link` "
		     ".*") ||
		has_line("dat_ia_open\\(\"real\"\\): this host has no RDMA connection manager: .*"),
	    "%s", printed);
}

/* ---- the interface of the adapter, and the directory of the software device ---- */

#define NO_ADDRESS DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED)

/* Opening the adapter fails with this code and this line alone, a pattern. */
static void
assert_open_fails(const char *adapter, DAT_RETURN want, const char *pattern)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char line[1024];
	DAT_IA_HANDLE ia;
	DAT_RETURN ret;

	capture(STDERR_FILENO);
	ret = dat_ia_open((DAT_NAME_PTR)(uintptr_t)adapter, 8, &async, &ia);
	captured();
	dt_assert_ret(ret, want);
	snprintf(line, sizeof line, "dat_ia_open\\(\"%s\"\\): %s", adapter, pattern);
	assert_line(line);
	ck_assert_msg(strchr(printed, '\n') == printed + strlen(printed) - 1, "%s", printed);
}

TEST(open__no_such_interface_or_host__says_so)
{
	assert_open_fails("bad-host", NO_ADDRESS,
	    "no-such-host.invalid is neither an interface of this host, nor an address, nor a "
	    "known host name: `ip link` lists the interfaces");
}

/* A network whose interface lo is down; false without the privilege to make one. */
static bool
enter_network(void)
{
	if (unshare(CLONE_NEWNET) && unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		printf("no network of its own here: %s\n", strerror(errno));
		return false;
	}
	return true;
}

TEST(open__interface_that_is_down__says_so)
{
	if (!dt_on_soft("another device is not in a new network") || !enter_network())
		return;
	assert_open_fails("soft", NO_ADDRESS, "the interface lo is down: ip link set lo up");
}

/* Sets lo up, which gives it its addresses, and takes them away. */
static void
set_up_without_address(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	struct {
		struct in6_addr address;
		uint32_t length;
		int interface;
	} loopback = { IN6ADDR_LOOPBACK_INIT, 128, (int)if_nametoindex("lo") };
	int s4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0),
	    s6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	ck_assert_int_eq(ioctl(s4, SIOCSIFFLAGS, &lo), 0);
	lo.ifr_addr = (struct sockaddr){ .sa_family = AF_INET };
	ck_assert_int_eq(ioctl(s4, SIOCSIFADDR, &lo), 0);
	close(s4);
	if (s6 < 0) /* there is no IPv6 */
		return;
	(void)ioctl(s6, SIOCDIFADDR, &loopback);
	close(s6);
}

TEST(open__interface_without_address__says_so)
{
	if (!dt_on_soft("another device is not in a new network") || !enter_network())
		return;
	set_up_without_address();
	assert_open_fails("soft", NO_ADDRESS,
	    "the interface lo has no address: ip address add ADDRESS/LENGTH dev lo");
}

/*
 * The directory where the processes of this user meet was left by another user, or is open to
 * others.
 */
TEST(open__software_device_of_another_user__says_whose_it_is)
{
	char base[] = "/tmp/rearm-other-XXXXXX", path[64], pattern[256];
	const bool root = geteuid() == 0;

	if (!dt_on_soft("another device has no directory"))
		return;
	ck_assert_ptr_nonnull(mkdtemp(base));
	snprintf(path, sizeof path, "%s/softverbs-%u", base, (unsigned int)geteuid());
	ck_assert_int_eq(mkdir(path, 0700), 0);
	if (root)
		ck_assert_int_eq(chown(path, 65534, 65534), 0);
	else
		ck_assert_int_eq(chmod(path, 0755), 0);
	unsetenv("XDG_RUNTIME_DIR");
	setenv("TMPDIR", base, 1);
	snprintf(pattern, sizeof pattern, "the software device cannot be used: %s: %s", path,
	    root ? "belongs to user 65534: remove it, or set XDG_RUNTIME_DIR or TMPDIR" :
		   "has mode 0755, must be 0700: chmod it");
	assert_open_fails("soft", DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE), pattern);
	rmdir(path);
	rmdir(base);
}

/* Each time. */
/* origin: out33.EE6 */
TEST_LOOP(open__software_device_with_a_bad_variable__names_it, 2)
{
	static const struct {
		const char *name, *value, *line;
	} variables[] = {
		{ "SOFTVERBS_TIME_FACTOR", "fast",
		    "SOFTVERBS_TIME_FACTOR=fast: not a number from 0.01 to 100" },
		{ "SOFTVERBS_FAULTS", "foo",
		    "SOFTVERBS_FAULTS: foo: foo is no call that can fail; --faults=list prints "
		    "them" },
	};
	char pattern[256];

	if (!dt_on_soft("another device does not read it"))
		return;
	setenv(variables[_i].name, variables[_i].value, 1);
	snprintf(
	    pattern, sizeof pattern, "the software device cannot be used: %s", variables[_i].line);
	for (int i = 0; i < 2; i++)
		assert_open_fails(
		    "soft", DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1), pattern);
}

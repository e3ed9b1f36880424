/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Adapters that cannot be opened, or not used: the code, and the one line that says why and what to
 * do
 */
#include <dat2/dat_log.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fault/fault.h"
#include "lib/feature.h"
#include "device.h"

#define NO_ADDRESS DAT_ERROR(DAT_INVALID_ADDRESS, DAT_INVALID_ADDRESS_UNSUPPORTED)
#define NO_PRIVILEGE DAT_ERROR(DAT_PRIVILEGES_VIOLATION, DAT_NO_SUBTYPE)
#define NO_MEMORY DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_MEMORY)

static char lines[4096];
static int errors;

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *line)
{
	const size_t used = strlen(lines);

	(void)context;
	ck_assert_int_eq(strncmp(line, "rearm[", 6), 0);
	errors += level == DAT_LOG_ERROR;
	snprintf(lines + used, sizeof lines - used, "%s\n", strstr(line, "]: ") + 3);
}

/* Opens the adapter: this is the answer, and this the line.  True if it is open. */
static bool
open_is(DAT_RETURN want, const char *line, DAT_IA_HANDLE *ia)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	char wanted[1024];
	DAT_RETURN ret;

	snprintf(wanted, sizeof wanted, "dat_ia_open(\"faulty\"): %s\n", line);
	dt_ok(dat_rearm_set_log(note, NULL));
	ret = dat_ia_open((DAT_NAME_PTR)(uintptr_t) "faulty", 8, &async, ia);
	dt_ok(dat_rearm_set_log(NULL, NULL));
	dt_assert_ret(ret, want);
	ck_assert_str_eq(lines, wanted);
	ck_assert_int_eq(errors, 1);
	return ret == DAT_SUCCESS;
}

#define NO_CM \
	"this host has no RDMA connection manager: modprobe rdma_ucm, and see that `rdma link` " \
	"lists a " \
	"device; rearm(7)"
#define NO_CM_RIGHT \
	"this user may not open /dev/infiniband/rdma_cm: allow it with a rule of udev; " \
	"rearm(7)"
#define NO_VERBS_RIGHT \
	"this user may not open the RDMA device of lo, /dev/infiniband/uverbs*: allow it with a " \
	"rule of " \
	"udev; rearm(7)"
#define NO_DEVICE \
	"no RDMA device has the address of lo: `rdma link` lists the devices and their " \
	"interfaces, and " \
	"`rdma link add rxe0 type rxe netdev INTERFACE` makes one; rearm(7)"

struct refusal {
	void (*refuse)(int error);
	int error;
	DAT_RETURN ret;
	const char *line;
};

static const struct refusal refusals[] = {
	{ fault_cm_refuse_channels, ENOENT, NO_ADDRESS, NO_CM },
	{ fault_cm_refuse_channels, ENOSYS, NO_ADDRESS, NO_CM },
	{ fault_cm_refuse_channels, ENODEV, NO_ADDRESS, NO_CM },
	{ fault_cm_refuse_channels, EACCES, NO_PRIVILEGE, NO_CM_RIGHT },
	{ fault_cm_refuse_channels, EPERM, NO_PRIVILEGE, NO_CM_RIGHT },
	{ fault_cm_refuse_channels, EIO, DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
	    "rdma_create_event_channel: Input/output error" },
	{ fault_cm_refuse_addresses, ENODEV, NO_ADDRESS, NO_DEVICE },
	{ fault_cm_refuse_addresses, EACCES, NO_PRIVILEGE, NO_VERBS_RIGHT },
	{ fault_cm_refuse_addresses, EADDRNOTAVAIL, NO_ADDRESS,
	    "lo is no address of this host: `ip address` shows those that it has" },
	{ fault_cm_refuse_addresses, EIO, DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
	    "rdma_bind_addr: Input/output error" },
};

DEVICE_CASE("device-reason:reason");

/* clause: e.9.9 */
TEST_LOOP(
    open__device_is_not_there_or_refuses__says_so_in_one_line, sizeof refusals / sizeof refusals[0])
{
	DAT_IA_HANDLE ia;

	refusals[_i].refuse(refusals[_i].error);
	ck_assert(!open_is(refusals[_i].ret, refusals[_i].line, &ia));
	fault_clear();
	dt_close(dt_open("faulty", NULL));
}

/* Without a line: that the device cannot be used, and the error. */
static const struct refusal soft_refusals[] = {
	{ fault_cm_refuse_channels, ENOENT, NO_ADDRESS, NULL },
	{ fault_cm_refuse_channels, ENOSYS, NO_ADDRESS, NULL },
	{ fault_cm_refuse_channels, ENODEV, NO_ADDRESS, NULL },
	{ fault_cm_refuse_channels, EACCES, NO_PRIVILEGE, NULL },
	{ fault_cm_refuse_channels, EPERM, NO_PRIVILEGE, NULL },
	{ fault_cm_refuse_channels, EIO, DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
	    "rdma_create_event_channel: Input/output error" },
	/* It has all addresses of the host. */
	{ fault_cm_refuse_addresses, ENODEV, NO_ADDRESS,
	    "lo is no address of this host: `ip address` shows those that it has" },
	{ fault_cm_refuse_addresses, EPERM, NO_PRIVILEGE, NULL },
	{ fault_cm_refuse_addresses, EIO, DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE),
	    "rdma_bind_addr: Input/output error" },
};

/* What is to be done for a device of the host does not help a user of the software device. */
/* clause: e.9.9 */
/* origin: out33.F10B */
TEST_LOOP(open__software_device_is_not_there__no_advice_for_a_device_of_the_host,
    sizeof soft_refusals / sizeof soft_refusals[0])
{
	DAT_IA_HANDLE ia;
	char want[256];

	snprintf(want, sizeof want, "the software device cannot be used: %s",
	    strerror(soft_refusals[_i].error));
	fault_is_soft(true);
	soft_refusals[_i].refuse(soft_refusals[_i].error);
	ck_assert(!open_is(
	    soft_refusals[_i].ret, soft_refusals[_i].line ? soft_refusals[_i].line : want, &ia));
	fault_clear();
	dt_close(dt_open("faulty", NULL));
}

static void
expect_no_thread(const char *memory)
{
	char want[256], now[64] = "";
	struct rlimit limit;
	DAT_IA_HANDLE ia;

	ck_assert_int_eq(getrlimit(RLIMIT_NPROC, &limit), 0);
	if (limit.rlim_cur != RLIM_INFINITY)
		snprintf(now, sizeof now, " (now %llu)", (unsigned long long)limit.rlim_cur);
	snprintf(want, sizeof want,
	    "no thread can be started: raise the limit with ulimit -u%s, or TasksMax= of the "
	    "service%s",
	    now, memory);
	fault_refuse_threads(EAGAIN);
	ck_assert(!open_is(NO_MEMORY, want, &ia));
}

/* clause: e.9.9 */
TEST(open__no_thread_can_be_started__says_so_in_one_line)
{
	expect_no_thread("");
}

/* origin: out33.G4 */
TEST(open__program_may_write_short_files_only__is_a_shortage_and_the_line_says_so)
{
	const DAT_RETURN shortage = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE);
	struct rlimit before, limit;
	DAT_IA_HANDLE ia;

	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &before), 0);
	limit = before;
	limit.rlim_cur = 65536;					  /* Check writes, too */
	ck_assert_ptr_nonnull(freopen("/dev/null", "w", stdout)); /* a file may be longer already */
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	ck_assert(!open_is(shortage,
	    "the software device cannot be used: cannot write softverbs.1.names: the limit of the "
	    "size of a file (ulimit -f) is too low",
	    &ia));
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &before), 0);
	dt_close(dt_open("faulty", NULL));
}

/* It is read once. */
/* origin: out33.EE6 */
TEST(open__topology_is_wrong__says_why_each_time)
{
	DAT_IA_HANDLE ia;

	setenv("SOFTVERBS_TOPOLOGY", "soft0 foo=1", 1);
	for (int i = 0; i < 2; i++) {
		*lines = '\0';
		errors = 0;
		ck_assert(!open_is(DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1),
		    "the software device cannot be used: SOFTVERBS_TOPOLOGY: soft0: foo: neither "
		    "\"ports\" nor a field of ibv_device_attr",
		    &ia));
	}
}

/* origin: out33.A8 */
TEST(open__no_thread_can_be_started_and_memory_is_limited__says_both)
{
	struct rlimit before, limit;

	if (!feature_limit()) {
		runner_skip(FEATURE_NO_LIMIT);
		return;
	}
	ck_assert_int_eq(getrlimit(RLIMIT_AS, &before), 0);
	limit = before;
	limit.rlim_cur = (rlim_t)1 << 40;
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
	expect_no_thread(
	    "; or of the memory, which its stack needs: ulimit -v (now 1073741824 KiB)");
	ck_assert_int_eq(setrlimit(RLIMIT_AS, &before), 0);
}

/* No EVD can be made with this limit of memory, for which ulimit has an option. */
static void
expect_no_memory(__rlimit_resource_t resource, const char *option, rlim_t value)
{
	struct rlimit before, limit;
	struct dt_side side;
	DAT_EVD_HANDLE evd;
	DAT_RETURN ret;
	char want[256];

	dt_side_open(&side, "faulty", DT_SEPARATE);
	ck_assert_int_eq(getrlimit(resource, &before), 0);
	limit = before;
	limit.rlim_cur = value;
	dt_ok(dat_rearm_set_log(note, NULL));
	ck_assert_int_eq(setrlimit(resource, &limit), 0);
	do
		ret = dat_evd_create(side.ia, 16384, DAT_HANDLE_NULL, DAT_EVD_SOFTWARE_FLAG, &evd);
	while (ret == DAT_SUCCESS);
	ck_assert_int_eq(setrlimit(resource, &before), 0);
	dt_ok(dat_rearm_set_log(NULL, NULL));
	dt_assert_ret(ret, NO_MEMORY);
	snprintf(want, sizeof want,
	    "dat_evd_create: no memory is left for this process: raise the limit with ulimit %s "
	    "(now %llu KiB), or MemoryMax= of the service\n",
	    option, (unsigned long long)limit.rlim_cur / 1024);
	ck_assert_str_eq(lines, want);
	dt_close(side.ia);
}

/* "ulimit -v" takes KiB. */
/* clause: e.9.9 */
/* origin: out33.H1 */
TEST(evd__without_memory__says_the_limit_in_the_unit_of_ulimit)
{
	if (!feature_limit()) {
		runner_skip(FEATURE_NO_LIMIT);
		return;
	}
	expect_no_memory(
	    RLIMIT_AS, "-v", (rlim_t)dt_mapped_pages() * (rlim_t)sysconf(_SC_PAGESIZE));
	lines[0] = '\0';
	expect_no_memory(RLIMIT_DATA, "-d", 8192);
}

/* Devices return ENOMEM for memory that may not be locked, and for what they have no more of. */
/* clause: e.9.9 */
TEST_LOOP(open__device_has_no_memory__says_what_that_may_be, 2)
{
	static const rlim_t limits[] = { 131072, RLIM_INFINITY };
	static const char *const mends[] = {
		"this process may lock 131072 bytes of memory: raise the limit with ulimit -l, or "
		"LimitMEMLOCK= of the service; or ",
		"",
	};
	struct rlimit limit;
	char want[512];
	DAT_IA_HANDLE ia;

	ck_assert_int_eq(getrlimit(RLIMIT_MEMLOCK, &limit), 0);
	limit.rlim_cur = limits[_i];
	if (limits[_i] == RLIM_INFINITY)
		limit.rlim_max = RLIM_INFINITY;
	if (setrlimit(RLIMIT_MEMLOCK, &limit)) {
		printf("this user may not raise the limit: %s\n", strerror(errno));
		return;
	}
	snprintf(want, sizeof want,
	    "rdma_bind_addr: Cannot allocate memory; %sthe device has no more: ibv_devinfo -v "
	    "prints "
	    "its limits",
	    mends[_i]);
	fault_cm_refuse_addresses(ENOMEM);
	ck_assert(!open_is(DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_DEVICE), want, &ia));
}

/* A link may come up later: the adapter is open. */
TEST_LOOP(open__port_that_is_not_active__works_and_warns_of_it, 3)
{
	static const struct {
		enum ibv_port_state state;
		const char *name;
	} cases[] = {
		{ IBV_PORT_DOWN, "down" },
		{ IBV_PORT_INIT, "initializing" },
		{ IBV_PORT_ARMED, "armed" },
	};
	char want[512];
	DAT_IA_HANDLE ia;

	snprintf(want, sizeof want,
	    "port 1 of the device %s, for lo, is %s and not active, so connections will fail: %s",
	    "soft0", cases[_i].name,
	    "look at the cable, and start a subnet manager in the fabric (opensm)");
	fault_port_state(cases[_i].state);
	ck_assert(open_is(DAT_SUCCESS, want, &ia));
	dt_close(ia);
}

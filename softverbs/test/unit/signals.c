/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * signals -- no thread of the device takes a signal of the program, and the threads that start them
 * have their own mask afterwards
 */
#include "line.h"
#include "other.h"
#include "own.h"
#include "lib/feature.h"

#include <dirent.h>
#include <signal.h>

#include "softverbs/device/guard.h"
#include "softverbs/device/teller.h"
#include "softverbs/soft_arm.h"

#define BIT(signal) (1ull << ((signal)-1))
/* All of 1 to 31 that can be blocked. */
#define ALL (0x7fffffffull & ~BIT(SIGKILL) & ~BIT(SIGSTOP))

static uint64_t
blocked(const char *thread)
{
	unsigned long long mask = 0;
	char path[300], text[4096];
	FILE *file;

	snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
	file = fopen(path, "r");
	ck_assert_ptr_nonnull(file);
	text[fread(text, 1, sizeof text - 1, file)] = '\0';
	fclose(file);
	ck_assert_int_eq(sscanf(strstr(text, "\nSigBlk:"), " SigBlk: %llx", &mask), 1);
	return mask;
}

/* Of the threads, without this one. */
static int
expect_all_blocked(void)
{
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *entry;
	int count = 0;

	while ((entry = readdir(tasks))) {
		if (*entry->d_name == '.' || atoi(entry->d_name) == getpid())
			continue;
		ck_assert_uint_eq(blocked(entry->d_name) & ALL, ALL);
		count++;
	}
	closedir(tasks);
	return count;
}

static void
be_read(void)
{
	own_connect(NULL);
	own_end();
}

static atomic_bool go_on;

static void
wait_to_go_on(unsigned int qp_num)
{
	(void)qp_num;
	while (!go_on)
		sleep_ms(1);
}

CASE("soft-signals:signals");

/* Those that serve links, read the memory of others, print lines, and close what others sent. */
/* origin: out33.U12 */
TEST(threads_of_the_device__have_all_signals_blocked__and_their_caller_its_own)
{
	char self[16];
	sigset_t usr2;
	int far_end;

	sprintf(self, "%d", (int)getpid());
	sigemptyset(&usr2);
	sigaddset(&usr2, SIGUSR2);
	ck_assert_int_eq(pthread_sigmask(SIG_SETMASK, &usr2, NULL), 0);
	own_begin(be_read, NULL);
	own_rdma(IBV_WR_RDMA_READ, 1, 0, 0, 100000);
	cq_expect(own.cq, 1, IBV_WC_SUCCESS);
	ck_assert_int_eq(expect_all_blocked(), feature_read() ? 2 : 1);
	soft_tell_stalls_to(wait_to_go_on);
	soft_tell_stall(1);
	soft_guard_begin(-1); /* as on a kernel that cannot refuse descriptors */
	soft_guard_close(line_trap(line_lingering(&far_end)));
	ck_assert_int_eq(expect_all_blocked(), feature_read() ? 4 : 3);
	ck_assert_uint_eq(blocked(self) & ALL, BIT(SIGUSR2));
	go_on = true;
	close(far_end);
	own_end();
	other_finish();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * meets -- who commands the device looks for it where it is
 */
#include "starve.h"
#include "story.h"
#include "lib/feature.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "softverbs/softverbs_ctl.h"

/* XDG_RUNTIME_DIR, below the temporary directory: its mode, or 0 if it is not there. */
static const struct {
	mode_t mode;
	bool is_file, relative, unset, used;
} places[] = {
	{ .mode = 0700, .used = true },
	{ .mode = 0711, .used = true },
	{ .mode = 0300, .used = true },
	{ .mode = 0720 },
	{ .mode = 0702 },
	{ .mode = 0500 },
	{ .mode = 0600 },
	{ .mode = 0700, .is_file = true },
	{ .mode = 0700, .relative = true },
	{ .mode = 0 },
	{ .mode = 0700, .unset = true },
};
#define PLACES ((int)(sizeof places / sizeof *places))

static char place[256];

/* Root may write anywhere. */
static void
be_somebody(void)
{
	if (geteuid())
		return;
	ck_assert_int_eq(chown(getenv("TMPDIR"), 65534, 65534), 0);
	ck_assert_int_eq(setgid(65534), 0);
	ck_assert_int_eq(setuid(65534), 0);
	ck_assert_int_eq(prctl(PR_SET_DUMPABLE, 1), 0); /* for /proc/self */
}

static void
begin(int i)
{
	const char *room = getenv("TMPDIR");
	int fd;

	be_somebody();
	ck_assert_int_eq(chdir(room), 0);
	snprintf(place, sizeof place, "%s/run", room);
	if (!places[i].unset)
		setenv("XDG_RUNTIME_DIR", places[i].relative ? "run" : place, 1);
	if (!places[i].mode)
		return;
	if (places[i].is_file) {
		fd = open(place, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		ck_assert_int_eq(close(fd), 0);
	} else {
		ck_assert_int_eq(mkdir(place, 0700), 0);
	}
	ck_assert_int_eq(chmod(place, places[i].mode), 0);
}

static void
expect_both_there(int i)
{
	struct rdma_event_channel *channel = cm_channel();
	uint16_t port;
	struct rdma_cm_id *id = cm_listen(channel, &port);
	struct stat names;
	int directory;

	directory = softverbs_ctl_directory();
	ck_assert_msg(directory >= 0 && !fstatat(directory, "softverbs.1.names", &names, 0),
	    "place %d: %s", i, strerror(errno));
	close(directory);
	(void)chmod(place, 0700); /* to look, and to remove it */
	strcat(place, "/softverbs");
	ck_assert_int_eq(!access(place, F_OK), places[i].used);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
}

CASE("soft-meets:places", starve_begin, starve_end);

/* origin: out33.EE5 */
TEST_LOOP(commander__in_each_environment__looks_where_the_device_is, PLACES)
{
	begin(_i);
	expect_both_there(_i);
}

CASE("soft-meets:filter", starve_begin, starve_end, .needs = feature_filter,
    .reason = FEATURE_NO_FILTER);

/* As in a sandbox that does not know the call. */
/* origin: out33.EE5 */
TEST_LOOP(commander__where_faccessat2_is_refused__looks_where_the_device_is, PLACES)
{
	begin(_i);
	story_refuse(SYS_faccessat2, EPERM);
	expect_both_there(_i);
}

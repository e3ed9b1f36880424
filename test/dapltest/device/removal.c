/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A device is removed, and the kernel waits until no process has it open.  The context of the
 * software device gets a file, as that of a device of the kernel has.
 */
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fault/fault.h"
#include "device.h"

static struct stat device;

static bool
is_device(int fd)
{
	struct stat file;

	return fstat(fd, &file) == 0 && file.st_dev == device.st_dev &&
	       file.st_ino == device.st_ino;
}

/* Stands for the file of the kernel that a context of the device has open. */
static int
open_device(void)
{
	char name[] = "/tmp/rearm-device-XXXXXX";
	int fd = mkstemp(name);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(unlink(name), 0);
	ck_assert_int_eq(fstat(fd, &device), 0);
	return fd;
}

DEVICE_CASE("removal:removal");

/* With _i the device is not removed, and keeps its file. */
/* clause: d.3.8 */
TEST_LOOP(removal__last_adapter_closes__lets_go_of_the_device, 2)
{
	const int fd = open_device();
	struct ibv_context *context;
	struct dt_side one, two;
	DAT_EVENT event;

	dt_side_open(&one, "faulty", DT_SEPARATE);
	dt_side_open(&two, "faulty", DT_SEPARATE);
	context = fault_qp_last()->context;
	context->cmd_fd = fd;
	if (!_i) {
		fault_cm_remove_device(0);
		dt_expect(one.async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event);
		dt_expect(two.async, DAT_ASYNC_ERROR_IA_CATASTROPHIC, &event);
	}
	dt_side_close(&one);
	ck_assert(is_device(fd));
	dt_side_close(&two);
	ck_assert_int_eq(is_device(fd), _i);
	context->cmd_fd = -1;
	close(fd);
}

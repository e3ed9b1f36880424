/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap_rearm -- calls that only librearm makes, as the linker's --wrap takes them */
#include <errno.h>
#include <fcntl.h>

#include "inject.h"
#include "wrap.h"

int __real_fcntl(int fd, int command, long arg);
int __wrap_fcntl(int fd, int command, long arg);

/* Variable in C only: the argument travels in a register. */
int
__wrap_fcntl(int fd, int command, long arg)
{
	if (command == F_GETFL && inject("fcntl", CALLER, INJECT_FAILS))
		FAIL_ERRNO(ENOLCK, -1);
	return __real_fcntl(fd, command, arg);
}

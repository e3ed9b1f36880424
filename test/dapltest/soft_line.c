/* SPDX-License-Identifier: BSD-3-Clause */
#include "soft_line.h"

#include "runner.h"
#include "soft/names.h"

int
line_open(unsigned int slot)
{
	struct sockaddr_un address;
	socklen_t length = soft_name_address(&address, slot);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, length), 0);
	return fd;
}

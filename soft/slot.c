/* SPDX-License-Identifier: BSD-3-Clause */
#include "slot.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static int listen_fd = -1;
static atomic_uint number;

static socklen_t
name_vaddress(struct sockaddr_un *address, const char *format, va_list args)
{
	int n;

	memset(address, 0, sizeof *address);
	address->sun_family = AF_UNIX;
	/* A leading zero byte makes the name abstract: nothing in a file system to clean up. */
	n = vsnprintf(address->sun_path + 1, sizeof address->sun_path - 1, format, args);
	return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + (size_t)n);
}

socklen_t
soft_name_address(struct sockaddr_un *address, const char *format, ...)
{
	socklen_t length;
	va_list args;

	va_start(args, format);
	length = name_vaddress(address, format, args);
	va_end(args);
	return length;
}

int
soft_name_bind(const char *format, ...)
{
	struct sockaddr_un address;
	socklen_t length;
	va_list args;
	int fd, r;

	va_start(args, format);
	length = name_vaddress(&address, format, args);
	va_end(args);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	if (bind(fd, (struct sockaddr *)&address, length)) {
		r = -errno;
		soft_close(fd);
		return r;
	}
	return fd;
}

int
soft_slot_claim(void)
{
	const unsigned int count = SOFT_SLOT_MAX - SOFT_SLOT_MIN + 1;
	unsigned int first = (unsigned int)getpid() % count, slot;
	int fd, r;

	for (unsigned int i = 0; i < count; i++) {
		slot = SOFT_SLOT_MIN + (first + i) % count;
		fd = soft_name_bind("softverbs.1.slot.%u", slot);
		if (fd == -EADDRINUSE)
			continue;
		if (fd < 0)
			return fd;
		if (listen(fd, SOMAXCONN)) {
			r = -errno;
			soft_close(fd);
			return r;
		}
		listen_fd = fd;
		number = slot;
		return 0;
	}
	return -EUSERS;
}

void
soft_slot_release(void)
{
	soft_close(listen_fd);
	listen_fd = -1;
	number = 0;
}

int
soft_slot_fd(void)
{
	return listen_fd;
}

unsigned int
soft_slot_number(void)
{
	return number;
}

void
soft_slot_reset(void)
{
	if (listen_fd >= 0)
		soft_close(listen_fd);
	listen_fd = -1;
	number = 0;
}

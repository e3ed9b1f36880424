/* SPDX-License-Identifier: BSD-3-Clause */
#include "knock.h"
#include "descriptors.h"
#include "guard.h"
#include "names.h"
#include "slot.h"

#include <sys/syscall.h>
#include <unistd.h>

static int knock_fd = -1;
static atomic_bool spoiled;

static int
knock_socket(void)
{
	int fd = soft_descriptors_keep(
	    (int)syscall(SYS_socket, AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	if (fd < 0)
		return -errno;
	soft_guard_begin(fd);
	return fd;
}

/* What another owner of the slot has left was removed with its other socket. */
int
soft_knock_open(void)
{
	struct sockaddr_un address;
	const socklen_t length = soft_name_knock_address(&address, soft_slot_number());
	const int fd = knock_socket();
	int r;

	if (fd < 0)
		return fd;
	r = bind(fd, (struct sockaddr *)&address, length) ?
		-errno :
		soft_name_knock_allow(soft_slot_number());
	if (r) {
		soft_close(fd);
		return r;
	}
	spoiled = false;
	knock_fd = fd;
	return 0;
}

void
soft_knock_close(void)
{
	soft_guard_close(knock_fd);
	knock_fd = -1;
}

void
soft_knock_reset(void)
{
	if (knock_fd >= 0)
		soft_close(knock_fd);
	knock_fd = -1;
}

int
soft_knock_fd(void)
{
	return spoiled ? -1 : knock_fd;
}

bool
soft_knock_take(void)
{
	char byte;

	if (soft_guard_receive(knock_fd, &byte, sizeof byte) >= 0 || errno != EBADMSG)
		return true;
	spoiled = true;
	(void)syscall(SYS_shutdown, knock_fd, SHUT_RDWR);
	return false;
}

int
soft_knock_connect(unsigned int slot)
{
	struct sockaddr_un address;
	const socklen_t length = soft_name_knock_address(&address, slot);
	const int fd = knock_socket();
	int r;

	if (fd < 0 || !syscall(SYS_connect, fd, &address, length))
		return fd;
	r = -errno;
	soft_close(fd);
	return r;
}

/* If there is no room, there are knocks that were not taken. */
bool
soft_knock(int fd)
{
	const int saved = errno;
	long n;

	do
		n = syscall(
		    SYS_sendto, fd, "", (size_t)1, MSG_DONTWAIT | MSG_NOSIGNAL, NULL, (socklen_t)0);
	while (n < 0 && errno == EINTR);
	if (n < 0 && errno == EAGAIN)
		n = 0;
	errno = saved;
	return n >= 0;
}

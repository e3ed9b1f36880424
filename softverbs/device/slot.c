/* SPDX-License-Identifier: BSD-3-Clause */
#include "slot.h"
#include "complaint.h"
#include "descriptors.h"
#include "guard.h"
#include "names.h"

#include <sys/syscall.h>
#include <unistd.h>

static int listen_fd = -1;
static atomic_uint number;
static _Atomic uid_t user; /* that has opened the device */

static int
slot_socket(void)
{
	int fd = soft_descriptors_keep(
	    (int)syscall(SYS_socket, AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));

	if (fd < 0)
		return -errno;
	soft_guard_begin(fd);
	return fd;
}

/*
 * A process that does not own the name may listen there: the file of names was replaced under it,
 * or it does not use this device.  0, -EADDRINUSE, or another -errno if that cannot be known.
 */
static int
slot_check_unanswered(unsigned int slot)
{
	int fd = soft_slot_connect(slot);

	if (fd >= 0)
		soft_guard_close(fd);
	if (fd >= 0 || fd == -EAGAIN)
		return -EADDRINUSE;
	return fd == -EMFILE || fd == -ENFILE || fd == -ENOMEM || fd == -ENOBUFS ? fd : 0;
}

/* The caller owns the name. */
static int
slot_listen(unsigned int slot)
{
	struct sockaddr_un address;
	socklen_t length = soft_name_address(&address, slot);
	int fd, r;

	r = slot_check_unanswered(slot);
	if (r)
		return r;
	soft_name_unlink(slot);
	fd = slot_socket();
	if (fd < 0)
		return fd;
	if (!bind(fd, (struct sockaddr *)&address, length)) {
		r = soft_name_allow(slot);
		if (!r && !listen(fd, SOMAXCONN))
			return fd;
		if (!r)
			r = -errno;
		soft_name_unlink(slot);
	} else {
		r = -errno;
	}
	soft_close(fd);
	return r;
}

int
soft_slot_connect(unsigned int slot)
{
	struct sockaddr_un address;
	socklen_t length = soft_name_address(&address, slot);
	int fd = slot_socket(), r;

	if (fd < 0)
		return fd;
	if (!syscall(SYS_connect, fd, &address, length))
		return fd;
	r = -errno;
	soft_close(fd);
	return r;
}

int
soft_slot_open(void)
{
	const unsigned int count = SOFT_SLOT_MAX - SOFT_SLOT_MIN + 1;
	unsigned int first = (unsigned int)getpid() % count, slot;
	int r;

	for (unsigned int i = 0; i < count; i++) {
		slot = SOFT_SLOT_MIN + (first + i) % count;
		r = soft_name_lock(SOFT_NAME_SLOT(slot));
		if (r == -EADDRINUSE)
			continue;
		if (r)
			return r;
		r = slot_listen(slot);
		if (r >= 0) {
			listen_fd = r;
			number = slot;
			user = geteuid();
			return 0;
		}
		soft_name_unlock(SOFT_NAME_SLOT(slot));
		if (r != -EADDRINUSE)
			return r;
	}
	soft_complain("all %u names of processes are taken: this user has too many processes that "
		      "use the device, or one of them has locked softverbs.1.names",
	    count);
	return -EUSERS;
}

void
soft_slot_close(void)
{
	soft_name_unlink(number);
	soft_guard_close_listener(listen_fd);
	soft_guard_stop();
	soft_name_unlock(SOFT_NAME_SLOT(number));
	listen_fd = -1;
	number = 0;
}

bool
soft_slot_is_of_user(uid_t peer)
{
	static atomic_flag told = ATOMIC_FLAG_INIT;
	const uid_t now = geteuid();

	if (peer == now)
		return true;
	if (now != user && !atomic_flag_test_and_set(&told))
		soft_complain("user %u has become user %u since it opened the device: the "
			      "processes of neither of them reach it any more",
		    (unsigned int)user, (unsigned int)now);
	return false;
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

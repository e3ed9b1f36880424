/* SPDX-License-Identifier: BSD-3-Clause */
#include "announce.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/descriptors.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

static struct sockaddr_un address;

void
soft_announce_open(const char *path)
{
	if (!path || strlen(path) >= sizeof address.sun_path)
		return;
	address.sun_family = AF_UNIX;
	strcpy(address.sun_path, path);
}

static void
announce_send(int to, int process, unsigned int number)
{
	/* softverbs-run reads at once, unless it is stopped. */
	const struct timeval patience = { .tv_sec = 5 };
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { .cmsg_level = SOL_SOCKET,
			  .cmsg_type = SCM_RIGHTS,
			  .cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct iovec text = { .iov_base = &number, .iov_len = sizeof number };
	const struct msghdr message = { .msg_name = &address,
		.msg_namelen = sizeof address,
		.msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control };

	memcpy(CMSG_DATA(&control.header), &process, sizeof process);
	(void)setsockopt(to, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
	(void)sendmsg(to, &message, MSG_NOSIGNAL);
}

void
soft_announce(unsigned int number)
{
	SOFT_UNCANCELLED;
	const int error = errno;
	int to, process;

	if (!address.sun_family)
		return;
	to = soft_descriptors_keep(socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
	process = soft_descriptors_keep((int)syscall(SYS_pidfd_open, getpid(), 0));
	if (to >= 0 && process >= 0)
		announce_send(to, process, number);
	if (process >= 0)
		soft_close(process);
	if (to >= 0)
		soft_close(to);
	errno = error;
}

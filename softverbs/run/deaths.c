/* SPDX-License-Identifier: BSD-3-Clause */
#include "deaths.h"
#include "parent.h"

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

/* Of linux/pidfd.h, which older releases do not have. */
struct info {
	uint64_t mask, cgroup;
	uint32_t ids[11];
	int32_t status; /* as wait() returns it */
};
#define GET_INFO _IOWR(0xff, 11, struct info)
#define INFO_EXIT (UINT64_C(1) << 3)

/* Processes that have not ended, or of which this is not seen yet. */
#define PROCESSES 256

static int announced = -1;
static pthread_t reader;
static struct soft_deaths seen;
static struct process {
	int fd;
	ino_t inode;	     /* of one process */
	unsigned int number; /* of record.h; 0: it has made no call */
} processes[PROCESSES];
static unsigned int count;

/* True if the process has ended. */
static bool
deaths_look(const struct process *process)
{
	struct info info = { .mask = INFO_EXIT };

	if (ioctl(process->fd, GET_INFO, &info) || !(info.mask & INFO_EXIT))
		return false;
	if (WIFSIGNALED(info.status))
		seen.by[WTERMSIG(info.status)]++;
	if (process->number <= SOFT_RECORD_PROCESSES)
		seen.status[process->number] = info.status;
	return true;
}

static void
deaths_look_at_all(void)
{
	unsigned int left = 0;

	for (unsigned int i = 0; i < count; i++)
		if (deaths_look(&processes[i]))
			close(processes[i].fd);
		else
			processes[left++] = processes[i];
	count = left;
}

/* A process announces itself again when it makes its first call, or has become another program. */
static void
deaths_add(int fd, unsigned int number)
{
	struct stat own;

	if (count == PROCESSES)
		deaths_look_at_all();
	for (unsigned int i = 0; !fstat(fd, &own) && i < count; i++)
		if (processes[i].inode == own.st_ino) {
			if (number)
				processes[i].number = number;
			close(fd);
			return;
		}
	if (count == PROCESSES) {
		close(fd);
		return;
	}
	processes[count++] = (struct process){ .fd = fd, .inode = own.st_ino, .number = number };
}

/* Until soft_deaths_stop(). */
static void *
deaths_read(void *unused)
{
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control;
	unsigned int number;
	struct iovec to = { .iov_base = &number, .iov_len = sizeof number };
	struct msghdr message;
	ssize_t size;
	int fd;

	(void)unused;
	for (;;) {
		message = (struct msghdr){ .msg_iov = &to,
			.msg_iovlen = 1,
			.msg_control = &control,
			.msg_controllen = sizeof control };
		size = recvmsg(announced, &message, MSG_CMSG_CLOEXEC);
		if (size < 0 && errno == EINTR)
			continue;
		if (size <= 0)
			return NULL;
		if (message.msg_controllen < CMSG_LEN(sizeof fd) ||
		    control.header.cmsg_type != SCM_RIGHTS)
			continue;
		memcpy(&fd, CMSG_DATA(&control.header), sizeof fd);
		if (size != sizeof number)
			number = 0;
		deaths_add(fd, number);
	}
}

void
soft_deaths_start(const char *folder)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	sigset_t all, mask;

	/* The device does not meet in a folder with such a name either. */
	if ((size_t)snprintf(address.sun_path, sizeof address.sun_path, "%s/processes", folder) >=
	    sizeof address.sun_path)
		return;
	(void)unlink(address.sun_path);
	announced = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (announced < 0 || bind(announced, (struct sockaddr *)&address, sizeof address))
		soft_parent_fail(address.sun_path);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	errno = pthread_create(&reader, NULL, deaths_read, NULL);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (errno)
		soft_parent_fail("thread");
	soft_parent_set("SOFTVERBS_FAULTS_PROCESSES", address.sun_path);
}

void
soft_deaths_stop(struct soft_deaths *deaths)
{
	if (announced >= 0) {
		/* Messages that have come are read before that. */
		(void)shutdown(announced, SHUT_RD);
		pthread_join(reader, NULL);
		deaths_look_at_all();
	}
	*deaths = seen;
}

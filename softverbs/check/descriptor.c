/* SPDX-License-Identifier: BSD-3-Clause */
#include "descriptor.h"

#include <stdio.h>
#include <sys/epoll.h>

/* An epoll descriptor in an epoll descriptor, and so on, so often. */
#define DEPTH 3

static FILE *
descriptor_info(int fd)
{
	char path[48];

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", fd);
	return fopen(path, "re");
}

/*
 * The number of the eventfd, which is the same in its duplicates; -1 if it is none or the kernel is
 * old.
 */
static int
descriptor_number(int fd)
{
	FILE *info = descriptor_info(fd);
	int number = -1;
	char line[256];

	if (!info)
		return -1;
	while (number < 0 && fgets(line, sizeof line, info))
		if (sscanf(line, "eventfd-id: %d", &number) != 1)
			number = -1;
	fclose(info);
	return number;
}

static bool
descriptor_leads_to(int fd, int channel, int number, int depth)
{
	char line[256];
	bool found = false;
	FILE *info;
	unsigned int events;
	int target;

	if (fd == channel || (number >= 0 && descriptor_number(fd) == number))
		return true;
	if (!depth)
		return false;
	info = descriptor_info(fd);
	if (!info)
		return false;
	/* One that has fired once with EPOLLONESHOT, or is to be left alone, waits for nothing. */
	while (!found && fgets(line, sizeof line, info))
		if (sscanf(line, "tfd: %d events: %x", &target, &events) == 2 &&
		    events & (EPOLLIN | EPOLLRDNORM))
			found = descriptor_leads_to(target, channel, number, depth - 1);
	fclose(info);
	return found;
}

bool
soft_descriptor_leads_to(int fd, int channel)
{
	return descriptor_leads_to(fd, channel, descriptor_number(channel), DEPTH);
}

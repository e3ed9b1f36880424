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

/* What a descriptor may be. */
struct wanted {
	bool timer;  /* a timerfd that is set */
	int channel; /* or this one */
	int number;  /* of its eventfd */
};

static bool
descriptor_is_set_timer(int fd)
{
	unsigned long seconds, nanoseconds;
	FILE *info = descriptor_info(fd);
	bool set = false;
	char line[256];

	while (info && !set && fgets(line, sizeof line, info))
		set = sscanf(line, "it_value: (%lu, %lu)", &seconds, &nanoseconds) == 2 &&
		      (seconds || nanoseconds);
	if (info)
		fclose(info);
	return set;
}

static bool
descriptor_is(int fd, const struct wanted *wanted)
{
	if (wanted->timer)
		return descriptor_is_set_timer(fd);
	return fd == wanted->channel ||
	       (wanted->number >= 0 && descriptor_number(fd) == wanted->number);
}

static bool
descriptor_leads_to(int fd, const struct wanted *wanted, int depth)
{
	char line[256];
	bool found = false;
	FILE *info;
	unsigned int events;
	int target;

	if (descriptor_is(fd, wanted))
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
			found = descriptor_leads_to(target, wanted, depth - 1);
	fclose(info);
	return found;
}

bool
soft_descriptor_leads_to(int fd, int channel)
{
	const struct wanted wanted = { false, channel, descriptor_number(channel) };

	return descriptor_leads_to(fd, &wanted, DEPTH);
}

bool
soft_descriptor_ticks(int fd)
{
	static const struct wanted timer = { .timer = true };

	return descriptor_leads_to(fd, &timer, DEPTH);
}

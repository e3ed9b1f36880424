/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles some failures wrongly: for a sweep.  It prints what it knows of the device.  COUNT names
 * a file that gets a byte for each run, and with ".seldom" one that says that a call was left out.
 */
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static void
count(void)
{
	const char *name = getenv("COUNT");
	const int fd = name ? open(name, O_WRONLY | O_CREAT | O_APPEND, 0600) : -1;

	if (fd >= 0 && write(fd, ".", 1) == 1)
		close(fd);
}

/* As a loop that waits: not as often in each run.  What finds nothing does not count. */
static void
ask_some(struct ibv_cq *cq)
{
	struct timespec now;
	struct ibv_wc wc;

	clock_gettime(CLOCK_MONOTONIC, &now);
	for (long i = -1; i < now.tv_nsec / 1000 % 8; i++) {
		(void)ibv_req_notify_cq(cq, 0);
		(void)ibv_poll_cq(cq, 1, &wc);
	}
}

/* A call that some runs do without: the first one of those in which it is to fail. */
static bool
leaves_out(const char *call)
{
	const char *name = getenv("COUNT"), *faults = getenv("SOFTVERBS_FAULTS");
	char seldom[4096];

	snprintf(seldom, sizeof seldom, "%s.seldom", name ? name : "");
	return name && faults && strstr(faults, call) &&
	       !close(open(seldom, O_WRONLY | O_CREAT | O_EXCL, 0600));
}

int
main(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *context = list ? ibv_open_device(*list) : NULL;
	struct ibv_comp_channel *channel;
	struct ibv_device_attr device;
	struct ibv_port_attr port;
	struct ibv_pd *pd;
	struct ibv_cq *cq;
	__be16 pkey;

	count();
	if (!context)
		return 1; /* right */
	ibv_free_device_list(list);
	/* A hang. */
	while (ibv_query_device(context, &device))
		pause();
	/* Lost data. */
	if (!ibv_query_port(context, 1, &port))
		printf("%d\n", port.state);
	/* Right: it does without. */
	if (!leaves_out("ibv_query_pkey"))
		(void)ibv_query_pkey(context, 1, 0, &pkey);
	channel = ibv_create_comp_channel(context);
	if (!channel)
		return 1; /* right, too: it ends */
	pd = ibv_alloc_pd(context);
	/* A leak. */
	if (!pd)
		return 0;
	/* A crash. */
	cq = ibv_create_cq(context, 1, NULL, channel, 0);
	cq->cq_context = NULL;
	ask_some(cq);
	/* Right. */
	while (ibv_destroy_cq(cq))
		;
	return ibv_dealloc_pd(pd) || ibv_destroy_comp_channel(channel) || ibv_close_device(context);
}

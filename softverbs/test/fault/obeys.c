/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * obeys -- a program that softverbs-run --control runs: it commands itself, by softverbs_ctl.h, and
 * sees by verbs what it asked for; then clients that mean harm come
 *
 * The topology has two devices with two ports each.  Prints a line for each subject, with "ok" or
 * with what was not so.
 */
#include "softverbs/softverbs_ctl.h"

#include "softverbs/test/pair.h"

#include <arpa/inet.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <sys/wait.h>

#define CLIENTS 40

static char own[16];
static bool good;
static struct ibv_device **devices;
static struct end one, two;

#define SEE(what) \
	((what) ? (void)0 : \
		  (good = false, (void)printf("%d: %s: %s; ", __LINE__, #what, strerror(errno))))

static void
subject(const char *what)
{
	printf("%s\t%s\n", good ? "ok" : "", what);
	fflush(stdout);
	good = true;
}

static bool
obeys(const char *request)
{
	char *answer = NULL;
	const bool done = softverbs_ctl(own, request, &answer) == 1;

	if (!done)
		printf("%s: %s", request, answer && *answer ? answer : strerror(errno));
	free(answer);
	return done;
}

/* Whether it is refused with these words. */
static bool
refuses(const char *request, const char *words)
{
	char *answer = NULL;
	const int r = softverbs_ctl(own, request, &answer);
	const bool refused = r == -1 && errno == EINVAL && answer && strstr(answer, words);

	free(answer);
	return refused;
}

static bool
dumps(const char *words)
{
	char *answer = NULL;
	const bool found = softverbs_ctl(own, "dump", &answer) == 1 && strstr(answer, words);

	free(answer);
	return found;
}

static enum ibv_port_state
port_state(uint8_t port)
{
	struct ibv_port_attr attr;

	return ibv_query_port(context, port, &attr) ? IBV_PORT_NOP : attr.state;
}

/* The next event of the context: its type and its port. */
static bool
event_is(enum ibv_event_type type, int port)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(context, &event))
		return false;
	ibv_ack_async_event(&event);
	return event.event_type == type && (!port || event.element.port_num == port);
}

static enum ibv_wc_status
send_status(void)
{
	struct ibv_wc wc;
	int n;

	post_send(&one, IBV_SEND_SIGNALED);
	while (!(n = ibv_poll_cq(one.cq, 1, &wc)))
		;
	return n == 1 ? wc.status : IBV_WC_GENERAL_ERR;
}

static unsigned int
devices_there(void)
{
	struct ibv_device **list;
	int count = 0;

	list = ibv_get_device_list(&count);
	if (list)
		ibv_free_device_list(list);
	return (unsigned int)count;
}

static void
open_ends(void)
{
	end_open(&one, queue_create(NULL), 0);
	end_open(&two, queue_create(NULL), 0);
	end_connect(&one, &two, 8, 7);
}

/* ---- what it is asked for ---- */

static void
lists(void)
{
	SEE(softverbs_ctl("nothing", "dump", NULL) == -1 && errno == ESRCH);
	SEE(softverbs_ctl("obeys", "dump", NULL) == 1);
	SEE(dumps("{\"device\":\"soft1\",\"ports\":2,\"removed\":false}"));
	SEE(dumps("{\"port\":\"soft0/2\",\"state\":\"ACTIVE\""));
	SEE(send_status() == IBV_WC_SUCCESS);
	SEE(dumps("\"state\":\"RTS\",\"peer\":"));
	SEE(dumps("\"sends\":1,\"completed\":1,\"receives\":8,\"received\":0"));
	SEE(dumps("\"receives\":8,\"received\":1"));
	subject("list: processes, devices, ports, queue pairs and counters");
}

static void
fails(void)
{
	SEE(obeys("do ibv_alloc_pd:errno=EIO"));
	SEE(!ibv_alloc_pd(context) && errno == EIO);
	SEE(!ibv_dealloc_pd(ibv_alloc_pd(context)));
	SEE(obeys("do completion.send:status=RETRY_EXC_ERR"));
	SEE(send_status() == IBV_WC_RETRY_EXC_ERR);
	subject("fail: the next call, and the next completion, once");
	SEE(refuses("do ibv_alloc_pd:errno=EPERM", "ibv_alloc_pd fails with"));
	SEE(refuses("do ibv_frob", "ibv_frob is no call that can fail"));
	SEE(refuses("do link.cut:at=1", "no at=, nth=, each=, p=, from= or process="));
	SEE(refuses("do ibv_alloc_pd:nth=2", "no at=, nth=, each="));
	SEE(refuses("do event.srq_err:device=soft0", "event.srq_err takes no device="));
	SEE(refuses("do event.srq_err", "there is nothing that it could happen to"));
	SEE(refuses("frob", "the request is neither"));
	subject("what cannot be is refused, with the reason");
}

static void
ports(void)
{
	SEE(obeys("do event.port_err:device=soft0:port=2"));
	SEE(port_state(2) == IBV_PORT_DOWN && port_state(1) == IBV_PORT_ACTIVE);
	SEE(obeys("do event.port_active:device=soft0:port=2"));
	SEE(port_state(2) == IBV_PORT_ACTIVE);
	SEE(event_is(IBV_EVENT_PORT_ERR, 2));
	SEE(event_is(IBV_EVENT_PORT_ACTIVE, 2));
	SEE(obeys("do event.port_err:for=0.1"));
	SEE(event_is(IBV_EVENT_PORT_ERR, 1) && event_is(IBV_EVENT_PORT_ERR, 2));
	SEE(event_is(IBV_EVENT_PORT_ACTIVE, 1) && event_is(IBV_EVENT_PORT_ACTIVE, 2));
	SEE(port_state(1) == IBV_PORT_ACTIVE);
	subject("down, up: one port, all ports, for a time; the events in their order");
}

/* An id of soft0, and its channel. */
static struct rdma_event_channel *cm_channel;
static struct rdma_cm_id *id;

static void
open_id(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	cm_channel = rdma_create_event_channel();
	SEE(cm_channel && !rdma_create_id(cm_channel, &id, NULL, RDMA_PS_TCP));
	SEE(!rdma_bind_addr(id, (struct sockaddr *)&any));
	SEE(id->verbs && !strcmp(ibv_get_device_name(id->verbs->device), "soft0"));
}

/* How often the id was removed since the last time. */
static int
removals(void)
{
	struct pollfd readable = { .fd = cm_channel->fd, .events = POLLIN };
	struct rdma_cm_event *event;
	int count = 0;

	while (poll(&readable, 1, 0) == 1 && !rdma_get_cm_event(cm_channel, &event)) {
		count += event->event == RDMA_CM_EVENT_DEVICE_REMOVAL;
		(void)rdma_ack_cm_event(event);
	}
	return count;
}

/* Of what may happen to a device, or to an object that is left of it. */
static void
stays_dead(void)
{
	static const char *const never[] = { "do event.port_err:device=soft0",
		"do event.port_active:device=soft0:port=1", "do event.lid_change:device=soft0",
		"do event.gid_change:device=soft0", "do event.pkey_change:device=soft0",
		"do event.sm_change:device=soft0", "do event.client_reregister:device=soft0",
		"do event.cq_err", "do event.qp_fatal" };
	struct pollfd events = { .fd = context->async_fd, .events = POLLIN };

	for (size_t i = 0; i < sizeof never / sizeof *never; i++)
		SEE(refuses(never[i], "there is nothing that it could happen to"));
	for (int times = 0; times < 2; times++) {
		SEE(obeys("do device.arrival:device=soft0"));
		SEE(devices_there() == 2);
		SEE(!ibv_alloc_pd(context) && errno == EIO);
		/* They happen to the device, and to no context that there is. */
		SEE(obeys("do event.port_err:device=soft0:port=2"));
		SEE(obeys("do event.port_active:device=soft0:port=2"));
		SEE(refuses("do event.sm_change:device=soft0", "there is nothing"));
		SEE(!event_is(IBV_EVENT_DEVICE_FATAL, 0) && errno == EIO);
		SEE(poll(&events, 1, 0) == 1);
		if (!times)
			SEE(obeys("do cm.device_removal:device=soft0"));
	}
	SEE(!removals());
	SEE(!rdma_destroy_id(id));
	rdma_destroy_event_channel(cm_channel);
}

static void
removal(void)
{
	struct ibv_context *other_context = ibv_open_device(devices[1]);
	struct ibv_pd *pd;

	open_id();
	SEE(obeys("do cm.device_removal:device=soft0"));
	SEE(event_is(IBV_EVENT_DEVICE_FATAL, 0) && removals() == 1);
	SEE(devices_there() == 1);
	SEE(!ibv_open_device(devices[0]) && errno == ENODEV);
	SEE(!ibv_alloc_pd(context) && errno == EIO);
	pd = other_context ? ibv_alloc_pd(other_context) : NULL;
	SEE(pd && !ibv_dealloc_pd(pd));
	SEE(refuses("do cm.device_removal:device=soft0", "there is nothing"));
	subject("remove: the device is not listed, the other one works");
	stays_dead();
	subject("what was opened before has no event of its device any more");
	ends_close(&one, &two);
	device_open();
	open_ends();
	SEE(send_status() == IBV_WC_SUCCESS);
	SEE(other_context && !ibv_close_device(other_context));
	/* Also while it has no device. */
	ends_close(&one, &two);
	SEE(obeys("do cm.device_removal:device=soft0:for=0.05"));
	while (devices_there() == 1)
		;
	device_open();
	open_ends();
	SEE(send_status() == IBV_WC_SUCCESS);
	subject("add: the device works again, for those that open it again");
}

/* ---- clients that mean harm ---- */

static struct sockaddr_un control_socket = { .sun_family = AF_UNIX };

static void
find_socket(void)
{
	const int directory = softverbs_ctl_directory();
	DIR *entries = fdopendir(directory);
	struct dirent *entry;

	while (entries && (entry = readdir(entries)))
		if (!strncmp(entry->d_name, SOFTVERBS_CTL_SOCKET, strlen(SOFTVERBS_CTL_SOCKET)))
			snprintf(control_socket.sun_path, sizeof control_socket.sun_path,
			    "%.50s/softverbs/%.40s", getenv("XDG_RUNTIME_DIR"), entry->d_name);
	closedir(entries);
}

static int
call(void)
{
	const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	return connect(fd, (struct sockaddr *)&control_socket, sizeof control_socket) ? -1 : fd;
}

/* The other end has closed it, soon. */
static bool
ends(int fd)
{
	struct pollfd wait = { fd, POLLIN, 0 };
	char byte;

	return poll(&wait, 1, 5000) == 1 && read(fd, &byte, 1) <= 0;
}

static void
hostile(void)
{
	char *large = calloc(1, 8192);
	int silent[CLIENTS], deaf[CLIENTS], fd;
	union {
		struct cmsghdr header;
		char bytes[CMSG_SPACE(sizeof(int))];
	} control = { .header = { CMSG_LEN(sizeof(int)), SOL_SOCKET, SCM_RIGHTS } };
	struct iovec text = { (char[]){ "\ndump" }, 5 };
	struct msghdr with_descriptor = { .msg_iov = &text,
		.msg_iovlen = 1,
		.msg_control = &control,
		.msg_controllen = sizeof control };

	for (int i = 0; i < CLIENTS; i++)
		silent[i] = call();
	SEE(obeys("do event.sm_change"));
	SEE(ends(silent[0]));
	for (int i = 0; i < CLIENTS; i++)
		close(silent[i]);
	subject("those that say nothing keep no one out");
	for (int i = 0; i < CLIENTS; i++) {
		deaf[i] = call();
		SEE(write(deaf[i], "\ndump", 5) == 5);
	}
	SEE(obeys("do event.sm_change"));
	SEE(send_status() == IBV_WC_SUCCESS);
	for (int i = 0; i < CLIENTS; i++)
		close(deaf[i]);
	subject("nor do those that do not read");
	fd = call();
	memset(large, 'x', 8191);
	SEE(write(fd, large, 8191) == 8191 && ends(fd));
	close(fd);
	fd = call();
	SEE(!write(fd, "", 0) && ends(fd));
	close(fd);
	fd = call();
	memcpy(CMSG_DATA(&control.header), &fd, sizeof fd);
	(void)sendmsg(fd, &with_descriptor, MSG_NOSIGNAL); /* refused, or not read */
	close(fd);
	SEE(obeys("do event.sm_change"));
	SEE(send_status() == IBV_WC_SUCCESS);
	subject("nor do those that send too much, nothing, or a descriptor");
	free(large);
}

/* As root only: another user gets through to the socket, and is not heard. */
static void
stranger(void)
{
	char command[512], folder[128];
	int status = -1, fd;
	pid_t child;

	if (geteuid())
		return;
	snprintf(folder, sizeof folder, "%s/softverbs", getenv("XDG_RUNTIME_DIR"));
	snprintf(command, sizeof command, "chmod a+x %s/.. && chmod -R a+rwX %s", folder, folder);
	SEE(!system(command));
	child = fork();
	if (!child) {
		if (setgid(65534) || setuid(65534) || (fd = call()) < 0)
			_exit(2);
		(void)!write(fd, "\ndump", 5);
		_exit(!ends(fd));
	}
	SEE(waitpid(child, &status, 0) == child && !status);
	SEE(!chmod(folder, 0700));
	SEE(obeys("do event.sm_change"));
	subject("another user is not heard");
}

int
main(void)
{
	snprintf(own, sizeof own, "%d", (int)getpid());
	good = true;
	devices = ibv_get_device_list(NULL);
	must(devices && devices[0] && devices[1], "two devices");
	device_open();
	open_ends();
	lists();
	ports();
	fails();
	removal();
	find_socket();
	hostile();
	stranger();
	return 0;
}

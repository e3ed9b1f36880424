/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connects [-2] [-b SECONDS] [-l] [-q SECONDS] [-r] -- connects, disconnects after a time, and
 * prints the events of both ends, each with its status unless that is 0
 *
 *	client: ADDR_RESOLVED ROUTE_RESOLVED ESTABLISHED DISCONNECTED TIMEWAIT_EXIT
 *	server: CONNECT_REQUEST ESTABLISHED DISCONNECTED TIMEWAIT_EXIT
 *
 *	-2  the server is another process
 *	-b  how long the connection lasts (0.05)
 *	-l  waits for a second DISCONNECTED
 *	-r  the server rejects
 *	-w  the client sends messages all the time; then it says whether some were flushed
 *
 * An end that hears nothing for 2 s (-q SECONDS) ends.
 */
#include "happens.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <rdma/rdma_cma.h>
#include <sys/wait.h>
#include <time.h>

static double lasts = 0.05, quiet = 2;
static bool rejects, works;
static int ready[2], stop[2], result[2];

static double
now(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

struct side {
	struct rdma_event_channel *channel;
	char text[1024];
	bool over; /* TIMEWAIT_EXIT or an error has come */
};

static void
say(struct side *side, const struct rdma_cm_event *event)
{
	const char *name = rdma_event_str(event->event);
	const unsigned char *data = event->param.conn.private_data;
	char *text = side->text + strlen(side->text);
	const size_t size = sizeof side->text - strlen(side->text);

	if (!strncmp(name, "RDMA_CM_EVENT_", 14))
		name += 14;
	if (event->status)
		snprintf(text, size, " %s(%d)", name, event->status);
	else
		snprintf(text, size, " %s", name);
	if (event->event == RDMA_CM_EVENT_REJECTED && data && *data)
		snprintf(text + strlen(text), size - strlen(text), "[%02x%02x%02x]", data[0],
		    data[1], data[2]);
}

/* Waits for an event: its type, with its id, or -1. */
static int
next(struct side *side, struct rdma_cm_id **id, double seconds)
{
	struct pollfd fd[2] = { { .fd = side->channel->fd, .events = POLLIN },
		{ .fd = stop[0], .events = POLLIN } };
	struct rdma_cm_event *event;
	int type;

	if (poll(fd, id ? 2 : 1, (int)(seconds * 1000)) < 1 || !(fd[0].revents & POLLIN))
		return -1;
	MUST(!rdma_get_cm_event(side->channel, &event));
	type = (int)event->event;
	if (id)
		*id = event->id;
	say(side, event);
	side->over |= type == RDMA_CM_EVENT_TIMEWAIT_EXIT || type == RDMA_CM_EVENT_ADDR_ERROR ||
		      type == RDMA_CM_EVENT_ROUTE_ERROR || type == RDMA_CM_EVENT_REJECTED ||
		      type == RDMA_CM_EVENT_CONNECT_ERROR || type == RDMA_CM_EVENT_UNREACHABLE ||
		      type == RDMA_CM_EVENT_DEVICE_REMOVAL;
	MUST(!rdma_ack_cm_event(event));
	return type;
}

static int
receive(struct rdma_cm_id *id)
{
	struct ibv_recv_wr wr = { .num_sge = 0 }, *bad;

	return ibv_post_recv(id->qp, &wr, &bad);
}

/* Sends what fits, and receives what has come; true if something was flushed. */
static bool
work(struct rdma_cm_id *id, bool sends)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND, .send_flags = IBV_SEND_SIGNALED }, *bad;
	bool flushed = false;
	struct ibv_wc wc;

	while (ibv_poll_cq(id->recv_cq, 1, &wc) > 0) {
		flushed |= wc.status == IBV_WC_WR_FLUSH_ERR;
		if (!wc.status)
			(void)receive(id);
	}
	while (ibv_poll_cq(id->send_cq, 1, &wc) > 0)
		flushed |= wc.status == IBV_WC_WR_FLUSH_ERR;
	for (int i = 0; sends && i < 4 && !ibv_post_send(id->qp, &wr, &bad); i++)
		;
	return flushed;
}

static int
make_qp(struct rdma_cm_id *id)
{
	struct ibv_qp_init_attr init = { .qp_type = IBV_QPT_RC,
		.cap = {
		    .max_send_wr = 4, .max_recv_wr = 64, .max_send_sge = 1, .max_recv_sge = 1 } };
	int r = rdma_create_qp(id, NULL, &init);

	for (int i = 0; !r && works && i < 64; i++)
		r = receive(id);
	return r;
}

static void
end(struct rdma_cm_id *id)
{
	if (id && id->qp)
		rdma_destroy_qp(id);
	if (id)
		MUST(!rdma_destroy_id(id));
}

static bool
stopped(void)
{
	struct pollfd fd = { .fd = stop[0], .events = POLLIN };

	return poll(&fd, 1, 0) == 1;
}

static void *
server(void *unused)
{
	struct side side = { .channel = rdma_create_event_channel() };
	struct rdma_conn_param param = { .responder_resources = 1 };
	struct sockaddr_in any = { .sin_family = AF_INET };
	struct rdma_cm_id *listener, *id = NULL, *of;
	uint16_t port;
	int type;

	any.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(side.channel);
	MUST(!rdma_create_id(side.channel, &listener, NULL, RDMA_PS_TCP));
	MUST(!rdma_bind_addr(listener, (struct sockaddr *)&any));
	MUST(!rdma_listen(listener, 4));
	port = rdma_get_src_port(listener);
	MUST(write(ready[1], &port, sizeof port) == sizeof port);
	snprintf(side.text, sizeof side.text, "server:");
	while ((type = next(&side, &of, works ? 0.001 : 60)) >= 0 || !stopped()) {
		if (works && id && id->qp)
			(void)work(id, false);
		if (type == RDMA_CM_EVENT_CONNECT_REQUEST) {
			id = of;
			if (rejects)
				MUST(!rdma_reject(id, "no", 3));
			else if (make_qp(id) || rdma_accept(id, &param))
				strcat(side.text, " no accept");
		} else if (type == RDMA_CM_EVENT_DISCONNECTED && of == id) {
			(void)rdma_disconnect(id);
		}
	}
	strcat(side.text, "\n");
	end(id);
	MUST(!rdma_destroy_id(listener));
	rdma_destroy_event_channel(side.channel);
	MUST(write(result[1], side.text, strlen(side.text)) > 0);
	return unused;
}

static void
client(uint16_t port, bool twice)
{
	struct side side = { .channel = rdma_create_event_channel() };
	struct rdma_conn_param param = { .responder_resources = 1,
		.retry_count = 7,
		.private_data = "hello",
		.private_data_len = 6 };
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = port };
	struct rdma_cm_id *id;
	unsigned int disconnected = 0;
	bool connected = false, flushed = false;
	double until = 0;
	int type = 0;

	to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	MUST(side.channel);
	MUST(!rdma_create_id(side.channel, &id, NULL, RDMA_PS_TCP));
	snprintf(side.text, sizeof side.text, "client:");
	if (rdma_resolve_addr(id, NULL, (struct sockaddr *)&to, 1000))
		snprintf(side.text, sizeof side.text, "client: no resolve_addr");
	while (type >= 0) {
		type = next(&side, NULL, !connected ? quiet : works ? 0.001 : lasts);
		if (connected && works)
			flushed |= work(id, true);
		if (type < 0 && connected && works && now() < until) {
			type = 0;
		} else if (type < 0 && connected) {
			connected = false;
			type = 0;
			if (rdma_disconnect(id))
				strcat(side.text, " no disconnect");
		} else if (type == RDMA_CM_EVENT_ADDR_RESOLVED) {
			MUST(!rdma_resolve_route(id, 1000));
		} else if (type == RDMA_CM_EVENT_ROUTE_RESOLVED) {
			MUST(!make_qp(id));
			MUST(!rdma_connect(id, &param));
		} else if (type == RDMA_CM_EVENT_ESTABLISHED) {
			connected = true;
			until = now() + lasts;
		} else if (type == RDMA_CM_EVENT_DISCONNECTED) {
			connected = false;
			disconnected++;
		} else if (type == RDMA_CM_EVENT_DEVICE_REMOVAL) {
			connected = false;
		}
		/* Then what is left, and no more. */
		if (side.over && !connected && (!twice || disconnected > 1))
			quiet = 0.05;
	}
	if (works && id->qp)
		flushed |= work(id, false);
	printf("%s%s\n", side.text, flushed ? " flushed" : "");
	fflush(stdout);
	end(id);
	rdma_destroy_event_channel(side.channel);
}

int
main(int argc, char **argv)
{
	bool two = false, twice = false;
	pthread_t thread;
	char text[1024];
	uint16_t port;
	int c, status;
	ssize_t n;

	while ((c = getopt(argc, argv, "2b:lq:rw")) != -1) {
		two |= c == '2';
		twice |= c == 'l';
		rejects |= c == 'r';
		works |= c == 'w';
		if (c == 'b')
			lasts = atof(optarg);
		if (c == 'q')
			quiet = atof(optarg);
	}
	MUST(!pipe(ready) && !pipe(stop) && !pipe(result));
	if (!two) {
		MUST(!pthread_create(&thread, NULL, server, NULL));
	} else if (!fork()) {
		close(stop[1]);
		server(NULL);
		exit(0);
	}
	MUST(read(ready[0], &port, sizeof port) == sizeof port);
	client(port, twice);
	usleep(50000);
	close(stop[1]);
	if (!two)
		MUST(!pthread_join(thread, NULL));
	else
		MUST(wait(&status) > 0 && !status);
	n = read(result[0], text, sizeof text);
	MUST(n > 0);
	printf("%.*s", (int)n, text);
	return 0;
}

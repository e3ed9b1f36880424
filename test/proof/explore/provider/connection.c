/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * connection -- the connection manager: the part of librdmacm that dapl/ uses
 *
 * The other end of an attempt to connect does what an actor of the scenario orders, or answers by
 * itself: the nth attempt gets the nth of the answers of the scenario when the device has its turn.
 */
#include <string.h>

#include "dapl/ep/conn.h"
#include "dapl/cm/cr.h"

#include "rnic.h"
#include "world.h"

#define IDS 24
#define EVENTS 32

struct cm_id {
	struct rdma_cm_id rdma;
	bool open, connecting, connected;
	bool given; /* to the provider; an unread request is dropped with the channel */
	unsigned int unacked;
	char answer;	 /* an enum connection_answer; 0: an actor gives it */
	uint8_t data[8]; /* private data of the answer */
};

static struct cm_id ids[IDS];
static unsigned int n_ids;
/* All connections are the first adapter's. */
static struct rdma_event_channel channel, other_channel;
/* Of a service point that requests arrive at. */
static struct dapl_conn listener_conn;
static struct rdma_cm_id listener = { .context = &listener_conn };
static unsigned int n_channels;
static struct rdma_cm_event queue[EVENTS]; /* a ring; an event stays in place until it is acked */
static unsigned int first, n_events;
static const char *script; /* of answers; "": actors give them */
static unsigned int n_answers;

static const struct os_site here = { "the connection manager", 0 };

void
connection_reset(void)
{
	n_ids = first = n_events = n_channels = n_answers = 0;
	script = "";
}

bool
connection_open(void)
{
	return n_channels > 0;
}

/* Its private data are the first `size` bytes of the id's. */
static void
raise_with_data(struct cm_id *id, enum rdma_cm_event_type type, int status, uint8_t size)
{
	struct rdma_cm_event *event = &queue[(first + n_events) % EVENTS];

	if (n_events++ == EVENTS)
		violation("the scenario raises too many connection events");
	*event = (struct rdma_cm_event){
		.id = &id->rdma, .listen_id = &listener, .event = type, .status = status
	};
	if (size)
		event->param.conn =
		    (struct rdma_conn_param){ .private_data = id->data, .private_data_len = size };
	world_channel_set(channel.fd, n_events);
	sched_touch(OP_DEVICE, OBJECT_FD(channel.fd));
	context_release(id);
}

static void
raise_event(struct cm_id *id, enum rdma_cm_event_type type, int status)
{
	raise_with_data(id, type, status, 0);
}

static struct cm_id *
enter(struct rdma_cm_id *rdma)
{
	struct cm_id *id = (struct cm_id *)rdma;

	sched_point(OP_DEVICE, OBJECT_FD(channel.fd), &here);
	if (!id->open)
		violation("a CM id is used after it was destroyed");
	context_release(id); /* the kernel orders the calls for an id and the events of this id */
	return id;
}

/* ---- moves of the other end ---- */

static struct cm_id *
id_of(const void *context)
{
	for (unsigned int i = n_ids; i-- > 0;)
		if (ids[i].open && ids[i].rdma.qp && rnic_owner(ids[i].rdma.qp) == context)
			return &ids[i];
	return NULL;
}

struct asked {
	const void *context;
};

static bool
is_asked(void *arg)
{
	const struct cm_id *id = id_of(((struct asked *)arg)->context);

	return id && id->connecting;
}

void
connection_await(const void *context)
{
	struct asked asked = { context };

	sched_until(is_asked, &asked, OP_DEVICE, OBJECT_FD(channel.fd));
}

static void
answer(struct cm_id *id, enum connection_answer how)
{
	static const struct {
		enum connection_answer how;
		const char *name;
		enum rdma_cm_event_type type;
	} answers[] = {
		{ ANSWER_ACCEPTS, "accepts", RDMA_CM_EVENT_ESTABLISHED },
		{ ANSWER_REJECTS, "rejects", RDMA_CM_EVENT_REJECTED },
		{ ANSWER_DECLINES, "has no listener", RDMA_CM_EVENT_REJECTED },
		{ ANSWER_IS_AWAY, "cannot be reached", RDMA_CM_EVENT_UNREACHABLE },
		{ ANSWER_IS_WRONG, "answers wrongly", RDMA_CM_EVENT_CONNECT_ERROR },
	};
	const uint32_t version = htonl(DAPL_CR_REJECT_VERSION);
	unsigned int i = 0, size = 0;

	while (answers[i].how != how)
		i++;
	id->connecting = false;
	id->connected = how == ANSWER_ACCEPTS;
	if (id->connected && id->rdma.qp->state != IBV_QPS_ERR)
		rnic_set_state(id->rdma.qp, IBV_QPS_RTS);
	if (how == ANSWER_REJECTS) {
		memcpy(id->data, &version, sizeof version);
		size = sizeof version;
	}
	if (how == ANSWER_REJECTS || how == ANSWER_ACCEPTS)
		size += judge_private_data(rnic_owner(id->rdma.qp), id->data + size);
	trace_note("the other end: %s", answers[i].name);
	judge_answered(rnic_owner(id->rdma.qp), how);
	raise_with_data(id, answers[i].type, how == ANSWER_IS_AWAY ? -ETIMEDOUT : 0, (uint8_t)size);
}

void
connection_answer(const void *of, enum connection_answer how)
{
	struct cm_id *id;

	sched_point(OP_DEVICE, OBJECT_FD(channel.fd), &here);
	id = id_of(of);
	sched_see(OP_DEVICE, OBJECT_FD(channel.fd));
	if (id && id->connecting)
		answer(id, how);
}

void
connection_leave(const void *of)
{
	struct cm_id *id;

	sched_point(OP_DEVICE, OBJECT_FD(channel.fd), &here);
	id = id_of(of);
	sched_see(OP_DEVICE, OBJECT_FD(channel.fd));
	if (!id || !id->connected)
		return;
	id->connected = false;
	trace_note("the other end: disconnects");
	judge_left(of);
	raise_event(id, RDMA_CM_EVENT_DISCONNECTED, 0);
}

/* ---- the other end answers by itself ---- */

static char
next_answer(void)
{
	return script[0] ? script[n_answers++ % strlen(script)] : 0;
}

void
connection_script(const char *answers)
{
	if (strspn(answers, CONNECTION_ANSWERS) != strlen(answers))
		violation("the other end cannot answer '%s'", answers);
	script = answers;
	for (unsigned int i = 0; i < n_ids; i++) {
		if (!ids[i].open || !ids[i].connecting)
			continue;
		ids[i].answer = next_answer();
		if (ids[i].answer == ANSWER_IS_NOWHERE) /* too late: it has its route */
			ids[i].answer = ANSWER_IS_AWAY;
	}
	sched_changed();
}

static struct cm_id *
unanswered(void)
{
	for (unsigned int i = 0; i < n_ids; i++)
		if (ids[i].open && ids[i].connecting && ids[i].answer &&
		    ids[i].answer != ANSWER_IS_SILENT)
			return &ids[i];
	return NULL;
}

bool
connection_has_answer(void)
{
	return unanswered() != NULL;
}

void
connection_give_answer(void)
{
	struct cm_id *id;

	sched_point(OP_DEVICE, OBJECT_FD(channel.fd), &here);
	id = unanswered();
	sched_see(OP_DEVICE, OBJECT_FD(channel.fd));
	if (id)
		answer(id, (enum connection_answer)id->answer);
}

/* ---- what must hold of ids ---- */

bool
connection_is_stray(const void *owner, const struct rdma_cm_id *its, bool connecting)
{
	for (unsigned int i = 0; i < n_ids; i++) {
		const struct dapl_conn *conn = ids[i].rdma.context;

		if (ids[i].open && conn && (const void *)conn->owner == owner &&
		    (&ids[i].rdma != its || (ids[i].connecting && !connecting)))
			return true;
	}
	return false;
}

void
connection_check_end(void)
{
	for (unsigned int i = 0; i < n_ids; i++)
		if (ids[i].open && ids[i].given)
			violation("a CM id is not destroyed");
}

/* ---- ids ---- */

static struct cm_id *
make_id(struct rdma_event_channel *of, void *context, enum rdma_port_space ps)
{
	struct cm_id *id = &ids[n_ids];

	if (n_ids == IDS)
		violation("the scenario makes too many connections");
	n_ids++;
	memset(id, 0, sizeof *id);
	id->open = true;
	id->rdma = (struct rdma_cm_id){
		.channel = of, .context = context, .ps = ps, .verbs = rnic_context(), .port_num = 1
	};
	return id;
}

void
connection_ask(void)
{
	sched_point(OP_DEVICE, OBJECT_FD(channel.fd), &here);
	sched_see(OP_DEVICE, OBJECT_FD(channel.fd));
	if (!connection_open())
		return;
	trace_note("the other end: asks to connect");
	raise_event(make_id(&channel, NULL, RDMA_PS_TCP), RDMA_CM_EVENT_CONNECT_REQUEST, 0);
}

struct rdma_event_channel *
rdma_create_event_channel(void)
{
	struct rdma_event_channel *of = n_channels++ ? &other_channel : &channel;

	of->fd = world_channel_open("connections");
	return of;
}

void
rdma_destroy_event_channel(struct rdma_event_channel *of)
{
	world_close(of->fd, &here);
	if (--n_channels == 0)
		world_close(rnic_context()->async_fd, &here);
}

int
rdma_create_id(
    struct rdma_event_channel *of, struct rdma_cm_id **out, void *context, enum rdma_port_space ps)
{
	sched_point(OP_DEVICE, OBJECT_FD(channel.fd), &here);
	errno = ENOMEM;
	if (world_fails(FAULT_VERBS, &here))
		return -1;
	*out = &make_id(of, context, ps)->rdma;
	((struct cm_id *)*out)->given = true;
	sched_touch(OP_DEVICE, OBJECT_FD(channel.fd));
	return 0;
}

static bool
acknowledged(void *arg)
{
	const struct cm_id *id = arg;

	return id->unacked == 0;
}

int
rdma_destroy_id(struct rdma_cm_id *rdma)
{
	struct cm_id *id = enter(rdma);
	unsigned int kept = 0;

	id->open = id->connecting = id->connected = false;
	for (unsigned int i = 0; i < n_events; i++) {
		struct rdma_cm_event *event = &queue[(first + i) % EVENTS];

		if (event->id != rdma)
			queue[(first + kept++) % EVENTS] = *event;
	}
	n_events = kept;
	world_channel_set(channel.fd, n_events);
	sched_touch(OP_DEVICE, OBJECT_FD(channel.fd));
	sched_until(acknowledged, id, OP_DEVICE, OBJECT_FD(channel.fd));
	return 0;
}

int
rdma_bind_addr(struct rdma_cm_id *id, struct sockaddr *address)
{
	(void)id;
	(void)address;
	return 0;
}

int
rdma_resolve_addr(struct rdma_cm_id *id, struct sockaddr *from, struct sockaddr *to, int ms)
{
	(void)from;
	(void)to;
	(void)ms;
	raise_event(enter(id), RDMA_CM_EVENT_ADDR_RESOLVED, 0);
	((struct cm_id *)id)->answer = next_answer();
	return 0;
}

int
rdma_resolve_route(struct rdma_cm_id *id, int ms)
{
	struct cm_id *entered = enter(id);

	(void)ms;
	if (entered->answer == ANSWER_IS_NOWHERE)
		judge_answered(((struct dapl_conn *)id->context)->owner, ANSWER_IS_NOWHERE);
	if (entered->answer == ANSWER_IS_NOWHERE)
		raise_event(entered, RDMA_CM_EVENT_ROUTE_ERROR, -ENETUNREACH);
	else
		raise_event(entered, RDMA_CM_EVENT_ROUTE_RESOLVED, 0);
	return 0;
}

int
rdma_connect(struct rdma_cm_id *rdma, struct rdma_conn_param *param)
{
	struct cm_id *id = enter(rdma);

	(void)param;
	id->connecting = true;
	sched_touch(OP_DEVICE, OBJECT_FD(channel.fd));
	sched_changed();
	return 0;
}

/* The other end confirms at once. */
int
rdma_disconnect(struct rdma_cm_id *rdma)
{
	struct cm_id *id = enter(rdma);

	if (!id->connected) {
		errno = EINVAL;
		return -1;
	}
	id->connected = false;
	rnic_set_state(rdma->qp, IBV_QPS_ERR);
	raise_event(id, RDMA_CM_EVENT_DISCONNECTED, 0);
	return 0;
}

int
rdma_notify(struct rdma_cm_id *id, enum ibv_event_type type)
{
	(void)enter(id);
	(void)type;
	return 0;
}

/* ---- events ---- */

int
rdma_get_cm_event(struct rdma_event_channel *of, struct rdma_cm_event **out)
{
	static struct rdma_cm_event read[IDS];
	struct rdma_cm_event *event = &queue[first % EVENTS];

	sched_point(OP_DEVICE, OBJECT_FD(of->fd), &here);
	if (of != &channel || !n_events) {
		errno = EAGAIN;
		return -1;
	}
	*out = &read[(struct cm_id *)event->id - ids];
	**out = *event;
	context_acquire(event->id);
	((struct cm_id *)event->id)->unacked++;
	((struct cm_id *)event->id)->given = true;
	first++;
	n_events--;
	world_channel_set(of->fd, n_events);
	sched_touch(OP_DEVICE, OBJECT_FD(of->fd));
	return 0;
}

int
rdma_ack_cm_event(struct rdma_cm_event *event)
{
	sched_point(OP_DEVICE, OBJECT_FD(channel.fd), &here);
	((struct cm_id *)event->id)->unacked--;
	sched_touch(OP_DEVICE, OBJECT_FD(channel.fd));
	sched_changed();
	return 0;
}

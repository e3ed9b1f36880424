/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * lost -- the link to another process ends: what an id hears of it, in each state
 *
 * The process is this one as well; it writes its messages by hand.  There are two links: the
 * device's, which carries the connections that were requested here, and the process's own.  When
 * one ends, the ids of the other go on.
 */
#include "line.h"
#include "story.h"

#include <sys/socket.h>

#include "softverbs/cm/cm.h"
#include "softverbs/device/names.h"
#include "softverbs/device/slot.h"
#include "softverbs/wire/wire.h"

#define THEIR_PORT 61123 /* the device does not choose it for an id */

static struct side a; /* the device is in use */
static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener;
static uint16_t port; /* of the listener, in network order */
static unsigned int stranger;
static int door;

/* A connection, and the link that carries it. */
struct end {
	struct rdma_cm_id *id;
	struct ibv_cq *cq;
	int line;
	uint32_t number, peer; /* of the id, and that of the stranger's */
};

static struct end ours, theirs; /* requested by the device, and by the stranger */

static void
setup(void)
{
	const uint32_t entry = SOFT_NAME_PORT(0, THEIR_PORT);

	side_make(&a, NULL);
	stranger = line_slot_take(&door);
	ck_assert_int_eq(soft_name_lock(entry), 0);
	ck_assert_int_eq(soft_name_write(entry, (uint16_t)stranger), 0);
	channel = cm_channel();
	listener = cm_listen(channel, &port);
	ours = (struct end){ .line = -1, .peer = 201 };
	theirs = (struct end){ .line = -1, .peer = 101 };
}

static void
end_forget(struct end *end)
{
	cm_forget(&end->id);
	if (end->cq)
		ck_assert_int_eq(ibv_destroy_cq(end->cq), 0);
	if (end->line >= 0)
		close(end->line);
}

static void
teardown(void)
{
	end_forget(&ours);
	end_forget(&theirs);
	ck_assert_int_eq(rdma_destroy_id(listener), 0);
	rdma_destroy_event_channel(channel);
	(void)soft_name_write(SOFT_NAME_PORT(0, THEIR_PORT), 0);
	soft_name_unlock(SOFT_NAME_PORT(0, THEIR_PORT));
	line_slot_leave(stranger, door);
	side_free(&a);
}

static void
say(const struct end *end, const struct soft_wire_cm *cm)
{
	const struct soft_frame frame = { .type = SOFT_FRAME_CM, .length = sizeof *cm };

	line_send(end->line, &frame, sizeof frame);
	line_send(end->line, cm, sizeof *cm);
}

/* The next message of that type; questions are passed over. */
static struct soft_wire_cm
hear(const struct end *end, enum soft_cm_type type)
{
	struct pollfd pfd = { .fd = end->line, .events = POLLIN };
	struct soft_frame frame;
	struct soft_wire_cm cm;

	do {
		ck_assert_msg(poll(&pfd, 1, (int)runner_stretch(10000)) == 1, "no message");
		ck_assert_int_eq(recv(end->line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
		ck_assert_int_eq(frame.type, SOFT_FRAME_CM);
		ck_assert_int_eq(recv(end->line, &cm, sizeof cm, MSG_WAITALL), sizeof cm);
	} while (cm.type == SOFT_CM_ASK || (cm.type == SOFT_CM_MRA && type != SOFT_CM_MRA));
	ck_assert_uint_eq(cm.type, type);
	return cm;
}

static void
end_make_qp(struct end *end)
{
	end->cq = ibv_create_cq(end->id->verbs, 8, NULL, NULL, 0);
	ck_assert_ptr_nonnull(end->cq);
	cm_qp(end->id, end->cq);
}

/* ---- the steps of a connection, one for each state that it reaches ---- */

static struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

static void
ours_requesting(void)
{
	struct soft_wire_cm request;

	ours.id = cm_resolved(channel, htons(THEIR_PORT));
	end_make_qp(&ours);
	ck_assert_int_eq(rdma_connect(ours.id, &param), 0);
	ours.line = line_accept(door);
	request = hear(&ours, SOFT_CM_REQ);
	ck_assert_uint_eq(request.port, THEIR_PORT);
	ours.number = request.from;
}

/* The answer has come and was not read. */
static void
ours_accepted(void)
{
	const uint32_t qpn = stranger << 14 | 8;
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };

	ours_requesting();
	say(&ours, &(struct soft_wire_cm){ .type = SOFT_CM_REP,
		       .from = ours.peer,
		       .to = ours.number,
		       .qpn = qpn,
		       .retry_count = 7,
		       .rnr_retry_count = 7 });
	ck_assert_int_eq(poll(&pfd, 1, (int)runner_stretch(10000)), 1);
}

static void
ours_connected(void)
{
	ours_accepted();
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, ours.id);
	(void)hear(&ours, SOFT_CM_RTU);
}

static void
ours_disconnecting(void)
{
	ours_connected();
	ck_assert_int_eq(rdma_disconnect(ours.id), 0);
	(void)hear(&ours, SOFT_CM_DREQ);
}

static void
say_to(const struct end *end, enum soft_cm_type type)
{
	say(end, &(struct soft_wire_cm){ .type = type, .from = end->peer, .to = end->number });
}

static void
ours_disconnected(void)
{
	ours_connected();
	say_to(&ours, SOFT_CM_DREQ);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, ours.id);
	(void)hear(&ours, SOFT_CM_DREP);
}

static void
theirs_requested(void)
{
	const uint8_t host[4] = { 127, 0, 0, 1 };
	struct soft_wire_cm request = { .type = SOFT_CM_REQ,
		.from = theirs.peer,
		.port_space = RDMA_PS_TCP,
		.port = ntohs(port),
		.source = { .family = 4, .port = 5000 },
		.target = { .family = 4, .port = ntohs(port) },
		.qpn = stranger << 14 | 7,
		.retry_count = 7,
		.rnr_retry_count = 7 };
	struct rdma_cm_event *event;

	memcpy(request.source.bytes, host, sizeof host);
	memcpy(request.target.bytes, host, sizeof host);
	theirs.line = line_open(soft_slot_number());
	line_greet(theirs.line, stranger);
	say(&theirs, &request);
	event = cm_next(channel, RDMA_CM_EVENT_CONNECT_REQUEST);
	theirs.id = event->id;
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
	theirs.number = hear(&theirs, SOFT_CM_MRA).from;
}

static void
theirs_answered(void)
{
	theirs_requested();
	end_make_qp(&theirs);
	ck_assert_int_eq(rdma_accept(theirs.id, &param), 0);
	(void)hear(&theirs, SOFT_CM_REP);
}

static void
theirs_connected(void)
{
	theirs_answered();
	say_to(&theirs, SOFT_CM_RTU);
	cm_expect(channel, RDMA_CM_EVENT_ESTABLISHED, theirs.id);
}

static void
theirs_disconnecting(void)
{
	theirs_connected();
	ck_assert_int_eq(rdma_disconnect(theirs.id), 0);
	(void)hear(&theirs, SOFT_CM_DREQ);
}

static void
theirs_disconnected(void)
{
	theirs_disconnecting();
	say_to(&theirs, SOFT_CM_DREP);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, theirs.id);
}

/* ---- the end of the link ---- */

static void
expect_event(const struct end *end, enum rdma_cm_event_type type, int status)
{
	struct rdma_cm_event *event = cm_next(channel, type);

	ck_assert_ptr_eq(event->id, end->id);
	ck_assert_int_eq(event->status, status);
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
}

static void
hang_up(struct end *end)
{
	close(end->line);
	end->line = -1;
}

#define NOTHING RDMA_CM_EVENT_TIMEWAIT_EXIT

static const struct {
	struct end *end;
	void (*reach)(void);
	enum rdma_cm_event_type first, then;
	int status; /* of the last one */
} cases[] = {
	{ &ours, ours_requesting, RDMA_CM_EVENT_UNREACHABLE, NOTHING, -ETIMEDOUT },
	{ &ours, ours_accepted, RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED, 0 },
	{ &ours, ours_connected, RDMA_CM_EVENT_DISCONNECTED, NOTHING, 0 },
	{ &ours, ours_disconnecting, RDMA_CM_EVENT_DISCONNECTED, NOTHING, 0 },
	{ &ours, ours_disconnected, NOTHING, NOTHING, 0 },
	{ &theirs, theirs_requested, RDMA_CM_EVENT_UNREACHABLE, NOTHING, -ETIMEDOUT },
	{ &theirs, theirs_answered, RDMA_CM_EVENT_UNREACHABLE, NOTHING, -ETIMEDOUT },
	{ &theirs, theirs_connected, RDMA_CM_EVENT_DISCONNECTED, NOTHING, 0 },
	{ &theirs, theirs_disconnecting, RDMA_CM_EVENT_DISCONNECTED, NOTHING, 0 },
	{ &theirs, theirs_disconnected, NOTHING, NOTHING, 0 },
};

CASE("soft-lost:links", setup, teardown);

/* origin: outside.145 */
/* origin: outside.153 */
TEST_LOOP(link_ends__the_ids_that_it_carries_hear_of_it_once__others_do_not,
    (sizeof cases / sizeof cases[0]))
{
	struct end *end = cases[_i].end, *other = end == &ours ? &theirs : &ours;

	if (other == &ours)
		ours_connected();
	else
		theirs_connected();
	cases[_i].reach();
	hang_up(end);
	if (cases[_i].then != NOTHING)
		expect_event(end, cases[_i].first, 0);
	else if (cases[_i].first != NOTHING)
		expect_event(end, cases[_i].first, cases[_i].status);
	if (cases[_i].then != NOTHING)
		expect_event(end, cases[_i].then, cases[_i].status);
	/* The other link is in order, and its end is heard as well. */
	say_to(other, SOFT_CM_MRA);
	cm_expect_no_event(channel);
	hang_up(other);
	expect_event(other, RDMA_CM_EVENT_DISCONNECTED, 0);
	cm_expect_no_event(channel);
}

/*
 * ---- each message, in the states in which it may come: also late, twice, or when the id has given
 * up ----
 */

#define NO_ANSWER 0

static const struct step {
	struct end *end;
	void (*reach)(void);
	enum soft_cm_type said;
	enum rdma_cm_event_type event, then; /* NOTHING: none */
	enum soft_cm_type answer, again;     /* to it, and when it comes a second time */
} steps[] = {
	{ &ours, ours_requesting, SOFT_CM_ASK, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_requesting, SOFT_CM_MRA, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_requesting, SOFT_CM_RTU, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_requesting, SOFT_CM_DREP, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_requesting, SOFT_CM_DREQ, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_requesting, SOFT_CM_REJ, RDMA_CM_EVENT_REJECTED, NOTHING, NO_ANSWER,
	    NO_ANSWER },
	{ &ours, ours_requesting, SOFT_CM_REP, RDMA_CM_EVENT_ESTABLISHED, NOTHING, SOFT_CM_RTU,
	    NO_ANSWER },
	{ &ours, ours_accepted, SOFT_CM_ASK, RDMA_CM_EVENT_ESTABLISHED, NOTHING, SOFT_CM_MRA,
	    SOFT_CM_MRA },
	{ &ours, ours_accepted, SOFT_CM_DREP, RDMA_CM_EVENT_ESTABLISHED, NOTHING, SOFT_CM_RTU,
	    NO_ANSWER },
	{ &ours, ours_accepted, SOFT_CM_DREQ, RDMA_CM_EVENT_ESTABLISHED, RDMA_CM_EVENT_DISCONNECTED,
	    SOFT_CM_DREP, SOFT_CM_DREP },
	{ &ours, ours_connected, SOFT_CM_RTU, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_connected, SOFT_CM_MRA, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_connected, SOFT_CM_DREP, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_connected, SOFT_CM_DREQ, RDMA_CM_EVENT_DISCONNECTED, NOTHING, SOFT_CM_DREP,
	    SOFT_CM_DREP },
	{ &ours, ours_disconnecting, SOFT_CM_DREP, RDMA_CM_EVENT_DISCONNECTED, NOTHING, NO_ANSWER,
	    NO_ANSWER },
	{ &ours, ours_disconnecting, SOFT_CM_DREQ, RDMA_CM_EVENT_DISCONNECTED, NOTHING,
	    SOFT_CM_DREP, SOFT_CM_DREP },
	{ &ours, ours_disconnected, SOFT_CM_DREQ, NOTHING, NOTHING, SOFT_CM_DREP, SOFT_CM_DREP },
	{ &ours, ours_disconnected, SOFT_CM_DREP, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_disconnected, SOFT_CM_REP, NOTHING, NOTHING, SOFT_CM_REJ, SOFT_CM_REJ },
	{ &ours, ours_disconnected, SOFT_CM_RTU, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &ours, ours_disconnected, SOFT_CM_REJ, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_requested, SOFT_CM_ASK, NOTHING, NOTHING, SOFT_CM_MRA, SOFT_CM_MRA },
	{ &theirs, theirs_requested, SOFT_CM_RTU, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_requested, SOFT_CM_DREP, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_requested, SOFT_CM_DREQ, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_requested, SOFT_CM_REJ, RDMA_CM_EVENT_REJECTED, NOTHING, NO_ANSWER,
	    NO_ANSWER },
	{ &theirs, theirs_answered, SOFT_CM_MRA, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_answered, SOFT_CM_DREP, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_answered, SOFT_CM_RTU, RDMA_CM_EVENT_ESTABLISHED, NOTHING, NO_ANSWER,
	    NO_ANSWER },
	{ &theirs, theirs_answered, SOFT_CM_REJ, RDMA_CM_EVENT_REJECTED, NOTHING, NO_ANSWER,
	    NO_ANSWER },
	{ &theirs, theirs_answered, SOFT_CM_DREQ, RDMA_CM_EVENT_DISCONNECTED, NOTHING, SOFT_CM_DREP,
	    SOFT_CM_DREP },
	{ &theirs, theirs_connected, SOFT_CM_RTU, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_connected, SOFT_CM_DREQ, RDMA_CM_EVENT_DISCONNECTED, NOTHING,
	    SOFT_CM_DREP, SOFT_CM_DREP },
	{ &theirs, theirs_disconnecting, SOFT_CM_RTU, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
	{ &theirs, theirs_disconnecting, SOFT_CM_DREQ, RDMA_CM_EVENT_DISCONNECTED, NOTHING,
	    SOFT_CM_DREP, SOFT_CM_DREP },
	{ &theirs, theirs_disconnected, SOFT_CM_DREQ, NOTHING, NOTHING, SOFT_CM_DREP,
	    SOFT_CM_DREP },
	{ &theirs, theirs_disconnected, SOFT_CM_RTU, NOTHING, NOTHING, NO_ANSWER, NO_ANSWER },
};
#define STEPS ((int)(sizeof steps / sizeof *steps))

/*
 * The next message, whatever it is, but for questions that were not asked for; REJ of an id that
 * there is not ends it.
 */
static enum soft_cm_type
hear_any(const struct end *end)
{
	struct soft_frame frame;
	struct soft_wire_cm cm;

	do {
		ck_assert_int_eq(recv(end->line, &frame, sizeof frame, MSG_WAITALL), sizeof frame);
		ck_assert_int_eq(recv(end->line, &cm, sizeof cm, MSG_WAITALL), sizeof cm);
	} while (cm.type == SOFT_CM_ASK);
	ck_assert_uint_eq(cm.to, cm.from == 1 ? 1 : end->peer);
	if (cm.from == 1)
		return NO_ANSWER;
	ck_assert_uint_eq(cm.reason, cm.type == SOFT_CM_REJ ? SOFT_CM_REJ_TIMEOUT : 0);
	return (enum soft_cm_type)cm.type;
}

/*
 * All answers that come until that to a question about an id that there is not, of which one is
 * expected.
 */
static void
expect_answer(const struct end *end, enum soft_cm_type answer)
{
	enum soft_cm_type heard;
	unsigned int n = 0;

	say(end, &(struct soft_wire_cm){ .type = SOFT_CM_DREQ, .from = 1, .to = 1 });
	while ((heard = hear_any(end)) != NO_ANSWER) {
		ck_assert_uint_eq(heard, answer);
		n++;
	}
	ck_assert_uint_eq(n, answer != NO_ANSWER);
}

TEST_LOOP(message__in_each_state__is_answered_and_told_once, STEPS)
{
	const struct step *step = &steps[_i];
	struct soft_wire_cm message = { .type = step->said };

	step->reach();
	message.from = step->end->peer;
	message.to = step->end->number;
	message.qpn = step->said == SOFT_CM_REP ? stranger << 14 | 8 : 0;
	say(step->end, &message);
	/* When it is read, it is answered. */
	if (step->event == RDMA_CM_EVENT_ESTABLISHED && step->end == &ours) {
		if (step->answer != SOFT_CM_RTU)
			expect_answer(step->end, step->answer);
		expect_event(step->end, step->event, 0);
		if (step->then == NOTHING)
			(void)hear(step->end, SOFT_CM_RTU);
	} else {
		expect_answer(step->end, step->answer);
		if (step->event != NOTHING)
			expect_event(step->end, step->event, 0);
	}
	if (step->then != NOTHING)
		expect_event(step->end, step->then, 0);
	if (step->reach == ours_accepted && step->said == SOFT_CM_ASK)
		return; /* connected, it does not decide any more */
	say(step->end, &message);
	expect_answer(step->end, step->again);
	cm_expect_no_event(channel);
}

/* What the other end hears of an id that is destroyed. */
static const struct {
	struct end *end;
	void (*reach)(void);
	enum soft_cm_type heard;
	uint16_t reason;
} ends[] = {
	{ &ours, ours_requesting, NO_ANSWER, 0 }, /* it has not named its id */
	{ &ours, ours_accepted, SOFT_CM_REJ, SOFT_CM_REJ_CONSUMER },
	{ &ours, ours_connected, SOFT_CM_DREQ, 0 },
	{ &ours, ours_disconnecting, NO_ANSWER, 0 },
	{ &ours, ours_disconnected, NO_ANSWER, 0 },
	{ &theirs, theirs_requested, SOFT_CM_REJ, SOFT_CM_REJ_CONSUMER },
	{ &theirs, theirs_answered, SOFT_CM_DREQ, 0 },
	{ &theirs, theirs_connected, SOFT_CM_DREQ, 0 },
	{ &theirs, theirs_disconnecting, NO_ANSWER, 0 },
	{ &theirs, theirs_disconnected, NO_ANSWER, 0 },
};

TEST_LOOP(id_destroyed__in_each_state__the_other_end_hears_it_once, (sizeof ends / sizeof *ends))
{
	struct end *end = ends[_i].end;
	struct soft_wire_cm heard;

	ends[_i].reach();
	cm_forget(&end->id);
	if (ends[_i].heard != NO_ANSWER) {
		heard = hear(end, ends[_i].heard);
		ck_assert_uint_eq(heard.from, end->number);
		ck_assert_uint_eq(heard.to, end->peer);
		ck_assert_uint_eq(heard.reason, ends[_i].reason);
	}
	expect_answer(end, NO_ANSWER);
	cm_expect_no_event(channel);
}

/*
 * What a process says of an id that is another's, or that it has no connection with, changes
 * nothing.
 */
TEST(message__from_another_id_or_process__changes_nothing)
{
	struct soft_wire_cm wrong = { .type = SOFT_CM_DREQ, .from = 9999 };

	ours_connected();
	theirs_connected();
	wrong.to = ours.number;
	say(&ours, &wrong);
	wrong.to = theirs.number;
	say(&theirs, &wrong);
	cm_expect_no_event(channel);
	say_to(&ours, SOFT_CM_DREQ);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, ours.id);
	(void)hear(&ours, SOFT_CM_DREP);
	say_to(&theirs, SOFT_CM_DREQ);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, theirs.id);
	(void)hear(&theirs, SOFT_CM_DREP);
	cm_expect_no_event(channel);
}

/* A message for an id that is gone: which answer the process gets. */
TEST(message__to_no_id__is_answered_by_its_kind)
{
	static const struct {
		enum soft_cm_type said, heard;
	} answers[] = {
		{ SOFT_CM_MRA, SOFT_CM_REJ },
		{ SOFT_CM_ASK, SOFT_CM_REJ },
		{ SOFT_CM_REP, SOFT_CM_REJ },
		{ SOFT_CM_RTU, SOFT_CM_DREQ },
		{ SOFT_CM_DREQ, SOFT_CM_DREP },
	};
	struct soft_wire_cm heard;

	theirs_connected();
	for (size_t i = 0; i < sizeof answers / sizeof answers[0]; i++) {
		say(&theirs,
		    &(struct soft_wire_cm){
			.type = answers[i].said, .from = 77, .to = theirs.number ^ 1u << 30 });
		heard = hear(&theirs, answers[i].heard);
		ck_assert_uint_eq(heard.from, theirs.number ^ 1u << 30);
		ck_assert_uint_eq(heard.to, 77);
		ck_assert_uint_eq(
		    heard.reason, answers[i].heard == SOFT_CM_REJ ? SOFT_CM_REJ_TIMEOUT : 0);
	}
	/* To these there is no answer. */
	for (enum soft_cm_type type = SOFT_CM_REJ; type <= SOFT_CM_DREP; type += 2)
		say(&theirs, &(struct soft_wire_cm){
				 .type = type, .from = 77, .to = theirs.number ^ 1u << 30 });
	say_to(&theirs, SOFT_CM_DREQ);
	(void)hear(&theirs, SOFT_CM_DREP);
	cm_expect(channel, RDMA_CM_EVENT_DISCONNECTED, theirs.id);
}

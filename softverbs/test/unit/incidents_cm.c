/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * incidents_cm -- what incidents make of connections that the connection manager makes
 */
#include "incidents.h"
#include "other.h"
#include "patience.h"
#include "story.h"
#include "lib/feature.h"

#include <sys/wait.h>

#include "softverbs/device/changes.h"
#include "softverbs/fault/fault.h"

/* Both ends are here; what they see is a text. */
static struct rdma_event_channel *server, *client;
static struct rdma_cm_id *listener, *active, *passive;
static struct ibv_cq *cq;
static uint16_t port;
static char said[512];

static void
setup(void)
{
	incidents_begin();
	server = cm_channel();
	client = cm_channel();
	listener = cm_listen(server, &port);
	cq = ibv_create_cq(listener->verbs, 64, NULL, NULL, 0);
	active = passive = NULL;
}

static void
teardown(void)
{
	cm_forget(&active);
	cm_forget(&passive);
	cm_forget(&listener);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	rdma_destroy_event_channel(server);
	rdma_destroy_event_channel(client);
	patience_end();
}

/* The next event of the channel, with its status and what came with it. */
static void
say_event(const char *who, struct rdma_event_channel *channel)
{
	struct rdma_cm_event *event;
	const uint8_t *data;
	size_t length;

	ck_assert_msg(poll(&(struct pollfd){ .fd = channel->fd, .events = POLLIN }, 1, 1000) == 1,
	    "%s", said);
	errno = 0;
	ck_assert_int_eq(rdma_get_cm_event(channel, &event), 0);
	length = strlen(said);
	length += (size_t)sprintf(said + length, "%s %s %d", who,
	    rdma_event_str(event->event) + strlen("RDMA_CM_EVENT_"), event->status);
	if (event->status == -1)
		length += (size_t)sprintf(said + length, " %d", errno);
	data = event->param.conn.private_data;
	if (event->event == RDMA_CM_EVENT_REJECTED)
		for (int i = 0; i < event->param.conn.private_data_len && data[i]; i++)
			length += (size_t)sprintf(said + length, " %02x", data[i]);
	if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST)
		passive = event->id;
	strcat(said, "; ");
	ck_assert_int_eq(rdma_ack_cm_event(event), 0);
}

static void
expect(const char *want)
{
	ck_assert_str_eq(said, want);
	*said = '\0';
	cm_expect_no_event(client);
	cm_expect_no_event(server);
}

static void
call(void)
{
	struct rdma_conn_param param = { .retry_count = 7, .rnr_retry_count = 7 };

	if (!active->qp)
		cm_qp(active, cq);
	ck_assert_int_eq(rdma_connect(active, &param), 0);
}

static void
request(void)
{
	active = cm_resolved(client, port);
	call();
	say_event("server", server);
	ck_assert_str_eq(said, "server CONNECT_REQUEST 0; ");
	*said = '\0';
	cm_qp(passive, cq);
}

static void
establish(void)
{
	request();
	ck_assert_int_eq(rdma_accept(passive, NULL), 0);
	cm_expect(client, RDMA_CM_EVENT_ESTABLISHED, active);
	cm_expect(server, RDMA_CM_EVENT_ESTABLISHED, passive);
}

CASE("soft-incidents-cm:connections", setup, teardown);

/* origin: out33.U8 */
TEST(resolution__that_fails__can_be_tried_again)
{
	static const struct {
		const char *rule, *event;
	} answers[] = {
		{ "cm.addr_error", "client ADDR_ERROR -110; " },
		{ "cm.addr_error:errno=ENETUNREACH", "client ADDR_ERROR -101; " },
		{ "cm.addr_error:errno=ENODEV", "client ADDR_ERROR -19; " },
		{ "cm.route_error", "client ROUTE_ERROR -110; " },
		{ "cm.route_error:errno=EINVAL", "client ROUTE_ERROR -22; " },
		{ "cm.route_error:errno=EIO", "client ROUTE_ERROR -5; " },
	};
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = port };

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(rdma_create_id(client, &active, NULL, RDMA_PS_TCP), 0);
	for (int i = 0; i < 6; i++) {
		incident(answers[i].rule);
		if (i < 3)
			ck_assert_int_eq(
			    rdma_resolve_addr(active, NULL, (struct sockaddr *)&address, 1000), 0);
		else
			ck_assert_int_eq(rdma_resolve_route(active, 1000), 0);
		say_event("client", client);
		expect(answers[i].event);
		if (i != 2)
			continue;
		ck_assert_int_eq(
		    rdma_resolve_addr(active, NULL, (struct sockaddr *)&address, 1000), 0);
		cm_expect(client, RDMA_CM_EVENT_ADDR_RESOLVED, active);
	}
	ck_assert_int_eq(rdma_resolve_route(active, 1000), 0);
	cm_expect(client, RDMA_CM_EVENT_ROUTE_RESOLVED, active);
}

/* origin: out33.U8 */
TEST(connect__that_is_answered_by_a_rule__the_other_end_hears_nothing)
{
	static const char *const answers[][2] = {
		{ "cm.rejected", "client REJECTED 28; " },
		{ "cm.rejected:reason=10:data=6162", "client REJECTED 10 61 62; " },
		{ "cm.unreachable", "client UNREACHABLE -110; " },
	};

	for (int i = 0; i < 3; i++) {
		active = cm_resolved(client, port);
		incident(answers[i][0]);
		call();
		say_event("client", client);
		sleep_ms(1);
		expect(answers[i][1]);
		cm_forget(&active);
	}
}

/* origin: out33.U8 */
TEST(connect__whose_queue_pair_cannot_be_set_up__fails_at_both_ends)
{
	static const char *const answers[][2] = {
		{ "cm.connect_error", "client CONNECT_ERROR -1 22; server REJECTED 28; " },
		{ "cm.connect_error:errno=EIO", "client CONNECT_ERROR -1 5; server REJECTED 28; " },
	};

	for (int i = 0; i < 2; i++) {
		request();
		incident(answers[i][0]);
		ck_assert_int_eq(rdma_accept(passive, NULL), 0);
		say_event("client", client);
		say_event("server", server);
		expect(answers[i][1]);
		cm_forget(&active);
		cm_forget(&passive);
	}
}

/* What both ends see when a message is lost, with all that would repeat it. */
/* origin: out33.U8 */
TEST(message__that_is_lost__leads_to_what_timeouts_lead_to)
{
	static const struct {
		const char *rule, *seen;
		bool answers, rejects, disconnects;
	} losses[] = {
		{ "cm.lost_req", "client UNREACHABLE -110; ", false, false, false },
		{ "cm.lost_rep", "client UNREACHABLE -110; server UNREACHABLE -110; ", true, false,
		    false },
		{ "cm.lost_rtu",
		    "client ESTABLISHED 0; server UNREACHABLE -110; client DISCONNECTED 0; ", true,
		    false, false },
		{ "cm.lost_rej", "client UNREACHABLE -110; ", false, true, false },
		{ "cm.lost_dreq", "client DISCONNECTED -110; ", true, false, true },
		{ "cm.lost_drep", "server DISCONNECTED 0; client DISCONNECTED -110; ", true, false,
		    true },
	};

	for (int i = 0; i < 6; i++) {
		if (losses[i].disconnects)
			establish();
		else if (losses[i].answers || losses[i].rejects)
			request();
		else
			active = cm_resolved(client, port);
		incident(losses[i].rule);
		patience_set("0.01");
		if (losses[i].disconnects)
			ck_assert_int_eq(rdma_disconnect(active), 0);
		else if (losses[i].answers)
			ck_assert_int_eq(rdma_accept(passive, NULL), 0);
		else if (losses[i].rejects)
			ck_assert_int_eq(rdma_reject(passive, "no", 2), 0);
		else
			call();
		for (const char *at = losses[i].seen; *at; at = strchr(at, ';') + 2)
			say_event(*at == 'c' ? "client" : "server", *at == 'c' ? client : server);
		patience_usual();
		expect(losses[i].seen);
		cm_forget(&active);
		cm_forget(&passive);
	}
}

/* origin: out33.U8 */
TEST(connection__that_ends_by_itself__is_the_one_that_is_named)
{
	struct rdma_cm_id *first_active, *first_passive;

	incident_is_none("cm.disconnected");
	incident_is_none("cm.unreachable_later");
	establish();
	first_active = active;
	first_passive = passive;
	establish();
	/* The listener, active, passive, active and passive are 1 to 5. */
	incident_is_none("cm.disconnected:of=1");
	incident_is_none("cm.disconnected:of=6");
	incident("cm.unreachable_later:of=4");
	say_event("client", client);
	expect("client UNREACHABLE -110; ");
	incident("cm.disconnected:of=4");
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	incident_is_none("cm.disconnected:of=4");
	incident("cm.unreachable_later");
	cm_expect(client, RDMA_CM_EVENT_UNREACHABLE, first_active);
	incident("cm.disconnected");
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, first_active);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, first_passive);
	incident_is_none("cm.disconnected");
	cm_forget(&first_active);
	cm_forget(&first_passive);
}

/* origin: out33.U8 */
TEST(disconnection__comes_twice__and_its_time_wait_takes_as_long_as_the_rule_says)
{
	establish();
	incident("cm.disconnected_twice");
	incident("cm.timewait_exit:time=0.001");
	ck_assert_int_eq(rdma_disconnect(active), 0);
	/* The first of the two ends has both. */
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_expect(server, RDMA_CM_EVENT_DISCONNECTED, passive);
	cm_expect(server, RDMA_CM_EVENT_TIMEWAIT_EXIT, passive);
	cm_expect(client, RDMA_CM_EVENT_DISCONNECTED, active);
	expect("");
}

/* The ids that have no device yet are none of it. */
/* origin: out33.U8, out33.BB6 */
/* The id of a request that was not answered has none, as in the kernel. */
/* origin: out33.DD10 */
TEST(removal__is_an_event_of_each_id_of_the_device)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct rdma_cm_id *first_active, *first_passive, *idle;
	struct ibv_context **contexts;
	int count = -1;

	incident_is_none("device.arrival");
	ck_assert_int_eq(rdma_create_id(client, &idle, NULL, RDMA_PS_TCP), 0);
	establish();
	first_active = active;
	first_passive = passive;
	request();
	incident("cm.device_removal");
	incident_is_none("cm.device_removal");
	for (int i = 0; i < 2; i++)
		say_event("client", client);
	for (int i = 0; i < 4; i++)
		say_event("server", server);
	expect("client DEVICE_REMOVAL 0; client DEVICE_REMOVAL 0; server DEVICE_REMOVAL 0; "
	       "server DISCONNECTED 0; server DEVICE_REMOVAL 0; server REJECTED 4; ");
	cm_forget(&first_active);
	cm_forget(&first_passive);
	ck_assert_int_eq(rdma_destroy_id(idle), 0);
	/* There is none to open, until it arrives again; nor is one that is of no list. */
	errno = 0;
	ck_assert_ptr_null(ibv_open_device(list[0]));
	ck_assert_int_eq(errno, ENODEV);
	contexts = rdma_get_devices(&count);
	ck_assert_int_eq(count, 0);
	ck_assert_ptr_null(contexts[0]);
	rdma_free_devices(contexts);
	rdma_free_devices(NULL);
	/* A call that needs a device, of whichever, fails by itself. */
	ck_assert_int_ne(soft_fault_enter(SOFT_CALL_rdma_create_ep, NULL), 0);
	incident("device.arrival");
	ck_assert_int_eq(soft_fault_enter(SOFT_CALL_rdma_create_ep, NULL), 0);
	incident_is_none("device.arrival");
	errno = 0;
	ck_assert_ptr_null(ibv_open_device(&(struct ibv_device){ .name = "soft0" }));
	ck_assert_int_eq(errno, ENODEV);
	ck_assert_int_eq(ibv_close_device(ibv_open_device(list[0])), 0);
	ibv_free_device_list(list);
}

/* What was opened before has heard of the removal once, and hears nothing of the next life. */
/* origin: out33.DD2 */
TEST(removal__of_a_device_that_had_arrived_again__is_no_event_of_what_was_opened_before)
{
	struct ibv_async_event event;

	establish();
	for (int i = 0; i < 2; i++) {
		incident("cm.device_removal");
		if (!i) {
			say_event("client", client);
			for (int j = 0; j < 3; j++)
				say_event("server", server);
			expect("client DEVICE_REMOVAL 0; server DEVICE_REMOVAL 0; "
			       "server DISCONNECTED 0; server DEVICE_REMOVAL 0; ");
			ck_assert_int_eq(ibv_get_async_event(active->verbs, &event), 0);
			ck_assert_int_eq(event.event_type, IBV_EVENT_DEVICE_FATAL);
			ibv_ack_async_event(&event);
		}
		incident_is_none("event.port_err");
		incident_is_none("event.port_active");
		incident_is_none("event.gid_change");
		incident_is_none("event.cq_err");
		incident("device.arrival");
		incident_is_none("event.sm_change");
		expect("");
		ck_assert_int_eq(ibv_get_async_event(active->verbs, &event), -1);
		ck_assert_int_eq(errno, EIO);
	}
}

/* The wait for a request ends: no other event is one. */
TEST(removal__of_a_listener_that_waits__is_no_request)
{
	struct rdma_cm_id *waits, *id = NULL;
	struct sockaddr_in here = { .sin_family = AF_INET };

	here.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ck_assert_int_eq(rdma_create_id(NULL, &waits, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_bind_addr(waits, (struct sockaddr *)&here), 0);
	ck_assert_int_eq(rdma_listen(waits, 0), 0);
	incident("cm.device_removal");
	ck_assert_int_eq(rdma_get_request(waits, &id), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_ptr_null(id);
	ck_assert_int_eq(rdma_destroy_id(waits), 0); /* its event was acknowledged */
	cm_expect(server, RDMA_CM_EVENT_DEVICE_REMOVAL, listener);
	incident("device.arrival");
}

CASE(
    "soft-incidents-cm:child", setup, teardown, .needs = feature_child, .reason = FEATURE_NO_CHILD);

/* Nothing that was of a removed device keeps that of the child open. */
/* origin: out33.R3 */
TEST(removal__then_a_fork__the_child_has_a_device_until_its_last_id_is_destroyed)
{
	struct rdma_cm_id *id;
	int status;
	pid_t pid;

	incident("cm.device_removal");
	cm_expect(server, RDMA_CM_EVENT_DEVICE_REMOVAL, listener);
	incident("device.arrival");
	active = cm_resolved(client, port);
	pid = fork();
	if (!pid) {
		alarm(10);
		client = cm_channel();
		listener = cm_listen(client, &port);
		id = cm_resolved(client, port);
		ck_assert_int_gt(runner_count_threads(), 1);
		ck_assert_int_eq(rdma_destroy_id(id), 0);
		ck_assert_int_gt(runner_count_threads(), 1);
		ck_assert_int_eq(rdma_destroy_id(listener), 0);
		for (int i = 0; i < 2000 && runner_count_threads() > 1; i++)
			sleep_ms(1);
		_exit(runner_count_threads() != 1);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_int_eq(status, 0);
}

/* ---- two processes ---- */

static const struct {
	const char *begin, *end;
	bool here, reaches_server, reaches_client;
} cuts[] = {
	{ "link.cut", "link.heal", true, false, false },
	{ "link.cut:way=out", "link.heal", true, false, true },
	{ "link.cut:way=in", "link.heal", true, true, false },
	{ "link.cut", "link.heal", false, false, false },
	{ "link.cut:way=out", "link.heal", false, true, false },
	{ "link.cut:way=in", "link.heal", false, false, true },
	{ "event.port_err", "event.port_active", true, false, false },
	{ "event.port_err", "event.port_active", false, false, false },
};
#define CUTS (sizeof cuts / sizeof *cuts)

/* Cut off, or not any more, at one of the ends; both come here. */
static void
cut(size_t i, bool here, bool begins)
{
	other_meet();
	if (cuts[i].here == here)
		incident(begins ? cuts[i].begin : cuts[i].end);
	other_meet();
}

/* What arrives is there now, or else when the cut is over. */
static void
heal(size_t i, bool here, bool arrives, enum rdma_cm_event_type type)
{
	struct rdma_event_channel *channel = here ? client : server;

	if (arrives) {
		say_event("", channel);
	} else {
		sleep_ms(10);
		cm_expect_no_event(channel);
	}
	cut(i, here, false);
	if (!arrives)
		say_event("", channel);
	ck_assert_msg(strstr(said, rdma_event_str(type) + strlen("RDMA_CM_EVENT_")), "%s", said);
	*said = '\0';
}

static void
serve(void)
{
	server = cm_channel();
	listener = cm_listen(server, &port);
	cq = ibv_create_cq(listener->verbs, 64, NULL, NULL, 0);
	other_tell(&port, sizeof port);
	for (size_t i = 0; i < CUTS; i++) {
		cut(i, false, true);
		heal(i, false, cuts[i].reaches_server, RDMA_CM_EVENT_CONNECT_REQUEST);
		cm_qp(passive, cq);
		cut(i, false, true);
		ck_assert_int_eq(rdma_accept(passive, NULL), 0);
		heal(i, false, false, RDMA_CM_EVENT_ESTABLISHED);
		cut(i, false, true);
		heal(i, false, cuts[i].reaches_server, RDMA_CM_EVENT_DISCONNECTED);
		ck_assert_int_eq(rdma_disconnect(passive), 0);
		cm_forget(&passive);
	}
	other_meet();
	cm_expect_no_event(server);
	cm_forget(&listener);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	rdma_destroy_event_channel(server);
}

CASE("soft-incidents-cm:processes", incidents_begin, patience_end);

/* Each message waits where it is, and goes on; none is repeated. */
/* origin: out33.U8 */
TEST(connection__cut_at_either_end__goes_on_when_it_heals)
{
	other_start(serve);
	other_hear(&port, sizeof port);
	client = cm_channel();
	for (size_t i = 0; i < CUTS; i++) {
		active = cm_resolved(client, port);
		if (!cq)
			cq = ibv_create_cq(active->verbs, 64, NULL, NULL, 0);
		cut(i, true, true);
		call();
		sleep_ms(10);
		cm_expect_no_event(client);
		cut(i, true, false);
		cut(i, true, true);
		heal(i, true, cuts[i].reaches_client, RDMA_CM_EVENT_ESTABLISHED);
		cut(i, true, true);
		ck_assert_int_eq(rdma_disconnect(active), 0);
		heal(i, true, false, RDMA_CM_EVENT_DISCONNECTED);
		cm_forget(&active);
	}
	other_meet();
	cm_expect_no_event(client);
	ck_assert_uint_eq(soft_troubles(127), 0);
	ck_assert_int_eq(ibv_destroy_cq(cq), 0);
	rdma_destroy_event_channel(client);
	other_finish();
}

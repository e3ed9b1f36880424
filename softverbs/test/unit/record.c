/* SPDX-License-Identifier: BSD-3-Clause */
/* record -- how the faults that have fired are recorded; commands; rules that last no time */
#include "story.h"

#include "softverbs/fault/command.h"
#include "softverbs/fault/errors.h"
#include "softverbs/fault/fault.h"
#include "softverbs/fault/fired.h"
#include "softverbs/fault/process.h"
#include "softverbs/fault/record.h"

static struct soft_rules rules;

static bool
is_read(const char *text, const char *reason)
{
	char error[256] = "";
	const bool read = soft_rules_read_now(text, &rules, error, sizeof error);

	ck_assert_msg(read || strstr(error, reason), "%s: %s", text, error);
	return read;
}

CASE("soft-record:record");

/* origin: out33.W9 */
TEST(rule__that_lasts_no_time__is_refused)
{
	ck_assert(!is_read("link.cut:for=0", "for=0: no time at all"));
	ck_assert(!is_read("link.cut:for=0.0000000001", "no time at all"));
	ck_assert(!is_read("link.delay:time=0.0", "time=0.0: no time at all"));
	ck_assert(!is_read("link.cut:for=x", "for=x: not a number of seconds"));
	ck_assert(is_read("link.cut:for=0.000001", ""));
	ck_assert(is_read("link.delay:time=0.1:for=2", ""));
}

/* Rules of --faults are repeated as they were given instead; commands have no such form. */
/* origin: out33.W8 */
TEST(fired__more_than_are_recorded__the_first_ones_are_repeated_after_commands)
{
	char *text;

	for (int i = 0; i < SOFT_RECORD_FIRED + 2; i++)
		(void)soft_fired("", "event.sm_change:at=%d", i);
	ck_assert_uint_eq(soft_record_left_out(soft_record), 2);
	ck_assert_ptr_null(soft_record_rules(soft_record));
	soft_record->commanded = true;
	text = soft_record_rules(soft_record);
	ck_assert_ptr_nonnull(text);
	ck_assert(!strncmp(text, "event.sm_change:at=0:process=", 29));
	ck_assert_ptr_nonnull(strstr(text, "at=127:"));
	free(text);
}

/* origin: out33.AA4 */
TEST(fired__what_was_refused__takes_no_place_and_is_not_left_out)
{
	char *text;

	for (int i = 0; i < SOFT_RECORD_FIRED; i++) {
		soft_fired_undo(soft_fired("", "event.qp_fatal:at=%d", i));
		(void)soft_fired("", "event.sm_change:at=%d", i);
	}
	/* One that is refused after another has fired has had its place. */
	soft_fired_undo(soft_fired("", "event.qp_fatal:at=0"));
	(void)soft_fired("", "event.qp_fatal:at=1");
	(void)soft_fired("", "event.sm_change:at=1000");
	soft_fired_undo(SOFT_RECORD_FIRED);
	ck_assert_uint_eq(soft_record_left_out(soft_record), 1);
	ck_assert_uint_eq(soft_record_fired(soft_record), SOFT_RECORD_FIRED + 1);
	soft_record->commanded = true;
	text = soft_record_rules(soft_record);
	ck_assert_ptr_nonnull(strstr(text, "event.sm_change:at=127:"));
	ck_assert_ptr_null(strstr(text, "qp_fatal"));
	free(text);
}

static unsigned int seen;
static bool succeeds;

static bool
look(enum soft_incident incident, const struct soft_rule *rule, bool on)
{
	(void)incident, (void)rule, (void)on;
	seen = soft_record_fired(soft_record);
	return succeeds;
}

/* What happens may end the program. */
/* origin: out33.W10 */
TEST(incident__is_recorded_before_it_happens__and_not_if_it_did_not)
{
	char *text;

	soft_faults_set_actor(look);
	ck_assert(is_read("event.device_fatal", ""));
	(void)soft_fault_begin(&rules.rules[0], "at=1");
	ck_assert_uint_eq(seen, 1);
	ck_assert_uint_eq(soft_record_fired(soft_record), 0);
	ck_assert_uint_eq(soft_record->happened, 0);
	succeeds = true;
	ck_assert(soft_fault_begin(&rules.rules[0], "at=2"));
	ck_assert_uint_eq(soft_record_fired(soft_record), 1);
	ck_assert_uint_eq(soft_record->happened, 1);
	text = soft_record_rules(soft_record);
	ck_assert_str_eq(text, "event.device_fatal:at=2:process=0");
	free(text);
}

/* ---- the rules that are recorded ---- */

/* Each part that a rule has, in the words of a rule. */
/* origin: out33.W8 */
TEST(parts__of_a_rule__are_those_with_which_it_is_repeated)
{
	static const struct {
		enum soft_incident incident;
		const char *rule, *parts;
		int value;
	} lines[] = {
		{ SOFT_INCIDENT_COMPLETION_SEND, "completion.send", ":status=RETRY_EXC_ERR",
		    IBV_WC_RETRY_EXC_ERR },
		{ SOFT_INCIDENT_REJECTED, "cm.rejected:data=00ff1e", ":reason=28:data=00ff1e", 28 },
		{ SOFT_INCIDENT_ADDR_ERROR, "cm.addr_error", ":errno=ENODEV", ENODEV },
		{ SOFT_INCIDENT_LINK_CUT, "link.cut:for=0.5:way=out:peer=7",
		    ":for=0.500000000:way=out:peer=7", 0 },
		{ SOFT_INCIDENT_LINK_CUT, "link.cut:way=in:peer=slot9", ":way=in:peer=slot9", 0 },
		{ SOFT_INCIDENT_LINK_CUT, "link.cut:peer=rping-1", ":peer=rping-1", 0 },
		{ SOFT_INCIDENT_LINK_DELAY, "link.delay:time=1.25", ":time=1.250000000", 0 },
		{ SOFT_INCIDENT_LINK_RATE, "link.rate:rate=12", ":rate=12", 0 },
		{ SOFT_INCIDENT_MEMORY_LIMIT, "memory.limit:bytes=4096", ":bytes=4096", 0 },
		{ SOFT_INCIDENT_QP_FATAL, "event.qp_fatal:of=3", ":of=3", 0 },
		{ SOFT_INCIDENT_PORT_ERR, "event.port_err:device=a:port=2", ":device=a:port=2", 0 },
		{ SOFT_INCIDENT_TIMEWAIT_EXIT, "cm.timewait_exit:time=0.000000001",
		    ":time=0.000000001", 0 },
		{ SOFT_INCIDENT_LOST_REQ, "cm.lost_req", "", 0 },
	};
	char text[SOFT_RECORD_TAIL];

	for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
		ck_assert(is_read(lines[i].rule, ""));
		ck_assert_str_eq(
		    soft_fired_parts(lines[i].incident, &rules.rules[0], lines[i].value, text),
		    lines[i].parts);
	}
	/* The call of a completion, and no other, belongs to a device anyway. */
	ck_assert(soft_rules_read("completion.send:device=a", &rules, text, sizeof text));
	ck_assert_str_eq(soft_fired_parts(SOFT_INCIDENT_COMPLETION_SEND, &rules.rules[0],
			     IBV_WC_FATAL_ERR, text),
	    ":status=FATAL_ERR");
}

/* Those of errno(3) or of a number that a failed call returns; and which results are none. */
/* origin: out33.U8 */
TEST(result__of_each_call_that_fails__is_that_of_its_convention)
{
	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++) {
		const enum soft_convention convention = soft_calls[call].convention;
		const bool error = convention == SOFT_FAILS_ERROR,
			   negative = convention == SOFT_FAILS_NEGATIVE,
			   again = convention == SOFT_FAILS_REREG,
			   null = convention == SOFT_FAILS_NULL;

		ck_assert_int_eq(soft_fault_result(call, EIO), error	? EIO :
							       negative ? -EIO :
							       again	? IBV_REREG_MR_ERR_CMD :
									  -1);
		ck_assert_int_eq(soft_fault_succeeded(call, 0), !null);
		ck_assert_int_eq(soft_fault_succeeded(call, 1), !error && !again);
		ck_assert_int_eq(soft_fault_succeeded(call, -1), null);
	}
}

/* ---- commands ---- */

static bool
command(const char *text, const char *reason)
{
	char error[512] = "";
	const bool done = soft_command(text, error, sizeof error);

	ck_assert_str_eq(error, reason);
	return done;
}

/* A later one takes the place of one that was not used. */
TEST(command__for_a_call_or_a_completion__holds_for_the_next_one)
{
	struct soft_rule rule = { .n = 0 };

	ck_assert(command("ibv_reg_mr:errno=EFAULT,ibv_post_*", ""));
	ck_assert(command("ibv_post_send:errno=ENOMEM", ""));
	ck_assert(soft_record->commanded);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), EFAULT);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), 0);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_post_send), ENOMEM);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_post_recv),
	    soft_calls[SOFT_CALL_ibv_post_recv].errors[0]);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_poll_cq), 0);

	ck_assert(!soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, 0, &rule));
	ck_assert(command("completion.*send:status=FATAL_ERR", ""));
	ck_assert(command("completion.send:status=GENERAL_ERR", ""));
	/* It waits where its status is none that the request can have. */
	ck_assert(
	    !soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, IBV_WC_GENERAL_ERR, &rule));
	ck_assert(
	    soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, IBV_WC_FATAL_ERR, &rule));
	ck_assert_int_eq(rule.error, IBV_WC_GENERAL_ERR);
	ck_assert(!soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, 0, &rule));
	ck_assert(soft_command_take_incident(SOFT_INCIDENT_COMPLETION_UD_SEND, 0, &rule));
	ck_assert_int_eq(rule.error, IBV_WC_FATAL_ERR);
	ck_assert(command("completion.send,ibv_poll_cq", ""));
	soft_commands_reset();
	ck_assert(!soft_command_take_incident(SOFT_INCIDENT_COMPLETION_SEND, 0, &rule));
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_poll_cq), 0);
}

static atomic_int begun, ended;

static bool
count(enum soft_incident incident, const struct soft_rule *rule, bool begins)
{
	(void)rule;
	if (incident == SOFT_INCIDENT_QP_FATAL)
		return false; /* there is none */
	++*(begins ? &begun : &ended);
	return true;
}

/* Of several those before the one that could happen to nothing hold. */
/* origin: out33.AA4 */
TEST(command__that_happens_at_once__lasts_or_is_refused_from_there_on)
{
	struct ibv_context *context;
	char *text;

	soft_commands = true; /* what lasts needs the thread of the device */
	context = story_open();
	soft_faults_set_actor(count);
	ck_assert(!command("event.qp_fatal", "there is nothing that it could happen to"));
	ck_assert_uint_eq(soft_record_fired(soft_record), 0);
	ck_assert(!command("ibv_poll_cq,event.port_err,event.qp_fatal,ibv_reg_mr",
	    "there is nothing that rule 3 of 4 could happen to; those before it hold, those after "
	    "it do not"));
	ck_assert_int_eq(begun, 1);
	ck_assert_int_ne(soft_command_take_call(SOFT_CALL_ibv_poll_cq), 0);
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), 0);
	ck_assert(!command("ibv_reg_mr,frob", "frob: frob is no call that can fail; --faults=list "
					      "prints them"));
	ck_assert_int_eq(soft_command_take_call(SOFT_CALL_ibv_reg_mr), 0);
	ck_assert_int_eq(ended, 0);
	ck_assert(command("event.port_err:for=0.02", ""));
	ck_assert_int_eq(begun, 2);
	ck_assert_int_eq(ended, 0);
	for (int i = 0; i < 2000 && !ended; i++)
		sleep_ms(1);
	ck_assert_int_eq(ended, 1);
	ck_assert_uint_eq(soft_record_fired(soft_record), 2);
	ck_assert_uint_eq(soft_record->happened, 2);
	text = soft_record_rules(soft_record);
	ck_assert(!strncmp(text, "event.port_err:at=0.", 20));
	ck_assert_ptr_nonnull(strstr(text, ":process=1,event.port_err:at=0."));
	ck_assert_ptr_null(strstr(text, ",,"));
	free(text);
	ck_assert(!strncmp(soft_record->faults[1].head, "event.port_err:at=0.", 20));
	ck_assert_str_eq(soft_record->faults[1].tail, ":for=0.020000000");
	ck_assert_int_eq(ibv_close_device(context), 0);
}

/* ---- operations of contexts and of objects: the call of the program enters there ---- */

static struct side a;
static struct ibv_qp *extended;
static struct ibv_cq_ex *polled;
static struct ibv_pd *pd;
static struct ibv_td *td;
static struct ibv_mw *mw;

#define ERROR_OF(object) ((object) ? 0 : errno)

static int
poll_cq(void)
{
	struct ibv_wc wc;

	return -ibv_poll_cq(a.cq, 1, &wc);
}

/* None of the list is posted. */
static int
post_send(void)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_SEND }, *bad = NULL;
	const int r = ibv_post_send(a.qp, &wr, &bad);

	ck_assert(!r || bad == &wr);
	return r;
}

static int
post_recv(void)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad = NULL;
	const int r = ibv_post_recv(extended, &wr, &bad);

	ck_assert(!r || bad == &wr);
	return r;
}

static int
post_srq_recv(void)
{
	struct ibv_recv_wr wr = { .wr_id = 1 }, *bad = NULL;
	const int r = ibv_post_srq_recv(a.srq, &wr, &bad);

	ck_assert(!r || bad == &wr);
	return r;
}

static int
modify_cq(void)
{
	struct ibv_modify_cq_attr attr = { .attr_mask = IBV_CQ_ATTR_MODERATE };

	return ibv_modify_cq(a.cq, &attr);
}

static int
create_extended(void)
{
	struct ibv_qp_init_attr_ex init = { .send_cq = a.cq,
		.recv_cq = a.cq,
		.cap = { 4, 4, 1, 1, 0 },
		.qp_type = IBV_QPT_RC,
		.comp_mask = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS,
		.pd = a.pd,
		.send_ops_flags = IBV_QP_EX_WITH_SEND };

	return ERROR_OF(extended = ibv_create_qp_ex(a.context, &init));
}

/* What was built is given up. */
static int
complete(void)
{
	struct ibv_qp_ex *ex = ibv_qp_to_qp_ex(extended);
	int r;

	ibv_wr_start(ex);
	ibv_wr_send(ex);
	r = ibv_wr_complete(ex);
	ibv_wr_start(ex);
	ibv_wr_abort(ex);
	return r;
}

#define CALL(name, call) \
	static int name(void) \
	{ \
		return call; \
	}

CALL(notify, ibv_req_notify_cq(a.cq, 0))
CALL(start, ibv_start_poll(polled, &(struct ibv_poll_cq_attr){ .comp_mask = 0 }))
CALL(next, ibv_next_poll(polled))
CALL(query_device,
    ibv_query_device_ex(a.context, NULL, &(struct ibv_device_attr_ex){ .comp_mask = 0 }))
CALL(query_values, ibv_query_rt_values_ex(a.context, &(struct ibv_values_ex){ .comp_mask = 0 }))
CALL(query_port, verbs_get_ctx(a.context)->query_port(a.context, 1,
		     &(struct ibv_port_attr){ .state = 0 }, sizeof(struct ibv_port_attr)))
CALL(alloc_mw, ERROR_OF(mw = ibv_alloc_mw(a.pd, IBV_MW_TYPE_1)))
CALL(bind_mw, ibv_bind_mw(a.qp, mw, &(struct ibv_mw_bind){ .bind_info = { .mw_access_flags = 0 } }))
CALL(dealloc_mw, ibv_dealloc_mw(mw))
CALL(alloc_td, ERROR_OF(td = ibv_alloc_td(a.context, &(struct ibv_td_init_attr){ .comp_mask = 0 })))
CALL(alloc_pd, ERROR_OF(pd = ibv_alloc_parent_domain(a.context,
			    &(struct ibv_parent_domain_init_attr){ .pd = a.pd, .td = td })))
CALL(dealloc_td, ibv_dealloc_td(td))
CALL(create_cq,
    ERROR_OF(polled = ibv_create_cq_ex(a.context, &(struct ibv_cq_init_attr_ex){ .cqe = 4 })))

/* In an order in which each finds what it needs; then what is counted, and by how much. */
static const struct {
	const char *name;
	int (*call)(void);
	int succeeds; /* this is its result then */
	enum soft_object object;
	int change;
} operations[] = {
	{ "ibv_poll_cq", poll_cq, 0, SOFT_OBJECT_CQ, 0 },
	{ "ibv_req_notify_cq", notify, 0, SOFT_OBJECT_CQ, 0 },
	{ "ibv_post_send", post_send, 0, SOFT_OBJECT_QP, 0 },
	{ "ibv_post_srq_recv", post_srq_recv, 0, SOFT_OBJECT_SRQ, 0 },
	{ "ibv_query_device_ex", query_device, 0, SOFT_OBJECT_CONTEXT, 0 },
	{ "ibv_query_rt_values_ex", query_values, 0, SOFT_OBJECT_CONTEXT, 0 },
	{ "ibv_query_port", query_port, 0, SOFT_OBJECT_CONTEXT, 0 },
	{ "ibv_modify_cq", modify_cq, 0, SOFT_OBJECT_CQ, 0 },
	{ "ibv_alloc_mw", alloc_mw, 0, SOFT_OBJECT_MW, 1 },
	{ "ibv_bind_mw", bind_mw, 0, SOFT_OBJECT_MW, 0 },
	{ "ibv_dealloc_mw", dealloc_mw, 0, SOFT_OBJECT_MW, -1 },
	{ "ibv_alloc_td", alloc_td, 0, SOFT_OBJECT_TD, 1 },
	{ "ibv_alloc_parent_domain", alloc_pd, 0, SOFT_OBJECT_PD, 1 },
	{ "ibv_create_cq_ex", create_cq, 0, SOFT_OBJECT_CQ, 1 },
	{ "ibv_start_poll", start, ENOENT, SOFT_OBJECT_CQ, 0 },
	{ "ibv_next_poll", next, ENOENT, SOFT_OBJECT_CQ, 0 },
	{ "ibv_create_qp_ex", create_extended, 0, SOFT_OBJECT_QP, 1 },
	{ "ibv_post_recv", post_recv, EINVAL, SOFT_OBJECT_QP, 0 },
	{ "ibv_wr_complete", complete, EINVAL, SOFT_OBJECT_QP, 0 },
};

/* The object of an extended call has operations of its own, which enter the same way. */
/* origin: out33.U16 */
TEST(operations__each__fails_once_by_a_command__and_does_nothing_then)
{
	struct soft_recorded_process *own = soft_fault_process();
	int before, error;

	soft_commands = soft_faults = true;
	side_make(&a, &(struct side_options){ .srq = 8 });
	side_to_init(&a, NULL);
	side_to_rtr(&a, a.qp->qp_num);
	side_to_rts(&a, NULL);
	for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
		error = soft_calls[soft_call_find(operations[i].name, strlen(operations[i].name))]
			    .errors[0];
		before = (int)own->objects[operations[i].object];
		ck_assert(command(operations[i].name, ""));
		errno = 0;
		ck_assert_msg(operations[i].call() == error, "%s", operations[i].name);
		ck_assert_msg(errno == error, "%s: errno %d", operations[i].name, errno);
		ck_assert_int_eq((int)own->objects[operations[i].object], before);
		ck_assert_msg(
		    operations[i].call() == operations[i].succeeds, "%s", operations[i].name);
		ck_assert_int_eq(
		    (int)own->objects[operations[i].object], before + operations[i].change);
	}
	ck_assert_int_eq(ibv_destroy_qp(extended), 0);
	ck_assert_int_eq(ibv_destroy_cq(ibv_cq_ex_to_cq(polled)), 0);
	ck_assert_int_eq(ibv_dealloc_pd(pd), 0);
	before = (int)own->objects[SOFT_OBJECT_TD];
	ck_assert(command("ibv_dealloc_td", ""));
	ck_assert_int_ne(dealloc_td(), 0);
	ck_assert_int_eq(dealloc_td(), 0);
	ck_assert_int_eq((int)own->objects[SOFT_OBJECT_TD], before - 1);
	side_free(&a);
	soft_commands = soft_faults = false;
}

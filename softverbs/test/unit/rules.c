/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rules -- what a text of fault rules means, or why it is none
 *
 * A text that begins with "!" is one of rules that hold now.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "lib/runner.h"
#include "softverbs/fault/errors.h"
#include "softverbs/fault/rule.h"

#define NOT_NOW \
	"it holds now, or for the next one, in this process: no at=, nth=, each=, p=, from= or " \
	"process="

static struct soft_rules rules;
static char said[4096], error[1024];

static __attribute__((format(printf, 1, 2))) void
say(const char *format, ...)
{
	const size_t length = strlen(said);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said + length, sizeof said - length, format, arguments);
	va_end(arguments);
}

#define SAY_NUMBER(part) \
	if (rule->part) \
	say(" " #part "=%llu", (unsigned long long)rule->part)
#define SAY_NAME(part) \
	if (*rule->part) \
	say(" " #part "=%s", rule->part)

/* "INCIDENT+INCIDENT|CALL+CALL", and every part that has a value. */
static void
say_rule(const struct soft_rule *rule)
{
	const char *between = "";

	for (enum soft_incident i = 0; i < SOFT_INCIDENT_COUNT; i++) {
		if (!rule->incidents[i])
			continue;
		say("%s%s", between, soft_incidents[i].name);
		between = "+";
	}
	between = rule->of_incidents ? "|" : "";
	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++) {
		if (!rule->calls[call])
			continue;
		say("%s%s", between, soft_call_name(call));
		between = "+";
	}
	if (rule->when == SOFT_BY_CHANCE)
		say(" p=%g", rule->chance);
	else
		say(" %s=%llu", rule->when == SOFT_NTH ? "nth" : "each",
		    (unsigned long long)rule->n);
	if (rule->timed)
		say(" at=%llu", (unsigned long long)rule->at);
	SAY_NUMBER(from);
	SAY_NUMBER(process);
	SAY_NAME(name);
	SAY_NUMBER(error);
	SAY_NAME(device);
	SAY_NUMBER(lasts);
	SAY_NUMBER(time);
	SAY_NUMBER(rate);
	SAY_NUMBER(bytes);
	SAY_NUMBER(of);
	SAY_NUMBER(port);
	SAY_NUMBER(out);
	SAY_NUMBER(in);
	SAY_NUMBER(peer);
	SAY_NUMBER(peer_slot);
	SAY_NAME(peer_name);
	SAY_NUMBER(data_length);
	for (unsigned int i = 0; i < rule->data_length; i++)
		say(" %02x", rule->data[i]);
}

/* False, and why, if it is none. */
static bool
rules_of(const char *text, char *why, size_t size)
{
	memset(&rules, 0x5a, sizeof rules);
	return *text == '!' ? soft_rules_read_now(text + 1, &rules, why, size) :
			      soft_rules_read(text, &rules, why, size);
}

static const struct {
	const char *text, *means;
} right[] = {
	{ "", "" },
	{ "none", "" },
	{ "ibv_reg_mr", "ibv_reg_mr each=1" },
	{ "ibv_reg_mr:nth=3:errno=EFAULT", "ibv_reg_mr nth=3 error=14" },
	{ "ibv_reg_mr:each=999999999999999999", "ibv_reg_mr each=999999999999999999" },
	{ "ibv_destroy_?q,ibv_destroy_*q",
	    "ibv_destroy_cq each=1; ibv_destroy_cq+ibv_destroy_srq each=1" },
	{ ",; # ibv_poll_cq", "" },
	{ "ibv_poll_cq:p=0", "ibv_poll_cq p=0" },
	{ "ibv_poll_cq:p=.25:from=1.5:process=7:device=soft0",
	    "ibv_poll_cq p=0.25 from=1500000000 process=7 device=soft0" },
	{ "ibv_poll_cq:p=1.:process=rping-3fa9c2.2:from=0", "ibv_poll_cq p=1 name=rping-3fa9c2.2" },
	{ "ibv_poll_cq:from=1000000000", "ibv_poll_cq each=1 from=1000000000000000000" },
	{ "ibv_poll_cq:process=4294967295", "ibv_poll_cq each=1 process=4294967295" },
	{ "ibv_poll_cq:device=123456789012345678901234567890123456789012345678901234567890123",
	    "ibv_poll_cq each=1 "
	    "device=123456789012345678901234567890123456789012345678901234567890123" },
	{ "ibv_poll_cq:process=a2345678901234567890123456789012345678901234567",
	    "ibv_poll_cq each=1 name=a2345678901234567890123456789012345678901234567" },
	/* The last one of two counts. */
	{ "ibv_poll_cq:process=abcdef:process=xy:device=abcdef:device=xy",
	    "ibv_poll_cq each=1 name=xy device=xy" },
	{ "link.cut:at=0:peer=abcdef:peer=xy", "link.cut each=1 at=0 peer_name=xy" },
	{ "cm.rejected:data=0102:data=03", "cm.rejected each=1 data_length=1 03" },
	{ "ibv_reg_mr*:errno=EFAULT",
	    "ibv_reg_mr+ibv_reg_mr_iova+ibv_reg_mr_iova2+ibv_reg_mr_ex each=1 error=14" },
	{ "completion.send", "completion.send each=1" },
	{ "completion.send:nth=2:status=RNR_RETRY_EXC_ERR", "completion.send nth=2 error=13" },
	{ "completion.*imm:status=FATAL_ERR:each=2",
	    "completion.rdma_write_with_imm+completion.recv_rdma_with_imm each=2 error=19" },
	{ "event.qp_fatal:at=0.5:of=3", "event.qp_fatal each=1 at=500000000 of=3" },
	{ "event.qp_fatal:at=0:of=4294967296", "event.qp_fatal each=1 at=0 of=4294967295" },
	{ "event.qp_fatal:call=ibv_post_send:nth=2:device=a",
	    "event.qp_fatal|ibv_post_send nth=2 device=a" },
	{ "event.qp_fatal:call=ibv_post_*:each=2",
	    "event.qp_fatal|ibv_post_send+ibv_post_recv+ibv_post_srq_recv each=2" },
	{ "event.port_err:at=1:for=2:device=a:port=4",
	    "event.port_err each=1 at=1000000000 device=a lasts=2000000000 port=4" },
	{ "link.cut:at=0:way=in:peer=slot7:for=0.001",
	    "link.cut each=1 at=0 lasts=1000000 in=1 peer_slot=7" },
	{ "link.cut:at=0:way=out:peer=3", "link.cut each=1 at=0 out=1 peer=3" },
	{ "link.cut:at=0:peer=rping-1", "link.cut each=1 at=0 peer_name=rping-1" },
	{ "link.cut:at=0:peer=slot", "link.cut each=1 at=0 peer_name=slot" },
	{ "link.cut:at=0:peer=slot0", "link.cut each=1 at=0 peer_name=slot0" },
	{ "link.delay:at=1:time=.25", "link.delay each=1 at=1000000000 time=250000000" },
	{ "link.rate:at=1:rate=1000", "link.rate each=1 at=1000000000 rate=1000" },
	{ "memory.limit:at=1:bytes=65536", "memory.limit each=1 at=1000000000 bytes=65536" },
	{ "cm.rejected:reason=10:data=00ff1e",
	    "cm.rejected each=1 error=10 data_length=3 00 ff 1e" },
	{ "cm.rejected:data=", "cm.rejected each=1" },
	{ "cm.addr_error:errno=ENODEV", "cm.addr_error each=1 error=19" },
	{ "cm.timewait_exit:time=1", "cm.timewait_exit each=1 time=1000000000" },
	{ "cm.lost_r*:nth=2", "cm.lost_req+cm.lost_rep+cm.lost_rtu+cm.lost_rej nth=2" },
	{ "!ibv_reg_mr:errno=EIO", "ibv_reg_mr each=1 error=5" },
	{ "!event.port_err:device=a:for=1",
	    "event.port_err each=1 at=0 device=a lasts=1000000000" },
	{ "!completion.send:status=GENERAL_ERR", "completion.send each=1 error=21" },
};
#define RIGHT ((int)(sizeof right / sizeof *right))

/* The words behind the rule and a colon. */
static const struct {
	const char *text, *why;
} wrong[] = {
	{ "none,nonex", "nonex is no call that can fail; --faults=list prints them" },
	{ "ibv_reg_mr:each=1000000000000000000",
	    "1000000000000000000: not a whole number from 1 on" },
	{ "ibv_poll_cq:p=1.01", "p=1.01: not a number from 0 to 1" },
	{ "ibv_poll_cq:p=", "p=: not a number from 0 to 1" },
	{ "ibv_poll_cq:p=.", "p=.: not a number from 0 to 1" },
	{ "ibv_poll_cq:p=1.2.3", "p=1.2.3: not a number from 0 to 1" },
	{ "ibv_poll_cq:p=-1", "p=-1: not a number from 0 to 1" },
	{ "ibv_poll_cq:nth=/", "/: not a whole number from 1 on" },
	{ "ibv_poll_cq:nth=:", ": not a whole number from 1 on" },
	{ "ibv_poll_cq:nth=1x", "1x: not a whole number from 1 on" },
	{ "ibv_poll_cq:nth=", ": not a whole number from 1 on" },
	{ "ibv_poll_cq:nth=90:each=9", "only one of nth=, each= and p= is possible" },
	{ "ibv_poll_cq:p=1:nth=1", "only one of nth=, each= and p= is possible" },
	{ "ibv_poll_cq:from=1000000000.1", "from=1000000000.1: not a number of seconds" },
	{ "ibv_poll_cq:process=4294967296", "process=4294967296: too large" },
	{ "ibv_poll_cq:process=",
	    "process=: neither a number from 1 on nor a name that a line had" },
	{ "ibv_poll_cq:process=1a",
	    "process=1a: neither a number from 1 on nor a name that a line had" },
	{ "ibv_poll_cq:device=", "device=: no name of a device" },
	{ "ibv_poll_cq:device=1234567890123456789012345678901234567890123456789012345678901234",
	    "device=: no name of a device" },
	{ "ibv_poll_cq:device=12345678901234567890123456789012345678901234567890123456789012345",
	    "device=: no name of a device" },
	{ "ibv_poll_cq:process=a2345678901234567890123456789012345678901234567890123",
	    "process=a2345678901234567890123456789012345678901234567890123: neither a number from "
	    "1 on nor a name that a line had" },
	{ "ibv_poll_cq:process=a23456789012345678901234567890123456789012345678",
	    "process=a23456789012345678901234567890123456789012345678: neither a number from 1 on "
	    "nor a name that a line had" },
	{ "ibv_poll_cq:errno=EPERM", "ibv_poll_cq fails with EIO, not with EPERM" },
	{ "ibv_poll_cq:errno=EI", "ibv_poll_cq fails with EIO, not with EI" },
	{ "ibv_poll_cq:frob", "frob is none of nth=N, each=N, p=P, from=SECONDS, process=N, "
			      "device=NAME and errno=NAME" },
	{ "ibv_poll_cq:",
	    " is none of nth=N, each=N, p=P, from=SECONDS, process=N, device=NAME and errno=NAME" },
	{ "ibv_poll_cq:status=LOC_PROT_ERR", "status= belongs to incidents" },
	{ "ibv_poll_cq:at=1", "at= belongs to incidents, not to calls" },
	{ "ibv_poll_cq:for=1", "for= belongs to incidents, not to calls" },
	{ "ibv_poll_cq:call=ibv_post_send", "call= belongs to incidents, not to calls" },
	{ "completion.send:status=RNR_RETRY_EXC",
	    "completion.send has RETRY_EXC_ERR, LOC_QP_OP_ERR, BAD_RESP_ERR, FATAL_ERR, "
	    "GENERAL_ERR, LOC_LEN_ERR, LOC_PROT_ERR, REM_INV_REQ_ERR or RNR_RETRY_EXC_ERR, not "
	    "RNR_RETRY_EXC" },
	{ "completion.rdma_read:status=RNR_RETRY_EXC_ERR",
	    "completion.rdma_read has RETRY_EXC_ERR, LOC_QP_OP_ERR, BAD_RESP_ERR, FATAL_ERR, "
	    "GENERAL_ERR, LOC_LEN_ERR, LOC_PROT_ERR or REM_ACCESS_ERR, not RNR_RETRY_EXC_ERR" },
	{ "completion.send:reason=1", "completion.send has no reason" },
	{ "completion.send:errno=EIO", "completion.send has no errno" },
	{ "completion.send:call=ibv_post_send", "completion.send takes no call=" },
	{ "completion.send:at=1", "completion.send takes no at=" },
	{ "completion.send:for=1", "completion.send takes no for=" },
	{ "completion.send:frob",
	    "frob is none of nth=N, each=N, p=P, from=SECONDS, process=N, device=NAME and "
	    "errno=NAME, nor of what faults.md has for incidents" },
	{ "event.qp_fatal", "event.qp_fatal needs one of at=SECONDS and call=CALL" },
	{ "event.qp_fatal:at=1:call=ibv_post_send",
	    "event.qp_fatal needs one of at=SECONDS and call=CALL" },
	{ "event.qp_fatal:at=1:nth=1", "at= is once: no nth=, each=, p= or from=" },
	{ "event.qp_fatal:at=1:from=1", "at= is once: no nth=, each=, p= or from=" },
	{ "event.qp_fatal:at=1:p=1", "at= is once: no nth=, each=, p= or from=" },
	{ "event.qp_fatal:at=x", "at=x: not a number of seconds" },
	{ "event.qp_fatal:at=1:of=0", "of=0: not a whole number from 1 on" },
	{ "event.qp_fatal:at=1:for=1", "event.qp_fatal takes no for=" },
	{ "event.qp_fatal:at=1:way=out", "event.qp_fatal takes no way=" },
	{ "event.qp_fatal:at=1:status=GENERAL_ERR", "event.qp_fatal has no status" },
	{ "event.qp_fatal:call=ibv_frob",
	    "ibv_frob is no call that can fail; --faults=list prints them" },
	{ "event.qp_fatal:at=1:device=a", "event.qp_fatal takes no device=" },
	{ "event.qp_fatal:at=1:port=1", "event.qp_fatal takes no port=" },
	{ "link.cut:at=1:way=xyz", "way=xyz: neither out, what the process sends, nor in" },
	{ "link.cut:at=1:way=ou", "way=ou: neither out, what the process sends, nor in" },
	{ "link.cut:at=1:way=outx", "way=outx: neither out, what the process sends, nor in" },
	{ "link.cut:at=1:way=i", "way=i: neither out, what the process sends, nor in" },
	{ "link.cut:at=1:way=", "way=: neither out, what the process sends, nor in" },
	{ "link.cut:at=1:way=up", "way=up: neither out, what the process sends, nor in" },
	{ "link.cut:at=1:peer=0", "peer=0: neither a number from 1 on nor a name that a line had" },
	{ "link.rnr:at=1:peer=2", "link.rnr takes no peer=" },
	{ "link.delay:at=1", "link.delay needs time=SECONDS" },
	{ "link.rate:at=1", "link.rate needs rate=BYTES" },
	{ "link.rate:at=1:rate=x", "rate=x: not a whole number from 1 on" },
	{ "memory.limit:at=1", "memory.limit needs bytes=N" },
	{ "cm.rejected:reason=2", "cm.rejected has 28, 1, 3, 4, 5, 8, 10 or 12, not 2" },
	{ "cm.rejected:data=abc", "data=: not pairs of digits, 148 at most" },
	{ "cm.rejected:data=0g", "data=: digits are 0 to 9 and a to f" },
	{ "cm.addr_error:errno=EIO",
	    "cm.addr_error has ETIMEDOUT, ENETUNREACH or ENODEV, not EIO" },
	{ "cm.timewait_exit", "cm.timewait_exit needs time=SECONDS" },
	{ "ibv_frob", "ibv_frob is no call that can fail; --faults=list prints them" },
	{ "cm.frob", "cm.frob is no incident; --faults=list prints them" },
	{ "ibv_ack_cq_events", "ibv_ack_cq_events never fails: no result" },
	{ "ibv_attach_mcast:nth=1", "ibv_attach_mcast always fails: the device does not have it" },
	{ ":nth=1", "a rule begins with the name of a call" },
	{ "ibv_[pr]oll", "only * and ? stand for parts of a name" },
	{ "x23456789012345678901234567890123456789012345678901234567890123",
	    "x23456789012345678901234567890123456789012345678901234567890 is no call that can "
	    "fail; --faults=list prints them" },
	{ "x234567890123456789012345678901234567890123456789012345678901234",
	    "no name of a call has 64 characters" },
	{ "event.qp_fatal:call=", "no name of a call has 0 characters" },
	{ "event.qp_fatal:call=ibv_[pr]ost_send", "only * and ? stand for parts of a name" },
	{ "!ibv_reg_mr:nth=1", NOT_NOW },
	{ "!ibv_reg_mr:p=1", NOT_NOW },
	{ "!ibv_reg_mr:each=2", NOT_NOW },
	{ "!ibv_reg_mr:from=1", NOT_NOW },
	{ "!ibv_reg_mr:process=1", NOT_NOW },
	{ "!ibv_reg_mr:process=a", NOT_NOW },
	{ "!ibv_reg_mr:device=a", "the next one is that of any device" },
	{ "!event.port_err:at=1", NOT_NOW },
	{ "!link.delay", "link.delay needs time=SECONDS" },
};
#define WRONG ((int)(sizeof wrong / sizeof *wrong))

CASE("soft-rules:text");

/* origin: out33.U3 */
TEST(text__of_each_form__means_this_and_no_more)
{
	for (int i = 0; i < RIGHT; i++) {
		ck_assert_msg(rules_of(right[i].text, error, sizeof error), "%s", error);
		*said = '\0';
		for (unsigned int k = 0; k < rules.count; k++) {
			say("%s", k ? "; " : "");
			say_rule(&rules.rules[k]);
		}
		ck_assert_str_eq(said, right[i].means);
	}
}

/* origin: out33.U3 */
TEST(text__that_is_none_of_rules__is_refused_with_its_reason)
{
	const char *rule;
	char want[1024], few[24];

	for (int i = 0; i < WRONG; i++) {
		ck_assert_msg(!rules_of(wrong[i].text, error, sizeof error), "%s", wrong[i].text);
		rule = strrchr(wrong[i].text, ',');
		rule = rule ? rule + 1 : wrong[i].text + (*wrong[i].text == '!');
		snprintf(want, sizeof want, "%.60s: %s", rule, wrong[i].why);
		ck_assert_str_eq(error, want);
		/* As much of it as there is room for. */
		memset(few, '#', sizeof few);
		ck_assert(!rules_of(wrong[i].text, few, sizeof few - 1));
		ck_assert_int_eq(few[sizeof few - 1], '#');
		ck_assert(!strncmp(few, want, strlen(few)));
		ck_assert_uint_eq(
		    strlen(few), strlen(want) < sizeof few - 2 ? strlen(want) : sizeof few - 2);
	}
}

TEST(text__of_128_rules__and_of_no_more)
{
	static char text[SOFT_RULES_MAX * 16];

	for (int i = 0; i < SOFT_RULES_MAX; i++)
		strcat(text, "ibv_poll_cq\n");
	ck_assert(rules_of(text, error, sizeof error));
	ck_assert_uint_eq(rules.count, SOFT_RULES_MAX);
	strcat(text, "ibv_reg_mr");
	ck_assert(!rules_of(text, error, sizeof error));
	ck_assert_str_eq(error, "ibv_reg_mr: more than 128 rules");
}

/* Two digits a byte. */
/* origin: out33.U3 */
TEST(data__as_long_as_a_rejection_takes__and_no_longer)
{
	char text[512] = "cm.rejected:data=";

	for (int i = 0; i < SOFT_RULE_DATA; i++)
		sprintf(text + strlen(text), "%02x", i);
	ck_assert(rules_of(text, error, sizeof error));
	ck_assert_uint_eq(rules.rules[0].data_length, SOFT_RULE_DATA);
	for (int i = 0; i < SOFT_RULE_DATA; i++)
		ck_assert_uint_eq(rules.rules[0].data[i], i);
	strcat(text, "00");
	ck_assert(!rules_of(text, error, sizeof error));
}

/* Each call fails with each of its errors, and with no other that has a name. */
TEST(errno__each_call__those_of_the_table_and_no_other)
{
	char text[128];
	int allowed;

	for (enum soft_call call = 0; call < SOFT_CALL_COUNT; call++) {
		allowed = 0;
		for (int i = 1; i < 200; i++) {
			const char *name = soft_error_name(i);

			if (!name)
				continue;
			ck_assert_int_eq(soft_error_find(name, strlen(name)), i);
			ck_assert_int_eq(soft_error_find(name, strlen(name) - 1), 0);
			snprintf(text, sizeof text, "%s:errno=%s", soft_call_name(call), name);
			ck_assert_int_eq(
			    rules_of(text, error, sizeof error), soft_error_is_allowed(call, i));
			allowed += soft_error_is_allowed(call, i);
		}
		for (const int *of = soft_calls[call].errors; *of; of++)
			allowed--;
		ck_assert_int_eq(allowed, 0);
		ck_assert_int_eq(
		    soft_call_find(soft_call_name(call), strlen(soft_call_name(call))), call);
	}
	ck_assert_int_eq(soft_call_find("ibv_reg", strlen("ibv_reg")), SOFT_CALL_COUNT);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fires -- which calls fail by rules of faults, and what incidents do to a connection
 *
 * The rules are read when the library is loaded: each line of the table is played by this program,
 * started anew.
 */
#include "story.h"

#include <endian.h>
#include <stdarg.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <threads.h>

#include "softverbs/device/names.h"
#include "softverbs/device/slot.h"
#include "softverbs/fault/fault.h"
#include "softverbs/fault/record.h"

/* In the environment of the program that plays: the descriptor it writes to. */
#define TO "SOFT_FIRES_TO"

/*
 * The calls; the statuses of the completions and the asynchronous events of both sides; the state,
 * the LID, that of the subnet manager, the partition key and a byte of the prefix of a port.
 */
#define NONE ".......... .......... ; "
#define DONE "a 0 0 0 0 0 0 0; b 0 0 0, events, events"
#define PORT "; port 4 1 1 ffff 80"

static const struct {
	const char *rules, *found;
	/*
	 * How many have fired, and how many incidents; the first and the last rule with which they
	 * fire again.  NULL: the only one is the same.
	 */
	const char *fired;
} lines[] = {
	{ "none", NONE DONE PORT, "0 0" },
	{ "ibv_query_gid",
	    "EEEEEEEEEE EEEEEEEEEE ; a 0 0 0 0 0 0 0; b 0 0 0, events, events; no port",
	    "21 0 ibv_query_gid:nth=1:errno=EIO ibv_query_gid:nth=21:errno=EIO" },
	{ "ibv_query_gid:nth=3", "..E....... .......... ; " DONE PORT,
	    "1 0 ibv_query_gid:nth=3:errno=EIO" },
	{ "ibv_query_gid:each=4", "...E...E.. .E...E...E ; " DONE PORT,
	    "5 0 ibv_query_gid:nth=4:errno=EIO ibv_query_gid:nth=20:errno=EIO" },
	{ "ibv_query_gid:each=4:device=soft1:errno=EINVAL", ".......... ...I...I.. ; " DONE PORT,
	    "2 0 ibv_query_gid:nth=14:errno=EINVAL ibv_query_gid:nth=18:errno=EINVAL" },
	{ "ibv_query_gid:nth=2,ibv_query_gid:nth=4:errno=EINVAL,ibv_query_gid:nth=4",
	    ".E.I...... .......... ; " DONE PORT,
	    "2 0 ibv_query_gid:nth=2:errno=EIO ibv_query_gid:nth=4:errno=EINVAL" },
	{ "ibv_query_gid:p=0", NONE DONE PORT, "0 0" },
	{ "ibv_query_gid:p=1",
	    "EEEEEEEEEE EEEEEEEEEE ; a 0 0 0 0 0 0 0; b 0 0 0, events, events; no port",
	    "21 0 ibv_query_gid:nth=1:errno=EIO ibv_query_gid:nth=21:errno=EIO" },
	{ "ibv_query_gid:p=0.5",
	    ".EE...EE.. EEE..EE.E. ; a 0 0 0 0 0 0 0; b 0 0 0, events, events; no port",
	    "11 0 ibv_query_gid:nth=2:errno=EIO ibv_query_gid:nth=21:errno=EIO" },
	{ "ibv_query_gid:from=1000", NONE DONE PORT, "0 0" },
	{ "ibv_query_gid:from=0.000000001",
	    "EEEEEEEEEE EEEEEEEEEE ; a 0 0 0 0 0 0 0; b 0 0 0, events, events; no port",
	    "21 0 ibv_query_gid:nth=1:errno=EIO ibv_query_gid:nth=21:errno=EIO" },
	{ "ibv_query_gid:process=1:nth=1", "E......... .......... ; " DONE PORT,
	    "1 0 ibv_query_gid:nth=1:errno=EIO" },
	{ "ibv_query_gid:process=2", NONE DONE PORT, "0 0" },
	{ "ibv_query_gid:device=soft2", NONE DONE PORT, "0 0" },
	{ "event.cq_err:call=ibv_query_gid:nth=5", NONE "a dead; b, events 0 1 16, events" PORT,
	    NULL },
	{ "event.cq_err:call=ibv_query_gid:nth=5:of=2",
	    NONE "a 0 0 0 0 12 5 5; b dead, events 16, events 0 1 16" PORT, NULL },
	{ "event.cq_err:call=ibv_query_gid:nth=5:of=3", NONE DONE PORT, "0 0" },
	{ "event.qp_fatal:call=ibv_query_gid:nth=5",
	    NONE "a 5 5 5 5 5 5 5; b, events 1 16, events" PORT, NULL },
	{ "event.qp_fatal:call=ibv_query_gid:nth=5:of=2",
	    NONE "a 12 5 5 5 5 5 5; b, events 16, events 1 16" PORT, NULL },
	{ "event.qp_req_err:call=ibv_query_gid:nth=5",
	    NONE "a 5 5 5 5 5 5 5; b, events 2 16, events" PORT, NULL },
	{ "event.qp_access_err:call=ibv_query_gid:nth=5",
	    NONE "a 5 5 5 5 5 5 5; b, events 3 16, events" PORT, NULL },
	{ "event.path_mig:call=ibv_query_gid:nth=5",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 6, events" PORT, NULL },
	{ "event.path_mig:call=ibv_query_gid:each=5:device=soft1",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 6, events" PORT,
	    "2 2 event.path_mig:call=ibv_query_gid:nth=15:device=soft1 "
	    "event.path_mig:call=ibv_query_gid:nth=20:device=soft1" },
	{ "event.path_mig_err:call=ibv_query_gid:nth=5",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 7, events" PORT, NULL },
	{ "event.srq_err:call=ibv_query_gid:nth=5",
	    NONE "a 5 5 5 5 5 5 5; b, events 14 16, events" PORT, NULL },
	{ "event.port_err:call=ibv_query_gid:nth=5",
	    NONE "a 12 5 5 5 5 5 5; b, events 10 16, events 10; port 1 1 1 ffff 80", NULL },
	{ "event.port_active:call=ibv_query_gid:nth=5",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 9, events 9" PORT, NULL },
	{ "event.lid_change:call=ibv_query_gid:nth=5",
	    NONE "a 12 5 5 5 5 5 5; b, events 11 16, events 11; port 4 2 1 ffff 80", NULL },
	{ "event.gid_change:call=ibv_query_gid:nth=5",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 18, events 18; port 4 1 1 ffff c0", NULL },
	{ "event.pkey_change:call=ibv_query_gid:nth=5",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 12, events 12; port 4 1 1 8001 80", NULL },
	{ "event.sm_change:call=ibv_query_gid:nth=5",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 13, events 13; port 4 1 2 ffff 80", NULL },
	{ "event.lid_change:call=ibv_query_gid:nth=5:device=soft1", NONE DONE PORT,
	    "1 1 event.lid_change:call=ibv_query_gid:nth=15:device=soft1" },
	{ "event.gid_change:call=ibv_query_gid:nth=5:device=soft1", NONE DONE PORT,
	    "1 1 event.gid_change:call=ibv_query_gid:nth=15:device=soft1" },
	{ "event.pkey_change:call=ibv_query_gid:nth=5:device=soft1", NONE DONE PORT,
	    "1 1 event.pkey_change:call=ibv_query_gid:nth=15:device=soft1" },
	{ "event.sm_change:call=ibv_query_gid:nth=5:device=soft1", NONE DONE PORT,
	    "1 1 event.sm_change:call=ibv_query_gid:nth=15:device=soft1" },
	{ "event.client_reregister:call=ibv_query_gid:nth=5",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 17, events 17" PORT, NULL },
	{ "event.device_fatal:call=ibv_query_gid:nth=20",
	    ".......... .........E ; a 5 5 5 5 5 5 5; b, events 8 16 and errno 5, events 8 16 and "
	    "errno 5; no port",
	    NULL },
	{ "event.port_err:at=0.001:for=0.001", NONE DONE PORT,
	    "1 1 event.port_err:at=0.001000000:for=0.001000000" },
	{ "event.port_err:call=ibv_query_gid:each=10:for=0.001",
	    NONE "a 0 0 0 0 0 0 0; b 0 0 0, events 10 9, events 10 9" PORT,
	    "2 2 event.port_err:call=ibv_query_gid:nth=10:for=0.001000000 "
	    "event.port_err:call=ibv_query_gid:nth=20:for=0.001000000" },
	{ "event.port_err:at=0.001:process=2", NONE DONE PORT, "0 0" },
	{ "link.delay:time=0.001:for=0.5:call=ibv_query_gid:nth=5", NONE DONE PORT,
	    "1 1 link.delay:call=ibv_query_gid:nth=5:for=0.500000000:time=0.001000000" },
	{ "link.rate:rate=1000000:call=ibv_query_gid:nth=5", NONE DONE PORT,
	    "1 1 link.rate:call=ibv_query_gid:nth=5:rate=1000000" },
	{ "link.cut:way=in:peer=slot9:call=ibv_query_gid:nth=5", NONE DONE PORT,
	    "1 1 link.cut:call=ibv_query_gid:nth=5:way=in:peer=slot9" },
	{ "link.cut:peer=absent:call=ibv_query_gid:nth=5", NONE DONE PORT, "0 0" },
	{ "link.cut:peer=2:at=0.001", NONE DONE PORT, "0 0" },
	{ "memory.limit:bytes=1000000000000:at=0.001", NONE DONE PORT,
	    "1 1 memory.limit:at=0.001000000:bytes=1000000000000" },
	{ "ibv_poll_cq:nth=3", NONE "a 0 0 dead; b 0 0 0, events, events" PORT,
	    "1 0 ibv_poll_cq:nth=3:errno=EIO" },
	{ "completion.rdma_write:nth=2", NONE "a 0 12 5 5 5 5 5; b, events 16, events" PORT,
	    "1 1 completion.rdma_write:nth=2:status=RETRY_EXC_ERR" },
	{ "completion.rdma_write:nth=2:status=REM_ACCESS_ERR",
	    NONE "a 0 10 5 5 5 5 5; b, events 16, events 3 16" PORT, NULL },
	{ "completion.send:nth=3:status=LOC_PROT_ERR",
	    NONE "a 0 0 0 0 0 4 5; b 0 0, events 16, events" PORT, NULL },
	{ "completion.send:nth=2:status=REM_INV_REQ_ERR",
	    NONE "a 0 0 0 0 9 5 5; b 0 1, events 16, events 16" PORT, NULL },
	{ "completion.rdma_read:status=FATAL_ERR",
	    NONE "a 0 0 0 0 0 0 19; b 0 0 0, events 16, events" PORT,
	    "1 1 completion.rdma_read:nth=1:status=FATAL_ERR" },
	{ "completion.recv:nth=2", NONE "a 0 0 0 0 11 5 5; b 0 4, events 16, events 16" PORT,
	    "1 1 completion.recv:nth=2:status=LOC_PROT_ERR" },
	{ "completion.recv:nth=2:status=LOC_LEN_ERR",
	    NONE "a 0 0 0 0 9 5 5; b 0 1, events 16, events 16" PORT, NULL },
};
#define LINES ((int)(sizeof lines / sizeof *lines))

static char said[4096];

static __attribute__((format(printf, 1, 2))) void
say(const char *format, ...)
{
	const size_t length = strlen(said);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(said + length, sizeof said - length, format, arguments);
	va_end(arguments);
}

/* What happens at a time, or for one, is over.  To a second process nothing does. */
static void
settle(struct ibv_context *context)
{
	const char *rules = getenv("SOFTVERBS_FAULTS");
	struct ibv_async_event event = { .event_type = IBV_EVENT_PORT_ERR };
	const int most = strstr(rules, "=2") ? 20 : 10000;

	for (int i = 0; strstr(rules, ":at=") && !soft_record->happened && i < most; i++)
		sleep_ms(1);
	while (strstr(rules, "port_err") && strstr(rules, ":for=") &&
	       event.event_type != IBV_EVENT_PORT_ACTIVE) {
		ck_assert_int_eq(ibv_get_async_event(context, &event), 0);
		ibv_ack_async_event(&event);
	}
}

/* The first and the last that have fired, and how many; how many of them are incidents. */
static void
say_fired(void)
{
	const unsigned int n = soft_record_fired(soft_record);
	const struct soft_recorded_fault *faults = soft_record->faults;

	say("; %u %u", n, soft_record->happened);
	if (n)
		say(" %s%s", faults[0].head, faults[0].tail);
	if (n > 1)
		say(" %s%s", faults[n - 1].head, faults[n - 1].tail);
}

/* Ten calls: "." succeeds, E fails with EIO, I with EINVAL. */
static void
ask(struct ibv_context *context)
{
	union ibv_gid gid;

	for (int i = 0; i < 10; i++)
		say("%s", !ibv_query_gid(context, 1, 0, &gid) ? "." :
			  errno == EIO			      ? "E" :
			  errno == EINVAL		      ? "I" :
								"?");
	say(" ");
}

static void
say_completions(const char *whose, struct ibv_cq *cq, int most, bool wait)
{
	struct ibv_wc wc;
	int n = 0;

	say("; %s", whose);
	for (int i = 0; i < most && n >= 0; i++) {
		do /* retries take time */
			n = ibv_poll_cq(cq, 1, &wc);
		while (!n && wait && !usleep(100));
		if (n > 0)
			say(" %d", wc.status);
	}
	if (n < 0)
		say(" dead");
}

static void
say_events(struct side *side)
{
	struct ibv_async_event event;

	say(", events");
	while (async_ready(side->context)) {
		if (ibv_get_async_event(side->context, &event)) {
			say(" and errno %d", errno); /* as from then on */
			return;
		}
		say(" %d", event.event_type);
		ibv_ack_async_event(&event);
	}
}

static void
say_port(struct ibv_context *context)
{
	struct ibv_port_attr port;
	union ibv_gid gid;
	__be16 pkey = 0;

	if (verbs_get_ctx(context)->query_port(context, 1, &port, sizeof port) ||
	    ibv_query_pkey(context, 1, 0, &pkey) || ibv_query_gid(context, 1, 0, &gid)) {
		say("; no port");
		return;
	}
	say("; port %d %u %u %x %x", port.state, port.lid, port.sm_lid, be16toh(pkey), gid.raw[1]);
}

static void
finish(void)
{
	const ssize_t length = (ssize_t)strlen(said);

	ck_assert_int_eq(write(atoi(getenv(TO)), said, (size_t)length), length);
	_exit(0);
}

/* Asks two devices, and sends three writes, three sends and a read. */
static void
play(void)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	struct ibv_context *second = ibv_open_device(list[1]);
	struct side a, b;

	ibv_free_device_list(list);
	if (strstr(getenv("SOFTVERBS_FAULTS"), ":at="))
		settle(second);
	pair_make(&a, &b, &(struct side_options){ .srq = 8 });
	for (uint64_t i = 0; i < 3; i++) {
		struct ibv_sge sge = { (uintptr_t)b.bytes, 64, b.mr->lkey };
		struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

		ck_assert_int_eq(ibv_post_srq_recv(b.srq, &wr, &bad), 0);
	}
	for (int i = 0; i < 2; i++) {
		ask(i ? second : a.context);
		if (!strstr(getenv("SOFTVERBS_FAULTS"), ":at="))
			settle(second);
	}
	for (uint64_t i = 0; i < 3; i++)
		side_rdma(&a, &b, IBV_WR_RDMA_WRITE, i, 0, 4096, 8);
	for (uint64_t i = 0; i < 3; i++)
		side_post(&a, IBV_WR_SEND, IBV_SEND_SIGNALED, i, 0, 8);
	side_rdma(&a, &b, IBV_WR_RDMA_READ, 4, 0, 4096, 8);
	say_completions("a", a.cq, 7, true);
	say_completions("b", b.cq, 3, false);
	say_events(&a);
	say_events(&b);
	say_port(a.context);
	say_fired();
	finish();
}

/* The program anew, with the rules; it says what it found to a descriptor. */
static void
start(const char *test, const char *rules, int to)
{
	char number[16], self[4096];
	const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

	if (length < 0)
		_exit(1);
	self[length] = '\0';
	sprintf(number, "%d", to);
	setenv(TO, number, 1);
	setenv("SOFTVERBS_TOPOLOGY", "3", 1);
	setenv("SOFTVERBS_FAULTS", rules, 1);
	setenv("SOFTVERBS_TIME_FACTOR", "0.01", 1); /* no answer of another process is awaited */
	setenv("CK_FORK", "no", 1);
	if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
		_exit(1);
	execl(self, "test-soft", test, (char *)NULL);
	_exit(1);
}

static pid_t
begin(const char *test, const char *rules, int *from)
{
	int ends[2];
	pid_t pid;

	ck_assert_int_eq(pipe(ends), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		start(test, rules, ends[1]);
	close(ends[1]);
	*from = ends[0];
	return pid;
}

static void
expect_found(pid_t pid, int from, const char *rules, const char *want)
{
	char found[sizeof said];
	size_t length = 0;
	ssize_t n;

	while ((n = read(from, found + length, sizeof found - 1 - length)) > 0)
		length += (size_t)n;
	found[length] = '\0';
	close(from);
	ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
	ck_assert_msg(!strcmp(found, want), "%s:\n%s\n%s", rules, found, want);
}

CASE("soft-fires:rules");

/* origin: out33.U8, out38.A1 */
TEST(rules__of_each_kind__fire_so)
{
	pid_t pid[LINES];
	int from[LINES];
	char want[1024];

	if (getenv(TO))
		play();
	for (int i = 0; i < LINES; i++)
		pid[i] = begin("rules__of_each_kind__fire_so", lines[i].rules, &from[i]);
	for (int i = 0; i < LINES; i++) {
		snprintf(want, sizeof want, "%s; %s%s", lines[i].found,
		    lines[i].fired ? lines[i].fired : "1 1 ", lines[i].fired ? "" : lines[i].rules);
		expect_found(pid[i], from[i], lines[i].rules, want);
	}
}

/* ---- calls of two threads that get nothing ---- */

/* One that is made and has not returned; and its return, with nothing. */
static int
call(void *unused)
{
	(void)unused;
	return soft_fault_enter(SOFT_CALL_ibv_poll_cq, NULL);
}

static void
get_nothing(void)
{
	soft_fault_returned(SOFT_CALL_ibv_poll_cq, NULL, 0);
}

/* The second one fires while the first one is in its call. */
static void
play_threads(void)
{
	thrd_t thread;
	int errors[2];

	ck_assert_int_eq(call(NULL), 0);
	ck_assert_int_eq(thrd_create(&thread, call, NULL), thrd_success);
	ck_assert_int_eq(thrd_join(thread, &errors[0]), thrd_success);
	get_nothing();
	for (int i = 0; i < 3; i++) {
		errors[1] = call(NULL);
		say("%d %d; ", errors[0] == EIO, errors[1] == EIO);
		if (!errors[1])
			get_nothing();
	}
	finish();
}

/* origin: out33.DD13 */
TEST(call__gets_nothing_while_another_fires__its_number_fires_once)
{
	static const char *const rules[] = { "ibv_poll_cq:nth=2", "ibv_poll_cq:each=2" };
	int from;

	if (getenv(TO))
		play_threads();
	for (int i = 0; i < 2; i++) {
		const pid_t pid =
		    begin("call__gets_nothing_while_another_fires__its_number_fires_once", rules[i],
			&from);

		expect_found(pid, from, rules[i], "1 0; 1 0; 1 0; ");
	}
}

/* ---- calls that free an object ---- */

static void
play_frees(void)
{
	struct rdma_event_channel *channel = rdma_create_event_channel();
	struct rdma_cm_id *id;
	struct ibv_td_init_attr td_init = { .comp_mask = 0 };
	struct side a, b;

	pair_make(&a, &b, &(struct side_options){ .srq = 8 });
	ck_assert_int_eq(ibv_dealloc_mw(ibv_alloc_mw(a.pd, IBV_MW_TYPE_1)), 0);
	ck_assert_int_eq(ibv_dealloc_td(ibv_alloc_td(a.context, &td_init)), 0);
	ck_assert_int_eq(rdma_create_id(channel, &id, NULL, RDMA_PS_TCP), 0);
	ck_assert_int_eq(rdma_destroy_id(id), 0);
	rdma_destroy_event_channel(channel);
	side_free(&a);
	side_free(&b);
	say("freed");
	finish();
}

/* origin: out33.EE2 */
TEST(call__that_frees_an_object__does_not_look_at_it)
{
	int from;
	pid_t pid;

	if (getenv(TO))
		play_frees();
	setenv("SOFTVERBS_CONTROL", "1", 1); /* calls are counted */
	/* With glibc each object has a mapping of its own then, which ends with it. */
	setenv("MALLOC_MMAP_THRESHOLD_", "0", 1);
	pid = begin("call__that_frees_an_object__does_not_look_at_it", "none", &from);
	expect_found(pid, from, "none", "freed");
}

/* ---- requests of softverbs-ctl ---- */

/* On a connection of its own; the answer, up to its end. */
static void
request(const char *words, size_t length)
{
	const int line = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	struct sockaddr_un address;
	char answer[32768];
	socklen_t size = soft_name_control_address(&address, soft_slot_number());
	ssize_t n;

	ck_assert_int_eq(connect(line, (struct sockaddr *)&address, size), 0);
	ck_assert_int_eq(send(line, words, length, 0), (ssize_t)length);
	n = recv(line, answer, sizeof answer - 1, 0);
	ck_assert_int_ge(n, 0);
	answer[n] = '\0';
	if (!strstr(words, "dump") || *answer != '+')
		say("%s;", answer);
	else /* the first word of each of its lines */
		for (char *at = strchr(answer, '\n'); at && at[1]; at = strchr(at + 1, '\n'))
			say("%.*s ", (int)strcspn(at + 3, "\""), at + 3);
	close(line);
}

static void
play_requests(void)
{
	static const char *const words[] = { "no line", "\nfrob", "0\ndump", "\ndump",
		"test-soft\ndump", "\ndo ibv_query_gid", "\ndo ibv_query_gid:nth=1",
		"\ndo event.path_mig", "\ndo event.srq_limit_reached", "\ndo completion.send" };
	static char long_words[4096];
	struct side a, b;

	pair_make(&a, &b, NULL);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		request(words[i], strlen(words[i]));
	memset(long_words, 'x', sizeof long_words - 1);
	request(long_words, sizeof long_words - 1);
	request(long_words, sizeof long_words);
	ask(a.context);
	side_receive(&b, 1, 0, 8);
	side_post(&a, IBV_WR_SEND, 0, 1, 0, 8);
	say_completions("a", a.cq, 1, true);
	say_events(&a);
	finish();
}

#define DUMP "process device port device port device port queue_pair queue_pair "

/* origin: out33.U8 */
TEST(requests_of_softverbs_ctl__have_these_answers)
{
	int from;
	pid_t pid;

	if (getenv(TO))
		play_requests();
	setenv("SOFTVERBS_CONTROL", "1", 1);
	pid = begin("requests_of_softverbs_ctl__have_these_answers", "none", &from);
	expect_found(pid, from, "requests",
	    "-11\nno request\n;-39\nthe request is neither \"dump\" nor \"do\"\n;=0\n;" DUMP DUMP
	    "+0\n;-116\nibv_query_gid:nth=1: it holds now, or for the next one, in this process: "
	    "no at=, nth=, each=, p=, from= or process=\n;"
	    "+0\n;-41\nthere is nothing that it could happen to\n;+0\n;"
	    "-11\nno request\n;;" /* one that is too long has none */
	    "E......... ; a 12, events 6");
}

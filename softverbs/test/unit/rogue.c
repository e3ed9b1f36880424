/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rogue -- a process that writes random bytes over everything it shares, or that is killed, under
 * load
 *
 * Three processes: this one, a good peer, and a rogue, which is another in each round.  A thread
 * exchanges messages with the good peer all the time, and waits in ibv_get_cq_event(); the main
 * thread has requests and receives outstanding with the rogue.  Each of them must complete once,
 * the exchange must go on, and nothing must be left.
 *
 * REARM_TEST_ROGUES is the number of rounds, REARM_TEST_SEED the seed of the first.
 */
#include "lib/feature.h"
#include "other.h"
#include "own.h"
#include "story.h"

#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define ROUNDS 12
#define PATIENCE 300	   /* milliseconds without a completion, after which a rogue is killed */
#define DEPTH 16	   /* of requests, and of receives */
#define COUNTER_WORDS 8192 /* of the piece with the counters; the others are longer */
#define LARGE 150000	   /* bytes of the longest request: three frames */

enum deed { SCRIBBLE, LOAD };

/* What begins a round; sent to the process that starts the rogues. */
struct order {
	unsigned int seed;
	enum deed deed;
	bool end;
};

static int orders; /* to that process; from it to the rogue it is inherited */
static pid_t starter;

static unsigned int
number_of(const char *variable, unsigned int usual)
{
	const char *text = getenv(variable);

	return text && *text ? (unsigned int)strtoul(text, NULL, 10) : usual;
}

static double
seconds_of_rounds(void)
{
	return 2.0 * number_of("REARM_TEST_ROGUES", ROUNDS);
}

static unsigned int
draw(unsigned int *seed, unsigned int below)
{
	*seed = *seed * 1103515245 + 12345;
	return (*seed >> 8) % below;
}

static void
tell(int line, const void *data, size_t length)
{
	ck_assert_int_eq(send(line, data, length, MSG_NOSIGNAL), (ssize_t)length);
}

static void
hear(int line, void *data, size_t length)
{
	ck_assert_int_eq(recv(line, data, length, MSG_WAITALL), (ssize_t)length);
}

/*
 * In place of Check's assertions, which write to a file of all processes of the test: a rogue that
 * is killed may leave half of what it writes.
 */
static void
must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "rogue: %s\n", what);
	abort();
}

/* --- load: what both sides of a round do */

struct load {
	struct side side;
	struct own_card peer;
	uint64_t posted, completed, failed;
	unsigned int seed, sends, receives; /* outstanding */
};

static void
load_make(struct load *load, unsigned int seed)
{
	*load = (struct load){ .seed = seed };
	side_make(&load->side, NULL);
	side_to_init(&load->side, NULL);
}

static struct own_card
load_card(const struct load *load)
{
	return (struct own_card){ load->side.qp->qp_num, load->side.mr->rkey,
		(uintptr_t)load->side.bytes };
}

static void
load_connect(struct load *load)
{
	side_to_rtr(&load->side, load->peer.qpn);
	side_to_rts(&load->side, NULL);
}

/* Requests have odd numbers, receives even ones. */
static void
load_post_send(struct load *load)
{
	static const enum ibv_wr_opcode opcodes[] = { IBV_WR_SEND, IBV_WR_RDMA_WRITE,
		IBV_WR_RDMA_READ, IBV_WR_RDMA_WRITE_WITH_IMM };
	const enum ibv_wr_opcode opcode = opcodes[draw(&load->seed, 4)];
	uint32_t length = draw(&load->seed, 4) ? draw(&load->seed, 2000) : LARGE;

	if (opcode == IBV_WR_SEND)
		length %= 4096;
	must(!side_rdma_raw(&load->side, opcode, 1, 0, load->peer.address, load->peer.rkey, length),
	    "a request was not posted");
	load->sends++;
	load->posted++;
}

static void
load_post(struct load *load)
{
	while (load->receives < DEPTH) {
		must(!side_try_receive(&load->side, 2, SIDE_BYTES - 4096, 4096),
		    "a receive was not posted");
		load->receives++;
		load->posted++;
	}
	while (load->sends < DEPTH)
		load_post_send(load);
}

/* Whether there was a completion. */
static bool
load_poll(struct load *load)
{
	struct ibv_wc wc[8];
	const int n = ibv_poll_cq(load->side.cq, 8, wc);

	must(n >= 0, "polling failed");
	for (int i = 0; i < n; i++) {
		if (wc[i].wr_id == 1)
			load->sends--;
		else
			load->receives--;
		load->completed++;
		load->failed += wc[i].status != IBV_WC_SUCCESS;
	}
	return n > 0;
}

/* --- the rogue */

struct piece {
	volatile uint64_t *words;
	size_t bytes;
};

static struct piece pieces[64];
static unsigned int piece_count;

/* All that is shared with other processes. */
static void
find_shared(void)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	unsigned long from, to;
	char text[512];

	must(maps, "no /proc/self/maps");
	piece_count = 0;
	while (piece_count < 64 && fgets(text, sizeof text, maps))
		if (strstr(text, "memfd:softverbs") && sscanf(text, "%lx-%lx", &from, &to) == 2)
			pieces[piece_count++] =
			    (struct piece){ (volatile uint64_t *)from, to - from };
	fclose(maps);
}

/* The same, mapped once more, so that the memory stays when its link has ended. */
static void
map_shared(void)
{
	unsigned int kept = 0;
	void *again;

	for (unsigned int i = 0; i < piece_count; i++)
		munmap((void *)(uintptr_t)pieces[i].words, pieces[i].bytes);
	find_shared();
	for (unsigned int i = 0; i < piece_count; i++) {
		again =
		    mremap((void *)(uintptr_t)pieces[i].words, 0, pieces[i].bytes, MREMAP_MAYMOVE);
		if (again != MAP_FAILED)
			pieces[kept++] = (struct piece){ again, pieces[i].bytes };
	}
	piece_count = kept;
}

/*
 * Random words, at random places: in the first rounds anywhere; then in the counters alone; then
 * small changes of counters and headers of frames, which are more likely to be believed.
 */
static void
scribble(unsigned int *seed, unsigned int style)
{
	const struct piece *piece = &pieces[draw(seed, piece_count)];
	const unsigned int words = (unsigned int)(piece->bytes / sizeof(uint64_t));
	const bool counters = words == COUNTER_WORDS;
	volatile uint64_t *word = piece->words;

	if (counters)
		word += draw(seed, 8) * 8;
	else if (style == 2)
		word += draw(seed, words / 8) * 8 + draw(seed, 2);
	else
		word += draw(seed, words);
	if (style == 1 && !counters)
		return;
	if (style == 2)
		*word += (uint64_t)(draw(seed, 5) - 2) * 64;
	else
		*word = (uint64_t)draw(seed, 1u << 24) << 32 | draw(seed, 1u << 24);
}

static void *
carry_load(void *arg)
{
	struct load *load = arg;
	struct ibv_qp_init_attr init;
	struct ibv_qp_attr attr;

	for (;;) {
		must(!ibv_query_qp(load->side.qp, &attr, IBV_QP_STATE, &init), "no state");
		if (attr.qp_state == IBV_QPS_RTS)
			load_post(load);
		if (!load_poll(load))
			sched_yield();
	}
	return NULL;
}

/*
 * A link can end after the mappings were read and before its memory is mapped once more.  What is
 * mapped then may be shorter than what was read, and a store behind its end is an error of the
 * rogue.
 */
static void
wait_to_be_killed(int unused)
{
	(void)unused;
	for (;;)
		pause();
}

/* Until it is killed. */
static void
be_rogue(const struct order *order)
{
	static struct load load;
	unsigned int seed = order->seed;
	struct own_card card;
	pthread_t thread;
	pid_t pid = getpid();

	signal(SIGBUS, wait_to_be_killed);
	signal(SIGSEGV, wait_to_be_killed);
	load_make(&load, seed);
	card = load_card(&load);
	tell(orders, &pid, sizeof pid);
	tell(orders, &card, sizeof card);
	hear(orders, &load.peer, sizeof load.peer);
	load_connect(&load);
	must(send(orders, "r", 1, MSG_NOSIGNAL) == 1,
	    "the test has ended"); /* from here on it may be killed */
	if (order->deed == LOAD)
		carry_load(&load);
	must(!pthread_create(&thread, NULL, carry_load, &load), "no thread");
	for (unsigned int i = 0;; i++) {
		/* Links come and go. */
		if (i % 256 == 0) {
			map_shared();
			sched_yield();
		}
		if (piece_count)
			scribble(&seed, order->seed % 3);
	}
}

/* Has no threads, so a sanitizer lets its children have some. */
static void
start_rogues(void)
{
	struct order order;
	pid_t rogue;
	int status;

	for (;;) {
		hear(orders, &order, sizeof order);
		if (order.end)
			_exit(0);
		fflush(NULL);
		rogue = fork();
		ck_assert_int_ge(rogue, 0);
		if (!rogue) {
			be_rogue(&order);
			_exit(1);
		}
		ck_assert_int_eq(waitpid(rogue, &status, 0), rogue);
		ck_assert_msg(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL,
		    "the rogue of seed %u: %x", order.seed, status);
		tell(orders, "d", 1);
	}
}

static void
starter_begin(void)
{
	int ends[2];

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
	fflush(NULL);
	starter = fork();
	ck_assert_int_ge(starter, 0);
	orders = ends[starter == 0];
	close(ends[starter != 0]);
	if (!starter)
		start_rogues();
}

static void
starter_end(void)
{
	const struct order order = { .end = true };
	int status;

	tell(orders, &order, sizeof order);
	ck_assert_int_eq(waitpid(starter, &status, 0), starter);
	ck_assert_int_eq(status, 0);
	close(orders);
}

/* --- the good peer */

static atomic_bool over;
static atomic_ulong exchanged;

static void
expect_message(uint64_t number)
{
	uint64_t got;

	for (;;) {
		struct ibv_wc wc;
		struct ibv_cq *cq;
		void *context;
		int n = ibv_poll_cq(own.cq, 1, &wc);

		if (!n) {
			ck_assert_int_eq(ibv_req_notify_cq(own.cq, 0), 0);
			n = ibv_poll_cq(own.cq, 1, &wc);
		}
		ck_assert_int_ge(n, 0);
		if (n) {
			ck_assert_msg(wc.status == IBV_WC_SUCCESS, "the good peer: %s",
			    ibv_wc_status_str(wc.status));
			if (wc.opcode == IBV_WC_RECV)
				break;
			continue;
		}
		ck_assert_int_eq(ibv_get_cq_event(own.channel, &cq, &context), 0);
		ibv_ack_cq_events(cq, 1);
	}
	memcpy(&got, own.bytes, sizeof got);
	ck_assert_uint_eq(got, number);
	side_receive(&own, 2, 0, 8);
}

static void
send_message(uint64_t number)
{
	memcpy(own.bytes + 64, &number, sizeof number);
	side_post(&own, IBV_WR_SEND, IBV_SEND_SIGNALED | IBV_SEND_INLINE, 1, 64, 8);
}

/* Message 0 is the last. */
static void
answer_messages(void)
{
	const struct side_options patient = { .patient = true };
	uint64_t number = 1;
	bool last;

	own_connect(&patient);
	side_receive(&own, 2, 0, 8);
	other_meet();
	do {
		other_hear(&last, sizeof last);
		expect_message(number);
		send_message(number++);
	} while (!last);
	own_end();
}

static void *
exchange(void *unused)
{
	bool last;

	(void)unused;
	for (uint64_t number = 1;; number++) {
		last = over;
		other_tell(&last, sizeof last);
		send_message(number);
		expect_message(number);
		exchanged++;
		if (last)
			return NULL;
	}
}

/* --- a round */

static unsigned int
shared_mappings(void)
{
	find_shared();
	return piece_count;
}

static void
await_exchange(void)
{
	const unsigned long now = exchanged;

	for (int i = 0; i < (int)runner_stretch(10000) && exchanged < now + 3; i++)
		sleep_ms(1);
	ck_assert_msg(exchanged >= now + 3, "the good peer is not served any more");
}

/* Returns whether the rogue was noticed before it was killed. */
static bool
play(enum deed deed, unsigned int seed)
{
	const struct order order = { .seed = seed, .deed = deed };
	struct own_card card;
	struct load load;
	uint64_t wanted;
	bool noticed;
	pid_t rogue;
	char c;

	tell(orders, &order, sizeof order);
	hear(orders, &rogue, sizeof rogue);
	load_make(&load, seed);
	hear(orders, &load.peer, sizeof load.peer);
	card = load_card(&load);
	tell(orders, &card, sizeof card);
	load_connect(&load);
	hear(orders, &c, 1);
	/* Until some requests are done, or an error has ended the connection. */
	wanted = deed == SCRIBBLE ? UINT64_MAX : draw(&load.seed, 300);
	for (int i = 0; i < PATIENCE && load.completed < wanted && !load.failed;) {
		load_post(&load);
		if (!load_poll(&load) && draw(&load.seed, 2)) {
			sleep_ms(1);
			i++;
		}
	}
	noticed = load.failed;
	kill(rogue, SIGKILL);
	hear(orders, &c, 1);
	/* A request to a process that has ended fails. */
	if (!load.failed) {
		while (load.sends == DEPTH && !load.failed)
			if (!load_poll(&load))
				sleep_ms(1);
		if (!load.failed)
			load_post_send(&load);
	}
	for (int i = 0; i < (int)runner_stretch(10000) && load.sends; i++)
		if (!load_poll(&load))
			sleep_ms(1);
	ck_assert_msg(!load.sends, "seed %u: %u requests did not complete", seed, load.sends);
	ck_assert_msg(load.failed > 0, "seed %u: no request failed", seed);
	side_to_error(&load.side);
	while (load.completed < load.posted)
		ck_assert_msg(load_poll(&load), "seed %u: a receive was not flushed", seed);
	cq_expect_empty(load.side.cq);
	side_free(&load.side);
	return noticed;
}

static void
play_rounds(enum deed deed)
{
	const struct side_options patient = { .patient = true };
	const unsigned int rounds = number_of("REARM_TEST_ROGUES", ROUNDS);
	const unsigned int first = number_of("REARM_TEST_SEED", 1);
	unsigned int noticed = 0, mappings, played;
	pthread_t thread;
	int fds;

	starter_begin();
	own_begin(answer_messages, &patient);
	side_receive(&own, 2, 0, 8);
	other_meet();
	ck_assert_int_eq(pthread_create(&thread, NULL, exchange, NULL), 0);
	await_exchange();
	mappings = shared_mappings();
	fds = runner_count_fds();
	/*
	 * A round in which no harm was noticed shows nothing, which a busy machine may bring about.
	 */
	for (played = 0; played < rounds || (deed == SCRIBBLE && !noticed); played++) {
		noticed += play(deed, first + played);
		await_exchange();
	}
	/* The progress thread closes a link a moment after its end. */
	for (int i = 0; i < (int)runner_stretch(10000); i++) {
		if (shared_mappings() == mappings && runner_count_fds() == fds)
			break;
		sleep_ms(1);
	}
	ck_assert_uint_eq(shared_mappings(), mappings);
	ck_assert_int_eq(runner_count_fds(), fds);
	over = true;
	pthread_join(thread, NULL);
	own_end();
	other_finish();
	starter_end();
	ck_assert_int_eq(story_leaks(), 0);
	printf(
	    "%u of %u rogues were noticed before they were killed; %lu messages of the good peer\n",
	    noticed, played, (unsigned long)exchanged);
}

CASE("soft-rogue:rogue", .seconds = 30, .more_seconds = seconds_of_rounds);

TEST(peer_that_scribbles_over_shared_memory__harms_only_its_own_connections)
{
	if (!feature_twice()) {
		runner_skip(FEATURE_NO_TWICE);
		return;
	}
	play_rounds(SCRIBBLE);
}

TEST(peer_that_is_killed_at_any_moment__harms_only_its_own_connections)
{
	play_rounds(LOAD);
}

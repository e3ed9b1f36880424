/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * under-load -- connections under load that end because the peer or the device is gone
 *
 *	under-load ADAPTER PORT ROUNDS [ADDRESS]
 *
 * Without ADDRESS it listens at PORT, with ADDRESS it connects there.  In each round it opens the
 * adapter, makes CONNECTIONS connections and keeps sends, receives, RDMA writes and RDMA reads
 * outstanding on each, until something from outside ends them: the peer is killed, or the device is
 * deleted under it.  It prints "loaded N" in round N as soon as each connection has transferred
 * some data.
 *
 * Then it checks:
 *  - each request that was posted completes exactly once, with success, flushed or with another
 *  error, and none
 *    with success after the end of its connection where both come by one EVD;
 *  - each endpoint gets one DISCONNECTED or BROKEN;
 *  - a device that is removed is reported once, and nothing else is reported;
 *  - each object can be freed, the adapter closes gracefully, and no descriptor, no thread and no
 *  memory is left.
 *
 * The next round opens the adapter again, in the same process.  Of the endpoints some have three
 * EVDs and some one, and the events of some come by a CNO, of others by upcalls.
 *
 * One mutex guards everything: upcalls hold it as long as they run, the main thread while it reads
 * events.
 */
#include <arpa/inet.h>
#include <dirent.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <dat2/udat.h>
#include <dat2/dat_event_str.h>
#include <dat2/dat_upcall.h>

#define CONNECTIONS 4
#define RECEIVES 12
#define SENDS \
	6 /* messages that go to and fro; fewer than receives, so that a send never waits for one */
#define WRITES 4
#define READS 2
#define SLOTS (RECEIVES + SENDS + WRITES + READS)
#define MESSAGE 512
#define ENOUGH 50	  /* completions of a connection that is under load */
#define PATIENCE_MS 60000 /* in an emulated machine a second is short */
#define ATTEMPT_US 20000000
#define LEAK_BYTES 1024 /* of memory, over all rounds */
/*
 * What librdmacm and the driver of soft-RoCE leave of a protection domain whose device was removed.
 */
#define REMOVAL_BYTES 32
#define DEFAULT DAT_COMPLETION_DEFAULT_FLAG

enum kind { RECEIVE, SEND, WRITE, READ };

struct greeting {
	uint64_t address;
	uint32_t context, index;
};

struct end {
	int index;
	DAT_EP_HANDLE ep;
	DAT_EVD_HANDLE evds[3]; /* receives, requests, connection */
	int n_evds;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT context;
	struct greeting mine, other;
	bool started, established, failed;
	bool posted[SLOTS];
	unsigned int ends, outstanding;
	unsigned int owed; /* messages that go back as soon as a send is free */
	char buffer[SLOTS][MESSAGE];
};

static struct {
	pthread_mutex_t mutex;
	const char *address;
	DAT_CONN_QUAL port;
	int round;
	DAT_IA_HANDLE ia;
	DAT_EVD_HANDLE async, cr;
	DAT_CNO_HANDLE cno;
	DAT_PZ_HANDLE pz;
	DAT_PSP_HANDLE psp;
	struct end ends[CONNECTIONS];
	unsigned int completed[CONNECTIONS];
	unsigned int flushed, in_error, disconnected, broken, removed;
	unsigned int errors;
} s = { .mutex = PTHREAD_MUTEX_INITIALIZER };

/* ---- messages ---- */

__attribute__((format(printf, 1, 2))) static void
complain(const char *format, ...)
{
	va_list args;

	s.errors++;
	printf("error: round %d: ", s.round);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	fflush(stdout);
}

static bool
ok_at(const char *call, DAT_RETURN ret)
{
	const char *major = "", *minor = "";

	if (ret == DAT_SUCCESS)
		return true;
	(void)dat_strerror(ret, &major, &minor);
	complain("%s: %s %s", call, major, minor);
	return false;
}
#define ok(call) ok_at(#call, (call))

/* What the program cannot go on without. */
#define need(call) \
	do { \
		if (!ok(call)) \
			exit(1); \
	} while (0)

static uint64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static void
nap_ms(long ms)
{
	const struct timespec t = { .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000 };

	nanosleep(&t, NULL);
}

/* ---- requests ---- */

static enum kind
kind_of(int slot)
{
	if (slot < RECEIVES)
		return RECEIVE;
	if (slot < RECEIVES + SENDS)
		return SEND;
	return slot < RECEIVES + SENDS + WRITES ? WRITE : READ;
}

/* Posts the request of a slot that is free; an endpoint whose connection has ended refuses it. */
static void
post(struct end *end, int slot)
{
	DAT_LMR_TRIPLET local = {
		.virtual_address = (uintptr_t)end->buffer[slot],
		.segment_length = MESSAGE,
		.lmr_context = end->context,
	};
	DAT_RMR_TRIPLET remote = {
		.virtual_address = end->other.address + (uint64_t)slot * MESSAGE,
		.segment_length = MESSAGE,
		.rmr_context = end->other.context,
	};
	const DAT_DTO_COOKIE cookie = { .as_64 = (DAT_UINT64)(end->index * SLOTS + slot) };
	DAT_RETURN ret = DAT_SUCCESS;

	if (end->posted[slot]) {
		complain("slot %d is posted already", slot);
		return;
	}
	switch (kind_of(slot)) {
	case RECEIVE:
		ret = dat_ep_post_recv(end->ep, 1, &local, cookie, DEFAULT);
		break;
	case SEND:
		ret = dat_ep_post_send(end->ep, 1, &local, cookie, DEFAULT);
		break;
	case WRITE:
		ret = dat_ep_post_rdma_write(end->ep, 1, &local, cookie, &remote, DEFAULT);
		break;
	case READ:
		ret = dat_ep_post_rdma_read(end->ep, 1, &local, cookie, &remote, DEFAULT);
		break;
	}
	if (ret == DAT_SUCCESS) {
		end->posted[slot] = true;
		end->outstanding++;
	} else if (DAT_GET_TYPE(ret) != DAT_INVALID_STATE) {
		(void)ok_at("a post", ret);
	}
}

/* For each message that came one goes back, as soon as a send is free. */
static void
send_back(struct end *end)
{
	for (int slot = RECEIVES; slot < RECEIVES + SENDS && end->owed; slot++) {
		if (!end->posted[slot]) {
			post(end, slot);
			end->owed--;
		}
	}
}

static void
take_completion(const DAT_DTO_COMPLETION_EVENT_DATA *dto)
{
	const int number = (int)dto->user_cookie.as_64, slot = number % SLOTS;
	struct end *end;

	if (dto->user_cookie.as_64 >= CONNECTIONS * SLOTS) {
		complain("a completion of no request: %" PRIu64, dto->user_cookie.as_64);
		return;
	}
	end = &s.ends[number / SLOTS];
	if (dto->ep_handle != end->ep)
		complain("a completion with the wrong endpoint");
	if (!end->posted[slot]) {
		complain("connection %d: slot %d completes twice", end->index, slot);
		return;
	}
	end->posted[slot] = false;
	end->outstanding--;
	if (dto->status != DAT_DTO_SUCCESS) {
		if (dto->status == DAT_DTO_ERR_FLUSHED)
			s.flushed++;
		else
			s.in_error++;
		return;
	}
	/* Events of different EVDs have no order. */
	if (end->ends && end->n_evds == 1)
		complain("connection %d: slot %d completes with success after the end", end->index,
		    slot);
	s.completed[end->index]++;
	if (kind_of(slot) != SEND)
		post(end, slot);
	/* The receive is posted again before its message goes back. */
	end->owed += kind_of(slot) == RECEIVE;
	send_back(end);
}

/* ---- connections ---- */

static void
post_receives(struct end *end)
{
	for (int slot = 0; slot < RECEIVES; slot++)
		post(end, slot);
}

static void
start_load(struct end *end)
{
	for (int slot = RECEIVES; slot < SLOTS; slot++)
		if (kind_of(slot) != SEND || s.address)
			post(end, slot);
}

static void
take_connection_event(const DAT_EVENT *event)
{
	const DAT_CONNECTION_EVENT_DATA *data = &event->event_data.connect_event_data;
	struct end *end = NULL;

	for (int i = 0; i < CONNECTIONS; i++)
		if (s.ends[i].ep == data->ep_handle)
			end = &s.ends[i];
	if (!end) {
		complain("an event of no endpoint");
		return;
	}
	switch (event->event_number) {
	case DAT_CONNECTION_EVENT_ESTABLISHED:
		if (end->established)
			complain("connection %d is established twice", end->index);
		end->established = true;
		if (s.address && data->private_data_size >= (DAT_COUNT)sizeof end->other)
			memcpy(&end->other, data->private_data, sizeof end->other);
		start_load(end);
		break;
	case DAT_CONNECTION_EVENT_DISCONNECTED:
	case DAT_CONNECTION_EVENT_BROKEN:
		if (!end->established || end->ends)
			complain("connection %d: %s, established %d, ends %u", end->index,
			    dat_event_name(event->event_number), end->established, end->ends);
		end->ends++;
		if (event->event_number == DAT_CONNECTION_EVENT_BROKEN)
			s.broken++;
		else
			s.disconnected++;
		break;
	default: /* an attempt that failed */
		if (end->established)
			complain(
			    "connection %d: %s", end->index, dat_event_name(event->event_number));
		end->failed = true;
	}
}

static void
take(const DAT_EVENT *event)
{
	if (event->event_number == DAT_DTO_COMPLETION_EVENT)
		take_completion(&event->event_data.dto_completion_event_data);
	else
		take_connection_event(event);
}

static void
upcall(DAT_PVOID instance, const DAT_EVENT *event, DAT_BOOLEAN more)
{
	(void)instance;
	(void)more;
	pthread_mutex_lock(&s.mutex);
	take(event);
	pthread_mutex_unlock(&s.mutex);
}

static bool
has_upcalls(const struct end *end)
{
	return end->index >= CONNECTIONS / 2;
}

static void
connect_end(struct end *end)
{
	struct sockaddr_in to = { .sin_family = AF_INET };

	if (inet_pton(AF_INET, s.address, &to.sin_addr) != 1)
		exit(2);
	end->started = true;
	need(dat_ep_connect(end->ep, (DAT_IA_ADDRESS_PTR)&to, s.port, ATTEMPT_US, sizeof end->mine,
	    &end->mine, DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG));
}

static void
accept_request(const DAT_EVENT *event)
{
	const DAT_CR_HANDLE cr = event->event_data.cr_arrival_event_data.cr_handle;
	struct greeting other = { .index = CONNECTIONS };
	DAT_CR_PARAM param;
	struct end *end;

	need(dat_cr_query(cr, DAT_CR_FIELD_ALL, &param));
	if (param.private_data_size >= (DAT_COUNT)sizeof other)
		memcpy(&other, param.private_data, sizeof other);
	end = &s.ends[other.index % CONNECTIONS];
	if (end->started || end->failed) { /* its initiator has given up an attempt */
		(void)dat_cr_reject(cr, 0, NULL);
		return;
	}
	end->other = other;
	/* A request whose initiator is gone may fail at once; another one comes. */
	end->started = dat_cr_accept(cr, end->ep, sizeof end->mine, &end->mine) == DAT_SUCCESS;
}

/* An attempt failed, its receives were flushed: the endpoint tries again. */
static void
try_again(struct end *end)
{
	if (!end->failed || end->outstanding)
		return;
	need(dat_ep_reset(end->ep));
	end->started = end->failed = false;
	post_receives(end);
}

/* ---- the main thread ---- */

/* Some: while there is traffic an EVD may never be empty. */
static void
read_some(DAT_EVD_HANDLE evd)
{
	DAT_EVENT event;

	for (int i = 0; i < 32 && dat_evd_dequeue(evd, &event) == DAT_SUCCESS; i++)
		take(&event);
}

static void
read_events(void)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(s.async, &event) == DAT_SUCCESS) {
		if (event.event_number == DAT_ASYNC_ERROR_IA_CATASTROPHIC)
			s.removed++;
		else
			complain("asynchronous event %s", dat_event_name(event.event_number));
	}
	while (s.cr != DAT_HANDLE_NULL && dat_evd_dequeue(s.cr, &event) == DAT_SUCCESS)
		accept_request(&event);
	for (int i = 0; i < CONNECTIONS; i++)
		for (int e = 0; !has_upcalls(&s.ends[i]) && e < s.ends[i].n_evds; e++)
			read_some(s.ends[i].evds[e]);
}

static void
step(void)
{
	DAT_EVD_HANDLE evd;

	/* What was left in an EVD triggers the CNO no more. */
	(void)dat_cno_wait(s.cno, 1000, &evd);
	pthread_mutex_lock(&s.mutex);
	read_events();
	pthread_mutex_unlock(&s.mutex);
}

static int
count_ended(void)
{
	int n = 0;

	for (int i = 0; i < CONNECTIONS; i++)
		n += s.ends[i].ends > 0 && s.ends[i].outstanding == 0;
	return n;
}

static int
count_loaded(void)
{
	int n = 0;

	for (int i = 0; i < CONNECTIONS; i++)
		n += s.completed[i] >= ENOUGH;
	return n;
}

static unsigned int
count_posted(const struct end *end, enum kind kind)
{
	unsigned int n = 0;

	for (int slot = 0; slot < SLOTS; slot++)
		n += end->posted[slot] && kind_of(slot) == kind;
	return n;
}

static bool
anything_ended(void)
{
	for (int i = 0; i < CONNECTIONS; i++)
		if (s.ends[i].ends)
			return true;
	return s.removed > 0;
}

/* The peer may not listen yet, or may be gone and come again. */
static void
connect_all(void)
{
	const uint64_t began = now_ms();

	while (count_loaded() < CONNECTIONS && !anything_ended()) {
		bool failed = false;

		if (now_ms() - began > 2 * PATIENCE_MS) {
			for (int i = 0; i < CONNECTIONS; i++)
				complain("connection %d: started %d, failed %d, established %d, "
					 "completed %u, outstanding %u",
				    i, s.ends[i].started, s.ends[i].failed, s.ends[i].established,
				    s.completed[i], s.ends[i].outstanding);
			return;
		}
		pthread_mutex_lock(&s.mutex);
		for (int i = 0; i < CONNECTIONS; i++) {
			failed = failed || s.ends[i].failed;
			try_again(&s.ends[i]);
			if (s.address && !s.ends[i].started)
				connect_end(&s.ends[i]);
		}
		pthread_mutex_unlock(&s.mutex);
		step();
		if (failed)
			nap_ms(20); /* until there is a listener */
	}
	printf("loaded %d\n", s.round);
	fflush(stdout);
}

static void
await_end(void)
{
	uint64_t began = 0;

	while (count_ended() < CONNECTIONS) {
		step();
		if (!began && anything_ended())
			began = now_ms();
		if (began && now_ms() - began > PATIENCE_MS)
			break;
	}
	/* Nothing may follow: a second completion, a second end. */
	nap_ms(100);
	for (int i = 0; i < 5; i++)
		step();
	for (int i = 0; i < CONNECTIONS; i++)
		if (s.ends[i].ends != 1 || s.ends[i].outstanding)
			complain("connection %d: %u ends; outstanding: %u receives, %u sends, %u "
				 "writes, "
				 "%u reads",
			    i, s.ends[i].ends, count_posted(&s.ends[i], RECEIVE),
			    count_posted(&s.ends[i], SEND), count_posted(&s.ends[i], WRITE),
			    count_posted(&s.ends[i], READ));
	if (s.removed > 1)
		complain("the removal is reported %u times", s.removed);
}

/* ---- open and close ---- */

static void
open_adapter(char *name)
{
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	const uint64_t began = now_ms();
	DAT_RETURN ret;

	do {
		s.async = DAT_HANDLE_NULL;
		ret = dat_ia_open(name, 8, &s.async, &s.ia);
		if (ret != DAT_SUCCESS)
			nap_ms(50); /* there is no device yet */
	} while (ret != DAT_SUCCESS && now_ms() - began < PATIENCE_MS);
	need(ret);
	need(dat_pz_create(s.ia, &s.pz));
	need(dat_cno_create(s.ia, no_agent, &s.cno));
}

static void
open_evds(struct end *end)
{
	static const DAT_EVD_FLAGS separate[] = { DAT_EVD_DTO_FLAG, DAT_EVD_DTO_FLAG,
		DAT_EVD_CONNECTION_FLAG };
	static const DAT_EVD_FLAGS merged[] = { DAT_EVD_DTO_FLAG | DAT_EVD_CONNECTION_FLAG };
	DAT_UPCALL_OBJECT object = { NULL, upcall };

	end->n_evds = end->index % 2 ? 1 : 3;
	for (int e = 0; e < end->n_evds; e++) {
		const DAT_EVD_FLAGS flags = end->n_evds == 1 ? merged[e] : separate[e];

		if (has_upcalls(end))
			need(dat_evd_kcreate(
			    s.ia, 64, DAT_UPCALL_SINGLE_INSTANCE, &object, flags, &end->evds[e]));
		else
			need(dat_evd_create(s.ia, 64, s.cno, flags, &end->evds[e]));
	}
	for (int e = end->n_evds; e < 3; e++)
		end->evds[e] = end->evds[0];
}

static void
open_end(struct end *end, int index)
{
	DAT_REGION_DESCRIPTION region = { .for_va = end->buffer };
	DAT_RMR_CONTEXT context;

	memset(end, 0, sizeof *end);
	end->index = index;
	open_evds(end);
	need(dat_lmr_create(s.ia, DAT_MEM_TYPE_VIRTUAL, region, sizeof end->buffer, s.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &end->lmr, &end->context, &context, NULL, NULL));
	need(dat_ep_create(s.ia, s.pz, end->evds[0], end->evds[1], end->evds[2], NULL, &end->ep));
	end->mine = (struct greeting){ (uintptr_t)end->buffer, context, (uint32_t)index };
	post_receives(end);
}

static void
open_all(char *name)
{
	open_adapter(name);
	s.flushed = s.in_error = s.disconnected = s.broken = s.removed = 0;
	for (int i = 0; i < CONNECTIONS; i++) {
		s.completed[i] = 0;
		open_end(&s.ends[i], i);
	}
	s.cr = s.psp = DAT_HANDLE_NULL;
	if (s.address)
		return;
	need(dat_evd_create(s.ia, 16, s.cno, DAT_EVD_CR_FLAG, &s.cr));
	need(dat_psp_create(s.ia, s.port, s.cr, DAT_PSP_CONSUMER_FLAG, &s.psp));
}

/* Everything that was opened can be freed. */
static void
close_all(void)
{
	if (s.psp != DAT_HANDLE_NULL) {
		(void)ok(dat_psp_free(s.psp));
		(void)ok(dat_evd_free(s.cr));
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		(void)ok(dat_ep_free(s.ends[i].ep));
		(void)ok(dat_lmr_free(s.ends[i].lmr));
		for (int e = 0; e < s.ends[i].n_evds; e++)
			(void)ok(dat_evd_free(s.ends[i].evds[e]));
	}
	(void)ok(dat_cno_free(s.cno));
	(void)ok(dat_pz_free(s.pz));
	if (!ok(dat_ia_close(s.ia, DAT_CLOSE_GRACEFUL_FLAG)))
		(void)dat_ia_close(s.ia, DAT_CLOSE_ABRUPT_FLAG);
}

/* ---- what is left ---- */

struct left {
	int descriptors, threads;
	size_t bytes;
};

static int
count_entries(const char *directory)
{
	DIR *dir = opendir(directory);
	int n = 0;

	while (dir && readdir(dir))
		n++;
	if (dir)
		closedir(dir);
	return n;
}

/* A thread that was joined leaves the list a moment later. */
static struct left
what_is_left(void)
{
	struct left left = { 0 };

	for (int i = 0; i < 100; i++) {
		left.threads = count_entries("/proc/self/task") - 2; /* . and .. */
		if (left.threads == 1)
			break;
		nap_ms(10);
	}
	left.descriptors = count_entries("/proc/self/fd") - 3; /* and the one that lists */
	left.bytes = mallinfo2().uordblks;
	return left;
}

/* The libraries keep what they have made for the first adapters. */
static void
check_left(const struct left *first, const struct left *now, unsigned int removals)
{
	if (now->threads > first->threads || now->descriptors > first->descriptors ||
	    now->bytes > first->bytes + LEAK_BYTES + removals * REMOVAL_BYTES)
		complain("left: %d threads, %d descriptors, %zu bytes; after round 1: %d, %d, %zu",
		    now->threads, now->descriptors, now->bytes, first->threads, first->descriptors,
		    first->bytes);
}

static struct left
play(char *name)
{
	unsigned int completed = 0;
	struct left left;

	open_all(name);
	connect_all();
	await_end();
	for (int i = 0; i < CONNECTIONS; i++)
		completed += s.completed[i];
	close_all();
	left = what_is_left();
	printf("round %d: %d connections, %u disconnected, %u broken; %u completed, %u flushed, %u "
	       "in error%s; "
	       "%d threads, %d descriptors, %zu bytes left\n",
	    s.round, CONNECTIONS, s.disconnected, s.broken, completed, s.flushed, s.in_error,
	    s.removed ? "; the device was removed" : "", left.threads, left.descriptors,
	    left.bytes);
	fflush(stdout);
	return left;
}

int
main(int argc, char **argv)
{
	struct left first = { 0 }, now;
	unsigned int removals = 0;
	int rounds;

	if (argc < 4 || argc > 5 || (rounds = atoi(argv[3])) < 1) {
		fprintf(stderr, "usage: %s ADAPTER PORT ROUNDS [ADDRESS]\n", argv[0]);
		return 2;
	}
	s.port = (DAT_CONN_QUAL)atoi(argv[2]);
	s.address = argv[4];
	for (s.round = 1; s.round <= rounds; s.round++) {
		now = play(argv[1]);
		if (s.round == 1)
			first = now;
		else
			removals += s.removed;
		check_left(&first, &now, removals);
	}
	printf("%d rounds, %u errors\n", rounds, s.errors);
	return s.errors ? 1 : 0;
}

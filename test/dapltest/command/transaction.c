/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The client sends its request on a separate connection.  The answer has the qualifier to which
 * every endpoint of the test connects.  The server has a thread for each endpoint, the client runs
 * them in turn.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/dat_event_str.h>

#include "cmd.h"

#define MAGIC 0x52445431 /* changes with struct cmd_request */
#define ASKED CMD_HEADER
#define ANSWERED (CMD_HEADER + sizeof(struct cmd_request))
#define TALK_SIZE (sizeof(struct cmd_request) + sizeof(struct answer))

struct answer {
	uint64_t qual; /* 0: the request makes no sense here */
};

static bool
start(pthread_t *thread, void *(*run)(void *), void *arg)
{
	int r = pthread_create(thread, NULL, run, arg);

	return r == 0 || cmd_fail("cannot start a thread: %s", strerror(r));
}

/* ---- the server ---- */

struct player {
	struct cmd_end end;
	const struct cmd_request *request;
	pthread_t thread;
	bool good;
};

static void *
play_server(void *arg)
{
	struct player *p = arg;
	const struct cmd_request *request = p->request;

	p->good = cmd_end_greet(&p->end);
	for (uint32_t i = 0; p->good && request->type == 'T' && i < request->iterations; i++)
		p->good = cmd_play(&p->end, request, true);
	/* The client says when it has measured enough. */
	if (p->good && request->type == 'P')
		p->good = cmd_end_reap(&p->end, p->end.recv, 1, 1);
	return NULL;
}

static bool
play_all(struct player *players, uint32_t n, const struct cmd_request *request, DAT_IA_HANDLE ia,
    DAT_EVD_HANDLE cr)
{
	bool good = true;
	uint32_t opened = 0, running = 0;

	for (; good && opened < n; opened++) {
		struct player *p = &players[opened];

		p->request = request;
		good = cmd_end_open(
			   &p->end, ia, cmd_play_length(request), request->poll, request->cno) &&
		       cmd_play_prepare(&p->end, request, true) &&
		       (request->type != 'P' || cmd_end_post_recv(&p->end, 0, 1, 1, 1));
	}
	while (good && running < n) {
		good = cmd_end_accept(&players[running].end, cr) &&
		       start(&players[running].thread, play_server, &players[running]);
		running += good;
	}
	for (uint32_t i = 0; i < opened; i++) {
		if (i < running) {
			pthread_join(players[i].thread, NULL);
			good = good && players[i].good;
		}
	}
	for (uint32_t i = 0; i < opened; i++)
		cmd_end_close(&players[i].end);
	return good;
}

static bool
sensible(const struct cmd_request *request)
{
	bool good = request->magic == MAGIC && strchr("QTP", request->type) &&
		    request->threads <= 64 && request->endpoints <= 256 &&
		    request->op_count <= CMD_OPS;

	for (uint32_t i = 0; good && i < request->op_count; i++)
		good = request->ops[i].size <= 16 << 20 && request->ops[i].segments <= CMD_SEGMENTS;
	return good || cmd_fail("the client is another program than this server");
}

/* The request was read; false when this server cannot go on. */
static bool
serve(struct cmd_end *talk, const struct cmd_request *request, bool *quit)
{
	const uint32_t n = request->threads * request->endpoints;
	struct answer answer = { 0 };
	DAT_EVD_HANDLE cr = DAT_HANDLE_NULL;
	DAT_PSP_HANDLE psp = DAT_HANDLE_NULL;
	struct player *players = calloc(n ? n : 1, sizeof *players);
	DAT_CONN_QUAL qual = 1;
	bool good = players != NULL && sensible(request);

	*quit = good && request->type == 'Q';
	if (good && !*quit)
		good = cmd_ok(dat_evd_create(
			   talk->ia, (DAT_COUNT)n + 8, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &cr)) &&
		       cmd_ok(dat_psp_create_any(talk->ia, &qual, cr, DAT_PSP_CONSUMER_FLAG, &psp));
	answer.qual = good ? qual : 0;
	memcpy(talk->buffer + ANSWERED, &answer, sizeof answer);
	if (cmd_end_post(talk, CMD_SEND, ANSWERED, sizeof answer, 1, 2) &&
	    cmd_end_reap(talk, talk->request, 2, sizeof answer) && good && !*quit) {
		good = play_all(players, n, request, talk->ia, cr);
		printf("%s: %u threads, %u endpoints, %u iterations: %s\n",
		    request->type == 'T' ? "transaction" : "performance", request->threads,
		    request->endpoints, request->iterations, good ? "passed" : "FAILED");
		fflush(stdout);
	}
	if (psp)
		(void)cmd_ok(dat_psp_free(psp));
	if (cr)
		(void)cmd_ok(dat_evd_free(cr));
	free(players);
	return good;
}

static bool
talk_open(struct cmd_end *talk, DAT_IA_HANDLE ia, bool server)
{
	return cmd_end_open(talk, ia, TALK_SIZE, false, false) &&
	       (server ? cmd_end_post_recv(talk, ASKED, sizeof(struct cmd_request), 1, 1) :
			 cmd_end_post_recv(talk, ANSWERED, sizeof(struct answer), 1, 2));
}

#define LOOK_US 1000000 /* between two checks of the adapter */

static bool
adapter_works(DAT_EVD_HANDLE async)
{
	DAT_EVENT event;

	while (dat_evd_dequeue(async, &event) == DAT_SUCCESS)
		if (event.event_number == DAT_ASYNC_ERROR_IA_CATASTROPHIC &&
		    event.event_data.asynch_error_event_data.reason == DAT_IA_CATASTROPHIC_ERROR)
			return cmd_fail("the adapter has failed, or its device was removed: %s",
			    dat_event_str(event.event_number));
	return true;
}

/* Waits for a connection request, as long as the adapter works. */
static bool
await_request(DAT_EVD_HANDLE cr, DAT_EVD_HANDLE async, DAT_EVENT *event)
{
	DAT_RETURN ret;
	DAT_COUNT more;

	do {
		if (!adapter_works(async))
			return false;
		ret = dat_evd_wait(cr, LOOK_US, 1, event, &more);
	} while (DAT_GET_TYPE(ret) == DAT_TIMEOUT_EXPIRED);
	return cmd_check("dat_evd_wait()", ret);
}

bool
cmd_server(const struct cmd_options *options, DAT_IA_HANDLE ia)
{
	struct cmd_request request;
	bool good = true, quit = false;
	DAT_EVD_HANDLE cr, async;
	DAT_PSP_HANDLE psp;
	DAT_COUNT more;
	DAT_EVENT event;

	if (!cmd_ok(dat_ia_query(ia, &async, 0, NULL, 0, NULL)) ||
	    !cmd_ok(dat_evd_create(ia, 32, DAT_HANDLE_NULL, DAT_EVD_CR_FLAG, &cr)))
		return false;
	if (!cmd_ok(dat_psp_create(ia, options->port, cr, DAT_PSP_CONSUMER_FLAG, &psp)))
		return cmd_fail("cannot listen at port %llu; is another server running there? "
				"-n takes another port",
		    (unsigned long long)options->port);
	printf("Dapltest: Service Point Ready - %s\n", options->ia);
	fflush(stdout);
	while (!quit) {
		struct cmd_end talk;
		bool greeted;

		if (!await_request(cr, async, &event))
			return false;
		greeted = talk_open(&talk, ia, true) &&
			  cmd_ok(dat_cr_accept(event.event_data.cr_arrival_event_data.cr_handle,
			      talk.ep, 0, NULL)) &&
			  cmd_ok(dat_evd_wait(talk.connect, CMD_PATIENCE, 1, &event, &more)) &&
			  cmd_end_greet(&talk) && cmd_end_reap(&talk, talk.recv, 1, sizeof request);
		if (greeted) {
			memcpy(&request, talk.buffer + ASKED, sizeof request);
			good = serve(&talk, &request, &quit) && good;
			/* The client ends the conversation, so that it has the answer. */
			(void)dat_evd_wait(talk.connect, CMD_PATIENCE, 1, &event, &more);
		}
		cmd_end_close(&talk);
	}
	return cmd_ok(dat_psp_free(psp)) && cmd_ok(dat_evd_free(cr)) && good;
}

/* ---- the client ---- */

struct worker {
	const struct cmd_options *options;
	struct cmd_end *ends;
	pthread_t thread;
	bool good;
};

static void *
play_client(void *arg)
{
	struct worker *w = arg;
	const struct cmd_request *request = &w->options->request;

	w->good = true;
	for (uint32_t i = 0; w->good && i < request->iterations; i++)
		for (uint32_t e = 0; w->good && e < request->endpoints; e++)
			w->good = cmd_play(&w->ends[e], request, false);
	return NULL;
}

static bool
play_workers(struct cmd_end *ends, const struct cmd_options *options)
{
	const struct cmd_request *request = &options->request;
	struct worker workers[64];
	uint32_t running = 0;
	bool good = true;
	double seconds = cmd_seconds(), bytes;

	for (; good && running < request->threads; running += good) {
		workers[running] = (struct worker){ .options = options,
			.ends = ends + (size_t)running * request->endpoints };
		good = start(&workers[running].thread, play_client, &workers[running]);
	}
	for (uint32_t t = 0; t < running; t++) {
		pthread_join(workers[t].thread, NULL);
		good = good && workers[t].good;
	}
	seconds = cmd_seconds() - seconds;
	bytes = (double)cmd_play_length(request) * request->iterations * request->threads *
		request->endpoints;
	if (good)
		printf("transaction: %u threads, %u endpoints, %u iterations: "
		       "%.0f bytes in %.3f s, %.1f MB/s\n",
		    request->threads, request->endpoints, request->iterations, bytes, seconds,
		    bytes / seconds / 1e6);
	return good;
}

static bool
run(const struct cmd_options *options, DAT_IA_HANDLE ia, DAT_CONN_QUAL qual)
{
	const struct cmd_request *request = &options->request;
	const uint32_t n = request->threads * request->endpoints;
	struct cmd_end *ends = calloc(n, sizeof *ends);
	bool good = ends != NULL;
	uint32_t opened = 0;

	for (; good && opened < n; opened++) {
		struct cmd_end *end = &ends[opened];

		good =
		    cmd_end_open(end, ia, cmd_play_length(request), request->poll, request->cno) &&
		    cmd_play_prepare(end, request, false) &&
		    cmd_end_connect(end, options->server, qual, options->qos) && cmd_end_greet(end);
	}
	if (good && options->debug) {
		printf("%u endpoints are connected\n", n);
		fflush(stdout);
	}
	if (good)
		good = request->type == 'T' ? play_workers(ends, options) :
					      cmd_performance(&ends[0], options);
	for (uint32_t i = 0; i < opened; i++)
		cmd_end_close(&ends[i]);
	free(ends);
	return good;
}

/* Validation needs a message each way, and one more before an end writes again. */
static void
append_sync(struct cmd_request *request)
{
	for (int i = 0; i < 3; i++)
		request->ops[request->op_count++] = (struct cmd_op){ .by_server = i == 1,
			.kind = CMD_SEND,
			.sync = i < 2,
			.size = 4,
			.segments = 1 };
}

static void
print_ops(const struct cmd_request *request)
{
	static const char *const kinds[] = { "SR", "RR", "RW" };

	for (uint32_t i = 0; i < request->op_count; i++) {
		const struct cmd_op *op = &request->ops[i];

		printf("operation %u: %s %s %u %u%s\n", i, op->by_server ? "server" : "client",
		    kinds[op->kind], op->size, op->segments, op->reap_later ? " -f" : "");
	}
}

bool
cmd_client(const struct cmd_options *given, DAT_IA_HANDLE ia)
{
	struct cmd_options options = *given;
	struct cmd_request *request = &options.request;
	struct answer answer = { 0 };
	struct cmd_end talk;
	bool good;

	request->magic = MAGIC;
	if (request->type != 'T')
		request->threads = request->endpoints = 1;
	if (request->type == 'T' && request->validate)
		append_sync(request);
	if (options.debug)
		print_ops(request);
	good = talk_open(&talk, ia, false) &&
	       cmd_end_connect(&talk, options.server, options.port, options.qos) &&
	       cmd_end_greet(&talk);
	if (good) {
		memcpy(talk.buffer + ASKED, request, sizeof *request);
		good = cmd_end_post(&talk, CMD_SEND, ASKED, sizeof *request, 1, 1) &&
		       cmd_end_reap(&talk, talk.request, 1, sizeof *request) &&
		       cmd_end_reap(&talk, talk.recv, 2, sizeof answer);
		memcpy(&answer, talk.buffer + ANSWERED, sizeof answer);
	}
	if (good && answer.qual == 0)
		good = cmd_fail("the server refuses the test");
	if (good && request->type == 'Q')
		puts("quit: the server ends");
	else if (good)
		good = run(&options, ia, answer.qual);
	cmd_end_close(&talk);
	return good;
}

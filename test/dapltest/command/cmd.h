/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * cmd -- dapltest: a command that exercises any DAT provider by name
 *
 * The command line is that of the original dapltest.  The protocol between client and server is
 * not, so both ends must be this program.  A function that fails prints the reason on stderr and
 * returns false.  Exit status of the command: 0 passed, 1 failed, 2 wrong use.
 */
#ifndef REARM_TEST_COMMAND_CMD_H
#define REARM_TEST_COMMAND_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <dat2/udat.h>

#define CMD_OPS 16
#define CMD_NAMES 64
#define CMD_SEGMENTS 4	       /* what an endpoint without attributes takes */
#define CMD_DEPTH 16	       /* requests or receives of such an endpoint */
#define CMD_PATIENCE 30000000u /* microseconds until a lost event is taken for lost */

enum cmd_kind { CMD_SEND, CMD_READ, CMD_WRITE };

/* One step of a transaction: so many segments of that size, by one of the two ends. */
struct cmd_op {
	uint8_t by_server;
	uint8_t kind;
	uint8_t reap_later; /* the send completes with the next receive */
	uint8_t sync;	    /* appended for validation */
	uint32_t size;
	uint32_t segments;
};

/* What the client asks of the server. */
struct cmd_request {
	uint32_t magic;
	uint8_t type; /* T, P or Q */
	uint8_t validate;
	uint8_t poll;
	uint8_t cno;
	uint32_t threads, endpoints, iterations;
	uint32_t op_count;
	struct cmd_op ops[CMD_OPS];
};

struct cmd_options {
	char type;
	const char *ia;
	const char *server;
	DAT_CONN_QUAL port;
	DAT_QOS qos;
	bool debug;
	struct cmd_request request;
	int pipeline;
	int width;
	int maximum;		      /* 0: until a call fails */
	const char *names[CMD_NAMES]; /* of limits, of a feature and its cases, of suites */
	int name_count;
};

/* True when the command line asks for the usage or the version, which has then been printed. */
bool cmd_options_help(int argc, char **argv);
/* Reads the command line; false after a message. */
bool cmd_options_read(int argc, char **argv, struct cmd_options *options);

/* ---- saying what is wrong ---- */

bool cmd_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));
bool cmd_failed_call(const char *call, DAT_RETURN ret);
/* True if the call succeeded. */
#define cmd_ok(call) cmd_check(#call, (call))
bool cmd_check(const char *call, DAT_RETURN ret);
/* What came in place of what was due. */
bool cmd_failed_event(DAT_EVENT_NUMBER came, DAT_EVENT_NUMBER due);
bool cmd_failed_completion(const DAT_DTO_COMPLETION_EVENT_DATA *dto);

double cmd_seconds(void);

/* ---- one end of a connection ---- */

struct cmd_end {
	DAT_IA_HANDLE ia;
	DAT_PZ_HANDLE pz;
	DAT_CNO_HANDLE cno; /* or DAT_HANDLE_NULL */
	DAT_EVD_HANDLE recv, request, connect;
	DAT_EP_HANDLE ep;
	DAT_LMR_HANDLE lmr;
	DAT_LMR_CONTEXT lmr_context;
	bool poll;
	char *buffer;
	size_t length;
	/* Where the other end's buffer is, once cmd_end_greet() has returned. */
	DAT_VADDR there;
	DAT_RMR_CONTEXT there_context;
	DAT_RMR_CONTEXT rmr_context;
};

#define CMD_HEADER 128 /* bytes of the buffer that greetings use */

bool cmd_ia_open(const char *name, DAT_IA_HANDLE *ia);
bool cmd_end_open(struct cmd_end *end, DAT_IA_HANDLE ia, size_t length, bool poll, bool cno);
void cmd_end_close(struct cmd_end *end);
bool cmd_end_connect(struct cmd_end *end, const char *server, DAT_CONN_QUAL qual, DAT_QOS qos);
/* Waits for a request on `cr_evd` and accepts it. */
bool cmd_end_accept(struct cmd_end *end, DAT_EVD_HANDLE cr_evd);
/* Both ends call this when connected. */
bool cmd_end_greet(struct cmd_end *end);

bool cmd_end_post_recv(
    struct cmd_end *end, size_t offset, uint32_t size, uint32_t segments, uint64_t cookie);
bool cmd_end_post(struct cmd_end *end, enum cmd_kind kind, size_t offset, uint32_t size,
    uint32_t segments, uint64_t cookie);
/* The next completion of the EVD, which must be a success of this cookie and length. */
bool cmd_end_reap(struct cmd_end *end, DAT_EVD_HANDLE evd, uint64_t cookie, size_t length);

/* ---- transactions: both ends play the same list ---- */

size_t cmd_play_length(const struct cmd_request *request);
bool cmd_play_prepare(struct cmd_end *end, const struct cmd_request *request, bool server);
bool cmd_play(struct cmd_end *end, const struct cmd_request *request, bool server);

/* ---- the tests; true when passed ---- */

bool cmd_server(const struct cmd_options *options, DAT_IA_HANDLE ia);
bool cmd_client(const struct cmd_options *options, DAT_IA_HANDLE ia);
bool cmd_performance(struct cmd_end *end, const struct cmd_options *options);
bool cmd_limits(const struct cmd_options *options);
bool cmd_limit_is(const char *name);
bool cmd_features(const struct cmd_options *options);
/* Whether it is the name of a group of features or of a case. */
bool cmd_feature_is(const char *name);
/* Becomes the suites of `program`; returns only if that fails. */
bool cmd_suites(const struct cmd_options *options, const char *program);

#endif

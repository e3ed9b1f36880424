/* SPDX-License-Identifier: BSD-3-Clause */
/* options -- the options of the command line */
#ifndef REARM_HOSTILE_OPTIONS_H
#define REARM_HOSTILE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

/* Groups of operations. */
#define GROUPS(X) \
	X(SOFT, "soft", "software events: post and dequeue") \
	X(WAIT, "wait", "waiters with thresholds and timeouts, unwaitable EVDs") \
	X(POLICY, "policy", "changes of the upcall policy and of the object") \
	X(CNO, "cno", "CNOs: attach, enable, wait, agents, descriptors") \
	X(CONN, "conn", "endpoints: connect, accept, reject, disconnect, reset") \
	X(DTO, "dto", "transfers: sends, receives, RDMA writes and reads, suppressed or not") \
	X(FLAGS, "flags", \
	    "endpoints with different completion flags on one EVD, solicited and unsignalled") \
	X(FLOOD, "flood", "many connection requests at once") \
	X(SIGNAL, "signal", "signals to threads that wait") \
	X(RESIZE, "resize", "changes of the queue length") \
	X(FREE, "free", "objects freed while other threads use them") \
	X(STALE, "stale", "calls with handles of objects that have just been freed") \
	X(CLOSE, "close", "adapters closed abruptly by threads") \
	X(INSIDE, "inside", "objects freed and adapters closed by upcalls and agents") \
	X(REARM, "rearm", "librearm: loops, queues, callbacks, waits, events") \
	X(PEER, "peer", "a second process that does the same, and connections between the two") \
	X(STOP, "stop", "the second process is stopped for a while, with peer") \
	X(KILL, "kill", "the second process is killed, with peer") \
	X(PERTURB, "perturb", "threads of the library sleep now and then before they take a lock")

enum group {
#define X(symbol, name, text) GROUP_##symbol,
	GROUPS(X)
#undef X
	    GROUP_COUNT
};

#define OPTIONS_IAS 8

struct options {
	uint64_t seed;
	double seconds;
	unsigned int threads;
	const char *ia[OPTIONS_IAS];
	unsigned int n_ias;
	bool group[GROUP_COUNT];
	bool verbose;
	int board; /* the descriptor of the board, in the second process, or -1 */
};

extern struct options options;

/* Ends the program on --help and on bad arguments. */
void options_parse(int argc, char **argv);
/* The arguments of the second process; the array has OPTIONS_WORDS words. */
#define OPTIONS_WORDS 32
void options_for_peer(const char **argv, const char *seed, const char *board);
/* The command line that repeats this run. */
const char *options_text(void);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

static const char usage[] =
    "usage: dapltest -T TYPE -D ADAPTER [-n PORT] [-d] [-R BE|HT|LL|EC|PM] ...\n"
    "  -T S                       server: serves clients until one says Q\n"
    "  -T Q -s HOST               tells the server to end\n"
    "  -T T -s HOST [-t THREADS] [-w ENDPOINTS] [-i ITERATIONS] [-Q] [-V] [-P] OP OP...\n"
    "                             transactions; -Q through a CNO, -V validates, -P polls\n"
    "  -T P -s HOST [-m b|p] [-i ITERATIONS] [-p PIPELINE] RR|RW [SIZE [SEGMENTS]]\n"
    "                             performance\n"
    "  -T L [-w WIDTH] [-m MAXIMUM] [limit_ia limit_pz limit_cno limit_evd limit_ep limit_psp\n"
    "       limit_rsp limit_lmr limit_rpost limit_size_lmr]\n"
    "                             limits: makes objects until that fails, or MAXIMUM of them\n"
    "  -T F [-f hwconn|endpoint|pz|mem|connmgt|queryinfo] [CASE...]\n"
    "                             features\n"
    "  -T U [SUITE[:CASE]...]     the conformance suites for upcalls\n"
    "  -T C PROGRAM [SUITE...]    other conformance suites: dapl, contract, peer\n"
    "  OP is client|server SR|RR|RW [SIZE [SEGMENTS]] [-f]; SIZE 4096, SEGMENTS 1 if left out\n";

static bool
wrong(const char *format, const char *what)
{
	fputs("dapltest: ", stderr);
	fprintf(stderr, format, what);
	fprintf(stderr, "\n%s", usage);
	return false;
}

static bool
number(const char *text, unsigned long least, unsigned long most, unsigned long *n)
{
	char *end;

	if (!text)
		return wrong("%s", "a number is missing");
	*n = strtoul(text, &end, 0);
	if (!*text || *end || *text == '-' || *n < least || *n > most) {
		fprintf(stderr, "dapltest: %s: a number from %lu to %lu is expected\n", text, least,
		    most);
		return false;
	}
	return true;
}

static bool
is_number(const char *text)
{
	return text && *text >= '0' && *text <= '9';
}

/* "[client|server] SR|RR|RW [size [segments]] [-f]" at argv[*i]. */
static bool
read_op(char **argv, int *i, struct cmd_options *options)
{
	struct cmd_request *request = &options->request;
	struct cmd_op *op = &request->ops[request->op_count];
	unsigned long n;

	if (request->op_count == CMD_OPS - 3)
		return wrong("%s: too many operations", argv[*i]);
	*op = (struct cmd_op){ .size = 4096, .segments = 1 };
	if (options->type == 'T') {
		op->by_server = !strcmp(argv[*i], "server");
		(*i)++;
	}
	if (!argv[*i])
		return wrong("%s", "an operation is missing");
	if (!strcmp(argv[*i], "SR") && options->type == 'T')
		op->kind = CMD_SEND;
	else if (!strcmp(argv[*i], "RR"))
		op->kind = CMD_READ;
	else if (!strcmp(argv[*i], "RW"))
		op->kind = CMD_WRITE;
	else
		return wrong("%s: no operation", argv[*i]);
	(*i)++;
	if (is_number(argv[*i])) {
		if (!number(argv[(*i)++], 1, 16 << 20, &n))
			return false;
		op->size = (uint32_t)n;
		if (is_number(argv[*i])) {
			if (!number(argv[(*i)++], 1, CMD_SEGMENTS, &n))
				return false;
			op->segments = (uint32_t)n;
		}
	}
	if (options->type == 'T' && argv[*i] && !strcmp(argv[*i], "-f")) {
		if (op->kind != CMD_SEND)
			return wrong("%s: only for SR", argv[*i]);
		op->reap_later = 1;
		(*i)++;
	}
	request->op_count++;
	return true;
}

static bool
read_qos(const char *text, DAT_QOS *qos)
{
	static const struct {
		const char *name;
		DAT_QOS qos;
	} names[] = { { "BE", DAT_QOS_BEST_EFFORT }, { "HT", DAT_QOS_HIGH_THROUGHPUT },
		{ "LL", DAT_QOS_LOW_LATENCY }, { "EC", DAT_QOS_ECONOMY },
		{ "PM", DAT_QOS_PREMIUM } };

	for (size_t i = 0; text && i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(text, names[i].name)) {
			*qos = names[i].qos;
			return true;
		}
	return wrong("-R %s: no such quality of service", text ? text : "");
}

/* One option with a letter; those with a value move *i on. */
static bool
read_flag(char **argv, int *i, struct cmd_options *o)
{
	const char letter = argv[*i][1], *value = argv[*i + 1];
	struct cmd_request *request = &o->request;
	unsigned long n = 0;
	bool valued = true, good = true;

	if (argv[*i][2])
		return wrong("%s: no such option", argv[*i]);
	switch (letter) {
	case 'D':
		o->ia = value;
		break;
	case 's':
		o->server = value;
		break;
	case 'n':
		good = number(value, 1, 0xffffffff, &n);
		o->port = n;
		break;
	case 'R':
		good = read_qos(value, &o->qos);
		break;
	case 't':
		good = number(value, 1, 64, &n);
		request->threads = (uint32_t)n;
		break;
	case 'w':
		good = number(value, 1, 256, &n);
		request->endpoints = (uint32_t)n;
		o->width = (int)n;
		break;
	case 'i':
		good = number(value, 1, 100000000, &n);
		request->iterations = (uint32_t)n;
		break;
	case 'p':
		good = number(value, 0, 1000000, &n);
		o->pipeline = n > 0 && n < CMD_DEPTH ? (int)n : CMD_DEPTH;
		break;
	case 'm':
		if (o->type == 'L') {
			good = number(value, 1, 10000000, &n);
			o->maximum = (int)n;
		} else if (value && (!strcmp(value, "p") || !strcmp(value, "b"))) {
			request->poll = *value == 'p';
		} else {
			good = wrong("-m %s: b or p is expected", value ? value : "");
		}
		break;
	case 'f':
		if (o->type != 'F')
			return wrong("%s: no such option here", argv[*i]);
		if (value && o->name_count < CMD_NAMES)
			o->names[o->name_count++] = value;
		break;
	default:
		valued = false;
		if (letter == 'd')
			o->debug = true;
		else if (letter == 'Q')
			request->cno = 1;
		else if (letter == 'V')
			request->validate = 1;
		else if (letter == 'P')
			request->poll = 1;
		else
			good = wrong("%s: no such option", argv[*i]);
	}
	if (good && valued && !value)
		return wrong("%s: a value is missing", argv[*i]);
	*i += valued ? 2 : 1;
	return good;
}

static bool
complete(const struct cmd_options *o)
{
	const struct cmd_request *request = &o->request;
	bool sends[2] = { false, false };

	if (!o->ia)
		return wrong("%s", "-D ADAPTER is missing");
	if (strchr("QTP", o->type) && !o->server)
		return wrong("%s", "-s HOST is missing");
	if (o->type == 'P' && request->op_count != 1)
		return wrong("%s", "-T P takes one operation, RR or RW");
	if (o->type != 'T')
		return true;
	for (uint32_t i = 0; i < request->op_count; i++)
		if (request->ops[i].kind == CMD_SEND)
			sends[request->ops[i].by_server] = true;
	if (!request->validate && !(sends[0] && sends[1]))
		return wrong("%s", "-T T needs a client SR and a server SR (or -V)");
	return true;
}

bool
cmd_options_read(int argc, char **argv, struct cmd_options *o)
{
	*o = (struct cmd_options){ .port = 62000, .qos = DAT_QOS_BEST_EFFORT, .width = 1,
		.pipeline = CMD_DEPTH,
		.request = { .threads = 1, .endpoints = 1, .iterations = 1000 } };
	if (argc < 3 || strcmp(argv[1], "-T") || strlen(argv[2]) != 1 ||
	    !strchr("SQTPLFUC", argv[2][0]))
		return wrong("%s", "-T S, Q, T, P, L, F, U or C comes first");
	o->type = argv[2][0];
	for (int i = 3; i < argc;) {
		bool op = o->type == 'T' ?
			      !strcmp(argv[i], "client") || !strcmp(argv[i], "server") :
			      o->type == 'P' && argv[i][0] != '-';

		if (op) {
			if (!read_op(argv, &i, o))
				return false;
		} else if (argv[i][0] == '-') {
			if (!read_flag(argv, &i, o))
				return false;
		} else if (strchr("LFUC", o->type) && o->name_count < CMD_NAMES) {
			o->names[o->name_count++] = argv[i++];
		} else {
			return wrong("%s: what is this?", argv[i]);
		}
	}
	o->request.type = (uint8_t)o->type;
	return complete(o);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <dat2/dat_version.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

static const char usage[] =
    "usage: dapltest -T TYPE -D ADAPTER [OPTION]... [WORD]...\n"
    "Exercises the DAT provider that dat.conf, or the file DAT_OVERRIDE, has for ADAPTER.\n"
    "\n"
    "  -T S [-n PORT]             server: serves clients until one says Q\n"
    "  -T Q -s HOST [-n PORT]     tells the server to end\n"
    "  -T T -s HOST [-n PORT] [-t THREADS] [-w ENDPOINTS] [-i ITERATIONS] [-Q] [-V] [-P] OP OP...\n"
    "                             transactions; -Q through a CNO, -V validates, -P polls\n"
    "  -T P -s HOST [-n PORT] [-m b|p] [-i ITERATIONS] [-p PIPELINE] RR|RW [SIZE [SEGMENTS]]\n"
    "                             performance; -m p polls, -m b blocks; PIPELINE is 16 at most\n"
    "  -T L [-w WIDTH] [-m MAXIMUM] [limit_ia limit_pz limit_cno limit_evd limit_ep limit_psp\n"
    "       limit_rsp limit_lmr limit_rpost limit_size_lmr]\n"
    "                             limits: makes objects until that fails, or MAXIMUM of them\n"
    "  -T F [-f hwconn|endpoint|pz|mem|connmgt|queryinfo] [CASE...]\n"
    "                             features\n"
    "  -T U [SUITE[:CASE]...]     the conformance suites for upcalls\n"
    "  -T C PROGRAM [SUITE[:CASE]...]\n"
    "                             other conformance suites: dapl, contract, endpoint, peer, wild\n"
    "\n"
    "  OP          client|server SR|RR|RW [SIZE [SEGMENTS]] [-f]: send, RDMA read, RDMA write;\n"
    "              SIZE 4096, SEGMENTS 1 if left out; -f: completes with the next receive\n"
    "  -n PORT     the server's connection qualifier (62000)\n"
    "  -R QUALITY  of service, for connections: BE, HT, LL, EC or PM\n"
    "  -d          prints the operations, and when the endpoints are connected\n"
    "  -h, --help  prints this\n"
    "  --version   prints the version\n"
    "\n"
    "Exit status: 0 passed, 1 failed, 2 wrong use.\n";

/* The options besides -T, and the types that know them. */
static const struct {
	char letter;
	bool valued;
	const char *types;
} options_known[] = {
	{ 'D', true, "SQTPLFUC" },
	{ 'd', false, "SQTPLFUC" },
	{ 'n', true, "SQTP" },
	{ 's', true, "QTP" },
	{ 'R', true, "SQTP" },
	{ 't', true, "T" },
	{ 'w', true, "TL" },
	{ 'i', true, "TP" },
	{ 'p', true, "P" },
	{ 'm', true, "PL" },
	{ 'f', true, "F" },
	{ 'Q', false, "T" },
	{ 'V', false, "T" },
	{ 'P', false, "T" },
};

#define OPTIONS (sizeof options_known / sizeof options_known[0])

static bool __attribute__((format(printf, 1, 2))) wrong(const char *format, ...)
{
	va_list args;

	fputs("dapltest: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fputs("\nTry dapltest --help.\n", stderr);
	return false;
}

static bool
is_number(const char *text)
{
	return text && *text >= '0' && *text <= '9';
}

/* `what` is the option or the thing that the number is of. */
static bool
number(
    const char *what, const char *text, unsigned long least, unsigned long most, unsigned long *n)
{
	char *end;

	*n = strtoul(text, &end, 0);
	if (!is_number(text) || *end || *n < least || *n > most)
		return wrong(
		    "%s %s: a number from %lu to %lu is expected", what, text, least, most);
	return true;
}

/* "[client|server] SR|RR|RW [size [segments]] [-f]" at argv[*i]. */
static bool
read_op(char **argv, int *i, struct cmd_options *options)
{
	struct cmd_request *request = &options->request;
	struct cmd_op *op = &request->ops[request->op_count];
	unsigned long n;

	if (request->op_count == CMD_OPS - 3)
		return wrong("%s: no more than %d operations", argv[*i], CMD_OPS - 3);
	*op = (struct cmd_op){ .size = 4096, .segments = 1 };
	if (options->type == 'T') {
		op->by_server = !strcmp(argv[*i], "server");
		(*i)++;
	}
	if (!argv[*i])
		return wrong("%s: an operation is missing", argv[*i - 1]);
	if (!strcmp(argv[*i], "SR") && options->type == 'T')
		op->kind = CMD_SEND;
	else if (!strcmp(argv[*i], "RR"))
		op->kind = CMD_READ;
	else if (!strcmp(argv[*i], "RW"))
		op->kind = CMD_WRITE;
	else
		return wrong("%s: %s is expected", argv[*i],
		    options->type == 'T' ? "SR, RR or RW" : "RR or RW");
	(*i)++;
	if (is_number(argv[*i])) {
		if (!number("SIZE", argv[(*i)++], 1, 16 << 20, &n))
			return false;
		op->size = (uint32_t)n;
		if (is_number(argv[*i])) {
			if (!number("SEGMENTS", argv[(*i)++], 1, CMD_SEGMENTS, &n))
				return false;
			op->segments = (uint32_t)n;
		}
	}
	if (options->type == 'T' && argv[*i] && !strcmp(argv[*i], "-f")) {
		if (op->kind != CMD_SEND)
			return wrong("-f goes with SR only");
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

	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (!strcmp(text, names[i].name)) {
			*qos = names[i].qos;
			return true;
		}
	return wrong("-R %s: BE, HT, LL, EC or PM is expected", text);
}

/* The value of an option that has one, NULL for others. */
static bool
take_option(struct cmd_options *o, const char *option, const char *value)
{
	struct cmd_request *request = &o->request;
	unsigned long n = 0;
	bool good = true;

	switch (option[1]) {
	case 'D':
		o->ia = value;
		break;
	case 's':
		o->server = value;
		break;
	case 'n':
		good = number(option, value, 1, 0xffffffff, &n);
		o->port = n;
		break;
	case 'R':
		good = read_qos(value, &o->qos);
		break;
	case 't':
		good = number(option, value, 1, 64, &n);
		request->threads = (uint32_t)n;
		break;
	case 'w':
		good = number(option, value, 1, 256, &n);
		request->endpoints = (uint32_t)n;
		o->width = (int)n;
		break;
	case 'i':
		good = number(option, value, 1, 100000000, &n);
		request->iterations = (uint32_t)n;
		break;
	case 'p':
		good = number(option, value, 1, CMD_DEPTH, &n);
		o->pipeline = (int)n;
		break;
	case 'm':
		if (o->type == 'L') {
			good = number(option, value, 1, 10000000, &n);
			o->maximum = (int)n;
		} else {
			good = !strcmp(value, "p") || !strcmp(value, "b") ||
			       wrong("-m %s: b or p is expected", value);
			request->poll = *value == 'p';
		}
		break;
	case 'f':
		if (o->name_count < CMD_NAMES)
			o->names[o->name_count++] = value;
		break;
	case 'd':
		o->debug = true;
		break;
	case 'Q':
		request->cno = 1;
		break;
	case 'V':
		request->validate = 1;
		break;
	case 'P':
		request->poll = 1;
		break;
	}
	return good;
}

/* The option at argv[*i], with its value. */
static bool
read_option(char **argv, int *i, struct cmd_options *o)
{
	const char *option = argv[*i], *value = NULL;
	size_t n = 0;

	while (n < OPTIONS && options_known[n].letter != option[1])
		n++;
	if (n == OPTIONS || option[2])
		return wrong("%s: no such option", option);
	if (!strchr(options_known[n].types, o->type))
		return wrong("%s does not go with -T %c", option, o->type);
	if (options_known[n].valued) {
		value = argv[*i + 1];
		if (!value)
			return wrong("%s: a value is missing", option);
	}
	*i += options_known[n].valued ? 2 : 1;
	return take_option(o, option, value);
}

static bool
names_known(const struct cmd_options *o)
{
	for (int i = 0; i < o->name_count; i++) {
		if (o->type == 'L' && !cmd_limit_is(o->names[i]))
			return wrong("%s: there is no such limit", o->names[i]);
		if (o->type == 'F' && !cmd_feature_is(o->names[i]))
			return wrong("%s: there is no such feature or case", o->names[i]);
	}
	return true;
}

static bool
complete(const struct cmd_options *o)
{
	const struct cmd_request *request = &o->request;
	bool sends[2] = { false, false };

	if (!o->ia)
		return wrong("-D ADAPTER is missing");
	if (strchr("QTP", o->type) && !o->server)
		return wrong("-s HOST is missing");
	if (o->type == 'P' && request->op_count != 1)
		return wrong("-T P takes one operation, RR or RW");
	if (o->type == 'C' && o->name_count == 0)
		return wrong("-T C takes a program: dapl, contract, endpoint, peer or wild");
	if (o->type != 'T')
		return names_known(o);
	for (uint32_t i = 0; i < request->op_count; i++)
		if (request->ops[i].kind == CMD_SEND)
			sends[request->ops[i].by_server] = true;
	if (!request->validate && !(sends[0] && sends[1]))
		return wrong("-T T needs a client SR and a server SR (or -V)");
	return true;
}

/* What stands at argv[*i]: an option, an operation or a name, as the type has it. */
static bool
read_word(char **argv, int *i, struct cmd_options *o)
{
	const char *word = argv[*i];

	if (word[0] == '-')
		return read_option(argv, i, o);
	switch (o->type) {
	case 'T':
		return !strcmp(word, "client") || !strcmp(word, "server") ?
			   read_op(argv, i, o) :
			   wrong("%s: client or server is expected", word);
	case 'P':
		return read_op(argv, i, o);
	case 'S':
	case 'Q':
		return wrong("%s: -T %c takes options only", word, o->type);
	default:
		if (o->name_count == CMD_NAMES)
			return wrong("%s: no more than %d names", word, CMD_NAMES);
		o->names[o->name_count++] = word;
		(*i)++;
		return true;
	}
}

bool
cmd_options_help(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "-h") || !strcmp(argv[i], "--help"))
			return fputs(usage, stdout) >= 0;
		if (!strcmp(argv[i], "--version"))
			return puts("dapltest (rearm) " REARM_VERSION) >= 0;
	}
	return false;
}

bool
cmd_options_read(int argc, char **argv, struct cmd_options *o)
{
	*o = (struct cmd_options){ .port = 62000,
		.qos = DAT_QOS_BEST_EFFORT,
		.width = 1,
		.pipeline = CMD_DEPTH,
		.request = { .threads = 1, .endpoints = 1, .iterations = 1000 } };
	if (argc < 3 || strcmp(argv[1], "-T"))
		return wrong("-T TYPE comes first: S, Q, T, P, L, F, U or C");
	if (strlen(argv[2]) != 1 || !strchr("SQTPLFUC", argv[2][0]))
		return wrong("-T %s: S, Q, T, P, L, F, U or C is expected", argv[2]);
	o->type = argv[2][0];
	for (int i = 3; i < argc;)
		if (!read_word(argv, &i, o))
			return false;
	o->request.type = (uint8_t)o->type;
	return complete(o);
}

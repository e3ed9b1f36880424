/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/udat.h>
#include <dat2/dat_upcall.h>

#include "world.h"

enum operand { ON_EVD, ON_CNO, ON_EP, ON_NOTHING };

static const struct verb_row {
	enum verb verb;
	const char *word;
	enum operand operand;
} rows[] = {
	{ DO_COMPLETION, "c", ON_EVD },
	{ DO_BURST, "burst", ON_EVD },
	{ DO_SPURIOUS, "spurious", ON_EVD },
	{ DO_POST, "post", ON_EVD },
	{ DO_BARRIER, "barrier", ON_EVD },
	{ DO_ESTABLISHED, "established", ON_EVD },
	{ DO_OVERFLOW, "overflow", ON_EVD },
	{ DO_PURGE, "purge", ON_EVD },
	{ DO_SINGLE, "single", ON_EVD },
	{ DO_MANY, "many", ON_EVD },
	{ DO_NORIFY, "norify", ON_EVD },
	{ DO_DISABLE, "disable", ON_EVD },
	{ DO_TEARDOWN, "teardown", ON_EVD },
	{ DO_REARM, "rearm", ON_EVD },
	{ DO_FREE, "free", ON_EVD },
	{ DO_REOPEN, "reopen", ON_EVD },
	{ DO_DEQUEUE, "dequeue", ON_EVD },
	{ DO_DRAIN, "drain", ON_EVD },
	{ DO_TAKE, "take", ON_EVD },
	{ DO_WAIT, "wait", ON_EVD },
	{ DO_UNWAITABLE, "unwaitable", ON_EVD },
	{ DO_WAITABLE, "waitable", ON_EVD },
	{ DO_CLOSING, "closing", ON_EVD },
	{ DO_ATTACH, "attach", ON_EVD },
	{ DO_DETACH, "detach", ON_EVD },
	{ DO_CNO_ON, "on", ON_EVD },
	{ DO_CNO_OFF, "off", ON_EVD },
	{ DO_SERVE, "serve", ON_CNO },
	{ DO_CNO_WAIT, "cwait", ON_CNO },
	{ DO_AGENT, "agent", ON_CNO },
	{ DO_NO_AGENT, "noagent", ON_CNO },
	{ DO_CNO_FREE, "cfree", ON_CNO },
	{ DO_CNO_ABRUPT, "cabrupt", ON_CNO },
	{ DO_CNO_CLOSING, "cclosing", ON_CNO },
	{ DO_UNTIL, "until", ON_EVD },
	{ DO_LOOP, "loop", ON_NOTHING },
	{ DO_SOURCE, "source", ON_NOTHING },
	{ DO_CLOSE_LOOP, "closeloop", ON_NOTHING },
	{ DO_RESIZE, "resize", ON_EVD },
	{ DO_WATCH, "watch", ON_CNO },
	{ DO_TRIGGER, "trigger", ON_CNO },
	{ DO_RECV, "recv", ON_EP },
	{ DO_SEND, "send", ON_EP },
	{ DO_SEND_MUTE, "mute", ON_EP },
	{ DO_CONNECT, "connect", ON_EP },
	{ DO_DISCONNECT, "disconnect", ON_EP },
	{ DO_DISCONNECT_GRACEFUL, "graceful", ON_EP },
	{ DO_EP_RESET, "reset", ON_EP },
	{ DO_EP_FREE, "epfree", ON_EP },
	{ DO_RECEIVED, "rx", ON_EP },
	{ DO_SENT, "tx", ON_EP },
	{ DO_FAILED, "fail", ON_EP },
	{ DO_CM_ACCEPTS, "accept", ON_EP },
	{ DO_CM_ESTABLISHED, "est", ON_EP },
	{ DO_CM_REJECTED, "reject", ON_EP },
	{ DO_CM_DISCONNECTED, "down", ON_EP },
	{ DO_QP_FATAL, "qpfatal", ON_EP },
	{ DO_CQ_ERROR, "cqerror", ON_EVD },
	{ DO_DEVICE_FATAL, "devfatal", ON_NOTHING },
};

#define ROWS (sizeof rows / sizeof *rows)

static const struct verb_row *
row_of(enum verb verb)
{
	for (unsigned int i = 0; i < ROWS; i++)
		if (rows[i].verb == verb)
			return &rows[i];
	return NULL;
}

const char *
verb_name(enum verb verb)
{
	const struct verb_row *row = row_of(verb);

	return row ? row->word : "?";
}

char
verb_prefix(enum verb verb)
{
	const struct verb_row *row = row_of(verb);

	switch (row ? row->operand : ON_NOTHING) {
	case ON_EVD:
		return 'a';
	case ON_CNO:
		return 'n';
	case ON_EP:
		return 'e';
	case ON_NOTHING:
		break;
	}
	return 0;
}

static const char *parsed;

static __attribute__((noreturn, format(printf, 1, 2))) void
wrong(const char *format, ...)
{
	va_list args;

	fprintf(stderr, "explore: scenario %s: ", parsed);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

static int
evd_number(const char *word)
{
	return word[0] >= 'a' && word[0] < 'a' + EVDS && !word[1] ? word[0] - 'a' : -1;
}

static int
cno_number(const char *word)
{
	return word[0] >= 'n' && word[0] < 'n' + CNOS && !word[1] ? word[0] - 'n' : -1;
}

static int
ep_number(const char *word)
{
	return word[0] >= 'e' && word[0] < 'e' + EPS && !word[1] ? word[0] - 'e' : -1;
}

/* ---- the setup ---- */

static void
parse_evd(struct scenario *s, int number, char *list)
{
	struct evd_spec *e = &s->evds[number];
	char *save = NULL;

	if (number != s->n_evds)
		wrong("EVDs are named a, b, ... in order");
	s->n_evds++;
	*e = (struct evd_spec){
		.policy = DAT_UPCALL_DISABLE, .qlen = 8, .cno = -1, .ordered = true
	};
	for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		if (!strcmp(w, "cq"))
			e->cq = true;
		else if (!strcmp(w, "sw"))
			e->cq = false;
		else if (!strcmp(w, "private"))
			e->cq = e->private = true;
		else if (!strcmp(w, "exact"))
			e->exact = true;
		else if (!strcmp(w, "strict"))
			e->strict = true;
		else if (!strcmp(w, "effect"))
			e->effect = true;
		else if (!strcmp(w, "quiet"))
			e->quiet = true;
		else if (!strcmp(w, "hold"))
			e->hold = true;
		else if (!strcmp(w, "off"))
			e->off = true;
		else if (!strcmp(w, "mixed"))
			e->ordered = false;
		else if (!strcmp(w, "single"))
			e->policy = DAT_UPCALL_SINGLE_INSTANCE;
		else if (!strcmp(w, "norify"))
			e->policy = DAT_UPCALL_NORIFY;
		else if (!strcmp(w, "many"))
			e->policy = DAT_UPCALL_MANY;
		else if (!strncmp(w, "backlog", 7))
			e->backlog = atoi(w + 7);
		else if (!strcmp(w, "loop1"))
			e->loop = 1;
		else if (!strcmp(w, "all"))
			e->all = true;
		else if (!strcmp(w, "async"))
			e->async = true;
		else if (w[0] == 'q' && isdigit((unsigned char)w[1]))
			e->qlen = atoi(w + 1);
		else if (cno_number(w) >= 0)
			e->cno = cno_number(w);
		else
			wrong("'%s' says nothing about an EVD", w);
	}
	if (e->policy == DAT_UPCALL_MANY)
		e->ordered = false;
}

static void
parse_ep(struct scenario *s, int number, char *list)
{
	struct ep_spec *e = &s->eps[number];
	char *save = NULL, *evd;

	if (number != s->n_eps)
		wrong("endpoints are named e, f in order");
	s->n_eps++;
	for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		evd = strchr(w, '.');
		if (evd && (evd_number(evd + 1) < 0 || evd_number(evd + 1) >= s->n_evds))
			wrong("'%s' names no EVD", w);
		if (!strcmp(w, "pending"))
			e->begin = EP_BEGINS_PENDING;
		else if (!strcmp(w, "fresh"))
			e->begin = EP_BEGINS_FRESH;
		else if (!strncmp(w, "recvs", 5))
			e->recvs = atoi(w + 5);
		else if (!strncmp(w, "sends", 5))
			e->sends = atoi(w + 5);
		else if (!strncmp(w, "all.", 4))
			e->recv = e->request = e->connect = evd_number(evd + 1);
		else if (!strncmp(w, "in.", 3))
			e->recv = evd_number(evd + 1);
		else if (!strncmp(w, "out.", 4))
			e->request = evd_number(evd + 1);
		else if (!strncmp(w, "conn.", 5))
			e->connect = evd_number(evd + 1);
		else
			wrong("'%s' says nothing about an endpoint", w);
	}
}

static void
parse_faults(struct scenario *s, char *list)
{
	static const struct {
		const char *word;
		unsigned int fault;
	} kinds[] = {
		{ "alloc", FAULT_ALLOC }, { "open", FAULT_OPEN }, { "epoll", FAULT_EPOLL },
		{ "eintr", FAULT_EINTR }, { "thread", FAULT_THREAD }, { "arm", FAULT_ARM },
		{ "poll", FAULT_POLL }, { "excess", FAULT_EXCESS },
	};
	char *save = NULL;
	unsigned int i;

	s->max_faults = 2;
	for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		for (i = 0; i < sizeof kinds / sizeof *kinds; i++)
			if (!strcmp(kinds[i].word, w))
				break;
		if (i < sizeof kinds / sizeof *kinds)
			s->faults |= kinds[i].fault;
		else if (isdigit((unsigned char)w[0]))
			s->max_faults = atoi(w);
		else
			wrong("there is no fault '%s'", w);
	}
}

static void
parse_setup(struct scenario *s, const char *text)
{
	char copy[256], *save = NULL, *value;

	snprintf(copy, sizeof copy, "%s", text);
	s->loops = 1;
	s->weight = 1;
	for (char *w = strtok_r(copy, " ", &save); w; w = strtok_r(NULL, " ", &save)) {
		value = strchr(w, '=');
		if (value)
			*value++ = '\0';
		if (evd_number(w) >= 0 && value)
			parse_evd(s, evd_number(w), value);
		else if (ep_number(w) >= 0 && value)
			parse_ep(s, ep_number(w), value);
		else if (cno_number(w) >= 0) {
			const int c = cno_number(w);

			s->n_cnos = c + 1;
			s->agent[c] = value && !strcmp(value, "agent");
			s->fd[c] = value && !strcmp(value, "fd");
		} else if (!strcmp(w, "crew") && value)
			s->crew = atoi(value);
		else if (!strcmp(w, "loops") && value)
			s->loops = atoi(value);
		else if (!strcmp(w, "faults") && value)
			parse_faults(s, value);
		else if (!strcmp(w, "fixed"))
			s->fixed = true;
		else if (!strcmp(w, "heavy"))
			s->heavy = true;
		else
			wrong("'%s' is no part of a setup", w);
	}
	for (int i = 0; i < s->n_evds; i++)
		if (s->evds[i].cno >= s->n_cnos)
			wrong("EVD %c has a CNO that is not there", 'a' + i);
}

/* ---- the actors ---- */

static int
number_of(const char *word, enum operand operand)
{
	return operand == ON_EVD ? evd_number(word) :
	    operand == ON_CNO ? cno_number(word) : ep_number(word);
}

static int
count_of(const struct scenario *s, enum operand operand)
{
	return operand == ON_EVD ? s->n_evds : operand == ON_CNO ? s->n_cnos : s->n_eps;
}

static void
parse_action(struct scenario *s, struct actor *actor, char *text)
{
	char *save = NULL, *word = strtok_r(text, " ", &save), *arg;
	struct action *a = &actor->actions[actor->n_actions];
	const struct verb_row *row = NULL;

	if (!word)
		return;
	if (actor->n_actions++ == ACTIONS)
		wrong("%s does too much", actor->name);
	for (unsigned int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].word, word))
			row = &rows[i];
	if (!row)
		wrong("nobody can '%s'", word);
	*a = (struct action){ .verb = row->verb, .n = 1, .us = -1 };
	s->verbs |= 1ull << row->verb;
	if (row->operand == ON_NOTHING)
		return;
	arg = strtok_r(NULL, " ", &save);
	a->object = !arg ? -1 : number_of(arg, row->operand);
	if (a->object < 0 || a->object >= count_of(s, row->operand))
		wrong("'%s' of what?", word);
	arg = strtok_r(NULL, " ", &save);
	if (!arg)
		return;
	if (!strcmp(arg, "new"))
		a->fresh = true;
	else if (!strcmp(arg, "same"))
		a->same = true;
	else if (!strcmp(arg, "another"))
		a->another = true;
	else if (row->verb == DO_ATTACH)
		a->other = cno_number(arg);
	else if (row->verb == DO_CNO_WAIT)
		a->us = atoi(arg);
	else
		a->n = atoi(arg);
	arg = strtok_r(NULL, " ", &save);
	if (arg)
		a->us = atoi(arg);
}

static void
parse_actor(struct scenario *s, char *text)
{
	char *colon = strchr(text, ':'), *save = NULL;
	struct actor *actor = &s->actors[s->n_actors];
	size_t n;

	while (*text == ' ')
		text++;
	if (!*text)
		return;
	if (!colon)
		wrong("an actor is written 'name: action; action'");
	if (s->n_actors++ == ACTORS)
		wrong("too many actors");
	*colon = '\0';
	n = strlen(text);
	if (n && text[n - 1] == '*') {
		actor->every = true;
		text[--n] = '\0';
	}
	snprintf(actor->name, sizeof actor->name, "%s", text);
	if (!strncmp(text, "up.", 3)) {
		actor->kind = ACTOR_UPCALL;
		actor->object = evd_number(text + 3);
	} else if (!strncmp(text, "agent.", 6)) {
		actor->kind = ACTOR_AGENT;
		actor->object = cno_number(text + 6);
	}
	if (actor->object < 0)
		wrong("%s is nobody's", text);
	for (char *a = strtok_r(colon + 1, ";", &save); a; a = strtok_r(NULL, ";", &save))
		parse_action(s, actor, a);
}

void
scenario_parse(struct scenario *s, const struct scenario_text *text)
{
	char copy[512], *save = NULL;

	parsed = text->name;
	memset(s, 0, sizeof *s);
	snprintf(s->name, sizeof s->name, "%s", text->name);
	parse_setup(s, text->setup);
	snprintf(copy, sizeof copy, "%s", text->actors);
	for (char *a = strtok_r(copy, "|", &save); a; a = strtok_r(NULL, "|", &save))
		parse_actor(s, a);
	if ((s->verbs >> DO_MANY & 1) && !s->crew)
		s->crew = 2;
	for (int i = 0; i < s->n_evds; i++) {
		if (s->evds[i].policy == DAT_UPCALL_MANY && !s->crew)
			s->crew = 2;
		/* Order across streams shows only where one thread takes. */
		if (s->crew)
			s->evds[i].ordered = false;
	}
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dat2/udat.h>

#include "evd/front.h"

#include "world.h"

unsigned int scenario_draw;
bool scenario_shipped;

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

static enum evd_base
base_of(const char *word)
{
	if (!strcmp(word, "cq"))
		return BASE_SHARED;
	if (!strcmp(word, "private"))
		return BASE_PRIVATE;
	if (!strcmp(word, "adopted"))
		return BASE_ADOPTED;
	if (!strcmp(word, "channel"))
		return BASE_CHANNEL;
	if (!strcmp(word, "cm"))
		return BASE_CM;
	return !strcmp(word, "sw") ? BASE_SOFTWARE : BASE_SAME;
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
	*e = (struct evd_spec){ .base = BASE_SOFTWARE,
		.policy = EVD_POLICY_DISABLE,
		.qlen = 8,
		.cno = -1,
		.ordered = true };
	for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		if (base_of(w))
			e->base = base_of(w);
		else if (!strcmp(w, "exact"))
			e->exact = true;
		else if (!strcmp(w, "strict"))
			e->strict = true;
		else if (!strcmp(w, "effect"))
			e->effect = true;
		else if (!strcmp(w, "solicited"))
			e->solicited = true;
		else if (!strcmp(w, "spins"))
			e->spins = true;
		else if (!strcmp(w, "unsignalled"))
			e->unsignalled = true;
		else if (!strcmp(w, "array"))
			e->array = 2;
		else if (!strcmp(w, "array1"))
			e->array = 1;
		else if (!strcmp(w, "requests"))
			e->requests = true;
		else if (!strcmp(w, "bare"))
			e->bare = true;
		else if (!strcmp(w, "hold"))
			e->holds |= 1;
		else if (!strncmp(w, "hold.", 5) && ep_number(w + 5) >= 0)
			e->holds |= 1u << ep_number(w + 5);
		else if (!strcmp(w, "off"))
			e->off = true;
		else if (!strcmp(w, "mixed"))
			e->ordered = false;
		else if (!strcmp(w, "single"))
			e->policy = EVD_POLICY_SINGLE;
		else if (!strcmp(w, "norify"))
			e->policy = EVD_POLICY_NOTIFY;
		else if (!strcmp(w, "many"))
			e->policy = EVD_POLICY_MANY;
		else if (!strncmp(w, "backlog", 7))
			e->backlog = atoi(w + 7);
		else if (!strcmp(w, "loop1"))
			e->loop = 1;
		else if (!strcmp(w, "all"))
			e->all = true;
		else if (!strcmp(w, "async"))
			e->async = true;
		else if (!strcmp(w, "kept"))
			e->kept = true;
		else if (w[0] == 'q' && isdigit((unsigned char)w[1]))
			e->qlen = atoi(w + 1);
		else if (w[0] == 'd' && isdigit((unsigned char)w[1]))
			e->depth = atoi(w + 1);
		else if (cno_number(w) >= 0)
			e->cno = cno_number(w);
		else
			wrong("'%s' says nothing about an EVD", w);
	}
	if (e->depth < e->qlen)
		e->depth = e->qlen;
	if (e->policy == EVD_POLICY_MANY)
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
	/* A waiter may wait for several completions, unless an endpoint has other flags. */
	e->in_flags = e->out_flags = DAT_COMPLETION_EVD_THRESHOLD_FLAG;
	for (char *w = strtok_r(list, ",", &save); w; w = strtok_r(NULL, ",", &save)) {
		evd = strchr(w, '.');
		if (evd && (evd_number(evd + 1) < 0 || evd_number(evd + 1) >= s->n_evds))
			wrong("'%s' names no EVD", w);
		if (!strcmp(w, "pending"))
			e->begin = EP_BEGINS_PENDING;
		else if (!strcmp(w, "fresh"))
			e->begin = EP_BEGINS_FRESH;
		else if (!strcmp(w, "shared"))
			e->shared = true;
		else if (!strncmp(w, "recvs", 5))
			e->recvs = atoi(w + 5);
		else if (!strncmp(w, "sends", 5))
			e->sends = atoi(w + 5);
		else if (!strncmp(w, "deep", 4))
			e->depth = atoi(w + 4);
		else if (!strcmp(w, "solicited") || !strcmp(w, "in-solicited"))
			e->in_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
		else if (!strcmp(w, "signalled") || !strcmp(w, "in-signalled"))
			e->in_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
		else if (!strcmp(w, "out-solicited"))
			e->out_flags = DAT_COMPLETION_SOLICITED_WAIT_FLAG;
		else if (!strcmp(w, "out-signalled"))
			e->out_flags = DAT_COMPLETION_UNSIGNALLED_FLAG;
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
		if (!strcmp(w, "solicited") || !strcmp(w, "signalled"))
			e->out_flags = e->in_flags;
	}
}

static void
parse_faults(struct scenario *s, char *list)
{
	static const struct {
		const char *word;
		unsigned int fault;
	} kinds[] = {
		{ "alloc", FAULT_ALLOC },
		{ "open", FAULT_OPEN },
		{ "epoll", FAULT_EPOLL },
		{ "eintr", FAULT_EINTR },
		{ "cancel", FAULT_CANCEL },
		{ "thread", FAULT_THREAD },
		{ "arm", FAULT_ARM },
		{ "poll", FAULT_POLL },
		{ "excess", FAULT_EXCESS },
		{ "verbs", FAULT_VERBS },
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
	s->pool = -1; /* as many as are needed */
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
		} else if (!strcmp(w, "pool") && value)
			s->pool = atoi(value);
		else if (!strcmp(w, "loops") && value)
			s->loops = atoi(value);
		else if (!strcmp(w, "faults") && value)
			parse_faults(s, value);
		else if (!strcmp(w, "lead"))
			s->lead = true;
		else if (!strcmp(w, "fixed"))
			s->fixed = true;
		else if (!strcmp(w, "windows"))
			s->windows = true;
		else if (!strcmp(w, "silent"))
			s->silent = true;
		else if (!strcmp(w, "stepped"))
			s->stepped = true;
		else if (!strcmp(w, "shipped"))
			s->shipped = true;
		else if (!strcmp(w, "stock") && value)
			s->stock = atoi(value);
		else if (!strcmp(w, "answers") && value)
			snprintf(s->answers, sizeof s->answers, "%s", value);
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
	       operand == ON_CNO ? cno_number(word) :
				   ep_number(word);
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
	const struct verb_row *row;

	if (!word)
		return;
	if (actor->n_actions++ == ACTIONS)
		wrong("%s does too much", actor->name);
	row = verb_find(word);
	if (!row)
		wrong("unknown action '%s'", word);
	*a = (struct action){ .verb = row->verb, .n = 1, .us = -1 };
	s->verbs[row->verb] = true;
	arg = strtok_r(NULL, " ", &save);
	if (row->operand == ON_NOTHING) {
		a->n = arg ? atoi(arg) : 1;
		return;
	}
	if (arg && row->operand == ON_EVD && arg[0] && arg[1] == '.') {
		a->ep = ep_number(arg + 2);
		if (a->ep < 0)
			wrong("'%s' names no endpoint", arg);
		arg[1] = '\0';
	}
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
	else if (base_of(arg))
		a->base = base_of(arg);
	else if (row->verb == DO_ATTACH)
		a->other = cno_number(arg);
	else if (row->verb == DO_CNO_WAIT || row->verb == DO_CNO_IGNORE)
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
	} else if (!strncmp(text, "failed.", 7)) {
		actor->kind = ACTOR_FAILED;
		actor->object = evd_number(text + 7);
	} else if (!strncmp(text, "agent.", 6)) {
		actor->kind = ACTOR_AGENT;
		actor->object = cno_number(text + 6);
	}
	if (actor->object < 0)
		wrong("%s is not the name of an actor", text);
	for (char *a = strtok_r(colon + 1, ";", &save); a; a = strtok_r(NULL, ";", &save))
		parse_action(s, actor, a);
}

/* ---- actors that take events ---- */

/* Whether some action of these is done to the EVD. */
static bool
is_done(const struct scenario *s, int evd, const enum verb *verbs, unsigned int n_verbs)
{
	for (int i = 0; i < s->n_actors; i++)
		for (unsigned int n = 0; n < s->actors[i].n_actions; n++)
			for (unsigned int v = 0; v < n_verbs; v++)
				if (s->actors[i].actions[n].verb == verbs[v] &&
				    s->actors[i].actions[n].object == evd)
					return true;
	return false;
}

static bool
is_attached(const struct scenario *s, int evd)
{
	static const enum verb attach = DO_ATTACH;

	return s->evds[evd].cno >= 0 || is_done(s, evd, &attach, 1);
}

static bool
takes(const struct scenario *s, const struct actor *actor, int evd)
{
	bool all = false;

	for (unsigned int i = 0; i < actor->n_actions; i++) {
		const struct action *a = &actor->actions[i];

		switch (a->verb) {
		case DO_DEQUEUE:
		case DO_SEVERAL:
		case DO_DRAIN:
		case DO_TAKE:
		case DO_WAIT:
		case DO_REARM:
			if (a->object == evd)
				return true;
			break;
		case DO_SERVE:
		case DO_CNO_WAIT:
		case DO_WATCH:
		case DO_TRIGGER:
		case DO_TRYWAIT:
		case DO_PICK:
			all = true; /* of those that it is handed */
			break;
		default:
			break;
		}
	}
	return all && is_attached(s, evd);
}

/* The thread of the loop counts once, for upcalls and agents together; a pool counts as several. */
static void
count_sinks(struct scenario *s, int evd)
{
	struct evd_spec *e = &s->evds[evd];
	static const enum verb calling[] = { DO_SINGLE, DO_NORIFY, DO_MANY, DO_REARM };
	static const enum verb many = DO_MANY;
	bool loop = e->policy != EVD_POLICY_DISABLE || is_done(s, evd, calling, 4);
	bool agents = s->verbs[DO_AGENT], inside = false;

	for (int i = 0; i < CNOS; i++)
		agents |= s->agent[i];
	loop |= agents && is_attached(s, evd);
	/* Order across streams shows only where one thread takes. */
	if (e->policy == EVD_POLICY_MANY || is_done(s, evd, &many, 1))
		e->ordered = false;
	for (int i = 0; i < s->n_actors; i++) {
		const bool one = takes(s, &s->actors[i], evd);

		if (s->actors[i].kind == ACTOR_THREAD)
			e->consumers += one;
		else
			inside |= one;
	}
	e->consumers += loop || inside;
	/* Any thread of a pool may play the script of an upcall. */
	e->sole = e->consumers <= 1 && e->ordered && !((loop || inside) && s->loops > 1) &&
		  !(inside && s->pool);
}

void
scenario_parse(struct scenario *s, const struct scenario_text *text)
{
	char copy[1024], *save = NULL;

	parsed = text->name;
	memset(s, 0, sizeof *s);
	snprintf(s->name, sizeof s->name, "%s", text->name);
	parse_setup(s, text->setup);
	snprintf(copy, sizeof copy, "%s", text->actors);
	for (char *a = strtok_r(copy, "|", &save); a; a = strtok_r(NULL, "|", &save))
		parse_actor(s, a);
	if (s->verbs[DO_MANY] && s->pool < 0)
		s->pool = 2;
	for (int i = 0; i < s->n_evds; i++) {
		if (s->evds[i].policy == EVD_POLICY_MANY && s->pool < 0)
			s->pool = 2;
	}
	if (s->pool < 0)
		s->pool = 0;
	for (int i = 0; i < s->n_evds; i++)
		count_sinks(s, i);
}

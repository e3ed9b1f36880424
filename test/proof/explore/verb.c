/* SPDX-License-Identifier: BSD-3-Clause */
/* verb -- the words of a scenario's actions, and what each is done to */
#include "verb.h"

#include <stddef.h>
#include <string.h>

static const struct verb_row rows[] = {
	{ DO_COMPLETION, "c", ON_EVD },
	{ DO_BURST, "burst", ON_EVD },
	{ DO_SPURIOUS, "spurious", ON_EVD },
	{ DO_POST, "post", ON_EVD },
	{ DO_BARRIER, "barrier", ON_EVD },
	{ DO_ESTABLISHED, "established", ON_EVD },
	{ DO_OVERFLOW, "overflow", ON_EVD },
	{ DO_PURGE, "purge", ON_EVD },
	{ DO_LEAVE, "leave", ON_EVD },
	{ DO_AGAIN, "again", ON_EVD },
	{ DO_DEPTH, "depth", ON_EVD },
	{ DO_SINGLE, "single", ON_EVD },
	{ DO_MANY, "many", ON_EVD },
	{ DO_NORIFY, "norify", ON_EVD },
	{ DO_DISABLE, "disable", ON_EVD },
	{ DO_TEARDOWN, "teardown", ON_EVD },
	{ DO_REARM, "rearm", ON_EVD },
	{ DO_FREE, "free", ON_EVD },
	{ DO_REOPEN, "reopen", ON_EVD },
	{ DO_SEE, "see", ON_EVD },
	{ DO_QUERY, "query", ON_EVD },
	{ DO_WRONG, "wrong", ON_EVD },
	{ DO_REFRESH, "refresh", ON_EVD },
	{ DO_EMPTY, "empty", ON_EVD },
	{ DO_DEQUEUE, "dequeue", ON_EVD },
	{ DO_SEVERAL, "several", ON_EVD },
	{ DO_DRAIN, "drain", ON_EVD },
	{ DO_TAKE, "take", ON_EVD },
	{ DO_WAIT, "wait", ON_EVD },
	{ DO_UNWAITABLE, "unwaitable", ON_EVD },
	{ DO_WAITABLE, "waitable", ON_EVD },
	{ DO_CLOSING, "closing", ON_EVD },
	{ DO_SHUT, "shut", ON_EVD },
	{ DO_SOLICITED, "solicited", ON_EVD },
	{ DO_ALL, "all", ON_EVD },
	{ DO_ATTACH, "attach", ON_EVD },
	{ DO_DETACH, "detach", ON_EVD },
	{ DO_CNO_ON, "on", ON_EVD },
	{ DO_CNO_OFF, "off", ON_EVD },
	{ DO_SERVE, "serve", ON_CNO },
	{ DO_CNO_WAIT, "cwait", ON_CNO },
	{ DO_CNO_IGNORE, "cignore", ON_CNO },
	{ DO_AGENT, "agent", ON_CNO },
	{ DO_NO_AGENT, "noagent", ON_CNO },
	{ DO_CNO_FREE, "cfree", ON_CNO },
	{ DO_CNO_ABRUPT, "cabrupt", ON_CNO },
	{ DO_CNO_CLOSING, "cclosing", ON_CNO },
	{ DO_CNO_SHUT, "cshut", ON_CNO },
	{ DO_CNO_REOPEN, "creopen", ON_CNO },
	{ DO_CNO_SEE, "csee", ON_CNO },
	{ DO_CNO_QUERY, "cquery", ON_CNO },
	{ DO_UNTIL, "until", ON_EVD },
	{ DO_LOOP, "loop", ON_NOTHING },
	{ DO_SOURCE, "source", ON_NOTHING },
	{ DO_CLOSE_LOOP, "closeloop", ON_NOTHING },
	{ DO_RESIZE, "resize", ON_EVD },
	{ DO_WATCH, "watch", ON_CNO },
	{ DO_TRIGGER, "trigger", ON_CNO },
	{ DO_TRYWAIT, "trywait", ON_CNO },
	{ DO_PICK, "pick", ON_CNO },
	{ DO_LOSE, "lose", ON_EVD },
	{ DO_GONE, "gone", ON_EVD },
	{ DO_FAILING, "failing", ON_EVD },
	{ DO_PUMP, "pump", ON_EVD },
	{ DO_TURNS, "turns", ON_EVD },
	{ DO_DESTROY, "destroy", ON_EVD },
	{ DO_RECV, "recv", ON_EP },
	{ DO_SEND, "send", ON_EP },
	{ DO_SEND_MUTE, "mute", ON_EP },
	{ DO_SEND_HUSHED, "hush", ON_EP },
	{ DO_BIND, "bind", ON_EP },
	{ DO_BIND_MUTE, "mutebind", ON_EP },
	{ DO_UNBIND, "unbind", ON_EP },
	{ DO_STOCK, "stock", ON_NOTHING },
	{ DO_LENGTH, "length", ON_NOTHING },
	{ DO_CONNECT, "connect", ON_EP },
	{ DO_DISCONNECT, "disconnect", ON_EP },
	{ DO_DISCONNECT_GRACEFUL, "graceful", ON_EP },
	{ DO_EP_RESET, "reset", ON_EP },
	{ DO_EP_FREE, "epfree", ON_EP },
	{ DO_EP_NEW, "epnew", ON_EP },
	{ DO_EP_SEE, "epsee", ON_EP },
	{ DO_PAUSE, "pause", ON_NOTHING },
	{ DO_IA_CLOSE, "close", ON_NOTHING },
	{ DO_IA_GRACEFUL, "closeidle", ON_NOTHING },
	{ DO_RECEIVED, "rx", ON_EP },
	{ DO_SENT, "tx", ON_EP },
	{ DO_FAILED, "fail", ON_EP },
	{ DO_RECEIVE_FAILED, "rxfail", ON_EP },
	{ DO_CM_ACCEPTS, "accept", ON_EP },
	{ DO_CM_ESTABLISHED, "est", ON_EP },
	{ DO_CM_REJECTED, "reject", ON_EP },
	{ DO_CM_DISCONNECTED, "down", ON_EP },
	{ DO_CM_ASKS, "ask", ON_NOTHING },
	{ DO_EVD_ASKED, "asks", ON_EVD },
	{ DO_QP_FATAL, "qpfatal", ON_EP },
	{ DO_CQ_ERROR, "cqerror", ON_EVD },
	{ DO_DEVICE_FATAL, "devfatal", ON_NOTHING },
};

#define ROWS (sizeof rows / sizeof *rows)

const struct verb_row *
verb_find(const char *word)
{
	for (unsigned int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].word, word))
			return &rows[i];
	return NULL;
}

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

bool
verb_is_of_consumer(enum verb verb)
{
	return verb < DO_RECEIVED;
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

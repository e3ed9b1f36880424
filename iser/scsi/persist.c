/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * persist -- PERSISTENT RESERVE IN and OUT
 *
 * Registrations are kept by the name of the initiator port, in memory: they end with the target
 * (APTPL is refused).  There is one target port, so ALL_TG_PT changes nothing.
 */
#include "reserve.h"

#include <string.h>

#define PARAMETERS 24 /* bytes of the list, apart from a TransportID */
#define TRANSPORT_ID (4 + ((SCSI_PORT_NAME + 3) & ~3))

/* ---- IN ---- */

bool
plan_persist_in(struct scsi_task *task)
{
	if (task->logical_unit->reservation.reserver)
		return task_conflict(task);
	return plan_data_in(task, 7, 2, 8 + SCSI_REGISTRATIONS * (PARAMETERS + TRANSPORT_ID));
}

static void
put_transport_id(struct data_in *in, const char *port)
{
	size_t padded = (strlen(port) + 1 + 3) & ~(size_t)3;
	uint8_t head[4] = { SCSI_PROTOCOL_ID };

	if (padded < 20)
		padded = 20;
	if (strstr(port, ",i,0x")) /* a port's name, not a device's */
		head[0] |= 0x40;
	scsi_put16(head + 2, (uint16_t)padded);
	data_put(in, head, sizeof head);
	data_put(in, port, strlen(port));
	data_put_zeros(in, padded - strlen(port));
}

static void
put_status(struct data_in *in, const struct reservation *r, const struct registration *registration,
    uint8_t port_id)
{
	const uint64_t start = in->length;
	uint8_t d[PARAMETERS] = { 0 };

	data_put_zeros(in, sizeof d);
	put_transport_id(in, registration->port);
	scsi_put64(d, registration->key);
	if (registration_holds(r, registration)) {
		d[12] = 1;
		d[13] = (uint8_t)r->type;
	}
	scsi_put16(d + 18, port_id);
	scsi_put32(d + 20, (uint32_t)(in->length - start - sizeof d));
	data_patch(in, start, d, sizeof d);
}

static void
put_reservation(struct data_in *in, const struct reservation *r)
{
	uint8_t d[16] = { 0 };

	if (r->type == PR_NONE)
		return;
	if (r->holder)
		scsi_put64(d, r->holder->key);
	d[13] = (uint8_t)r->type;
	data_put(in, d, sizeof d);
}

enum scsi_progress
start_persist_in(struct scsi_task *task)
{
	/* ALL_TG_PT is accepted; the type mask is valid: all six. */
	static const uint8_t capabilities[8] = { 0, 8, 0x04, 0x80, 0xea, 0x01 };
	struct scsi_lun *lun = task->logical_unit;
	struct reservation *r = &lun->reservation;
	const int action = task->command->action;
	struct data_in in = { .task = task };
	uint8_t head[8], key[8];

	if (action == 2) {
		data_put(&in, capabilities, sizeof capabilities);
		return data_end(&in);
	}
	data_put_zeros(&in, sizeof head);
	pthread_mutex_lock(&lun->target->lock);
	for (unsigned int i = 0; i < SCSI_REGISTRATIONS; i++) {
		const struct registration *registration = &r->registrations[i];

		if (!registration->port[0])
			continue;
		scsi_put64(key, registration->key);
		if (action == 0)
			data_put(&in, key, sizeof key);
		else if (action == 3)
			put_status(&in, r, registration, lun->target->port_id);
	}
	if (action == 1)
		put_reservation(&in, r);
	scsi_put32(head, r->generation);
	pthread_mutex_unlock(&lun->target->lock);
	scsi_put32(head + 4, (uint32_t)(in.length - sizeof head));
	data_patch(&in, 0, head, sizeof head);
	return data_end(&in);
}

/* ---- OUT ---- */

enum action {
	REGISTER,
	RESERVE,
	RELEASE,
	CLEAR,
	PREEMPT,
	PREEMPT_AND_ABORT,
	REGISTER_AND_IGNORE,
	REGISTER_AND_MOVE,
	ACTIONS,
};

/* A PERSISTENT RESERVE OUT that is being done, with the lock. */
struct persist {
	struct scsi_task *task;
	struct scsi_lun *lun;
	struct reservation *r;
	struct registration *own; /* NULL: the nexus is not registered */
	enum pr_type type;
	uint64_t key, action_key;
	uint8_t list[PARAMETERS + TRANSPORT_ID];
	struct scsi_task *ended; /* tasks that PREEMPT AND ABORT took */
};

static bool
type_is_known(unsigned int type)
{
	return type == 1 || type == 3 || (type >= 5 && type <= 8);
}

bool
plan_persist_out(struct scsi_task *task)
{
	const enum action action = (enum action)task->command->action;
	const uint32_t length = scsi_get32(task->cdb + 5);

	if (task->logical_unit->reservation.reserver)
		return task_conflict(task);
	if ((action == RESERVE || action == RELEASE || action == PREEMPT ||
		action == PREEMPT_AND_ABORT) &&
	    !type_is_known(task->cdb[2])) /* the scope is 0 */
		return task_fail_field(task, SENSE_CDB_FIELD, 2, 7);
	if (action == REGISTER_AND_MOVE ? length < PARAMETERS : length != PARAMETERS)
		return task_fail(task, SENSE_LIST_LENGTH);
	return plan_data_out(task, 5, 4, PARAMETERS + TRANSPORT_ID);
}

/* The nexuses of a registrant get an attention, but the one that does this. */
static void
attend(struct persist *p, const struct registration *registration, enum attention attention)
{
	for (struct scsi_nexus *n = p->lun->target->nexuses; n; n = n->next)
		if (n != p->task->nexus && strcmp(n->port, registration->port) == 0)
			n->attentions[p->lun->number] |= (uint8_t)(1 << attention);
}

static void
attend_all(struct persist *p, enum attention attention)
{
	for (unsigned int i = 0; i < SCSI_REGISTRATIONS; i++)
		if (p->r->registrations[i].port[0])
			attend(p, &p->r->registrations[i], attention);
}

/* The reservation ends; registrants that had access by it get an attention. */
static void
release(struct persist *p)
{
	if (pr_lets_registrants(p->r->type))
		attend_all(p, ATTENTION_RESERVATIONS_RELEASED);
	p->r->type = PR_NONE;
	p->r->holder = NULL;
}

static void
reserve(struct persist *p)
{
	p->r->type = p->type;
	p->r->holder = pr_is_of_all(p->type) ? NULL : p->own;
}

static unsigned int
count_registrations(const struct reservation *r)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < SCSI_REGISTRATIONS; i++)
		n += r->registrations[i].port[0] != 0;
	return n;
}

static void
unregister(struct persist *p, struct registration *registration)
{
	const bool held = p->r->holder == registration ||
			  (pr_is_of_all(p->r->type) && count_registrations(p->r) == 1);

	registration->port[0] = 0;
	if (held)
		release(p);
}

/* Registers the port, or changes its key.  NULL, and the task has failed, if there is no room. */
static struct registration *
register_port(struct persist *p, const char *port, uint64_t key)
{
	struct registration *registration = registration_find(p->r, port);

	for (unsigned int i = 0; i < SCSI_REGISTRATIONS && !registration; i++)
		if (!p->r->registrations[i].port[0])
			registration = &p->r->registrations[i];
	if (!registration) {
		task_fail(p->task, SENSE_REGISTRATIONS_FULL);
		return NULL;
	}
	strcpy(registration->port, port);
	registration->key = key;
	return registration;
}

static void
do_register(struct persist *p)
{
	if (p->list[20] & 0x09) { /* SPEC_I_PT, APTPL */
		task_fail_field(p->task, SENSE_LIST_FIELD, 20, p->list[20] & 0x08 ? 3 : 0);
		return;
	}
	if (p->task->command->action == REGISTER && p->key != (p->own ? p->own->key : 0)) {
		task_conflict(p->task);
		return;
	}
	if (p->action_key == 0) {
		if (!p->own)
			return;
		unregister(p, p->own);
	} else if (!register_port(p, p->task->nexus->port, p->action_key))
		return;
	p->r->generation++;
}

static void
do_reserve(struct persist *p)
{
	if (p->r->type == PR_NONE)
		reserve(p);
	else if (!registration_holds(p->r, p->own) || p->r->type != p->type)
		task_conflict(p->task);
}

static void
do_release(struct persist *p)
{
	if (!registration_holds(p->r, p->own))
		return;
	if (p->r->type != p->type)
		task_fail(p->task, SENSE_RELEASE_INVALID);
	else
		release(p);
}

static void
do_clear(struct persist *p)
{
	attend_all(p, ATTENTION_RESERVATIONS_PREEMPTED);
	memset(p->r->registrations, 0, sizeof p->r->registrations);
	p->r->type = PR_NONE;
	p->r->holder = NULL;
	p->r->generation++;
}

/* Removes the registration of another port, and aborts its tasks if that is asked for. */
static void
evict(struct persist *p, struct registration *victim)
{
	attend(p, victim, ATTENTION_REGISTRATIONS_PREEMPTED);
	if (p->task->command->action == PREEMPT_AND_ABORT)
		for (struct scsi_nexus *n = p->lun->target->nexuses; n; n = n->next)
			if (strcmp(n->port, victim->port) == 0)
				task_stop_set(p->lun, n, p->task, &p->ended);
	victim->port[0] = 0;
}

static void
do_preempt(struct persist *p)
{
	struct reservation *r = p->r;
	const enum pr_type before = r->type;
	const bool of_all = pr_is_of_all(before);
	/* Whose reservation it is: key 0 means that of all registrants. */
	const bool takes =
	    before != PR_NONE && (of_all ? p->action_key == 0 : r->holder->key == p->action_key);
	unsigned int found = 0;

	if (p->action_key == 0 && !of_all) {
		task_fail_field(p->task, SENSE_LIST_FIELD, 8, 7);
		return;
	}
	for (unsigned int i = 0; i < SCSI_REGISTRATIONS; i++) {
		struct registration *victim = &r->registrations[i];

		if (!victim->port[0] || (p->action_key != 0 && victim->key != p->action_key))
			continue;
		found++;
		if (victim != p->own)
			evict(p, victim);
	}
	if (found == 0) {
		task_conflict(p->task);
		return;
	}
	if (takes) {
		reserve(p);
		if (before != r->type && pr_lets_registrants(before))
			attend_all(p, ATTENTION_RESERVATIONS_RELEASED);
	}
	r->generation++;
}

/* The port of the TransportID in the list; NULL if it is none of ours. */
static const char *
transport_id_port(struct persist *p)
{
	uint8_t *id = p->list + PARAMETERS;
	const uint32_t length = scsi_get32(p->list + 20);

	if (length < 24 || length > TRANSPORT_ID || length + PARAMETERS != p->task->bytes ||
	    id[0] != (0x40 | SCSI_PROTOCOL_ID) || scsi_get16(id + 2) != length - 4 ||
	    id[length - 1] != 0 || strlen((char *)id + 4) >= SCSI_PORT_NAME ||
	    !strstr((char *)id + 4, ",i,0x"))
		return NULL;
	return (char *)id + 4;
}

static void
do_move(struct persist *p)
{
	const char *port = transport_id_port(p);
	struct registration *to;

	if (!registration_holds(p->r, p->own)) {
		task_conflict(p->task);
		return;
	}
	if (pr_is_of_all(p->r->type)) {
		task_fail_field(p->task, SENSE_CDB_FIELD, 1, 4);
		return;
	}
	if (p->action_key == 0 || p->list[17] & 1 ||
	    scsi_get16(p->list + 18) != p->lun->target->port_id || !port ||
	    strcmp(port, p->own->port) == 0) {
		task_fail(p->task, SENSE_LIST_FIELD);
		return;
	}
	to = register_port(p, port, p->action_key);
	if (!to)
		return;
	p->r->holder = to;
	if (p->list[17] & 2)
		unregister(p, p->own);
	p->r->generation++;
}

/* The tasks of those who were preempted have ended. */
static void
preempted(struct scsi_drain *drain)
{
	task_end(drain->context);
}

enum scsi_progress
start_persist_out(struct scsi_task *task)
{
	static void (*const acts[ACTIONS])(struct persist *) = {
		[REGISTER] = do_register,
		[RESERVE] = do_reserve,
		[RELEASE] = do_release,
		[CLEAR] = do_clear,
		[PREEMPT] = do_preempt,
		[PREEMPT_AND_ABORT] = do_preempt,
		[REGISTER_AND_IGNORE] = do_register,
		[REGISTER_AND_MOVE] = do_move,
	};
	struct scsi_lun *lun = task->logical_unit;
	struct scsi_target *target = lun->target;
	const enum action action = (enum action)task->command->action;
	struct persist p = {
		.task = task,
		.lun = lun,
		.r = &lun->reservation,
		.type = (enum pr_type)(task->cdb[2] & 0x0f),
	};
	bool waits = false;

	data_get(task, 0, p.list, sizeof p.list);
	p.key = scsi_get64(p.list);
	p.action_key = scsi_get64(p.list + 8);
	pthread_mutex_lock(&target->lock);
	p.own = registration_find(p.r, task->nexus->port);
	if (action != REGISTER && action != REGISTER_AND_IGNORE && (!p.own || p.own->key != p.key))
		task_conflict(task);
	else
		acts[action](&p);
	if (action == PREEMPT_AND_ABORT && task->status == SCSI_GOOD) {
		task->drain.done = preempted;
		task->drain.context = task;
		waits = drain_start(target, &task->drain, NULL, lun);
	}
	pthread_mutex_unlock(&target->lock);
	task_end_list(target, p.ended);
	return waits ? SCSI_GOES_ON : SCSI_ENDED;
}

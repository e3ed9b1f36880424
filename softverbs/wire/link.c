/* SPDX-License-Identifier: BSD-3-Clause */
#include "link.h"
#include "input.h"
#include "peer.h"
#include "softverbs/device/cancel.h"
#include "softverbs/device/guard.h"
#include "softverbs/device/knock.h"
#include "softverbs/device/settings.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MESSAGES_MAX 8192

/* How many queue pairs get a turn before the thread serves other links again. */
#define TURNS 64

/* Guards the turns in the lists of all links; the last lock to be taken. */
static struct soft_mutex places = SOFT_MUTEX_INITIALIZER;

static void
link_lock_turns(void) ACQUIRE(soft_locks.turns) UNCHECKED
{
	soft_mutex_lock(&places);
}

static void
link_unlock_turns(void) RELEASE(soft_locks.turns) UNCHECKED
{
	soft_mutex_unlock(&places);
}

void
soft_links_reset(void)
{
	soft_mutex_init(&places);
}

static void
link_lock(struct soft_link *link) ACQUIRE(soft_locks.link) SOFT_NO_LEAF_LOCK UNCHECKED
{
	soft_mutex_lock(&link->lock);
}

static void
link_unlock(struct soft_link *link) RELEASE(soft_locks.link) UNCHECKED
{
	soft_mutex_unlock(&link->lock);
}

static void link_event(struct soft_watch *watch, uint32_t events);

/*
 * A dead link has no descriptor to wait for.  The other side notifies us of room in a ring, and of
 * its answer to a hello.
 */
static void
link_want_turn(struct soft_link *link) REQUIRES(soft_locks.link)
{
	if (link->dead || link->waiting || link->greeting)
		return;
	if (link->ringed && !soft_ring_wait_for_room(&link->out))
		return;
	link->waiting = true;
	(void)soft_watch_change(&link->watch, EPOLLIN | EPOLLOUT);
}

atomic_uint soft_link_writes;

static ssize_t
link_write(struct soft_link *link, struct iovec *iov, int count)
{
	struct msghdr message = { .msg_iov = iov, .msg_iovlen = (size_t)count };
	ssize_t n;

	atomic_fetch_add_explicit(&soft_link_writes, 1, memory_order_release);
	do
		n = syscall(SYS_sendmsg, link->watch.fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
	while (n < 0 && errno == EINTR);
	if (n >= 0)
		return n;
	return errno == EAGAIN || errno == EWOULDBLOCK ? 0 : -errno;
}

/* Copies what is left of the vector after `skip` bytes. */
static void
link_keep_rest(struct soft_link *link, const struct iovec *iov, int count, size_t skip)
    REQUIRES(soft_locks.link)
{
	link->left = link->rest_at = 0;
	for (int i = 0; i < count; i++) {
		if (skip >= iov[i].iov_len) {
			skip -= iov[i].iov_len;
			continue;
		}
		soft_wire_copy(
		    link->rest + link->left, (char *)iov[i].iov_base + skip, iov[i].iov_len - skip);
		link->left += iov[i].iov_len - skip;
		skip = 0;
	}
}

static int
link_send_rest(struct soft_link *link) REQUIRES(soft_locks.link)
{
	struct iovec iov = { link->rest + link->rest_at, link->left };
	ssize_t n;

	if (!link->left)
		return 0;
	n = link_write(link, &iov, 1);
	if (n < 0)
		return -EPIPE;
	link->rest_at += (size_t)n;
	link->left -= (size_t)n;
	return link->left ? -EAGAIN : 0;
}

/* A byte on the socket notifies the progress thread.  If there is no room, it has bytes to read. */
static void
link_notify_progress(struct soft_link *link)
{
	struct iovec byte = { (char[]){ 0 }, 1 };

	(void)link_write(link, &byte, 1);
}

static void
link_notify(struct soft_link *link) REQUIRES(soft_locks.link)
{
	enum soft_ring_alarm alarm;

	link->owed = false;
	if (!soft_ring_is_unread(&link->out))
		return;
	alarm = soft_ring_take_alarm(&link->out);
	if (alarm == SOFT_ALARM_NONE ||
	    (alarm == SOFT_ALARM_WAITER && link->waiters >= 0 && soft_knock(link->waiters)))
		return;
	link_notify_progress(link);
}

static int
link_put(struct soft_link *link, const struct soft_frame *frame, const struct iovec *payload,
    int count) REQUIRES(soft_locks.link)
{
	int r;

	atomic_fetch_add_explicit(&soft_link_writes, 1, memory_order_release);
	r = soft_ring_put(&link->out, frame, payload, count);
	if (r == -EPROTO) {
		/* The end of the input wakes the progress thread. */
		link->broke = true;
		syscall(SYS_shutdown, link->watch.fd, SHUT_RDWR);
		link->dead = true;
		return -EPIPE;
	}
	if (r)
		return r;
	if (frame->type == SOFT_FRAME_ACK || frame->type == SOFT_FRAME_PULLED)
		link->owed = true;
	else
		link_notify(link);
	return 0;
}

static int
link_send_locked(struct soft_link *link, struct soft_frame *frame, const struct iovec *payload,
    int count) REQUIRES(soft_locks.link)
{
	struct iovec iov[1 + SOFT_MAX_SGE] = { { frame, sizeof *frame } };
	size_t length = 0;
	ssize_t n;
	int r;

	if (link->dead)
		return -EPIPE;
	if (link->greeting)
		return -EAGAIN;
	for (int i = 0; i < count; i++) {
		iov[1 + i] = payload[i];
		length += payload[i].iov_len;
	}
	frame->length = (uint32_t)length;
	if (link->ringed)
		return link_put(link, frame, payload, count);
	r = link_send_rest(link);
	if (r)
		return r;
	n = link_write(link, iov, 1 + count);
	if (n < 0)
		return -EPIPE;
	if ((size_t)n < sizeof *frame + length) {
		link_keep_rest(link, iov, 1 + count, (size_t)n);
		link_want_turn(link);
	}
	return 0;
}

static int
link_send_messages(struct soft_link *link) REQUIRES(soft_locks.link)
{
	struct soft_link_message *message;
	struct iovec iov;
	int r;

	while ((message = STAILQ_FIRST(&link->messages))) {
		iov = (struct iovec){ &message->cm, sizeof message->cm };
		r = link_send_locked(
		    link, &message->frame, &iov, message->frame.type == SOFT_FRAME_CM);
		if (r)
			return r;
		STAILQ_REMOVE_HEAD(&link->messages, next);
		link->message_count--;
		free(message);
	}
	return 0;
}

static void
link_queue_turn(struct soft_link *link, struct soft_turns *turns, const struct soft_turn_ops *ops,
    struct soft_turn *turn) REQUIRES(soft_locks.link) SOFT_NO_LEAF_LOCK
{
	link_lock_turns();
	if (!link->dead && !turn->queued) {
		turn->queued = true;
		ops->get(turn);
		TAILQ_INSERT_TAIL(turns, turn, link);
	}
	link_unlock_turns();
}

static struct soft_turn *
link_next_turn(struct soft_turns *turns) SOFT_NO_LEAF_LOCK
{
	struct soft_turn *turn;

	link_lock_turns();
	turn = TAILQ_FIRST(turns);
	if (turn) {
		TAILQ_REMOVE(turns, turn, link);
		turn->queued = false;
	}
	link_unlock_turns();
	return turn;
}

static bool
link_has_turns(const struct soft_link *link) SOFT_NO_LEAF_LOCK
{
	bool waits;

	link_lock_turns();
	waits = !TAILQ_EMPTY(&link->requesters) || !TAILQ_EMPTY(&link->responders);
	link_unlock_turns();
	return waits;
}

static int
link_queue_message(struct soft_link *link, struct soft_link_message *message) SOFT_NO_LINK_LOCK
{
	int r = 0;

	link_lock(link);
	if (link->dead)
		r = -EPIPE;
	else if (link->message_count == MESSAGES_MAX)
		r = -ENOBUFS;
	if (r) {
		free(message);
	} else {
		STAILQ_INSERT_TAIL(&link->messages, message, next);
		link->message_count++;
		if (link_send_messages(link))
			link_want_turn(link);
	}
	link_unlock(link);
	return r;
}

static void
link_give_turns_of(
    struct soft_link *link, struct soft_turns *turns, const struct soft_turn_ops *ops)
{
	struct soft_turn *turn;

	for (int i = 0; i < TURNS && (turn = link_next_turn(turns)); i++) {
		ops->send(turn, link);
		ops->put(turn);
	}
}

void
soft_link_give_answers(struct soft_link *link)
{
	link_give_turns_of(link, &link->responders, &soft_handlers->responder);
}

/* The socket of a link with rings always has room, so it is watched for one turn. */
static void
link_end_waiting(struct soft_link *link) REQUIRES(soft_locks.link)
{
	if (!link->waiting)
		return;
	link->waiting = false;
	(void)soft_watch_change(&link->watch, EPOLLIN);
}

/* Sends what there is room for: the rest of a frame, CM messages, then queue pairs in turn. */
static void
link_give_turns(struct soft_link *link) SOFT_NO_LINK_LOCK
{
	int r;

	link_lock(link);
	if (link->dead) {
		link_unlock(link);
		return;
	}
	if (link->ringed)
		link_end_waiting(link);
	r = link_send_rest(link);
	if (!r)
		r = link_send_messages(link);
	if (!r)
		link_end_waiting(link);
	else
		link_want_turn(link);
	link_unlock(link);
	if (!r) {
		link_give_turns_of(link, &link->responders, &soft_handlers->responder);
		link_give_turns_of(link, &link->requesters, &soft_handlers->requester);
	}
	if (link_has_turns(link)) {
		link_lock(link);
		link_want_turn(link);
		link_unlock(link);
	}
}

bool
soft_link_is_greeting(struct soft_link *link)
{
	bool greeting;

	link_lock(link);
	greeting = link->greeting;
	link_unlock(link);
	return greeting;
}

/* The other side has opened the memory, or will not. */
static void
link_end_offer(struct soft_link *link) REQUIRES(soft_locks.link)
{
	if (link->memory >= 0)
		soft_close(link->memory);
	link->memory = -1;
}

void
soft_link_welcomed(struct soft_link *link, const struct soft_welcome_frame *welcome)
{
	const bool ringed = welcome->frame.opcode & SOFT_WELCOME_RINGS;

	/* It reads the memory of the other process: only the reader of the input waits for it. */
	if (ringed)
		link->grantor = soft_peer_grantor(link->watch.fd, &welcome->grant);
	link_lock(link);
	link->greeting = false;
	link->ringed = ringed;
	link->pulled = welcome->frame.opcode & SOFT_WELCOME_PULLS && soft_settings_pulls();
	if (!ringed)
		soft_rings_unmap(&link->rings);
	link->pulls = link->grantor.source.pid != 0;
	link_end_offer(link);
	link_want_turn(link);
	link_unlock(link);
}

void
soft_link_notify_of_room(struct soft_link *link)
{
	link_notify_progress(link);
}

/* Called at the end of the input of a link. */
static void
link_handle_end(struct soft_link *link, enum soft_link_input taken)
    REQUIRES(soft_locks.input) SOFT_NO_CM_LOCK
{
	if (taken == SOFT_INPUT_END && !link->outgoing)
		(void)soft_link_read_answers(link->slot, SOFT_READER_PROGRESS);
	soft_peer_lost(link, taken == SOFT_INPUT_MALFORMED);
}

static void
link_event(struct soft_watch *watch, uint32_t events)
{
	struct soft_link *link = soft_container_of(watch, struct soft_link, watch);
	enum soft_link_input taken = SOFT_INPUT_NONE;

	soft_link_get(link);
	soft_input_lock();
	if (events & (EPOLLIN | EPOLLHUP | EPOLLERR))
		taken = soft_link_read(link);
	if (taken == SOFT_INPUT_END || taken == SOFT_INPUT_MALFORMED)
		link_handle_end(link, taken);
	soft_input_unlock();
	if (taken <= SOFT_INPUT_FRAMES &&
	    (events & EPOLLOUT || link->ringed || link_has_turns(link)))
		link_give_turns(link);
	if (link->ringed)
		soft_input_attend();
	soft_link_put(link);
}

void
soft_link_check(struct soft_link *link)
{
	if (link->over)
		link_handle_end(link, link->over);
}

/* No other thread knows the link. */
static struct soft_link *
link_new(int fd, unsigned int slot, bool outgoing) UNCHECKED
{
	struct soft_link *link = calloc(1, sizeof *link);

	if (!link)
		return NULL;
	link->rest = malloc(SOFT_FRAME_MAX);
	link->input = malloc(2 * SOFT_FRAME_MAX);
	if (!link->rest || !link->input) {
		free(link->rest);
		free(link->input);
		free(link);
		return NULL;
	}
	link->watch = (struct soft_watch){ fd, link_event };
	link->slot = slot;
	link->outgoing = outgoing;
	link->memory = -1;
	link->waiters = -1;
	link->refs = 1; /* the watch's */
	soft_mutex_init(&link->lock);
	TAILQ_INIT(&link->requesters);
	TAILQ_INIT(&link->responders);
	STAILQ_INIT(&link->messages);
	return link;
}

static void
link_free(struct soft_link *link) UNCHECKED
{
	soft_rings_unmap(&link->rings);
	soft_mutex_destroy(&link->lock);
	free(link->rest);
	free(link->input);
	free(link);
}

static void
link_use_rings(struct soft_link *link) UNCHECKED
{
	link->in = link->rings.in;
	link->out = link->rings.out;
}

/*
 * The socket is empty, so the frame fits.  A failure is the end of the link, which is seen as well.
 */
static void
link_send_first(int fd, void *bytes, size_t length)
{
	struct iovec iov = { bytes, length };
	struct msghdr message = { .msg_iov = &iov, .msg_iovlen = 1 };

	(void)syscall(SYS_sendmsg, fd, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* The memory of a link that failed. */
static void
link_abandon(struct soft_link *link, int error) UNCHECKED
{
	link_end_offer(link);
	if (link->waiters >= 0)
		soft_close(link->waiters);
	link_free(link);
	errno = error;
}

struct soft_link *
soft_link_open(int fd, unsigned int slot) UNCHECKED
{
	struct soft_link *link = link_new(fd, slot, true);
	struct soft_hello_frame hello;
	int r;

	if (!link)
		return NULL;
	if (soft_settings_rings())
		link->memory = soft_rings_create(&link->rings);
	link->greeting = link->memory >= 0;
	if (link->greeting)
		link->waiters = soft_knock_connect(slot);
	link_use_rings(link);
	soft_peer_hello(&hello, link->memory, link->rings.token);
	link_send_first(fd, &hello, sizeof hello);
	r = soft_watch_add(&link->watch, EPOLLIN);
	if (!r)
		return link;
	link_abandon(link, -r);
	return NULL;
}

struct soft_link *
soft_link_accept(int fd, unsigned int slot, const struct soft_link_offer *offer) UNCHECKED
{
	struct soft_link *link = link_new(fd, slot, false);
	struct soft_welcome_frame welcome;
	uint8_t opcode = 0;
	int r;

	if (!link)
		return NULL;
	if (offer->memory >= 0 && !soft_rings_attach(&link->rings, offer->memory, offer->token)) {
		opcode = SOFT_WELCOME_RINGS;
		link->ringed = true;
		link->grantor = offer->grantor;
		if (link->grantor.source.pid)
			opcode |= SOFT_WELCOME_PULLS;
		link->waiters = soft_knock_connect(slot);
		link_use_rings(link);
	}
	r = soft_watch_add(&link->watch, EPOLLIN);
	if (r) {
		link_abandon(link, -r);
		return NULL;
	}
	soft_peer_welcome(&welcome, opcode);
	if (offer->asked)
		link_send_first(fd, &welcome, sizeof welcome);
	return link;
}

void
soft_link_get(struct soft_link *link)
{
	link->refs++;
}

void
soft_link_put(struct soft_link *link)
{
	if (!--link->refs)
		link_free(link);
}

void
soft_link_stop(struct soft_link *link)
{
	link_lock(link);
	/* The shutdown also ends the input, which wakes the progress thread. */
	if (!link->dead)
		syscall(SYS_shutdown, link->watch.fd, SHUT_RDWR);
	link->dead = true;
	link_unlock(link);
}

int
soft_link_send(
    struct soft_link *link, struct soft_frame *frame, const struct iovec *payload, int count)
{
	int r;

	link_lock(link);
	/* Data does not overtake the message that establishes the connection. */
	r = link_send_messages(link);
	if (!r)
		r = link_send_locked(link, frame, payload, count);
	link_unlock(link);
	return r;
}

void
soft_link_queue_requester(struct soft_link *link, struct soft_turn *turn)
{
	link_lock(link);
	link_queue_turn(link, &link->requesters, &soft_handlers->requester, turn);
	link_want_turn(link);
	link_unlock(link);
}

void
soft_link_queue_responder(struct soft_link *link, struct soft_turn *turn, bool wake)
{
	link_lock(link);
	link_queue_turn(link, &link->responders, &soft_handlers->responder, turn);
	if (wake)
		link_want_turn(link);
	link_unlock(link);
}

int
soft_link_send_cm(struct soft_link *link, const struct soft_wire_cm *cm)
{
	struct soft_link_message *message = calloc(1, sizeof *message);

	if (!message)
		return -ENOMEM;
	message->frame.type = SOFT_FRAME_CM;
	message->cm = *cm;
	return link_queue_message(link, message);
}

int
soft_link_send_stray(struct soft_link *link, const struct soft_frame *frame)
{
	struct soft_link_message *message = calloc(1, sizeof *message);

	if (!message)
		return -ENOMEM;
	message->frame = *frame;
	return link_queue_message(link, message);
}

void
soft_link_notify(struct soft_link *link)
{
	link_lock(link);
	if (link->ringed && !link->dead)
		link_notify(link);
	link_unlock(link);
}

bool
soft_link_is_closed(const struct soft_link *link)
{
	SOFT_UNCANCELLED;
	struct pollfd pfd = { .fd = link->watch.fd };

	return poll(&pfd, 1, 0) == 1 && pfd.revents & POLLHUP;
}

void
soft_link_read_to_end(struct soft_link *link)
{
	enum soft_link_input taken;

	soft_link_get(link);
	do
		taken = soft_link_read(link);
	while (taken != SOFT_INPUT_END && taken != SOFT_INPUT_MALFORMED);
	link_handle_end(link, taken);
	soft_link_put(link);
}

void
soft_link_close(struct soft_link *link)
{
	struct soft_link_message *message, *next;
	struct soft_turn *turn;

	link_lock(link);
	link->dead = true;
	/* Nothing is added to a link that is dead. */
	message = STAILQ_FIRST(&link->messages);
	STAILQ_INIT(&link->messages);
	link_unlock(link);
	while ((turn = link_next_turn(&link->requesters)))
		soft_handlers->requester.put(turn);
	while ((turn = link_next_turn(&link->responders)))
		soft_handlers->responder.put(turn);
	for (; message; message = next) {
		next = STAILQ_NEXT(message, next);
		free(message);
	}
	soft_watch_remove(&link->watch);
	soft_guard_close(link->watch.fd);
	link_lock(link);
	link_end_offer(link);
	if (link->waiters >= 0)
		soft_close(link->waiters);
	link->waiters = -1;
	link_unlock(link);
	soft_link_put(link); /* the watch's */
}

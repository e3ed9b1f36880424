/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"
#include "remote.h"
#include "runtime.h"
#include "slot.h"

#include <sys/epoll.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct soft_link *outgoing[SOFT_SLOT_MAX + 1], *incoming[SOFT_SLOT_MAX + 1];
static LIST_HEAD(, soft_link) links = LIST_HEAD_INITIALIZER(links);
static atomic_uint link_count;

static void accept_event(struct soft_watch *watch, uint32_t events);
static struct soft_watch door = { -1, accept_event };

bool
soft_peer_trusted(int fd)
{
	struct ucred peer;
	socklen_t length = sizeof peer;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &length) &&
	    peer.uid == geteuid();
}

void
soft_peer_hello(struct soft_hello_frame *out)
{
	*out = (struct soft_hello_frame){
		.frame = { .length = sizeof out->hello, .type = SOFT_FRAME_HELLO },
		.hello = { SOFT_WIRE_MAGIC, SOFT_WIRE_VERSION, soft_slot_number(), 0 },
	};
}

int
soft_peers_start(int listen_fd)
{
	door.fd = listen_fd;
	return soft_watch_add(&door, EPOLLIN);
}

/* The lock is held. */
static struct soft_link *
open_link(unsigned int slot)
{
	struct soft_hello_frame hello;
	struct soft_link *link;
	struct iovec iov = { &hello.hello, sizeof hello.hello };
	int fd;

	fd = soft_slot_connect(slot);
	if (fd < 0)
		return NULL;
	link = soft_peer_trusted(fd) ? soft_link_new(fd, slot, true) : NULL;
	if (!link) {
		soft_close(fd);
		return NULL;
	}
	LIST_INSERT_HEAD(&links, link, all);
	link_count++;
	soft_peer_hello(&hello);
	/* The first frame of an empty socket; if it fails, the end is seen there as well. */
	(void)soft_link_send(link, &hello.frame, &iov, 1);
	return link;
}

struct soft_link *
soft_peer_outgoing(unsigned int slot)
{
	struct soft_link *link;

	if (slot < SOFT_SLOT_MIN || slot > SOFT_SLOT_MAX)
		return NULL;
	pthread_mutex_lock(&lock);
	if (!outgoing[slot])
		outgoing[slot] = open_link(slot);
	link = outgoing[slot];
	if (link)
		soft_link_get(link);
	pthread_mutex_unlock(&lock);
	return link;
}

static struct soft_link *
find(struct soft_link *const *links_of, unsigned int slot)
{
	struct soft_link *link;

	if (slot < SOFT_SLOT_MIN || slot > SOFT_SLOT_MAX)
		return NULL;
	pthread_mutex_lock(&lock);
	link = links_of[slot];
	if (link)
		soft_link_get(link);
	pthread_mutex_unlock(&lock);
	return link;
}

struct soft_link *
soft_peer_answering(unsigned int slot)
{
	return find(outgoing, slot);
}

struct soft_link *
soft_peer_incoming(unsigned int slot)
{
	return find(incoming, slot);
}

static void
accept_event(struct soft_watch *watch, uint32_t events)
{
	const struct timespec pause = { 0, 1000000 };
	struct soft_link *link;
	int fd;

	(void)events;
	fd = accept4(watch->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
	if (fd < 0) {
		/* Out of descriptors, the caller stays at the door: do not spin. */
		if (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS)
			nanosleep(&pause, NULL);
		return;
	}
	link = soft_peer_trusted(fd) ? soft_link_new(fd, 0, false) : NULL;
	if (!link) {
		soft_close(fd);
		return;
	}
	pthread_mutex_lock(&lock);
	LIST_INSERT_HEAD(&links, link, all);
	link_count++;
	pthread_mutex_unlock(&lock);
}

bool
soft_peer_greeted(struct soft_link *link, const struct soft_wire_hello *hello)
{
	struct soft_link *old;

	if (hello->magic != SOFT_WIRE_MAGIC || hello->version != SOFT_WIRE_VERSION ||
	    hello->slot < SOFT_SLOT_MIN || hello->slot > SOFT_SLOT_MAX || hello->zero ||
	    hello->slot == soft_slot_number())
		return false;
	/*
	 * A link with that slot is one of a process that has gone without our noticing:
	 * what hung on it ends now, lest it be taken for what comes on the new one.
	 */
	pthread_mutex_lock(&lock);
	old = incoming[hello->slot];
	pthread_mutex_unlock(&lock);
	if (old)
		soft_peer_lost(old, false);
	pthread_mutex_lock(&lock);
	link->slot = hello->slot;
	incoming[hello->slot] = link;
	pthread_mutex_unlock(&lock);
	return true;
}

static void
requester_lost(struct soft_qp *qp, void *slot)
{
	if (soft_qpn_slot(soft_qp_peer(qp)) == *(unsigned int *)slot)
		soft_remote_link_lost(qp);
}

static void
responder_lost(struct soft_qp *qp, void *slot)
{
	if (soft_qpn_slot(soft_qp_peer(qp)) == *(unsigned int *)slot)
		soft_remote_requester_lost(qp);
}

static void
disgraced(struct soft_qp *qp, void *slot)
{
	if (soft_qpn_slot(soft_qp_peer(qp)) == *(unsigned int *)slot)
		soft_qp_error(qp, IBV_EVENT_QP_FATAL);
}

void
soft_peer_lost(struct soft_link *link, bool misbehaved)
{
	unsigned int slot = link->slot;
	struct soft_link *other = NULL;

	pthread_mutex_lock(&lock);
	LIST_REMOVE(link, all);
	link_count--;
	if (outgoing[slot] == link)
		outgoing[slot] = NULL;
	if (incoming[slot] == link)
		incoming[slot] = NULL;
	if (misbehaved && slot)
		other = link->outgoing ? incoming[slot] : outgoing[slot];
	if (other)
		soft_link_get(other);
	pthread_mutex_unlock(&lock);
	soft_link_close(link);
	if (!slot)
		return;
	if (misbehaved)
		soft_qp_table_each(disgraced, &slot);
	soft_qp_table_each(link->outgoing ? requester_lost : responder_lost, &slot);
	soft_cm_peer_lost(slot, !link->outgoing);
	if (other) {
		soft_link_kill(other);
		soft_link_put(other);
	}
}

bool
soft_peers_linked(void)
{
	return link_count != 0;
}

void
soft_peers_stop(void)
{
	struct soft_link *link;

	while ((link = LIST_FIRST(&links))) {
		LIST_REMOVE(link, all);
		link_count--;
		if (outgoing[link->slot] == link)
			outgoing[link->slot] = NULL;
		if (incoming[link->slot] == link)
			incoming[link->slot] = NULL;
		soft_link_close(link);
	}
}

void
soft_peers_reset(void)
{
	struct soft_link *link;

	pthread_mutex_init(&lock, NULL);
	LIST_FOREACH(link, &links, all)
		soft_close(link->watch.fd);
	soft_runtime_abandon(LIST_FIRST(&links));
	LIST_INIT(&links);
	link_count = 0;
	for (unsigned int i = 0; i <= SOFT_SLOT_MAX; i++)
		outgoing[i] = incoming[i] = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "peer.h"
#include "grant.h"
#include "memory.h"
#include "softverbs/device/guard.h"
#include "softverbs/device/runtime.h"
#include "softverbs/device/settings.h"
#include "softverbs/device/slot.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

static struct soft_mutex lock = SOFT_MUTEX_INITIALIZER;
static struct soft_link *outgoing[SOFT_SLOT_MAX + 1] GUARDED_BY(soft_locks.peers);
static struct soft_link *incoming[SOFT_SLOT_MAX + 1] GUARDED_BY(soft_locks.peers);
static TAILQ_HEAD(links, soft_link) links = TAILQ_HEAD_INITIALIZER(links);
static atomic_uint link_count;

static void
peer_lock_list(void) ACQUIRE(soft_locks.peers) SOFT_NO_LINK_LOCK UNCHECKED
{
	soft_mutex_lock(&lock);
}

static void
peer_unlock_list(void) RELEASE(soft_locks.peers) UNCHECKED
{
	soft_mutex_unlock(&lock);
}

static bool
peer_credentials(int fd, struct ucred *peer)
{
	socklen_t length = sizeof *peer;

	return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &length);
}

static struct soft_link *
peer_open_link(unsigned int slot)
{
	struct soft_link *link;
	int fd;

	fd = soft_slot_connect(slot);
	if (fd < 0) {
		errno = -fd;
		return NULL;
	}
	errno = EACCES;
	link = soft_peer_trusted(fd) ? soft_link_open(fd, slot) : NULL;
	if (!link) {
		soft_guard_close(fd);
		return NULL;
	}
	TAILQ_INSERT_HEAD(&links, link, all);
	link_count++;
	return link;
}

static struct soft_link *
peer_find(struct soft_link *const *links_of, unsigned int slot) SOFT_NO_PEERS_LOCK
{
	struct soft_link *link;

	if (slot < SOFT_SLOT_MIN || slot > SOFT_SLOT_MAX)
		return NULL;
	peer_lock_list();
	link = links_of[slot];
	if (link)
		soft_link_get(link);
	peer_unlock_list();
	return link;
}

/*
 * The number of the inode that stands for the process at the other end, or 0: the kernel has none
 * before Linux 6.9.
 */
static ino_t
peer_inode(int fd)
{
	socklen_t length = sizeof fd;
	struct statfs system;
	struct stat file;
	ino_t inode = 0;
	int process;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERPIDFD, &process, &length))
		return 0;
	if (!fstatfs(process, &system) && system.f_type == PID_FS_MAGIC && !fstat(process, &file))
		inode = file.st_ino;
	soft_close(process);
	return inode;
}

/* Processes of other PID namespaces may have no number here: all of them have 0. */
static bool
peer_is_same(int a, int b)
{
	struct ucred one, other;
	ino_t inode;

	if (!peer_credentials(a, &one) || !peer_credentials(b, &other) || one.pid != other.pid ||
	    !soft_slot_is_of_user(other.uid))
		return false;
	if (one.pid)
		return true;
	inode = peer_inode(a);
	return inode && inode == peer_inode(b);
}

/*
 * 0 if the process at the other end is the one that listens at the slot, -EAGAIN if that is not
 * known now, another -errno if not.
 */
static int
peer_check_owner(int fd, unsigned int slot)
{
	int owner_fd = soft_slot_connect(slot);
	bool same;

	if (owner_fd == -EMFILE || owner_fd == -ENFILE || owner_fd == -ENOMEM)
		return -EAGAIN;
	if (owner_fd < 0)
		return owner_fd;
	same = peer_is_same(fd, owner_fd);
	soft_guard_close(owner_fd);
	return same ? 0 : -EACCES;
}

/*
 * A process has one link to us at a time.  If its slot has one already, either the other end is
 * closed, so the process ended, and its input is handled first; or the new connection is refused.
 */
static bool
peer_incoming_is_free(unsigned int slot) REQUIRES(soft_locks.input)
{
	struct soft_link *old = peer_find(incoming, slot);
	bool gone;

	if (!old)
		return true;
	gone = soft_link_is_closed(old);
	if (gone)
		soft_link_read_to_end(old);
	soft_link_put(old);
	return gone;
}

static bool
peer_hello_fits(const struct soft_wire_hello *hello)
{
	return hello->magic == SOFT_WIRE_MAGIC && hello->version == SOFT_WIRE_VERSION &&
	       hello->slot >= SOFT_SLOT_MIN && hello->slot <= SOFT_SLOT_MAX && hello->rings <= 1 &&
	       !hello->zero && hello->slot != soft_slot_number();
}

static int
peer_refuse(int fd, unsigned int slot, const char *why)
{
	soft_debug("connection %d refused, hello of slot %u: %s", fd, slot, why);
	return -EACCES;
}

static bool
peer_is_gone(unsigned int slot)
{
	int fd = soft_slot_connect(slot);

	if (fd >= 0)
		soft_guard_close(fd);
	return fd == -ECONNREFUSED || fd == -ENOENT;
}

static struct soft_wire_grant
peer_our_grant(void)
{
	struct soft_wire_grant none = { 0 };

	return soft_settings_pulls() ? (struct soft_wire_grant){ (uintptr_t)soft_grant_address(),
		soft_grant_number() } :
				       none;
}

bool
soft_peer_trusted(int fd)
{
	struct ucred peer;

	return peer_credentials(fd, &peer) && soft_slot_is_of_user(peer.uid);
}

void
soft_peer_hello(struct soft_hello_frame *out, int memory, uint64_t token)
{
	*out = (struct soft_hello_frame){
		.frame = { .length = sizeof out->hello, .type = SOFT_FRAME_HELLO },
		.hello = { .magic = SOFT_WIRE_MAGIC,
		    .version = SOFT_WIRE_VERSION,
		    .slot = soft_slot_number() },
	};
	if (memory < 0)
		return;
	out->hello.rings = 1;
	out->hello.memory = (uint32_t)memory;
	out->hello.token = token;
	out->hello.grant = peer_our_grant();
}

void
soft_peer_welcome(struct soft_welcome_frame *out, uint8_t opcode)
{
	*out = (struct soft_welcome_frame){
		.frame = { .length = sizeof out->grant,
		    .type = SOFT_FRAME_WELCOME,
		    .opcode = opcode },
	};
	if (opcode)
		out->grant = peer_our_grant();
}

struct soft_grantor
soft_peer_grantor(int fd, const struct soft_wire_grant *grant)
{
	struct soft_grantor grantor = { .address = grant->address };
	struct ucred peer;

	if (soft_settings_pulls() && grant->number && peer_credentials(fd, &peer))
		grantor.source.pid = peer.pid;
	if (!soft_pull_works(&grantor, grant->number))
		grantor.source.pid = 0;
	return grantor;
}

struct soft_link *
soft_peer_outgoing(unsigned int slot)
{
	struct soft_link *link;

	errno = EINVAL;
	if (slot < SOFT_SLOT_MIN || slot > SOFT_SLOT_MAX)
		return NULL;
	peer_lock_list();
	if (!outgoing[slot])
		outgoing[slot] = peer_open_link(slot);
	link = outgoing[slot];
	if (link)
		soft_link_get(link);
	peer_unlock_list();
	return link;
}

struct soft_link *
soft_peer_answering(unsigned int slot)
{
	return peer_find(outgoing, slot);
}

struct soft_link *
soft_peer_incoming(unsigned int slot)
{
	return peer_find(incoming, slot);
}

unsigned int
soft_peers_pending(struct soft_link **out, unsigned int max)
{
	struct soft_link *link;
	unsigned int n = 0;

	peer_lock_list();
	TAILQ_FOREACH (link, &links, all) {
		if (!soft_link_has_input(link) && !link->owed)
			continue;
		soft_link_get(link);
		out[n++] = link;
		if (n == max)
			break;
	}
	for (unsigned int i = 0; n == max && i < n; i++) {
		TAILQ_REMOVE(&links, out[i], all);
		TAILQ_INSERT_TAIL(&links, out[i], all);
	}
	peer_unlock_list();
	return n;
}

bool
soft_peers_have_input(void)
{
	struct soft_link *link;

	peer_lock_list();
	TAILQ_FOREACH (link, &links, all)
		if (soft_link_seems_to_have_input(link) || link->owed)
			break;
	peer_unlock_list();
	return link != NULL;
}

void
soft_peers_arm(enum soft_ring_alarm alarm, bool keep)
{
	struct soft_link *link;

	peer_lock_list();
	TAILQ_FOREACH (link, &links, all)
		if (link->ringed && !(keep && soft_ring_armed(&link->in) == SOFT_ALARM_WAITER))
			soft_ring_arm(&link->in, alarm);
	peer_unlock_list();
}

static int
peer_open_memory(int fd, const struct soft_wire_hello *hello)
{
	struct ucred peer;

	if (!hello->rings || !soft_settings_rings() || !peer_credentials(fd, &peer))
		return -ENOENT;
	return soft_memory_open(peer.pid, hello->memory);
}

int
soft_peer_accept(int fd, const struct soft_wire_hello *hello)
{
	const unsigned int slot = hello->slot;
	struct soft_link_offer offer = { .asked = hello->rings, .token = hello->token };
	struct soft_link *link;
	int r;

	if (!peer_hello_fits(hello))
		return peer_refuse(fd, slot, "not of this version, or no slot of another");
	r = peer_check_owner(fd, slot);
	if (r == -EAGAIN)
		return r;
	if (r)
		return peer_refuse(fd, slot, "the slot is not its own");
	if (!peer_incoming_is_free(slot))
		return peer_refuse(fd, slot, "it has a link");
	offer.memory = peer_open_memory(fd, hello);
	offer.grantor = soft_peer_grantor(fd, &hello->grant);
	link = soft_link_accept(fd, slot, &offer);
	if (offer.memory >= 0)
		soft_close(offer.memory);
	if (!link)
		return peer_refuse(fd, slot, "no memory");
	peer_lock_list();
	TAILQ_INSERT_HEAD(&links, link, all);
	link_count++;
	incoming[slot] = link;
	peer_unlock_list();
	return 0;
}

void
soft_peer_lost(struct soft_link *link, bool misbehaved)
{
	unsigned int slot = link->slot;
	struct soft_link *other = NULL;
	bool gone;

	soft_link_get(link);
	peer_lock_list();
	TAILQ_REMOVE(&links, link, all);
	link_count--;
	if (outgoing[slot] == link)
		outgoing[slot] = NULL;
	if (incoming[slot] == link)
		incoming[slot] = NULL;
	if (misbehaved)
		other = link->outgoing ? incoming[slot] : outgoing[slot];
	if (other)
		soft_link_get(other);
	peer_unlock_list();
	soft_link_close(link);
	if (misbehaved) {
		soft_debug("link of slot %u closed: it sent what makes no sense", slot);
		soft_handlers->misbehaved(slot);
	}
	gone = link->outgoing && peer_is_gone(slot);
	soft_handlers->lost(slot, link->outgoing, gone);
	if (other) {
		soft_link_stop(other);
		soft_link_put(other);
	}
	soft_link_put(link);
}

bool
soft_peers_linked(void)
{
	return link_count != 0;
}

void
soft_peers_close(void) UNCHECKED
{
	struct soft_link *link;

	while ((link = TAILQ_FIRST(&links))) {
		TAILQ_REMOVE(&links, link, all);
		link_count--;
		if (outgoing[link->slot] == link)
			outgoing[link->slot] = NULL;
		if (incoming[link->slot] == link)
			incoming[link->slot] = NULL;
		soft_link_close(link);
	}
}

void
soft_peers_reset(void) UNCHECKED
{
	struct soft_link *link;

	soft_mutex_init(&lock);
	soft_links_reset();
	TAILQ_FOREACH (link, &links, all) {
		soft_close(link->watch.fd);
		if (link->memory >= 0)
			soft_close(link->memory);
		if (link->waiters >= 0)
			soft_close(link->waiters);
	}
	soft_runtime_leak(TAILQ_FIRST(&links));
	TAILQ_INIT(&links);
	link_count = 0;
	for (unsigned int i = 0; i <= SOFT_SLOT_MAX; i++)
		outgoing[i] = incoming[i] = NULL;
}

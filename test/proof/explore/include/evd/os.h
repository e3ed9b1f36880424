/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * os -- the primitives of evd/ and cno/, modelled
 *
 * Stands in for evd/os.h, with the same interface, when the dispatcher is compiled for the schedule
 * explorer: this folder comes first on the include path.  Every primitive is a scheduling point,
 * and a fault point where it can fail; threads are fibers, time is virtual, descriptors are numbers
 * of a table.  Each call passes its place in the source, which is what a trace prints.
 */
#ifndef REARM_EVD_OS_H
#define REARM_EVD_OS_H

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>

struct os_site {
	const char *function;
	int line;
};

#define OS_SITE \
	(__extension__({ \
		static const struct os_site os_site_ = { __func__, __LINE__ }; \
		&os_site_; \
	}))

/* So little that a few events reach every bound. */
#define EVD_BATCH 2
#define EVD_BATCH_PLAIN 3
#define EVD_ACK_BATCH 2
#define EVD_BUDGET 3
#define EVD_BUDGET_ARRAY EVD_BUDGET
#define EVD_SLEPT_WAITS 1
#define SPIN_POLLS 3
#define EVD_POLLS_FIRST 1
#define LOOP_BATCH 2
#define LOOP_SPAN 3
#define LOOP_READS 2
#define LOOP_SINGLES 1
#define LOOP_SOURCES 2
#define LOCK_LOOKS 1

#define OS_NS_PER_US 1000u
#define OS_NS_PER_MS 1000000u

struct os_mutex;

struct os_flag {
	uint32_t value;
};

struct os_thread {
	int fiber;
};

struct os_leave {
	void (*leave)(void *arg);
	void *arg;
};

struct os_self {
	struct park *park;
	struct loop *loop;
	struct loop_outer *outer;
	struct upcall_frame *upcall;
	struct agent_frame *agent;
	bool pumping;
	uint64_t spent;
	void (*at_exit)(struct os_self *self);
};

/* Each fiber has its own. */
int *world_errno(void);
#undef errno
#define errno (*world_errno())

void world_mutex_init(struct os_mutex *m);
void world_mutex_fini(struct os_mutex *m);
void world_lock(struct os_mutex *m, const struct os_site *site);
bool world_trylock(struct os_mutex *m, const struct os_site *site);
void world_unlock(struct os_mutex *m, const struct os_site *site);
void *world_alloc(size_t count, size_t size, const struct os_site *site);
void world_free(void *p, const struct os_site *site);
uint64_t world_clock_ns(const struct os_site *site);
int world_event_open(bool tokens, const struct os_site *site);
void world_event_set(int fd, const struct os_site *site);
bool world_event_clear(int fd, const struct os_site *site);
void world_close(int fd, const struct os_site *site);
int world_poll(struct pollfd *fds, unsigned int n, uint64_t deadline, const struct os_site *site);
int world_poll_or_leave(struct pollfd *fds, unsigned int n, uint64_t deadline,
    const struct os_leave *leave, const struct os_site *site);
int world_epoll_open(const struct os_site *site);
int world_epoll_ctl(
    int epfd, int op, int fd, uint32_t events, uint64_t data, const struct os_site *site);
int world_epoll_wait(
    int epfd, struct epoll_event *events, int max, int timeout_ms, const struct os_site *site);
uint32_t world_flag_get(struct os_flag *flag, const struct os_site *site);
uint32_t world_flag_swap(struct os_flag *flag, uint32_t value, const struct os_site *site);
bool world_flag_change(
    struct os_flag *flag, uint32_t from, uint32_t to, const struct os_site *site);
int world_flag_wait(
    struct os_flag *flag, uint32_t value, uint64_t deadline, const struct os_site *site);
int world_flag_wait_or_leave(struct os_flag *flag, uint32_t value, uint64_t deadline,
    const struct os_leave *leave, const struct os_site *site);
void world_flag_wake(struct os_flag *flag, const struct os_site *site);
int world_thread_start(
    struct os_thread *thread, void *(*body)(void *), void *arg, const struct os_site *site);
void world_thread_join(struct os_thread *thread, const struct os_site *site);
bool world_thread_is_self(const struct os_thread *thread);
void world_thread_detach_self(void);
struct os_self *world_self(void);
void world_self_at_exit(void (*fini)(struct os_self *self));

#define os_mutex_init(m) world_mutex_init(m)
#define os_mutex_fini(m) world_mutex_fini(m)
#define os_lock(m) world_lock((m), OS_SITE)
#define os_trylock(m) world_trylock((m), OS_SITE)
#define os_unlock(m) world_unlock((m), OS_SITE)
#define os_alloc(count, size) world_alloc((count), (size), OS_SITE)
#define os_free(p) world_free((p), OS_SITE)
#define os_clear_from(p, member) \
	((void)memset((char *)(p) + offsetof(__typeof__(*(p)), member), 0, \
	    sizeof *(p)-offsetof(__typeof__(*(p)), member)))
#define os_clock_ns() world_clock_ns(OS_SITE)
#define os_event_open(tokens) world_event_open((tokens), OS_SITE)
#define os_event_set(fd) world_event_set((fd), OS_SITE)
#define os_event_clear(fd) world_event_clear((fd), OS_SITE)
#define os_close(fd) world_close((fd), OS_SITE)
#define os_poll(fds, n, deadline) world_poll((fds), (n), (deadline), OS_SITE)
#define os_poll_or_leave(fds, n, deadline, leave) \
	world_poll_or_leave((fds), (n), (deadline), (leave), OS_SITE)
#define os_epoll_open() world_epoll_open(OS_SITE)
#define os_epoll_ctl(epfd, op, fd, events, data) \
	world_epoll_ctl((epfd), (op), (fd), (events), (data), OS_SITE)
/* No program closes descriptors of the library in this world. */
#define os_keep(fd) (fd)
#define os_epoll_has(epfd, fd, events, data) (true)
#define os_thread_detach(thread) ((void)(thread))
#define os_epoll_wait(epfd, events, max, timeout_ms) \
	world_epoll_wait((epfd), (events), (max), (timeout_ms), OS_SITE)
#define os_flag_get(flag) world_flag_get((flag), OS_SITE)
#define os_flag_swap(flag, value) world_flag_swap((flag), (value), OS_SITE)
#define os_flag_change(flag, from, to) world_flag_change((flag), (from), (to), OS_SITE)
#define os_flag_wait(flag, value, deadline) world_flag_wait((flag), (value), (deadline), OS_SITE)
#define os_flag_wait_or_leave(flag, value, deadline, leave) \
	world_flag_wait_or_leave((flag), (value), (deadline), (leave), OS_SITE)
#define os_cancel_settle() ((void)0) /* no thread is of the asynchronous type */
#define os_flag_wake(flag) world_flag_wake((flag), OS_SITE)
#define os_thread_start(thread, body, arg) world_thread_start((thread), (body), (arg), OS_SITE)
#define os_thread_join(thread) world_thread_join((thread), OS_SITE)
#define os_thread_is_self(thread) world_thread_is_self(thread)
#define os_thread_detach_self() world_thread_detach_self()
#define os_self() world_self()
#define os_in_callback() (world_self()->upcall || world_self()->agent)
#define os_self_at_exit(fini) world_self_at_exit(fini)
#define os_pause() ((void)0)

/* The code of the shipped lock, over these flags. */
#include "evd/lock.h"

struct os_mutex {
	uint8_t owner; /* the holder's number + 1, or 0 */
	uint8_t id;
	uint8_t rank;
	uint32_t waiters; /* of the modelled lock: fibers blocked on it, a bit each */
	struct lock lock; /* the shipped one, in its place: see world_shipped_locks */
};

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * rearm_layout -- where the members of librearm's types were on the first day, for processors with
 * 64 bits; it compiles as C11 and as C++17.  A member that is made from a reserved one comes behind
 * these.
 */
#include <stddef.h>

#include <rearm/rearm.h>

#ifdef __cplusplus
#define HOLDS(condition) static_assert(condition, #condition)
#else
#define HOLDS(condition) _Static_assert(condition, #condition)
#endif
#define AT(type, member, place, size) \
	HOLDS(offsetof(struct type, member) == (place) && \
	      sizeof(((struct type *)0)->member) == (size))
#define IS(constant, value) HOLDS((int)(constant) == (value))

#ifdef __LP64__
HOLDS(sizeof(struct rearm_loop_attr) == 48);
AT(rearm_loop_attr, threads, 0, 4);
AT(rearm_loop_attr, n_cpus, 4, 4);
AT(rearm_loop_attr, cpus, 8, 8);

HOLDS(sizeof(struct rearm_queue_attr) == 64);
AT(rearm_queue_attr, cqe, 0, 4);
AT(rearm_queue_attr, vector, 4, 4);
AT(rearm_queue_attr, spin, 8, 4);
AT(rearm_queue_attr, failed, 16, 8);
AT(rearm_queue_attr, arg, 24, 8);
AT(rearm_queue_attr, flags, 32, 4);
AT(rearm_queue_attr, moderation_count, 36, 2);
AT(rearm_queue_attr, moderation_us, 38, 2);

HOLDS(sizeof(struct rearm_upcall) == 24);
AT(rearm_upcall, function, 0, 8);
AT(rearm_upcall, arg, 8, 8);
AT(rearm_upcall, batch, 16, 4);

HOLDS(sizeof(struct rearm_request) == 8);
AT(rearm_request, done, 0, 8);

HOLDS(sizeof(struct rearm_event_upcall) == 16);
AT(rearm_event_upcall, function, 0, 8);
AT(rearm_event_upcall, arg, 8, 8);

/* It may grow: a program says how many it knows. */
AT(rearm_counters, events, 0, 8);
AT(rearm_counters, callbacks, 8, 8);
AT(rearm_counters, notifications, 16, 8);
AT(rearm_counters, spurious, 24, 8);
AT(rearm_counters, arms, 32, 8);
AT(rearm_counters, arm_failures, 40, 8);
AT(rearm_counters, races, 48, 8);
AT(rearm_counters, polls, 56, 8);
AT(rearm_counters, polls_found, 64, 8);
AT(rearm_counters, waits, 72, 8);
AT(rearm_counters, sleeps, 80, 8);
AT(rearm_counters, takes, 88, 8);
AT(rearm_counters, takes_found, 96, 8);
AT(rearm_counters, depth, 104, 8);
AT(rearm_counters, max_depth, 112, 8);
#endif

IS(REARM_SINGLE, 1);
IS(REARM_NOTIFY, 2);
IS(REARM_MANY, 100);
IS(REARM_NEW, 0);
IS(REARM_ANY, 1);
IS(REARM_BATCH, 32);
IS(REARM_SOLICITED, 1);
IS(REARM_SHARED_CHANNEL, 2);

/* The types of the calls: a call of another type is an error here. */
void rearm_types(void);

void
rearm_types(void)
{
	int (*loop_create)(const struct rearm_loop_attr *, struct rearm_loop **) =
	    rearm_loop_create;
	int (*loop_free)(struct rearm_loop *) = rearm_loop_free;
	int (*loop_fd)(const struct rearm_loop *) = rearm_loop_fd;
	int (*loop_trywait)(struct rearm_loop *, int *) = rearm_loop_trywait;
	int (*loop_dispatch)(struct rearm_loop *, int, int) = rearm_loop_dispatch;
	int (*queue_create)(struct rearm_loop *, struct ibv_context *,
	    const struct rearm_queue_attr *, struct rearm_queue **) = rearm_queue_create;
	int (*queue_adopt)(struct rearm_loop *, struct ibv_cq *, const struct rearm_queue_attr *,
	    struct rearm_queue **) = rearm_queue_adopt;
	struct ibv_cq *(*queue_cq)(const struct rearm_queue *) = rearm_queue_cq;
	int (*queue_free)(struct rearm_queue *) = rearm_queue_free;
	int (*queue_enable)(struct rearm_queue *, enum rearm_policy, const struct rearm_upcall *,
	    enum rearm_pending) = rearm_queue_enable;
	int (*queue_disable)(struct rearm_queue *) = rearm_queue_disable;
	int (*queue_teardown)(struct rearm_queue *) = rearm_queue_teardown;
	int (*queue_take)(struct rearm_queue *, int, struct ibv_wc *) = rearm_queue_take;
	int (*queue_wait)(struct rearm_queue *, int, int64_t, int, struct ibv_wc *) =
	    rearm_queue_wait;
	void (*function)(void *, const struct ibv_wc *, int, int) = (rearm_function *)0;

	(void)loop_create, (void)loop_free, (void)loop_fd, (void)loop_trywait;
	(void)loop_dispatch, (void)queue_create, (void)queue_adopt, (void)queue_cq;
	(void)queue_free, (void)queue_enable, (void)queue_disable, (void)queue_teardown;
	(void)queue_take, (void)queue_wait, (void)function;
}

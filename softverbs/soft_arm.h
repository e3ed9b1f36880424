/* SPDX-License-Identifier: BSD-3-Clause */
/* soft_arm -- what the software device offers beyond the verbs interface */
#ifndef SOFT_ARM_H
#define SOFT_ARM_H

struct ibv_cq;

/*
 * ibv_req_notify_cq() with a hint that the verbs interface cannot return: a negative errno; 0 if
 * the CQ is armed and has nothing to poll; 1 if it is armed but has completions already, which
 * raise no event, or has lost some, so that polling it fails.
 *
 * Arming and the hint are one step under the lock of the CQ, with every personality: a completion
 * that can be polled after the call returned 0 was added after the step, and raises the event that
 * was asked for.  So a consumer that got 0 need not poll again before it sleeps.  If several
 * threads poll the CQ, the hint is that of the moment of the step.
 *
 * For a CQ of this device only.
 */
int soft_cq_arm(struct ibv_cq *cq, int solicited_only);

/*
 * Sets the personality of devices that this process opens from now on, in place of the one in the
 * environment: 0, or -EINVAL for an unknown name.
 */
int soft_personality_choose(const char *name);

/* Writes the names, with commas between.  Truncates what does not fit.  Returns `to`. */
const char *soft_personality_names(char *to, size_t size);

/*
 * Passes to the function what the device says about a set-up with which it cannot be used: a text
 * without a newline, before the call that fails returns, on its thread.  NULL: standard error
 * again.
 */
void soft_complain_to(void (*place)(const char *text));

/*
 * How many requests with this queue for their completions found no receive posted at the other end,
 * and had to wait for one.  For a CQ of this device only.
 */
unsigned long long soft_cq_stalls(const struct ibv_cq *cq);

/*
 * Passes to the function the number of a queue pair whose send has waited for two seconds because
 * the other end has posted no receive: once a connection, on a thread that exists for this alone.
 * NULL: a line on standard error again.
 */
void soft_tell_stalls_to(void (*place)(unsigned int qp_num));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_cno.h -- consumer notification objects: one wait for many EVDs
 *
 * An event triggers the CNO of its EVD if the EVD is enabled, no thread waits on the EVD itself,
 * and no upcall policy is enabled.  A triggered CNO releases one waiter, which may come later, and
 * calls its proxy agent once, if it has one.
 *
 * Which EVDs to dequeue from after a wake-up: DAT 2.0 lets a provider combine the triggers of
 * several EVDs, so a program for every provider dequeues from every EVD of the CNO until it is
 * empty, after each wake-up and after a timeout.  A provider of Rearm keeps a trigger for each EVD
 * and returns the EVDs one after the other: there it is enough to dequeue from the returned EVD
 * until it is empty.  An event that arrives meanwhile triggers the CNO again.
 *
 * A thread of the adapter sets triggers, soon after the event, and not inside the call that queues
 * it.  dat_cno_trywait() of dat_upcall.h takes a trigger of a CNO with a descriptor, too, and finds
 * events that were left.
 *
 * Arguments of these calls:
 *
 *	`cno`		the CNO
 *	`agent`		a function and its argument; DAT_OS_WAIT_PROXY_AGENT_NULL is none
 *	`fd`		output: the descriptor
 *	`evd`		output: the EVD that triggered the CNO, or DAT_HANDLE_NULL
 *
 * dat_api_ia.h explains how the calls are described.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_CNO_H_
#define _DAT_API_CNO_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Creates a CNO.  `agent` is called once, for the first trigger; install it again to get another
 * call.  DAT_OS_WAIT_PROXY_AGENT_NULL: no agent.
 *
 *	`cno`		output: the new CNO
 *
 *	DAT_SUCCESS				*cno is the new CNO
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG3		cno is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cno_create(DAT_IA_HANDLE ia, DAT_OS_WAIT_PROXY_AGENT agent,
			    DAT_CNO_HANDLE *cno);

/*
 * Creates a CNO with a file descriptor for poll(2) and similar calls.  It is readable while the
 * CNO is triggered.  The descriptor belongs to the CNO: never read or close it.  It is readable for
 * triggers, not for events: take the trigger with dat_cno_trigger() first and dequeue from the EVD
 * until it is empty, or use dat_cno_trywait() of dat_upcall.h, which also finds what was left.
 * Watch the descriptor for its level (no EPOLLET).  doc/event-loops.md has the loop, and adapters
 * for several libraries.  Not in Debian's libdat2.
 *
 *	`cno`		output: the new CNO
 *
 *	DAT_SUCCESS				*cno and *fd are set
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
 *	DAT_INVALID_PARAMETER/ARG2, ARG3	fd or cno is NULL
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory
 *	DAT_MODEL_NOT_SUPPORTED			the provider has no such CNOs
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_cno_fd_create(DAT_IA_HANDLE ia, DAT_FD *fd, DAT_CNO_HANDLE *cno);

/*
 * Returns the IA of a CNO, and its agent or descriptor.  `mask` is one value of the enumeration,
 * not a set of bits.
 *
 *	`mask`		DAT_CNO_FIELD_IA_HANDLE, DAT_CNO_FIELD_PROXY_TYPE, DAT_CNO_FIELD_PROXY or
 *		DAT_CNO_FIELD_ALL; or 0, as in every query: nothing is of interest
 *
 *	DAT_SUCCESS				param is filled in
 *	DAT_INVALID_HANDLE/CNO			cno is not a CNO
 *	DAT_INVALID_PARAMETER/ARG2		unknown mask
 *	DAT_INVALID_PARAMETER/ARG3		param is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cno_query(DAT_CNO_HANDLE cno, DAT_CNO_PARAM_MASK mask,
			    DAT_CNO_PARAM *param);

/*
 * Changes the proxy agent.  DAT_OS_WAIT_PROXY_AGENT_NULL removes it.  If the CNO is triggered, and
 * no agent was called for that trigger, the new agent is called at once.
 *
 *	DAT_SUCCESS				done
 *	DAT_INVALID_HANDLE/CNO			cno is not a CNO
 *	DAT_INVALID_PARAMETER/ARG1		an agent, for a CNO that has a descriptor
 *
 * Threads: any.  From: DAT 2.0; the call at once is Rearm.
 */
DAT_RETURN DAT_API dat_cno_modify_agent(DAT_CNO_HANDLE cno, DAT_OS_WAIT_PROXY_AGENT agent);

/*
 * Waits for a trigger.
 *
 * `timeout` is in microseconds and starts with the call, on the monotonic clock; 0 does not wait.
 * `*evd` is a hint and may be DAT_HANDLE_NULL; dat_api_cno.h describes which EVDs to dequeue from.
 * Several threads may wait; one trigger releases one of them.
 *
 *	DAT_SUCCESS				a trigger was consumed, and *evd is set; or the last
 *						EVD was detached or the IA closed during the wait,
 *						and *evd is DAT_HANDLE_NULL
 *	DAT_QUEUE_EMPTY				timed out; the class bit is not set: compare
 *						DAT_GET_TYPE()
 *	DAT_INVALID_HANDLE/CNO			cno is not a CNO
 *	DAT_INVALID_PARAMETER/ARG3		evd is NULL
 *	DAT_INVALID_STATE/CNO_DEAD		another thread freed the CNO just before the wait
 *	DAT_INTERRUPTED_CALL			a signal handler ran
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cno_wait(DAT_CNO_HANDLE cno, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd);

/*
 * Consumes the trigger of a CNO with a descriptor, after poll(2) found it readable.  `*evd` is a
 * hint as with dat_cno_wait().  Dequeue after this call, not before it: the trigger of an event
 * that comes in between would be consumed, and the event would stay queued.  An EVD from which not
 * all events were dequeued triggers the CNO for them after dat_evd_modify_cno() with the same CNO;
 * dat_cno_trywait() finds it without that call.  Not in Debian's libdat2.
 *
 *	DAT_SUCCESS				a trigger was consumed; *evd is set
 *	DAT_QUEUE_EMPTY				the CNO was not triggered; the class bit is not set:
 *						compare DAT_GET_TYPE()
 *	DAT_INVALID_HANDLE/CNO			cno is not a CNO
 *	DAT_INVALID_PARAMETER/ARG1		it has no descriptor
 *	DAT_INVALID_PARAMETER/ARG2		evd is NULL
 *	DAT_MODEL_NOT_SUPPORTED			the provider has no such CNOs
 *
 * Threads: any.  From: headers; DAT 2.0.
 */
DAT_RETURN DAT_API dat_cno_trigger(DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd);

/*
 * Frees a CNO.
 *
 * When it returns, an agent on another thread has returned and no agent is called any more.
 * Inside the agent of this CNO it does not wait.  Inside any upcall or agent it does not wait for
 * an agent that is in dat_ia_close().
 *
 *	DAT_SUCCESS				the CNO is freed
 *	DAT_INVALID_HANDLE/CNO			cno is not a CNO
 *	DAT_INVALID_STATE/CNO_IN_USE		an EVD refers to it, or a thread waits on it
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_cno_free(DAT_CNO_HANDLE cno);

#ifdef __cplusplus
}
#endif

#endif

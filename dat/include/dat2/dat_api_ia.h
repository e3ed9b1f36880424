/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_ia.h -- interface adapters, and the calls that take any handle
 *
 * How calls are described in these headers
 *
 * Codes are written TYPE/SUBTYPE: DAT_INVALID_PARAMETER/ARG2 is
 * DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2), DAT_INVALID_HANDLE/EVD_REQUEST has the
 * subtype DAT_INVALID_HANDLE_EVD_REQUEST.  A type alone has no subtype.  Compare with
 * DAT_GET_TYPE(): the class bit and the subtype may differ between providers.
 *
 * Not repeated with each call:
 *
 *	- A handle that cannot be one (NULL, an IA handle where another kind is due, any small
 *	  integer, a misaligned pointer) gives DAT_INVALID_HANDLE with the subtype of its kind
 *	  (IA, EP, EVD_REQUEST for an EVD, CNO, PZ, LMR, RMR, PSP, RSP, CSP, CR, SRQ).  A stale
 *	  handle or one of the wrong kind gives DAT_INVALID_HANDLE, too, from a provider of Rearm.
 *	- DAT_NOT_IMPLEMENTED: the provider does not have the call.  Some answer
 *	  DAT_MODEL_NOT_SUPPORTED instead.  Calls marked "Not served" no provider of Rearm has;
 *	  what is described is what DAT says of them, for programs under another provider.
 *	  The attributes say whether a provider has them (dat_ia_query()).
 *	- DAT_INTERNAL_ERROR: the provider failed in a way that no other code describes.
 *	- Where a call fails, what its output pointers point to is unchanged, unless it is said
 *	  otherwise.
 *
 * "Threads" says what may run at the same time: "any" is any call in any thread, upcalls
 * included, but for calls on an object that is being freed.  With a provider opened as
 * nonthreadsafe the program itself has to keep calls on one IA apart; Rearm's providers are
 * thread-safe under either name.
 *
 * "From" says where the rule comes from: "DAT 2.0" is the specification as restated by
 * implementations and their manuals, "headers" is what the headers of DAT 2.0 alone fix, "Rearm"
 * is this library's choice where those are silent.
 */
#include <dat2/udat.h>

#ifndef _DAT_API_IA_H_
#define _DAT_API_IA_H_

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Opens an interface adapter.
 *
 * `name` is that of a line of dat.conf, or of a provider that the program registered.  The version
 * must be equal to the line's.  A program that asks for `thread_safety` gets a threadsafe line
 * only; one that does not gets a nonthreadsafe line or, if there is none, a threadsafe one.  The
 * library of the line is loaded by the first open; of several lines with one key the first that
 * loads is taken.
 *
 * `*async_evd` is in and out.  DAT_HANDLE_NULL: the provider creates the EVD for asynchronous
 * errors with at least `async_evd_min_qlen` places, and it goes with the IA.  A handle of such an
 * EVD of the same device: it is shared.  DAT_EVD_ASYNC_EXISTS: this opening wants none.
 *
 * `*ia` is a small integer, valid in this process until dat_ia_close().  Programs use the macro
 * dat_ia_open(name, qlen, async_evd, ia), which adds version 2.0 and DAT_THREADSAFE.
 *
 *	DAT_SUCCESS				the IA is open
 *	DAT_INVALID_PARAMETER/ARG1		name is NULL or longer than 255 bytes
 *	DAT_INVALID_PARAMETER/ARG2		the queue length is not positive
 *	DAT_INVALID_PARAMETER/ARG3		async_evd is NULL
 *	DAT_INVALID_PARAMETER/ARG7		thread_safety is neither true nor false
 *	DAT_INVALID_HANDLE/IA			ia is NULL
 *	DAT_INVALID_HANDLE/EVD_ASYNC		*async_evd is no such EVD of this device
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						no provider for name, version and thread safety, or
 *						its library does not load (a message says why)
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, or 65,535 IAs are open
 *	DAT_INSUFFICIENT_RESOURCES/DEVICE	the device refuses
 *
 * Threads: any.  From: DAT 2.0; the choice of thread safety and the limit are Rearm.
 */
DAT_RETURN DAT_API dat_ia_openv(const DAT_NAME_PTR name, DAT_COUNT async_evd_min_qlen,
			    DAT_EVD_HANDLE *async_evd, DAT_IA_HANDLE *ia, DAT_UINT32 major,
			    DAT_UINT32 minor, DAT_BOOLEAN thread_safety);

#define dat_ia_open(name, qlen, async_evd, ia) \
	dat_ia_openv((name), (qlen), (async_evd), (ia), DAT_VERSION_MAJOR, DAT_VERSION_MINOR, \
		     DAT_THREADSAFE)

/*
 * Tells the attributes of an IA and of its provider.
 *
 * Any of the three pointers may be NULL if its mask is 0; `async_evd` NULL asks for nothing.  The
 * EVD is DAT_EVD_OUT_OF_SCOPE for an IA that was opened with DAT_EVD_ASYNC_EXISTS.  Members whose
 * bit is not in the mask may or may not be filled in.  Strings, attribute lists and the address
 * belong to the provider and live as long as the IA.
 *
 *	DAT_SUCCESS				the members asked for are filled in
 *	DAT_INVALID_HANDLE/IA			ia names no open IA
 *	DAT_INVALID_PARAMETER/ARG3		unknown bits in ia_mask
 *	DAT_INVALID_PARAMETER/ARG4		ia_mask is set and ia_attr NULL
 *	DAT_INVALID_PARAMETER/ARG5		unknown bits in provider_mask
 *	DAT_INVALID_PARAMETER/ARG6		provider_mask is set and provider_attr NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_ia_query(DAT_IA_HANDLE ia, DAT_EVD_HANDLE *async_evd,
			    DAT_IA_ATTR_MASK ia_mask, DAT_IA_ATTR *ia_attr,
			    DAT_PROVIDER_ATTR_MASK provider_mask,
			    DAT_PROVIDER_ATTR *provider_attr);

/*
 * Closes an IA.  The last close of a provider's IAs unloads its library.
 *
 * DAT_CLOSE_ABRUPT_FLAG (DAT_CLOSE_DEFAULT) destroys everything that was created under the IA:
 * threads in dat_evd_wait() return DAT_ABORT, those in dat_cno_wait() DAT_SUCCESS with
 * DAT_HANDLE_NULL.
 *
 * DAT_CLOSE_GRACEFUL_FLAG fails while anything but the provider's own asynchronous EVD is left.  An
 * object is not left, and the close waits for its end, when another thread is in the call that frees it,
 * when it was freed from inside its own upcall or agent, and when it belongs to a connection request that
 * the provider is refusing or a thread is in dat_cr_reject() with.
 *
 * When it returns no upcall and no agent of the IA runs, whether its EVD or CNO was still there or
 * had been freed from inside, and no other thread is in a call that frees an object of the IA.
 *
 * Called from an upcall or agent, it does not wait for those that wait for the caller:
 *
 *	- the upcalls and agents that it is called from.  Frees of their EVDs and CNOs by other threads
 *	  return after them, and what they need goes when the last of them returns.
 *	- upcalls and agents that are in dat_ia_close() themselves, of another IA.
 *
 * An upcall or agent that waits in dat_evd_free(), dat_cno_free() or TEARDOWN for one that is in
 * dat_ia_close() does not wait any longer: the close waits for it.
 *
 * After success the integer names nothing; it is given out again only after all other integers
 * were.
 *
 *	DAT_SUCCESS				the IA is closed
 *	DAT_INVALID_HANDLE/IA			ia names no open IA, or another thread closes it
 *	DAT_INVALID_PARAMETER/ARG2		unknown flag
 *	DAT_INVALID_STATE/IA_IN_USE		graceful, and objects are left: nothing changed
 *
 * Threads: any, also upcalls and agents; of two that close one IA the second fails, even if the first
 * is refused.
 * From: DAT 2.0; upcalls and what is waited for are Rearm.
 */
DAT_RETURN DAT_API dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags);

/*
 * Lists the providers of dat.conf: one entry for each name, version and thread safety, in the
 * order of the file.  Providers that a program registered itself are not in it.
 *
 * `max` 0 asks how many there are: `*entries` is set although the call then fails.  Otherwise the
 * first `max` are copied to what the pointers of `list` point to, and `*entries` is how many; a
 * list that is too short is not an error.
 *
 *	DAT_SUCCESS				*entries infos were copied
 *	DAT_INVALID_PARAMETER/ARG1		max is not positive; *entries is the number there
 *						is
 *	DAT_INVALID_PARAMETER/ARG2		entries is NULL
 *	DAT_INVALID_PARAMETER/ARG3		list, or a pointer in it that is needed, is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_registry_list_providers(DAT_COUNT max, DAT_COUNT *entries,
			    DAT_PROVIDER_INFO *(list[]));

/*
 * Explains a return value: one sentence for its type, one for its subtype.
 *
 * Both sentences are constant and end with the symbolic name in brackets.  The class bits are not
 * looked at.  `*minor` is "" if there is no subtype; `minor` may be NULL.  Outside the lists the
 * texts are "unknown error" and "unknown minor error".
 *
 *	DAT_SUCCESS				both are known
 *	DAT_INVALID_PARAMETER			without class bit: one of them is unknown, and both
 *						texts are set
 *	DAT_INVALID_PARAMETER/ARG2		major is NULL
 *
 * Threads: any, also in a signal handler.  From: DAT 2.0; the texts and NULL are Rearm.
 */
DAT_RETURN DAT_API dat_strerror(DAT_RETURN ret, const char **major, const char **minor);

/*
 * Attaches eight bytes of the consumer's to an object of any kind.  A new object has zeros.
 *
 *	DAT_SUCCESS				the context is set
 *	DAT_INVALID_HANDLE/1			no object; the subtype is DAT_INVALID_HANDLE1
 *
 * Threads: any; of two that set it at once one wins.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context);

/*
 * Reads what dat_set_consumer_context() attached.
 *
 *	DAT_SUCCESS				*context is set
 *	DAT_INVALID_HANDLE/1			no object; the subtype is DAT_INVALID_HANDLE1
 *	DAT_INVALID_PARAMETER/ARG2		context is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context);

/*
 * Tells what kind of object a handle is of.
 *
 *	DAT_SUCCESS				*type is set
 *	DAT_INVALID_HANDLE/1			no object; the subtype is DAT_INVALID_HANDLE1
 *	DAT_INVALID_PARAMETER/ARG2		type is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type);

/*
 * Calls an operation of the provider that DAT itself does not have.  What follows `op` depends on
 * it; dat_ib_extensions.h and dat_upcall.h have macros and functions that get it right.
 *
 * An `op` with the bit DAT_OPEN_EXTENSION_BASE takes no handle but a name and the place for a
 * handle as its first two arguments, and opens the IA for queries; one with
 * DAT_CLOSE_EXTENSION_BASE closes it.
 *
 *	DAT_SUCCESS				as the operation says
 *	DAT_INVALID_HANDLE/1			no object; the subtype is DAT_INVALID_HANDLE1
 *	DAT_NOT_IMPLEMENTED			the provider has no such operation, or no IA with
 *						extensions has been opened yet
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						opening by name: as dat_ia_openv()
 *	DAT_INVALID_PARAMETER/ARG3, ARG4	opening by name: name or place is NULL, or the name
 *						too long
 *
 * Threads: as the operation says.  From: headers.
 */
#ifdef DAT_EXTENSIONS
DAT_RETURN DAT_API dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...);
#endif

#ifdef __cplusplus
}
#endif

#endif

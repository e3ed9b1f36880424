/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_api_ia.h -- interface adapters, and the calls that take any handle
 *
 * How calls are described in these headers
 *
 * Return codes are written TYPE/SUBTYPE: DAT_INVALID_PARAMETER/ARG2 is
 * DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2), DAT_INVALID_HANDLE/EVD_REQUEST has the
 * subtype DAT_INVALID_HANDLE_EVD_REQUEST.  The manual pages have the whole names.  A type alone has
 * no subtype, except that DAT_INVALID_HANDLE has the subtype described below.  Compare types with
 * DAT_GET_TYPE(): class bit and subtype may differ between providers.
 *
 * A value that cannot be a handle (NULL, the handle of an IA where another kind is required, a
 * small integer, a misaligned pointer) gives DAT_INVALID_HANDLE with the subtype of the required
 * kind (IA, EP, EVD_REQUEST for an EVD, CNO, PZ, LMR, RMR, PSP, RSP, CSP, CR, SRQ).  With a
 * provider of Rearm so does a handle that was freed, and one of another kind; but where an EVD is
 * required there is no subtype then (dat_evd_resize() has DAT_INVALID_HANDLE1).  The calls of
 * dat_upcall.h and dat_ib_extensions.h have DAT_INVALID_HANDLE1 for a value that is no object: they
 * are dat_extension_op().
 *
 * If a call fails, it does not change its output, unless its description states otherwise.
 *
 * Any call can return the following.  They are not repeated with each:
 *
 *	DAT_NOT_IMPLEMENTED			the provider does not have the call.  Some providers
 *						return DAT_MODEL_NOT_SUPPORTED.  A provider of Rearm
 *						has every call; it returns DAT_MODEL_NOT_SUPPORTED
 *						where the device cannot do it.  The attributes show
 *						what a provider supports: dat_ia_query()
 *	DAT_INSUFFICIENT_RESOURCES		the process or the host has no descriptor left:
 *						there is no subtype
 *	DAT_PRIVILEGES_VIOLATION		the kernel refuses the device, or memory that cannot
 *						be paged out, to this user
 *	DAT_INTERNAL_ERROR			the provider failed in a way that no other code
 *						describes
 *
 * Arguments that calls of several headers have:
 *
 *	`ia`		an open IA
 *	`mask`		which members of `*param` are of interest: bits of the enumeration for them
 *	`param`		output: those members.  Others may be set, too
 *	`timeout`	in microseconds, from the call on; DAT_TIMEOUT_INFINITE is no limit
 *	`iov`		the pieces of memory, in their order: address, length in bytes, and the
 *			lmr_context of a region that contains the piece; NULL if `segments` is 0
 *	`segments`	the number of pieces in `iov`; 0 is a message without data
 *	`cookie`	eight bytes, which the completion event returns
 *	`qual`		a connection qualifier: the port number
 *	`size`		the length of the private data, in bytes; 0 is none
 *	`data`		the private data; it is copied.  NULL if `size` is 0
 *
 * "Threads" lists what may run at the same time.  "any": any call on any thread, including upcalls,
 * except calls on an object that is being freed.  If the provider was opened as nonthreadsafe, the
 * program must not make calls on one IA at the same time; the providers of Rearm are thread-safe in
 * any case.
 *
 * "From" is the source of the rule: "DAT 2.0" is the specification, as implementations and their
 * manuals describe it; "headers" is what only the headers of DAT 2.0 define; "Rearm" is a choice of
 * this library where the others define nothing.
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
 * `name` is the name of a line of dat.conf, or of a provider that the program registered, or
 * "rearm-soft": the software device needs no line.  The version must equal that of the line.  With
 * `thread_safety` true only a threadsafe line is used; with false a nonthreadsafe line, or a
 * threadsafe one if there is no other.  The first open loads the library of the line.  If several
 * lines have the same key, the first one whose library loads is used.
 *
 * `*async_evd` is input and output.  DAT_HANDLE_NULL: the provider creates the EVD for
 * asynchronous errors, with at least `async_evd_min_qlen` entries, and frees it with the IA.  A
 * handle of such an EVD of the same device: the IA shares it.  DAT_EVD_ASYNC_EXISTS: this IA has
 * no such EVD.
 *
 * `*ia` is a small integer that is valid in this process until dat_ia_close().  Programs use the
 * macro dat_ia_open(), which adds version 2.0 and DAT_THREADSAFE.  That is DAT_FALSE unless the
 * program defines it before it includes udat.h.  The providers of Rearm are thread-safe in any
 * case: a program with upcalls or several threads need not define it for them.  One that is to run
 * with other providers, too, defines it as DAT_TRUE if an upcall or another thread makes calls on
 * the IA while a thread does; then dat.conf must have a threadsafe line for the name.
 *
 *	`name`		the name of a line of dat.conf(5), or of a provider that the program
 *			registered
 *	`async_evd_min_qlen`, `qlen`  how many events the asynchronous EVD must be able to hold
 *	`async_evd`	input and output: DAT_HANDLE_NULL, an EVD or DAT_EVD_ASYNC_EXISTS; the EVD
 *			that the IA uses
 *	`ia`		output: the handle of the IA
 *	`major`, `minor`  the version of DAT
 *	`thread_safety`	DAT_TRUE if calls on this IA may be made at the same time, by threads or
 *			upcalls; a provider of Rearm allows that with DAT_FALSE, too
 *
 *	DAT_SUCCESS				the IA is open
 *	DAT_INVALID_PARAMETER/ARG1		name is NULL or longer than 255 bytes; or the
 *						provider cannot read the parameters in the line of
 *						dat.conf (a message has the reason)
 *	DAT_INVALID_PARAMETER/ARG2		the queue length is not positive
 *	DAT_INVALID_PARAMETER/ARG3		async_evd is NULL
 *	DAT_INVALID_PARAMETER/ARG7		thread_safety is neither true nor false
 *	DAT_INVALID_HANDLE/IA			ia is NULL
 *	DAT_INVALID_HANDLE/EVD_ASYNC		*async_evd is not such an EVD of this device
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						no provider for name, version and thread safety, or
 *						its library does not load (a message has the reason)
 *	DAT_INVALID_ADDRESS/UNSUPPORTED		the provider's parameters name no address of this
 *						host, or no RDMA device has the address
 *	DAT_PRIVILEGES_VIOLATION		this user may not use the device
 *	DAT_INSUFFICIENT_RESOURCES/MEMORY	no memory, or 65,535 IAs are open
 *	DAT_INSUFFICIENT_RESOURCES/DEVICE	the device has not enough resources
 *	DAT_INSUFFICIENT_RESOURCES/TEVD		the queue would be longer than max_evd_qlen
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
 * Returns the attributes of an IA and of its provider.
 *
 * `ia_attr` and `provider_attr` may be NULL if their mask is 0.  `async_evd` may always be NULL;
 * then the EVD is not returned.  The EVD is DAT_EVD_OUT_OF_SCOPE if the IA was opened with
 * DAT_EVD_ASYNC_EXISTS.  Members whose bit is not in the mask may be set too.  Strings, attribute
 * lists and the address are memory of the provider; they are valid until the IA is closed.
 *
 *	`async_evd`	output: the EVD for asynchronous errors; or NULL
 *	`ia_mask`	which members of `*ia_attr` are of interest: DAT_IA_FIELD_IA_ADAPTER_NAME
 *			and so on, DAT_IA_FIELD_ALL, or DAT_IA_FIELD_NONE
 *	`ia_attr`	output: the attributes of the adapter
 *	`provider_mask`	the same for `*provider_attr`: DAT_PROVIDER_FIELD_ALL,
 *			DAT_PROVIDER_FIELD_NONE
 *	`provider_attr`	output: the attributes of the provider
 *
 *	DAT_SUCCESS				the requested members are filled in
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA
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
 * Closes an IA.  The close of a provider's last IA shuts the provider down: the registry calls its
 * dat_provider_fini() and then dlclose(3).  The library of a Rearm provider stays mapped all the
 * same (it keeps itself with RTLD_NODELETE), so that a thread that returns from an upcall finds its
 * code.
 *
 * DAT_CLOSE_ABRUPT_FLAG (DAT_CLOSE_DEFAULT) frees everything that was created under the IA.
 * Threads in dat_evd_wait() return DAT_ABORT, threads in dat_cno_wait() return DAT_SUCCESS with
 * DAT_HANDLE_NULL.  An IA that shares the asynchronous EVD of this one has none then:
 * dat_ia_query() returns DAT_HANDLE_NULL.
 *
 * DAT_CLOSE_GRACEFUL_FLAG fails if an object is left, other than the asynchronous EVD of the
 * provider, or if another IA shares that EVD.  The following objects do not count as left; the
 * close waits for their end: an object that another thread is freeing; an object that was freed
 * inside its own upcall or agent; an object of a connection request that the provider is refusing
 * or that a thread is rejecting or accepting, until that is done.
 *
 * After the return no upcall and no agent of the IA runs, even if its EVD or CNO was freed inside
 * it, and no other thread is in a call that frees an object of the IA.
 *
 * Inside an upcall or agent the call does not wait for:
 *
 *	- the upcalls and agents that it is called from.  If a thread outside all callbacks
 *	  is freeing the EVD or CNO of such a callback, the free returns after the callback.  The
 *	  device of the IA is closed when the last of these callbacks has returned.
 *	- upcalls and agents that are in dat_ia_close() of another IA.
 *
 * Suppose one callback (upcall or agent) is in dat_evd_free(), dat_cno_free() or TEARDOWN, and
 * another callback is in dat_ia_close().  The call of the first does not wait for the second
 * callback; dat_ia_close() waits for the first callback.
 *
 * After success the integer is invalid.  It is reused only after all other integers were used.
 *
 *	`flags`		DAT_CLOSE_ABRUPT_FLAG or DAT_CLOSE_GRACEFUL_FLAG
 *
 *	DAT_SUCCESS				the IA is closed
 *	DAT_INVALID_HANDLE/IA			ia is not an open IA, or another thread closes it
 *	DAT_INVALID_PARAMETER/ARG2		unknown flag
 *	DAT_INVALID_STATE/IA_IN_USE		graceful, and objects are left: nothing changed
 *
 * Threads: any, also upcalls and agents; if two threads close one IA the second fails, even if the
 * first fails too.
 * From: DAT 2.0; the rules on upcalls and waiting are Rearm.
 */
DAT_RETURN DAT_API dat_ia_close(DAT_IA_HANDLE ia, DAT_CLOSE_FLAGS flags);

/*
 * Lists the providers of dat.conf: one entry for each name, version and thread safety, in the
 * order of the file.  "rearm-soft" comes last if it needs no line there: see dat.conf(5).
 * Providers that the program registered itself are not listed.
 *
 * With `max` 0 the call returns the number of providers in `*entries`, and fails.  Otherwise it
 * copies the first `max` entries to the memory that the pointers in `list` point to, and sets
 * `*entries` to their number.  A list that is too short is not an error.
 *
 *	`max`		the number of pointers in `list`
 *	`entries`	output: the number of infos that were copied; if `max` is 0, the number of
 *			providers
 *	`list`		pointers to the memory for the infos
 *
 *	DAT_SUCCESS				*entries infos were copied
 *	DAT_INVALID_PARAMETER/ARG1		max is not positive; *entries is the number of
 *						providers
 *	DAT_INVALID_PARAMETER/ARG2		entries is NULL
 *	DAT_INVALID_PARAMETER/ARG3		list, or a pointer in it that is needed, is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_registry_list_providers(DAT_COUNT max, DAT_COUNT *entries,
			    DAT_PROVIDER_INFO *(list[]));

/*
 * Describes a return value: one sentence for its type, one for its subtype.
 *
 * Both strings are constant and end with the symbolic name in brackets.  The class bits are
 * ignored.  `*minor` is "" if there is no subtype; `minor` may be NULL.  The strings for unknown
 * values are "unknown error" and "unknown minor error".
 *
 *	`ret`		what a call has returned
 *	`major`		output: the sentence for the type
 *	`minor`		output: the sentence for the subtype; or NULL
 *
 *	DAT_SUCCESS				both strings are known
 *	DAT_INVALID_PARAMETER			without class bit: type or subtype is unknown; both
 *						strings are set
 *	DAT_INVALID_PARAMETER/ARG2		major is NULL
 *
 * Threads: any, also in a signal handler.  From: DAT 2.0; the texts and NULL are Rearm.
 */
DAT_RETURN DAT_API dat_strerror(DAT_RETURN ret, const char **major, const char **minor);

/*
 * Attaches a context of eight bytes to an object of any kind.  The context of a new object is
 * zero.
 *
 *	`handle`	an object of any kind
 *	`context`	the eight bytes
 *
 *	DAT_SUCCESS				the context is set
 *	DAT_INVALID_HANDLE/1			not an object; the subtype is DAT_INVALID_HANDLE1
 *
 * Threads: any; of two calls at the same time one takes effect.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_set_consumer_context(DAT_HANDLE handle, DAT_CONTEXT context);

/*
 * Returns the context that dat_set_consumer_context() attached.
 *
 *	`handle`	an object of any kind
 *	`context`	output: the eight bytes
 *
 *	DAT_SUCCESS				*context is set
 *	DAT_INVALID_HANDLE/1			not an object; the subtype is DAT_INVALID_HANDLE1
 *	DAT_INVALID_PARAMETER/ARG2		context is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_get_consumer_context(DAT_HANDLE handle, DAT_CONTEXT *context);

/*
 * Returns the type of a handle.
 *
 *	`handle`	an object of any kind
 *	`type`		output: the kind of the object, DAT_HANDLE_TYPE_EP for example
 *
 *	DAT_SUCCESS				*type is set
 *	DAT_INVALID_HANDLE/1			not an object; the subtype is DAT_INVALID_HANDLE1
 *	DAT_INVALID_PARAMETER/ARG2		type is NULL
 *
 * Threads: any.  From: DAT 2.0.
 */
DAT_RETURN DAT_API dat_get_handle_type(DAT_HANDLE handle, DAT_HANDLE_TYPE *type);

/*
 * Calls an operation of the provider that is not in DAT.  The arguments after `op` depend on the
 * operation; dat_ib_extensions.h and dat_upcall.h have macros and functions with the right types.
 *
 * An `op` with the bit DAT_OPEN_EXTENSION_BASE has no handle: its first two arguments are a name
 * and the address of a handle, and it opens the IA for queries.  An `op` with
 * DAT_CLOSE_EXTENSION_BASE closes it.
 *
 *	`handle`	the object of the operation
 *	`op`		the number of the operation
 *
 *	DAT_SUCCESS				the operation has been made
 *	DAT_INVALID_HANDLE/1			not an object
 *	DAT_INVALID_HANDLE/IA			not an open IA, for an operation of one
 *	DAT_MODEL_NOT_SUPPORTED			the device cannot do it
 *	DAT_INVALID_STATE			the state of the object does not allow it
 *	DAT_NOT_IMPLEMENTED			the provider has no such operation, or no IA with
 *						extensions has been opened yet
 *	DAT_PROVIDER_NOT_FOUND/NAME_NOT_REGISTERED
 *						opening by name: there is no provider for the name,
 *						and the other codes of dat_ia_openv()
 *	DAT_INVALID_PARAMETER/ARG3, ARG4	opening by name: name or place is NULL, or the name
 *						too long
 *
 * Threads: see the operation.  From: headers.
 */
#ifdef DAT_EXTENSIONS
DAT_RETURN DAT_API dat_extension_op(DAT_HANDLE handle, DAT_EXTENDED_OP op, ...);
#endif

#ifdef __cplusplus
}
#endif

#endif

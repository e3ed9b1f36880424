/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_strerror() -- a return value in two sentences
 */
#include <stddef.h>

#include <dat2/udat.h>

struct sentence {
	DAT_UINT32 value;
	const char *text;
};

#define TYPE(name, text) \
	{ \
		name, text " (" #name ")." \
	}
#define SUBTYPE(name, text) [name] = text " (" #name ")."

static const struct sentence types[] = {
	TYPE(DAT_SUCCESS, "The call succeeded"),
	TYPE(DAT_ABORT, "The object was freed while the call was waiting"),
	TYPE(DAT_CONN_QUAL_IN_USE, "The connection qualifier is in use"),
	TYPE(DAT_INSUFFICIENT_RESOURCES, "There are not enough resources"),
	TYPE(DAT_INTERNAL_ERROR, "The provider failed for an internal reason"),
	TYPE(DAT_INVALID_HANDLE, "A handle is not valid"),
	TYPE(DAT_INVALID_PARAMETER, "An argument is not valid"),
	TYPE(DAT_INVALID_STATE, "The object is in a state that does not allow the call"),
	TYPE(DAT_LENGTH_ERROR, "The data is longer than the memory for it"),
	TYPE(DAT_MODEL_NOT_SUPPORTED, "The provider or its device does not support this"),
	TYPE(DAT_PROVIDER_NOT_FOUND,
	    "No provider is registered for this name, version and thread safety"),
	TYPE(DAT_PRIVILEGES_VIOLATION,
	    "This kind of access is not granted, by the memory region or to this user"),
	TYPE(DAT_PROTECTION_VIOLATION, "The memory region belongs to another protection zone"),
	TYPE(DAT_QUEUE_EMPTY, "The queue has no event"),
	TYPE(DAT_QUEUE_FULL, "The queue has no room for another event"),
	TYPE(DAT_TIMEOUT_EXPIRED, "The call timed out"),
	TYPE(DAT_PROVIDER_ALREADY_REGISTERED,
	    "A provider is registered for this name, version and thread safety already"),
	TYPE(DAT_PROVIDER_IN_USE, "Interface adapters of the provider are open"),
	TYPE(DAT_INVALID_ADDRESS, "The address cannot be used"),
	TYPE(DAT_INTERRUPTED_CALL, "A signal interrupted the call"),
	TYPE(DAT_CONN_QUAL_UNAVAILABLE, "No connection qualifier is free"),
	TYPE(DAT_RESERVED_LMR, "The call cannot be made on the reserved memory region"),
	TYPE(DAT_PORT_IN_USE, "The port is in use"),
	TYPE(DAT_COMM_NOT_SUPPORTED, "The kind of communicator is not supported"),
	TYPE(DAT_EXTENSION_BASE, "An extended operation failed"),
	TYPE(DAT_NOT_IMPLEMENTED, "The provider does not implement the call"),
};

/* Indexed by subtype: they are numbered without gaps. */
static const char *const subtypes[] = {
	[DAT_NO_SUBTYPE] = "",
	SUBTYPE(DAT_SUB_INTERRUPTED, "The wait was interrupted"),
	SUBTYPE(DAT_RESOURCE_MEMORY, "There is not enough memory"),
	SUBTYPE(DAT_RESOURCE_DEVICE, "The device lacks a resource"),
	SUBTYPE(DAT_RESOURCE_TEP, "The device has no more endpoints"),
	SUBTYPE(DAT_RESOURCE_TEVD, "The device has no event dispatcher of this size left"),
	SUBTYPE(DAT_RESOURCE_PROTECTION_DOMAIN, "The device has no more protection zones"),
	SUBTYPE(DAT_RESOURCE_MEMORY_REGION, "The device has no more memory regions"),
	SUBTYPE(DAT_RESOURCE_ERROR_HANDLER, "There are no more error handlers"),
	SUBTYPE(DAT_RESOURCE_CREDITS, "The remote side has granted no more credits"),
	SUBTYPE(DAT_RESOURCE_SRQ, "The device has no more shared receive queues"),
	SUBTYPE(DAT_INVALID_HANDLE_IA, "It is the handle of the interface adapter"),
	SUBTYPE(DAT_INVALID_HANDLE_EP, "It is the handle of the endpoint"),
	SUBTYPE(DAT_INVALID_HANDLE_LMR, "It is the handle of the local memory region"),
	SUBTYPE(DAT_INVALID_HANDLE_RMR, "It is the handle of the remote memory region"),
	SUBTYPE(DAT_INVALID_HANDLE_PZ, "It is the handle of the protection zone"),
	SUBTYPE(DAT_INVALID_HANDLE_PSP, "It is the handle of the public service point"),
	SUBTYPE(DAT_INVALID_HANDLE_RSP, "It is the handle of the reserved service point"),
	SUBTYPE(DAT_INVALID_HANDLE_CR, "It is the handle of the connection request"),
	SUBTYPE(DAT_INVALID_HANDLE_CNO, "It is the handle of the consumer notification object"),
	SUBTYPE(DAT_INVALID_HANDLE_EVD_CR,
	    "It is the handle of the event dispatcher for connection requests"),
	SUBTYPE(DAT_INVALID_HANDLE_EVD_REQUEST,
	    "It is the handle of the event dispatcher (or of the one for requests)"),
	SUBTYPE(
	    DAT_INVALID_HANDLE_EVD_RECV, "It is the handle of the event dispatcher for receives"),
	SUBTYPE(DAT_INVALID_HANDLE_EVD_CONN,
	    "It is the handle of the event dispatcher for connection events"),
	SUBTYPE(DAT_INVALID_HANDLE_EVD_ASYNC,
	    "It is the handle of the event dispatcher for asynchronous events"),
	SUBTYPE(DAT_INVALID_HANDLE_SRQ, "It is the handle of the shared receive queue"),
	SUBTYPE(DAT_INVALID_HANDLE_CSP, "It is the handle of the common service point"),
	SUBTYPE(DAT_INVALID_HANDLE1, "It is the first argument"),
	SUBTYPE(DAT_INVALID_HANDLE2, "It is the second argument"),
	SUBTYPE(DAT_INVALID_HANDLE3, "It is the third argument"),
	SUBTYPE(DAT_INVALID_HANDLE4, "It is the fourth argument"),
	SUBTYPE(DAT_INVALID_HANDLE5, "It is the fifth argument"),
	SUBTYPE(DAT_INVALID_HANDLE6, "It is the sixth argument"),
	SUBTYPE(DAT_INVALID_HANDLE7, "It is the seventh argument"),
	SUBTYPE(DAT_INVALID_HANDLE8, "It is the eighth argument"),
	SUBTYPE(DAT_INVALID_HANDLE9, "It is the ninth argument"),
	SUBTYPE(DAT_INVALID_HANDLE10, "It is the tenth argument"),
	SUBTYPE(DAT_INVALID_ARG1, "It is the first argument"),
	SUBTYPE(DAT_INVALID_ARG2, "It is the second argument"),
	SUBTYPE(DAT_INVALID_ARG3, "It is the third argument"),
	SUBTYPE(DAT_INVALID_ARG4, "It is the fourth argument"),
	SUBTYPE(DAT_INVALID_ARG5, "It is the fifth argument"),
	SUBTYPE(DAT_INVALID_ARG6, "It is the sixth argument"),
	SUBTYPE(DAT_INVALID_ARG7, "It is the seventh argument"),
	SUBTYPE(DAT_INVALID_ARG8, "It is the eighth argument"),
	SUBTYPE(DAT_INVALID_ARG9, "It is the ninth argument"),
	SUBTYPE(DAT_INVALID_ARG10, "It is the tenth argument"),
	SUBTYPE(DAT_INVALID_STATE_EP_UNCONNECTED, "The endpoint is not connected"),
	SUBTYPE(
	    DAT_INVALID_STATE_EP_ACTCONNPENDING, "The endpoint is being connected from this side"),
	SUBTYPE(DAT_INVALID_STATE_EP_PASSCONNPENDING,
	    "The endpoint is reserved for a connection request that has arrived"),
	SUBTYPE(DAT_INVALID_STATE_EP_TENTCONNPENDING,
	    "The endpoint was offered with a connection request"),
	SUBTYPE(DAT_INVALID_STATE_EP_CONNECTED, "The endpoint is connected"),
	SUBTYPE(DAT_INVALID_STATE_EP_DISCONNECTED,
	    "The endpoint is disconnected and must be reset first"),
	SUBTYPE(DAT_INVALID_STATE_EP_RESERVED, "The endpoint is reserved by a service point"),
	SUBTYPE(DAT_INVALID_STATE_EP_COMPLPENDING,
	    "The endpoint has accepted and is not connected yet"),
	SUBTYPE(DAT_INVALID_STATE_EP_DISCPENDING, "The endpoint is being disconnected"),
	SUBTYPE(
	    DAT_INVALID_STATE_EP_PROVIDERCONTROL, "The endpoint is under the provider's control"),
	SUBTYPE(DAT_INVALID_STATE_EP_NOTREADY, "The endpoint lacks something that the call needs"),
	SUBTYPE(DAT_INVALID_STATE_EP_RECV_WATERMARK,
	    "The endpoint's receive watermark does not allow this"),
	SUBTYPE(DAT_INVALID_STATE_EP_PZ, "The endpoint's protection zone does not allow this"),
	SUBTYPE(DAT_INVALID_STATE_EP_EVD_REQUEST,
	    "The endpoint's event dispatcher for requests does not allow this"),
	SUBTYPE(DAT_INVALID_STATE_EP_EVD_RECV,
	    "The endpoint's event dispatcher for receives does not allow this"),
	SUBTYPE(DAT_INVALID_STATE_EP_EVD_CONNECT,
	    "The endpoint's event dispatcher for connection events does not allow this"),
	SUBTYPE(DAT_INVALID_STATE_EP_UNCONFIGURED,
	    "The endpoint is not connected and not fully configured"),
	SUBTYPE(DAT_INVALID_STATE_EP_UNCONFRESERVED,
	    "The endpoint is reserved and not fully configured"),
	SUBTYPE(DAT_INVALID_STATE_EP_UNCONFPASSIVE,
	    "The endpoint has a connection request and is not fully configured"),
	SUBTYPE(DAT_INVALID_STATE_EP_UNCONFTENTATIVE,
	    "The endpoint was offered with a connection request and is not fully configured"),
	SUBTYPE(DAT_INVALID_STATE_CNO_IN_USE, "The consumer notification object is in use"),
	SUBTYPE(DAT_INVALID_STATE_CNO_DEAD, "The consumer notification object was freed"),
	SUBTYPE(DAT_INVALID_STATE_EVD_OPEN, "The event dispatcher is open"),
	SUBTYPE(DAT_INVALID_STATE_EVD_ENABLED, "The event dispatcher is enabled"),
	SUBTYPE(DAT_INVALID_STATE_EVD_DISABLED, "The event dispatcher is disabled"),
	SUBTYPE(DAT_INVALID_STATE_EVD_WAITABLE, "The event dispatcher is waitable"),
	SUBTYPE(DAT_INVALID_STATE_EVD_UNWAITABLE, "The event dispatcher is unwaitable"),
	SUBTYPE(DAT_INVALID_STATE_EVD_IN_USE, "The event dispatcher is in use"),
	SUBTYPE(DAT_INVALID_STATE_EVD_CONFIG_NOTIFY,
	    "The event dispatcher is configured for plain notification"),
	SUBTYPE(DAT_INVALID_STATE_EVD_CONFIG_SOLICITED,
	    "The event dispatcher is configured for solicited notification"),
	SUBTYPE(DAT_INVALID_STATE_EVD_CONFIG_THRESHOLD,
	    "The event dispatcher is configured for thresholds"),
	SUBTYPE(DAT_INVALID_STATE_EVD_WAITER, "A thread waits on the event dispatcher"),
	SUBTYPE(
	    DAT_INVALID_STATE_EVD_ASYNC, "The event dispatcher is the one for asynchronous events"),
	SUBTYPE(DAT_INVALID_STATE_IA_IN_USE, "The interface adapter has objects left"),
	SUBTYPE(DAT_INVALID_STATE_LMR_IN_USE, "The local memory region is in use"),
	SUBTYPE(DAT_INVALID_STATE_LMR_FREE, "The local memory region is free"),
	SUBTYPE(DAT_INVALID_STATE_PZ_IN_USE, "The protection zone is in use"),
	SUBTYPE(DAT_INVALID_STATE_PZ_FREE, "The protection zone is free"),
	SUBTYPE(DAT_INVALID_STATE_SRQ_OPERATIONAL, "The shared receive queue is operational"),
	SUBTYPE(DAT_INVALID_STATE_SRQ_ERROR, "The shared receive queue is in error"),
	SUBTYPE(DAT_INVALID_STATE_SRQ_IN_USE, "The shared receive queue is in use"),
	SUBTYPE(DAT_INVALID_STATE_SRQ_SHUTDOWN, "The shared receive queue is shut down"),
	SUBTYPE(DAT_PRIVILEGES_READ, "Local reading is not granted"),
	SUBTYPE(DAT_PRIVILEGES_WRITE, "Local writing is not granted"),
	SUBTYPE(DAT_PRIVILEGES_RDMA_READ, "Remote reading is not granted"),
	SUBTYPE(DAT_PRIVILEGES_RDMA_WRITE, "Remote writing is not granted"),
	SUBTYPE(DAT_PROTECTION_READ, "Local reading is not allowed across protection zones"),
	SUBTYPE(DAT_PROTECTION_WRITE, "Local writing is not allowed across protection zones"),
	SUBTYPE(DAT_PROTECTION_RDMA_READ, "Remote reading is not allowed across protection zones"),
	SUBTYPE(DAT_PROTECTION_RDMA_WRITE, "Remote writing is not allowed across protection zones"),
	SUBTYPE(DAT_INVALID_ADDRESS_UNSUPPORTED,
	    "No adapter can have this address, or this kind of address"),
	SUBTYPE(DAT_INVALID_ADDRESS_UNREACHABLE, "The address cannot be reached"),
	SUBTYPE(DAT_INVALID_ADDRESS_MALFORMED, "The address is malformed"),
	SUBTYPE(DAT_NAME_NOT_REGISTERED,
	    "The name is not registered with this version and thread safety"),
	SUBTYPE(DAT_MAJOR_NOT_FOUND, "The name is registered with another major version"),
	SUBTYPE(DAT_MINOR_NOT_FOUND, "The name is registered with another minor version"),
	SUBTYPE(DAT_THREAD_SAFETY_NOT_FOUND, "The name is registered with another thread safety"),
};

/*
 * The class bits are ignored.  An unknown value gives DAT_INVALID_PARAMETER without a class bit, as
 * existing programs expect; both strings are set all the same.
 */
DAT_RETURN DAT_API
dat_strerror(DAT_RETURN ret, const char **major, const char **minor)
{
	const char *major_text = NULL, *minor_text = NULL;
	size_t i;

	if (major == NULL)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	for (i = 0; i < sizeof types / sizeof types[0]; i++)
		if (types[i].value == DAT_GET_TYPE(ret))
			major_text = types[i].text;
	if (DAT_GET_SUBTYPE(ret) < sizeof subtypes / sizeof subtypes[0])
		minor_text = subtypes[DAT_GET_SUBTYPE(ret)];

	*major = major_text != NULL ? major_text : "unknown error";
	if (minor != NULL) /* old callers pass NULL */
		*minor = minor_text != NULL ? minor_text : "unknown minor error";
	return major_text != NULL && minor_text != NULL ? DAT_SUCCESS : DAT_INVALID_PARAMETER;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/evd/cno.h"

#include "dapl/api.h"
#include "dapl/object/cancel.h"
#include "dapl/trace/debug.h"
#include "dapl/trace/err.h"
#include "dapl/ia/ia.h"
#include "dapl/object/registry.h"
#include "dapl/trace/callback.h"

static void
dapl_cno_prepare(void *slot)
{
	struct dapl_cno *cno = slot;

	dapl_object_prepare(&cno->obj, DAPL_KIND_CNO);
	cno_slot_init(&cno->core);
}

static struct dapl_slab dapl_cno_slab = DAPL_SLAB_INITIALIZER(struct dapl_cno, dapl_cno_prepare);

/* The end of cno_free(): no agent runs and no thread waits. */
static void
dapl_cno_freed(struct cno *core) DAPL_NO_LOCK
{
	DAPL_UNCANCELLED; /* perhaps at the end of a wait of another thread */
	struct dapl_cno *cno = (struct dapl_cno *)((char *)core - offsetof(struct dapl_cno, core));

	dapl_object_detach(&cno->obj);
	dapl_slab_free(&dapl_cno_slab, cno);
}

static int
dapl_cno_create_object(struct dapl_ia *ia, DAT_OS_WAIT_PROXY_AGENT agent, bool with_fd,
    struct dapl_cno **out) DAPL_NO_LOCK
{
	struct cno_config config = {
		.loop = ia->loops[0].loop,
		.lead = dapl_ia_lead(ia),
		.agent = { agent.instance_data, agent.proxy_agent_func },
		.with_fd = with_fd,
		.destroyed = dapl_cno_freed,
	};
	struct dapl_cno *cno = dapl_slab_alloc(&dapl_cno_slab);
	int r;

	if (!cno)
		return -ENOMEM;
	if (dapl_debug_wants(DAPL_DEBUG_CALLS | DAPL_DEBUG_RESULTS))
		config.call = dapl_trace_make_agent_call;
	r = dapl_object_create(&cno->obj, &ia->parent, &ia->provider->table);
	if (r)
		goto free_slot;
	config.serial = cno->obj.serial;
	r = cno_create(&cno->core, &config);
	if (r)
		goto free_handle;
	r = dapl_object_attach(&cno->obj);
	if (r) {
		dapl_object_free_unattached(&cno->obj);
		(void)cno_free(dapl_cno_ref(cno), true); /* ends in dapl_cno_freed() */
		return r;
	}
	*out = cno;
	return 0;

free_handle:
	dapl_object_free_unattached(&cno->obj);
free_slot:
	dapl_slab_free(&dapl_cno_slab, cno);
	return r;
}

DAT_RETURN
dapl_cno_create(DAT_IA_HANDLE ia_handle, DAT_OS_WAIT_PROXY_AGENT agent, DAT_CNO_HANDLE *cno_handle)
{
	DAPL_UNCANCELLED;
	struct dapl_ia *ia = dapl_ia_enter(ia_handle);
	struct dapl_cno *cno;
	int r;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	r = cno_handle ? dapl_cno_create_object(ia, agent, false, &cno) : -EINVAL;
	if (!r)
		*cno_handle = cno->obj.handle;
	dapl_ia_leave(ia);
	if (!cno_handle)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	return r ? dapl_err_resource("dat_cno_create", r, DAT_RESOURCE_MEMORY) : DAT_SUCCESS;
}

DAT_RETURN
dapl_cno_fd_create(DAT_IA_HANDLE ia_handle, DAT_FD *fd, DAT_CNO_HANDLE *cno_handle)
{
	DAPL_UNCANCELLED;
	const DAT_OS_WAIT_PROXY_AGENT no_agent = { NULL, NULL };
	struct dapl_ia *ia = dapl_ia_enter(ia_handle);
	DAT_RETURN ret = DAT_SUCCESS;
	struct dapl_cno *cno;
	int r;

	if (!ia)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_IA);
	if (!fd || !cno_handle) {
		ret = DAT_ERROR(DAT_INVALID_PARAMETER, fd ? DAT_INVALID_ARG3 : DAT_INVALID_ARG2);
		goto leave;
	}
	r = dapl_cno_create_object(ia, no_agent, true, &cno);
	if (r) {
		ret = dapl_err_resource("dat_cno_fd_create", r, DAT_RESOURCE_MEMORY);
		goto leave;
	}
	*fd = cno_fd(&cno->core);
	*cno_handle = cno->obj.handle;
leave:
	dapl_ia_leave(ia);
	return ret;
}

struct dapl_cno *
dapl_cno_attach(DAT_CNO_HANDLE handle, const struct dapl_ia *ia)
{
	struct dapl_cno *cno = dapl_object_get(handle, DAPL_KIND_CNO, &ia->parent);

	if (cno && cno_attach_evd(dapl_cno_ref(cno))) {
		dapl_object_put(&cno->obj);
		return NULL;
	}
	return cno;
}

void
dapl_cno_detach(struct dapl_cno *cno)
{
	cno_detach_evd(&cno->core);
	dapl_object_put(&cno->obj);
}

DAT_RETURN
dapl_cno_modify_agent(DAT_CNO_HANDLE handle, DAT_OS_WAIT_PROXY_AGENT agent)
{
	DAPL_UNCANCELLED;
	struct dapl_cno *cno = dapl_object_lock_handle(handle, DAPL_KIND_CNO);
	int r;

	if (!cno)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	/* A CNO has one proxy; that of a CNO with a descriptor is the descriptor. */
	r = agent.proxy_agent_func && cno_fd(&cno->core) >= 0 ?
		-EINVAL :
		cno_modify_agent(dapl_cno_ref(cno),
		    (struct cno_agent){ agent.instance_data, agent.proxy_agent_func });
	dapl_object_unlock(&cno->obj);
	if (r == -EINVAL)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG1);
	return r ? DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO) : DAT_SUCCESS;
}

DAT_RETURN
dapl_cno_query(DAT_CNO_HANDLE handle, DAT_CNO_PARAM_MASK mask, DAT_CNO_PARAM *param)
{
	DAPL_UNCANCELLED;
	struct dapl_cno *cno = dapl_object_lock_handle(handle, DAPL_KIND_CNO);
	struct cno_agent agent = { 0 };
	DAT_RETURN ret;
	struct dapl_ia *ia;
	int fd;

	if (!cno)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	ia = dapl_ia_of(&cno->obj);
	fd = cno_fd(&cno->core);
	(void)cno_query(dapl_cno_ref(cno), &agent);
	dapl_object_unlock(&cno->obj);
	ret = dapl_err_query((unsigned int)mask <= DAT_CNO_FIELD_ALL, param);
	if (ret != DAT_SUCCESS)
		return ret;
	*param = (DAT_CNO_PARAM){
		.ia_handle = dapl_registry_ia_handle(ia->self),
		.proxy_type = agent.function ? DAT_PROXY_TYPE_AGENT : DAT_PROXY_TYPE_NONE,
		.proxy.agent = { agent.instance, agent.function },
	};
	if (fd >= 0) {
		param->proxy_type = DAT_PROXY_TYPE_FD;
		param->proxy.fd = fd;
	}
	return DAT_SUCCESS;
}

/* Does not lock the object: cno_wait() compares the serial number. */
DAT_RETURN
dapl_cno_wait(DAT_CNO_HANDLE handle, DAT_TIMEOUT timeout, DAT_EVD_HANDLE *evd)
{
	DAPL_CANCEL_POINT;
	DAT_EVD_HANDLE found;
	uint64_t serial;
	struct dapl_cno *cno = dapl_handle_object(handle, DAPL_KIND_CNO, &serial);
	int r;

	if (!cno)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	if (!evd)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG3);
	r = cno_wait((struct cno_ref){ &cno->core, serial }, timeout, &found);
	if (r == 0 || r == -ETIMEDOUT || r == -ECANCELED)
		*evd = found;
	return r ? dapl_err_cno_wait(r) : DAT_SUCCESS;
}

DAT_RETURN
dapl_cno_trigger(DAT_CNO_HANDLE handle, DAT_EVD_HANDLE *evd)
{
	struct dapl_cno *cno = dapl_object_lock_handle(handle, DAPL_KIND_CNO);
	int r;

	if (!cno)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	r = evd ? cno_trigger(dapl_cno_ref(cno), evd) : 0;
	dapl_object_unlock(&cno->obj);
	return evd ? dapl_err_cno_trigger(r) : DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
}

/* Does not lock the object, as dapl_cno_wait(). */
DAT_RETURN
dapl_cno_trywait(DAT_CNO_HANDLE handle, DAT_EVD_HANDLE *evd)
{
	uint64_t serial;
	struct dapl_cno *cno = dapl_handle_object(handle, DAPL_KIND_CNO, &serial);

	if (!cno)
		return DAT_ERROR(DAT_INVALID_HANDLE, DAT_INVALID_HANDLE_CNO);
	if (!evd)
		return DAT_ERROR(DAT_INVALID_PARAMETER, DAT_INVALID_ARG2);
	return dapl_err_cno_trigger(cno_trywait((struct cno_ref){ &cno->core, serial }, evd));
}

void
dapl_cno_set_closing(struct dapl_object *obj)
{
	struct dapl_cno *cno = (void *)obj;

	cno_set_closing(dapl_cno_ref(cno));
}

bool
dapl_cno_is_left(const struct dapl_object *obj)
{
	struct dapl_cno *cno = (void *)(uintptr_t)obj;

	return cno_is_left_to_closer((struct cno_ref){ &cno->core, obj->serial });
}

bool
dapl_cno_await_others(struct dapl_object *obj, uint64_t serial)
{
	struct dapl_cno *cno = (void *)obj;

	return cno_await_others((struct cno_ref){ &cno->core, serial });
}

/* A close ignores waiters and does not wait for the agent. */
static int
dapl_cno_free_object(DAT_HANDLE handle, bool closing) DAPL_NO_LOCK
{
	struct dapl_cno *cno = dapl_object_lock_handle(handle, DAPL_KIND_CNO);
	struct cno_ref ref;

	if (!cno)
		return -ENODEV;
	ref = dapl_cno_ref(cno);
	if (cno->obj.refs || (!closing && cno_begin_free(ref))) {
		dapl_object_unlock(&cno->obj);
		return -EBUSY;
	}
	dapl_object_free_locked(&cno->obj);
	dapl_object_unlock(&cno->obj);
	(void)(closing ? cno_free_nowait(ref) : cno_free(ref, true));
	return 0;
}

int
dapl_cno_free_by_handle(DAT_HANDLE handle)
{
	return dapl_cno_free_object(handle, true);
}

DAT_RETURN
dapl_cno_free(DAT_CNO_HANDLE handle)
{
	DAPL_UNCANCELLED;

	return dapl_err_free(dapl_cno_free_object(handle, false), DAT_INVALID_STATE_CNO_IN_USE,
	    DAT_INVALID_HANDLE_CNO);
}

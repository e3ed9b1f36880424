/* SPDX-License-Identifier: BSD-3-Clause */
/* EVDs, CNOs and upcalls. */
#include "api.h"

#include <poll.h>

static DAT_EVD_HANDLE
software_evd(struct dt_pair *p)
{
	return dt_evd(&p->a, DAT_EVD_SOFTWARE_FLAG, 8);
}

static DAT_RETURN
evd_create(struct dt_pair *p)
{
	DAT_EVD_HANDLE evd;

	return dat_evd_create(p->a.ia, 8, DAT_HANDLE_NULL, DAT_EVD_DEFAULT_FLAG, &evd);
}

static DAT_RETURN
evd_query(struct dt_pair *p)
{
	DAT_EVD_PARAM param;

	API_NEED(dat_evd_query(p->a.recv, DAT_EVD_FIELD_ALL, &param));
	ck_assert_ptr_eq(param.ia_handle, p->a.ia);
	return DAT_SUCCESS;
}

static DAT_RETURN
evd_modify_cno(struct dt_pair *p)
{
	const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };
	DAT_CNO_HANDLE cno;

	API_NEED(dat_cno_create(p->a.ia, none, &cno));
	return dat_evd_modify_cno(p->a.recv, cno);
}

static DAT_RETURN
evd_enable(struct dt_pair *p)
{
	return dat_evd_enable(p->a.recv);
}

static DAT_RETURN
evd_disable(struct dt_pair *p)
{
	return dat_evd_disable(p->a.recv);
}

static DAT_RETURN
evd_wait(struct dt_pair *p)
{
	DAT_EVD_HANDLE evd = software_evd(p);
	DAT_EVENT event;
	DAT_COUNT more;

	dt_post_se(evd, 5);
	API_NEED(dat_evd_wait(evd, DAT_TIMEOUT_INFINITE, 1, &event, &more));
	ck_assert_uint_eq((uintptr_t)event.event_data.software_event_data.pointer, 5);
	return DAT_SUCCESS;
}

static DAT_RETURN
evd_resize(struct dt_pair *p)
{
	return dat_evd_resize(p->a.recv, 100);
}

static DAT_RETURN
evd_post_se(struct dt_pair *p)
{
	const DAT_EVENT event = { .event_number = DAT_SOFTWARE_EVENT };

	return dat_evd_post_se(software_evd(p), &event);
}

static DAT_RETURN
evd_dequeue(struct dt_pair *p)
{
	DAT_EVD_HANDLE evd = software_evd(p);
	DAT_EVENT event;

	dt_post_se(evd, 5);
	return dat_evd_dequeue(evd, &event);
}

static DAT_RETURN
evd_free(struct dt_pair *p)
{
	return dat_evd_free(software_evd(p));
}

static DAT_RETURN
evd_set_unwaitable(struct dt_pair *p)
{
	return dat_evd_set_unwaitable(p->a.recv);
}

static DAT_RETURN
evd_clear_unwaitable(struct dt_pair *p)
{
	return dat_evd_clear_unwaitable(p->a.recv);
}

/* ---- CNOs ---- */

static DAT_RETURN
make_cno(struct dt_pair *p, DAT_CNO_HANDLE *cno)
{
	const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };

	return dat_cno_create(p->a.ia, none, cno);
}

static DAT_RETURN
cno_create(struct dt_pair *p)
{
	DAT_CNO_HANDLE cno;

	return make_cno(p, &cno);
}

static DAT_RETURN
cno_modify_agent(struct dt_pair *p)
{
	const DAT_OS_WAIT_PROXY_AGENT none = { NULL, NULL };
	DAT_CNO_HANDLE cno;

	API_NEED(make_cno(p, &cno));
	return dat_cno_modify_agent(cno, none);
}

static DAT_RETURN
cno_query(struct dt_pair *p)
{
	DAT_CNO_PARAM param;
	DAT_CNO_HANDLE cno;

	API_NEED(make_cno(p, &cno));
	return dat_cno_query(cno, DAT_CNO_FIELD_ALL, &param);
}

static DAT_RETURN
cno_free(struct dt_pair *p)
{
	DAT_CNO_HANDLE cno;

	API_NEED(make_cno(p, &cno));
	return dat_cno_free(cno);
}

static DAT_RETURN
trigger_cno(struct dt_pair *p, DAT_CNO_HANDLE cno, DAT_EVD_HANDLE *evd)
{
	API_NEED(dat_evd_create(p->a.ia, 8, cno, DAT_EVD_SOFTWARE_FLAG, evd));
	dt_post_se(*evd, 5);
	return DAT_SUCCESS;
}

static DAT_RETURN
cno_wait(struct dt_pair *p)
{
	DAT_EVD_HANDLE evd, found;
	DAT_CNO_HANDLE cno;

	API_NEED(make_cno(p, &cno));
	API_NEED(trigger_cno(p, cno, &evd));
	API_NEED(dat_cno_wait(cno, DAT_TIMEOUT_INFINITE, &found));
	ck_assert_ptr_eq(found, evd);
	return DAT_SUCCESS;
}

static DAT_RETURN
cno_fd_create(struct dt_pair *p)
{
	DAT_CNO_HANDLE cno;
	DAT_FD fd;

	return dat_cno_fd_create(p->a.ia, &fd, &cno);
}

static DAT_RETURN
cno_trigger(struct dt_pair *p)
{
	DAT_EVD_HANDLE evd, found;
	struct pollfd fd = { .events = POLLIN };
	DAT_CNO_HANDLE cno;

	API_NEED(dat_cno_fd_create(p->a.ia, &fd.fd, &cno));
	API_NEED(trigger_cno(p, cno, &evd));
	ck_assert_int_eq(poll(&fd, 1, DT_FOREVER_MS), 1);
	API_NEED(dat_cno_trigger(cno, &found));
	ck_assert_ptr_eq(found, evd);
	return DAT_SUCCESS;
}

static DAT_RETURN
cno_trywait(struct dt_pair *p)
{
	DAT_EVD_HANDLE evd, found;
	DAT_CNO_HANDLE cno;
	DAT_FD fd;

	API_NEED(dat_cno_fd_create(p->a.ia, &fd, &cno));
	API_NEED(trigger_cno(p, cno, &evd));
	while (dat_cno_trywait(cno, &found) != DAT_SUCCESS)
		dt_nap_ms(1);
	API_NEED(dat_cno_trywait(cno, &found)); /* the event was not dequeued */
	ck_assert_ptr_eq(found, evd);
	return DAT_SUCCESS;
}

/* ---- upcalls ---- */

static DAT_RETURN
make_upcall_evd(struct dt_pair *p, _Atomic(int) *calls, DAT_EVD_HANDLE *evd)
{
	const DAT_UPCALL_OBJECT object = { calls, dt_count_call };

	return dat_evd_kcreate(
	    p->a.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_SOFTWARE_FLAG, evd);
}

static DAT_RETURN
evd_kcreate(struct dt_pair *p)
{
	static _Atomic(int) calls;
	DAT_EVD_HANDLE evd;

	calls = 0;
	API_NEED(make_upcall_evd(p, &calls, &evd));
	dt_post_se(evd, 5);
	dt_await_count(&calls, 1);
	return DAT_SUCCESS;
}

static DAT_RETURN
evd_modify_upcall(struct dt_pair *p)
{
	return dat_evd_modify_upcall(
	    p->a.recv, DAT_UPCALL_DISABLE, DAT_UPCALL_SAME, DAT_UPCALL_INVOC_ANY);
}

static DAT_RETURN
evd_modify_upcall_array(struct dt_pair *p)
{
	return dat_evd_modify_upcall_array(
	    p->a.recv, DAT_UPCALL_DISABLE, DAT_UPCALL_ARRAY_SAME, DAT_UPCALL_INVOC_ANY);
}

static DAT_RETURN
evd_dequeue_n(struct dt_pair *p)
{
	DAT_EVD_HANDLE evd = software_evd(p);
	DAT_EVENT events[4];
	DAT_COUNT n;

	dt_post_se(evd, 5);
	return dat_evd_dequeue_n(evd, 4, events, &n);
}

static DAT_RETURN
evd_query_upcall_counters(struct dt_pair *p)
{
	struct dat_rearm_evd_counters counters;

	return dat_evd_query_upcall_counters(p->a.recv, &counters);
}

const struct api_call api_evd_calls[] = {
	{ "evd_create", evd_create },
	{ "evd_query", evd_query },
	{ "evd_modify_cno", evd_modify_cno },
	{ "evd_enable", evd_enable },
	{ "evd_disable", evd_disable },
	{ "evd_wait", evd_wait },
	{ "evd_resize", evd_resize },
	{ "evd_post_se", evd_post_se },
	{ "evd_dequeue", evd_dequeue },
	{ "evd_free", evd_free },
	{ "evd_set_unwaitable", evd_set_unwaitable },
	{ "evd_clear_unwaitable", evd_clear_unwaitable },
	{ "cno_create", cno_create },
	{ "cno_modify_agent", cno_modify_agent },
	{ "cno_query", cno_query },
	{ "cno_free", cno_free },
	{ "cno_wait", cno_wait },
	{ "cno_fd_create", cno_fd_create },
	{ "cno_trigger", cno_trigger },
	{ "evd_kcreate", evd_kcreate },
	{ "evd_modify_upcall", evd_modify_upcall },
	{ "evd_modify_upcall_array", evd_modify_upcall_array },
	{ "evd_dequeue_n", evd_dequeue_n },
	{ "evd_query_upcall_counters", evd_query_upcall_counters },
	{ "cno_trywait", cno_trywait },
	{ NULL, NULL },
};

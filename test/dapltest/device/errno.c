/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Each call that the provider makes to libibverbs or librdmacm fails with each errno that
 * doc/errno.md lists: the call of DAT returns the code that stands there, has done nothing, and
 * works when it is made again.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_log.h>

#include "fault/fault.h"
#include "device.h"

#define LINES_MAX 512
#define ERRNO_MAX 134
#define NOT_LISTED ERFKILL /* an errno that the page has nowhere */

static struct line {
	char device_call[40], dat_call[40], code[64];
	int error;
} lines[LINES_MAX];
static int n_lines;

static struct dt_pair pair;
static DAT_SRQ_HANDLE srq;
static DAT_CONN_QUAL port;
static DAT_CR_HANDLE request;

/* ---- the page ---- */

static int
errno_named(const char *name)
{
	for (int e = 1; e < ERRNO_MAX; e++) {
		const char *its = strerrorname_np(e);

		if (its && strcmp(its, name) == 0)
			return e;
	}
	return 0;
}

/* A row: | `ERRNO` | `dat_call` CODE<br>`dat_call` CODE | who returns it | */
static void
read_row(const char *device_call, char *row)
{
	char name[40], *at;
	struct line *l;

	if (sscanf(row, "| `%39[A-Z0-9]` |", name) != 1)
		return;
	at = strchr(row + 1, '|');
	while ((at = strstr(at, "`dat_")) != NULL && n_lines < LINES_MAX) {
		l = &lines[n_lines++];
		snprintf(l->device_call, sizeof l->device_call, "%s", device_call);
		l->error = errno_named(name);
		if (sscanf(at, "`%39[a-z_]` %63[A-Z0-9_/]", l->dat_call, l->code) != 2)
			n_lines = LINES_MAX; /* found out below */
		at++;
	}
}

static void
read_page(void)
{
	char row[2048], call[40] = "";
	FILE *page = fopen(ERRNO_PAGE, "r");

	if (!page)
		return;
	while (fgets(row, sizeof row, page))
		if (sscanf(row, "## %39[a-z_]", call) != 1)
			read_row(call, row);
	fclose(page);
}

/* How many lines the page has. */
static int
page_lines(void)
{
	if (n_lines == 0)
		read_page();
	return n_lines;
}

/* The first line of the call of the device with this number; NULL behind the last. */
static const struct line *
line_of_call(int call)
{
	for (int i = 0; i < page_lines(); i++)
		if ((i == 0 || strcmp(lines[i].device_call, lines[i - 1].device_call) != 0) &&
		    call-- == 0)
			return &lines[i];
	return NULL;
}

static int
page_calls(void)
{
	int n = 0;

	while (line_of_call(n))
		n++;
	return n;
}

/* ---- the calls of DAT ---- */

static DAT_RETURN
make_ia_open(void)
{
	DAT_EVD_HANDLE async = DAT_HANDLE_NULL;
	DAT_IA_HANDLE ia;
	DAT_RETURN ret = dat_ia_open((DAT_NAME_PTR)(uintptr_t) "faulty", 8, &async, &ia);

	if (ret == DAT_SUCCESS)
		dt_close(ia);
	return ret;
}

static DAT_RETURN
make_psp_create(void)
{
	DAT_PSP_HANDLE psp;

	return dat_psp_create(pair.a.ia, port, pair.a.cr, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN
make_psp_create_any(void)
{
	DAT_PSP_HANDLE psp;
	DAT_CONN_QUAL any;

	return dat_psp_create_any(pair.a.ia, &any, pair.a.cr, DAT_PSP_CONSUMER_FLAG, &psp);
}

static DAT_RETURN
make_rsp_create(void)
{
	DAT_RSP_HANDLE rsp;

	return dat_rsp_create(pair.a.ia, port, pair.a.ep, pair.a.cr, &rsp);
}

static DAT_RETURN
make_csp_create(void)
{
	struct sockaddr_in at = *(struct sockaddr_in *)dt_address(pair.a.ia);
	DAT_COMM comm = { .domain = AF_INET, .type = SOCK_STREAM };
	DAT_CSP_HANDLE csp;

	at.sin_port = htons((uint16_t)port);
	return dat_csp_create(
	    pair.a.ia, &comm, (DAT_IA_ADDRESS_PTR)(struct sockaddr *)&at, pair.a.cr, &csp);
}

static DAT_RETURN
make_ep_connect(void)
{
	return dat_ep_connect(pair.a.ep, dt_address(pair.a.ia), port, DAT_TIMEOUT_INFINITE, 0, NULL,
	    DAT_QOS_BEST_EFFORT, DAT_CONNECT_DEFAULT_FLAG);
}

static DAT_RETURN
make_evd_create(void)
{
	DAT_EVD_HANDLE evd;

	return dat_evd_create(pair.a.ia, 4, DAT_HANDLE_NULL, DAT_EVD_DTO_FLAG, &evd);
}

static DAT_RETURN
make_evd_resize(void)
{
	return dat_evd_resize(pair.a.recv, 5000);
}

static DAT_RETURN
make_pz_create(void)
{
	DAT_PZ_HANDLE pz;

	return dat_pz_create(pair.a.ia, &pz);
}

static DAT_RETURN
make_ep_create(void)
{
	DAT_EP_HANDLE ep;

	return dat_ep_create(
	    pair.a.ia, pair.a.pz, pair.a.recv, pair.a.request, pair.a.connect, NULL, &ep);
}

static DAT_RETURN
make_ep_reset(void)
{
	return dat_ep_reset(pair.a.ep);
}

static DAT_RETURN
make_srq_create(void)
{
	DAT_SRQ_ATTR attr = { 4, 1, DAT_SRQ_LW_DEFAULT };
	DAT_SRQ_HANDLE made;

	return dat_srq_create(pair.a.ia, pair.a.pz, &attr, &made);
}

static DAT_RETURN
make_srq_resize(void)
{
	return dat_srq_resize(srq, 40);
}

static DAT_RETURN
make_srq_set_lw(void)
{
	return dat_srq_set_lw(srq, 2);
}

static DAT_RETURN
make_srq_post_recv(void)
{
	DAT_LMR_TRIPLET iov = dt_local(&pair.a, 0, 8);

	return dat_srq_post_recv(srq, 1, &iov, dt_cookie(1));
}

static DAT_RETURN
make_rmr_create(void)
{
	DAT_RMR_HANDLE rmr;

	return dat_rmr_create(pair.a.pz, &rmr);
}

static DAT_RETURN
make_lmr_create(void)
{
	DAT_REGION_DESCRIPTION region = { .for_va = pair.a.buffer };
	DAT_LMR_HANDLE lmr;

	return dat_lmr_create(pair.a.ia, DAT_MEM_TYPE_VIRTUAL, region, DT_BUFFER, pair.a.pz,
	    DAT_MEM_PRIV_ALL_FLAG, DAT_VA_TYPE_VA, &lmr, NULL, NULL, NULL, NULL);
}

static DAT_RETURN
make_ep_post_recv(void)
{
	return dt_try_recv(&pair.a, 0, 8, 1);
}

static DAT_RETURN
make_ep_post_send(void)
{
	return dt_try_send(&pair.a, 0, 8, 1, DAT_COMPLETION_DEFAULT_FLAG);
}

static DAT_RETURN
make_cr_accept(void)
{
	return dat_cr_accept(request, pair.b.ep, 0, NULL);
}

/* ---- what they need ---- */

static void
open_side(void)
{
	DAT_PSP_HANDLE psp;

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	pair.a.cr = dt_evd(&pair.a, DAT_EVD_CR_FLAG, 4);
	/* A port that was free a moment ago. */
	dt_ok(dat_psp_create_any(pair.a.ia, &port, pair.a.cr, DAT_PSP_CONSUMER_FLAG, &psp));
	dt_ok(dat_psp_free(psp));
}

static void
open_side_with_srq(void)
{
	DAT_SRQ_ATTR attr = { 8, 1, DAT_SRQ_LW_DEFAULT };

	open_side();
	dt_ok(dat_srq_create(pair.a.ia, pair.a.pz, &attr, &srq));
}

static void
open_disconnected(void)
{
	open_side();
	dt_ok(make_ep_connect());
	dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_NON_PEER_REJECTED, pair.a.ep);
	ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
}

static void
open_connected(void)
{
	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_side_listen(&pair.b);
	dt_connect_pair(&pair);
	dt_recv(&pair.b, 0, 8, 1);
	dt_recv(&pair.b, 8, 8, 2);
}

/* Two datagram endpoints, one of which has asked the other. */
static void
open_datagrams(void)
{
	DAT_EP_ATTR attr = { .service_type = (DAT_SERVICE_TYPE)DAT_IB_SERVICE_TYPE_UD,
		.max_recv_dtos = 4,
		.max_request_dtos = 4,
		.max_recv_iov = 1,
		.max_request_iov = 1 };

	dt_side_open(&pair.a, "faulty", DT_SEPARATE);
	dt_side_open(&pair.b, "faulty", DT_SEPARATE);
	dt_ok(dat_ep_free(pair.a.ep));
	dt_ok(dat_ep_free(pair.b.ep));
	pair.a.ep = dt_ep(&pair.a, &attr);
	pair.b.ep = dt_ep(&pair.b, &attr);
	dt_side_listen(&pair.b);
	dt_connect(&pair.a, &pair.b, NULL, 0);
	request = dt_datagram_request(&pair.b);
}

static const struct attempt {
	const char *dat_call;
	void (*open)(void); /* NULL: nothing */
	DAT_RETURN (*make)(void);
} attempts[] = {
	{ "dat_ia_open", NULL, make_ia_open },
	{ "dat_psp_create", open_side, make_psp_create },
	{ "dat_psp_create_any", open_side, make_psp_create_any },
	{ "dat_rsp_create", open_side, make_rsp_create },
	{ "dat_csp_create", open_side, make_csp_create },
	{ "dat_ep_connect", open_side, make_ep_connect },
	{ "dat_evd_create", open_side, make_evd_create },
	{ "dat_evd_resize", open_side, make_evd_resize },
	{ "dat_pz_create", open_side, make_pz_create },
	{ "dat_ep_create", open_side, make_ep_create },
	{ "dat_ep_reset", open_disconnected, make_ep_reset },
	{ "dat_srq_create", open_side, make_srq_create },
	{ "dat_srq_resize", open_side_with_srq, make_srq_resize },
	{ "dat_srq_set_lw", open_side_with_srq, make_srq_set_lw },
	{ "dat_srq_post_recv", open_side_with_srq, make_srq_post_recv },
	{ "dat_rmr_create", open_side, make_rmr_create },
	{ "dat_lmr_create", open_side, make_lmr_create },
	{ "dat_ep_post_recv", open_side, make_ep_post_recv },
	{ "dat_ep_post_send", open_connected, make_ep_post_send },
	{ "dat_cr_accept", open_datagrams, make_cr_accept },
};

/* ---- the test ---- */

/* Whether the name of the code, as the page has it, is that of the value. */
static bool
is_called(DAT_RETURN ret, const char *code)
{
	const char *major = "", *minor = "", *slash = strchr(code, '/');
	char name[80];

	(void)dat_strerror(ret, &major, &minor);
	snprintf(
	    name, sizeof name, "(%.*s)", (int)(slash ? slash - code : (int)strlen(code)), code);
	if (!strstr(major, name))
		return false;
	if (!slash)
		return DAT_GET_SUBTYPE(ret) == DAT_NO_SUBTYPE;
	snprintf(name, sizeof name, "_%s)", slash + 1);
	return strstr(minor, name) != NULL;
}

static const struct attempt *
attempt_of(const char *dat_call)
{
	for (size_t i = 0; i < sizeof attempts / sizeof attempts[0]; i++)
		if (strcmp(attempts[i].dat_call, dat_call) == 0)
			return &attempts[i];
	ck_abort_msg("%s of %s is not tried here", dat_call, ERRNO_PAGE);
	return NULL;
}

static void
close_all(void)
{
	if (pair.a.ia)
		dt_side_close(&pair.a);
	if (pair.b.ia)
		dt_side_close(&pair.b);
}

static char said[2048];

static void
note(DAT_PVOID context, DAT_LOG_LEVEL level, const char *text)
{
	const size_t used = strlen(said);

	(void)context;
	if (level == DAT_LOG_ERROR)
		snprintf(said + used, sizeof said - used, "%s\n", text);
}

DEVICE_CASE("errno:errno");

/* origin: out33.F05 */
TEST_LOOP(errno__each_line_of_the_page__has_its_code_and_leaves_nothing, page_lines())
{
	const struct line *l = &lines[_i];
	const struct attempt *attempt = attempt_of(l->dat_call);
	const char *major, *minor;
	DAT_RETURN ret;

	ck_assert_int_gt(l->error, 0);
	if (attempt->open)
		attempt->open();
	fault_call_fail(l->device_call, l->error);
	ret = attempt->make();
	fault_call_fail(NULL, 0);
	(void)dat_strerror(ret, &major, &minor);
	ck_assert_msg(is_called(ret, l->code), "%s: errno %d of %s: %s %s, not %s", l->dat_call,
	    l->error, l->device_call, major, minor, l->code);
	if (strcmp(l->dat_call, "dat_ep_reset") == 0) {
		/* What is posted meanwhile is flushed. */
		dt_ok(make_ep_post_recv());
		dt_expect_dto(pair.a.recv, pair.a.ep, 1, DAT_DTO_ERR_FLUSHED, &(DAT_EVENT){ 0 });
	}
	ret = attempt->make();
	/* Another program may have taken the port since. */
	if (DAT_GET_TYPE(ret) != DAT_CONN_QUAL_IN_USE && DAT_GET_TYPE(ret) != DAT_PORT_IN_USE)
		dt_ok(ret);
	close_all();
}

/*
 * What the call of DAT returns whose call of the device fails so, and says in `said`.  A device
 * that fails without an errno finds that of an earlier call.
 */
static DAT_RETURN
attempt_failing(const struct line *line, int error)
{
	const struct attempt *attempt = attempt_of(line->dat_call);
	DAT_RETURN ret;

	if (attempt->open)
		attempt->open();
	dt_ok(dat_rearm_set_log(note, NULL));
	fault_call_fail(line->device_call, error);
	errno = error == FAULT_SILENT ? NOT_LISTED : 0;
	ret = attempt->make();
	fault_call_fail(NULL, 0);
	dt_ok(dat_rearm_set_log(NULL, NULL));
	return ret;
}

/* origin: out33.F05 */
TEST_LOOP(errno__one_that_no_line_has__is_an_internal_error_with_its_number, page_calls())
{
	const struct line *line = line_of_call(_i);
	const DAT_RETURN ret = attempt_failing(line, NOT_LISTED);
	char number[40];

	/* A queue that cannot be longer serves as it is. */
	if (strcmp(line->dat_call, "dat_evd_resize") != 0) {
		dt_assert_ret(ret, DAT_ERROR(DAT_INTERNAL_ERROR, DAT_NO_SUBTYPE));
		snprintf(number, sizeof number, "errno %d,", NOT_LISTED);
		ck_assert_msg(strstr(said, number) != NULL, "%s", said);
	}
	close_all();
}

/* What it returns is the error, and errno says nothing. */
static bool
returns_errno(const char *device_call)
{
	return strncmp(device_call, "ibv_modify_", 11) == 0 ||
	       strncmp(device_call, "ibv_query_", 10) == 0 ||
	       strncmp(device_call, "ibv_post_", 9) == 0;
}

/* What a call is taken for that fails without an errno: those that make nothing lack nothing. */
static int
silence_of(const char *device_call)
{
	return strncmp(device_call, "rdma_", 5) == 0 ? EIO : ENOMEM;
}

/* Whether it is the first line of these two calls. */
static bool
is_first_of_pair(int i)
{
	for (int j = 0; j < i; j++)
		if (strcmp(lines[j].device_call, lines[i].device_call) == 0 &&
		    strcmp(lines[j].dat_call, lines[i].dat_call) == 0)
			return false;
	return true;
}

TEST_LOOP(errno__device_fails_without_one__is_told_as_a_want_or_a_failure, page_lines())
{
	const struct line *line = &lines[_i];
	char of_silence[sizeof said];
	DAT_RETURN silent;

	/* A queue that cannot be longer serves as it is. */
	if (!is_first_of_pair(_i) || returns_errno(line->device_call) ||
	    strcmp(line->dat_call, "dat_evd_resize") == 0)
		return;
	silent = attempt_failing(line, FAULT_SILENT);
	memcpy(of_silence, said, sizeof said);
	said[0] = '\0';
	close_all();
	ck_assert_uint_eq(silent, attempt_failing(line, silence_of(line->device_call)));
	ck_assert_str_eq(of_silence, said);
	close_all();
}

/* The errno that was there before the call of DAT says nothing. */
TEST_LOOP(errno__device_fails_without_one__that_of_an_earlier_call_is_not_told, page_calls())
{
	const struct line *line = line_of_call(_i);
	const DAT_RETURN ret = attempt_failing(line, FAULT_SILENT);
	char number[40];

	snprintf(number, sizeof number, "errno %d,", NOT_LISTED);
	/* A queue that cannot be longer serves as it is. */
	if (strcmp(line->dat_call, "dat_evd_resize") != 0)
		ck_assert_uint_ne(ret, DAT_SUCCESS);
	ck_assert_msg(returns_errno(line->device_call) || strstr(said, number) == NULL, "%s", said);
	close_all();
}

/* ---- what the tables alone do not show ---- */

/* Another program listens at the wildcard address: cma_check_port() has another errno for that. */
/* origin: out33.F05 */
TEST(listen__port_that_is_taken_at_the_wildcard_address__is_in_use)
{
	open_side();
	fault_call_fail("rdma_bind_addr", EADDRNOTAVAIL);
	dt_assert_ret(make_psp_create(), DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE));
	dt_assert_ret(make_rsp_create(), DAT_ERROR(DAT_CONN_QUAL_IN_USE, DAT_NO_SUBTYPE));
	dt_assert_ret(make_csp_create(), DAT_ERROR(DAT_PORT_IN_USE, DAT_NO_SUBTYPE));
	dt_assert_ret(make_psp_create_any(), DAT_ERROR(DAT_CONN_QUAL_UNAVAILABLE, DAT_NO_SUBTYPE));
	close_all();
}

/* origin: out33.F8 */
TEST(reset__no_queue_pair_is_left__what_is_posted_is_flushed_until_there_is_one)
{
	const DAT_RETURN no_more = DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, DAT_RESOURCE_TEP);
	DAT_EVENT event;

	open_disconnected();
	fault_call_fail("ibv_create_qp", ENOMEM);
	for (int i = 0; i < 2; i++) {
		dt_assert_ret(make_ep_reset(), no_more);
		ck_assert_int_eq(dt_state(pair.a.ep), DAT_EP_STATE_DISCONNECTED);
		dt_recv(&pair.a, 0, 8, 1);
		dt_expect_dto(pair.a.recv, pair.a.ep, 1, DAT_DTO_ERR_FLUSHED, &event);
		dt_send(&pair.a, 0, 8, 2);
		dt_expect_dto(pair.a.request, pair.a.ep, 2, DAT_DTO_ERR_FLUSHED, &event);
	}
	fault_call_fail(NULL, 0);
	dt_ok(make_ep_reset());
	dt_recv(&pair.a, 0, 8, 3);
	dt_assert_stays_empty(pair.a.recv);
	close_all();
}

static const DAT_UPCALL_OBJECT upcall = { .upcall_func = dt_ignore };
static DAT_EVD_HANDLE single;

static DAT_RETURN
make_evd_kcreate_many(void)
{
	DAT_EVD_HANDLE evd;

	return dat_evd_kcreate(pair.a.ia, 4, DAT_UPCALL_MANY, &upcall, DAT_EVD_SOFTWARE_FLAG, &evd);
}

static void
open_single(void)
{
	open_side();
	dt_ok(dat_evd_kcreate(
	    pair.a.ia, 4, DAT_UPCALL_SINGLE_INSTANCE, &upcall, DAT_EVD_SOFTWARE_FLAG, &single));
}

static DAT_RETURN
make_modify_many(void)
{
	return dat_evd_modify_upcall(single, DAT_UPCALL_MANY, &upcall, DAT_UPCALL_INVOC_ANY);
}

static DAT_RETURN
make_cno_create(void)
{
	DAT_CNO_HANDLE cno;

	return dat_cno_create(pair.a.ia, DAT_OS_WAIT_PROXY_AGENT_NULL, &cno);
}

static DAT_RETURN
make_cno_fd_create(void)
{
	DAT_CNO_HANDLE cno;
	DAT_FD fd;

	return dat_cno_fd_create(pair.a.ia, &fd, &cno);
}

static const struct attempt further[] = {
	{ "dat_evd_kcreate", open_side, make_evd_kcreate_many },
	{ "dat_evd_modify_upcall", open_single, make_modify_many },
	{ "dat_cno_create", open_side, make_cno_create },
	{ "dat_cno_fd_create", open_side, make_cno_fd_create },
};
#define FURTHER ((int)(sizeof further / sizeof further[0]))
#define ATTEMPTS ((int)(sizeof attempts / sizeof attempts[0]))

/*
 * The call works, or the one line says what is missing, and the code has that subtype: then it
 * returns true.
 */
static bool
lacks(const struct attempt *attempt, DAT_RETURN_SUBTYPE subtype, const char *missing)
{
	DAT_RETURN ret;
	char *line;

	dt_ok(dat_rearm_set_log(note, NULL));
	ret = attempt->make();
	dt_ok(dat_rearm_set_log(NULL, NULL));
	if (ret == DAT_SUCCESS)
		return false;
	dt_assert_ret(ret, DAT_ERROR(DAT_INSUFFICIENT_RESOURCES, subtype));
	line = strstr(said, missing);
	ck_assert_msg(line != NULL, "%s: \"%s\"", attempt->dat_call, said);
	ck_assert_ptr_null(strstr(line + 1, missing));
	ck_assert_ptr_nonnull(strstr(said, attempt->dat_call));
	return true;
}

/* origin: out33.F4 */
TEST_TURNS(shortage__no_descriptor_is_left__each_call_says_so_in_one_line, 1, ATTEMPTS + FURTHER)
{
	const struct attempt *attempt = _i < ATTEMPTS ? &attempts[_i] : &further[_i - ATTEMPTS];
	struct rlimit limit, none;
	bool lacked;

	if (attempt->open)
		attempt->open();
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = (rlim_t)dup(STDOUT_FILENO);
	close((int)none.rlim_cur);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	lacked = lacks(attempt, DAT_NO_SUBTYPE, "no descriptor is left");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
	if (lacked)
		dt_ok(attempt->make());
	close_all();
}

/* origin: out33.F4 */
TEST_LOOP(shortage__no_thread_can_be_started__each_call_says_so_in_one_line, ATTEMPTS + FURTHER)
{
	const struct attempt *attempt = _i < ATTEMPTS ? &attempts[_i] : &further[_i - ATTEMPTS];
	bool lacked;

	if (attempt->open)
		attempt->open();
	fault_refuse_threads(EAGAIN);
	lacked = lacks(attempt, DAT_RESOURCE_MEMORY, "no thread can be started");
	fault_refuse_threads(0);
	if (lacked)
		dt_ok(attempt->make());
	close_all();
}

TEST(errno__the_page__was_read)
{
	ck_assert_int_gt(page_lines(), 100);
	ck_assert_int_lt(page_lines(), LINES_MAX);
	ck_assert_int_gt(page_calls(), 10);
}

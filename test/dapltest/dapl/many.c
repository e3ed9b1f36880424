/* SPDX-License-Identifier: BSD-3-Clause */
/* Much of something in one process: adapters one after the other, connections at the same time */
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/dt.h"

/* As "ulimit -n 50". */
static void
allow_50_descriptors(void)
{
	struct rlimit limit;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
	limit.rlim_cur = 50;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
}

DT_CASE("many:many", .seconds = 120);

/* clause: e.9.10 */
TEST(adapter__opened_and_closed_400_times__takes_no_more_descriptors)
{
	int before = 0;

	allow_50_descriptors();
	for (int i = 0; i < 400; i++) {
		struct dt_side side;

		if (i % 8) {
			dt_close(dt_open("soft", NULL));
		} else { /* with one of everything */
			dt_side_open(&side, "soft", DT_SEPARATE);
			dt_side_listen(&side);
			dt_side_close(&side);
		}
		if (i == 0)
			before = runner_count_fds(); /* the library is loaded */
	}
	ck_assert_int_eq(runner_count_fds(), before);
}

#define CONNECTIONS 2000

/* clause: e.9.10 */
TEST(connections__2000_in_one_process__all_work_and_all_end)
{
	static DAT_EP_HANDLE a[CONNECTIONS], b[CONNECTIONS];
	struct dt_pair pair;
	DAT_EVENT event;

	dt_pair_open(&pair, DT_SEPARATE);
	for (int i = 0; i < CONNECTIONS; i++) {
		a[i] = pair.a.ep = dt_ep(&pair.a, NULL);
		b[i] = pair.b.ep = dt_ep(&pair.b, NULL);
		dt_recv(&pair.b, 0, 64, (DAT_UINT64)i);
		dt_connect_pair(&pair);
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		pair.a.ep = a[i];
		dt_send(&pair.a, 0, 64, (DAT_UINT64)i);
		dt_expect_dto(pair.a.request, a[i], (DAT_UINT64)i, DAT_DTO_SUCCESS, &event);
		dt_expect_dto(pair.b.recv, b[i], (DAT_UINT64)i, DAT_DTO_SUCCESS, &event);
	}
	for (int i = 0; i < CONNECTIONS; i++) {
		dt_ok(dat_ep_disconnect(a[i], DAT_CLOSE_ABRUPT_FLAG));
		dt_expect_connection(pair.a.connect, DAT_CONNECTION_EVENT_DISCONNECTED, a[i]);
		dt_expect_connection(pair.b.connect, DAT_CONNECTION_EVENT_DISCONNECTED, b[i]);
	}
	dt_assert_empty(pair.a.connect);
	dt_assert_empty(pair.b.connect);
	for (int i = 0; i < CONNECTIONS; i++) {
		dt_ok(dat_ep_free(a[i]));
		dt_ok(dat_ep_free(b[i]));
	}
	pair.a.ep = pair.b.ep = DAT_HANDLE_NULL;
	dt_pair_close(&pair);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that are refused leave no lock of the provider locked or unlocked. */
#include "fault/fault.h"
#include "device.h"

static void
refused(DAT_RETURN ret, DAT_RETURN_TYPE type)
{
	dt_assert_type(ret, type);
	ck_assert_int_eq(fault_locks_held(), 0);
}

DEVICE_CASE("device-lock:lock");

/* origin: peer.32 */
/* clause: c.4.9, c.4.10, c.4.11 */
TEST(wait__refused__leaves_every_lock_as_it_was)
{
	DAT_UPCALL_OBJECT object = { NULL, dt_ignore };
	DAT_EVD_HANDLE evd, called;
	struct dt_side side;
	DAT_EVENT event;
	DAT_COUNT more;

	dt_side_open(&side, "faulty", DT_SEPARATE);
	evd = dt_evd(&side, DAT_EVD_DTO_FLAG | DAT_EVD_SOFTWARE_FLAG, 8);
	dt_ok(dat_evd_kcreate(
	    side.ia, 8, DAT_UPCALL_SINGLE_INSTANCE, &object, DAT_EVD_SOFTWARE_FLAG, &called));
	ck_assert_int_eq(fault_locks_held(), 0);
	refused(dat_evd_wait(side.ep, 0, 1, &event, &more), DAT_INVALID_HANDLE);
	refused(dat_evd_wait(evd, 0, 1, NULL, &more), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 1, &event, NULL), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 0, &event, &more), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 100000, &event, &more), DAT_INVALID_PARAMETER);
	refused(dat_evd_wait(evd, 0, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	refused(dat_evd_wait(evd, 1000, 1, &event, &more), DAT_TIMEOUT_EXPIRED);
	refused(dat_evd_wait(called, 0, 1, &event, &more), DAT_INVALID_STATE);
	dt_ok(dat_evd_set_unwaitable(evd));
	refused(dat_evd_wait(evd, 0, 1, &event, &more), DAT_INVALID_STATE);
	dt_ok(dat_evd_free(evd));
	refused(dat_evd_wait(evd, 0, 1, &event, &more), DAT_INVALID_HANDLE);
	dt_side_close(&side);
	ck_assert_int_eq(fault_locks_held(), 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/trace/name.h"
#include "fault.h"

void
fault_clear(void)
{
	static const struct fault_limits none;

	fault_channel_fail(0);
	fault_cq_overrun(0);
	fault_cq_refuse_arms(0);
	fault_cq_refuse_resize(false);
	fault_cq_refuse_poll(false);
	fault_cq_refuse_moderation(0);
	fault_cq_stop_periods(false);
	fault_cq_repeat(0);
	fault_cq_change(NULL);
	fault_qp_on_error(NULL);
	fault_qp_on_destroy(NULL);
	fault_qp_overlook_receives(false);
	fault_srq_on_modify(NULL);
	fault_srq_overlook_limit(false);
	fault_limit(&none);
	fault_device(NULL, NULL);
	fault_lack(0);
	fault_port_state(0);
	fault_other_device(false);
	fault_cm_refuse_channels(0);
	fault_cm_refuse_addresses(0);
	fault_is_soft(false);
	fault_refuse_threads(0);
	fault_call_fail(NULL, 0);
	fault_cm_answer_data(NULL, 0);
	fault_cm_replace(NULL);
	fault_cm_time_out(0);
	fault_cm_request_length(-1);
	fault_cm_request_family(0);
	fault_cm_starve_requests(0);
	fault_cm_answer_length(-1);
	fault_cm_release_rejection();
	fault_cm_on_listen(NULL);
	(void)fault_window_missed();
	(void)fault_memory_missed();
	fault_handles_refuse(false);
	fault_attach_refuse(false);
	fault_async_fail(0);
	fault_cm_fail_reads(0);
}

const char *
fault_name(uint32_t ret, bool type)
{
	return type ? dapl_name_return_type(ret) : dapl_name_return_subtype(ret);
}

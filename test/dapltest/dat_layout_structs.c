/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * dat_layout_structs -- size and offsets of every structure, and every slot of the provider table,
 * asserted by the compiler
 */
#include <stddef.h>

#include <dat2/udat.h>
#include <dat2/dat_registry.h>
#include <dat2/dat_ib_extensions.h>
#include <dat2/dat_upcall.h>

#ifdef __LP64__
#define SIZE(type, size) _Static_assert(sizeof(type) == (size), #type)
#define AT(offset, type, member) \
	_Static_assert(offsetof(type, member) == (offset), #type "." #member)
#define SLOT(index, member) AT((index) * sizeof(void *), DAT_PROVIDER, member)

SIZE(DAT_IA_ATTR, 688);
AT(0, DAT_IA_ATTR, adapter_name);
AT(256, DAT_IA_ATTR, vendor_name);
AT(512, DAT_IA_ATTR, hardware_version_major);
AT(516, DAT_IA_ATTR, hardware_version_minor);
AT(520, DAT_IA_ATTR, firmware_version_major);
AT(524, DAT_IA_ATTR, firmware_version_minor);
AT(528, DAT_IA_ATTR, ia_address_ptr);
AT(536, DAT_IA_ATTR, max_eps);
AT(540, DAT_IA_ATTR, max_dto_per_ep);
AT(544, DAT_IA_ATTR, max_rdma_read_per_ep_in);
AT(548, DAT_IA_ATTR, max_rdma_read_per_ep_out);
AT(552, DAT_IA_ATTR, max_evds);
AT(556, DAT_IA_ATTR, max_evd_qlen);
AT(560, DAT_IA_ATTR, max_iov_segments_per_dto);
AT(564, DAT_IA_ATTR, max_lmrs);
AT(568, DAT_IA_ATTR, max_lmr_block_size);
AT(576, DAT_IA_ATTR, max_lmr_virtual_address);
AT(584, DAT_IA_ATTR, max_pzs);
AT(588, DAT_IA_ATTR, max_message_size);
AT(592, DAT_IA_ATTR, max_rdma_size);
AT(596, DAT_IA_ATTR, max_rmrs);
AT(600, DAT_IA_ATTR, max_rmr_target_address);
AT(608, DAT_IA_ATTR, max_srqs);
AT(612, DAT_IA_ATTR, max_ep_per_srq);
AT(616, DAT_IA_ATTR, max_recv_per_srq);
AT(620, DAT_IA_ATTR, max_iov_segments_per_rdma_read);
AT(624, DAT_IA_ATTR, max_iov_segments_per_rdma_write);
AT(628, DAT_IA_ATTR, max_rdma_read_in);
AT(632, DAT_IA_ATTR, max_rdma_read_out);
AT(636, DAT_IA_ATTR, max_rdma_read_per_ep_in_guaranteed);
AT(640, DAT_IA_ATTR, max_rdma_read_per_ep_out_guaranteed);
AT(644, DAT_IA_ATTR, zb_supported);
AT(648, DAT_IA_ATTR, extension_supported);
AT(652, DAT_IA_ATTR, extension_version);
AT(656, DAT_IA_ATTR, num_transport_attr);
AT(664, DAT_IA_ATTR, transport_attr);
AT(672, DAT_IA_ATTR, num_vendor_attr);
AT(680, DAT_IA_ATTR, vendor_attr);

SIZE(DAT_PROVIDER_ATTR, 520);
AT(0, DAT_PROVIDER_ATTR, provider_name);
AT(256, DAT_PROVIDER_ATTR, provider_version_major);
AT(260, DAT_PROVIDER_ATTR, provider_version_minor);
AT(264, DAT_PROVIDER_ATTR, dapl_version_major);
AT(268, DAT_PROVIDER_ATTR, dapl_version_minor);
AT(272, DAT_PROVIDER_ATTR, lmr_mem_types_supported);
AT(276, DAT_PROVIDER_ATTR, iov_ownership_on_return);
AT(280, DAT_PROVIDER_ATTR, dat_qos_supported);
AT(284, DAT_PROVIDER_ATTR, completion_flags_supported);
AT(288, DAT_PROVIDER_ATTR, is_thread_safe);
AT(292, DAT_PROVIDER_ATTR, max_private_data_size);
AT(296, DAT_PROVIDER_ATTR, supports_multipath);
AT(300, DAT_PROVIDER_ATTR, ep_creator);
AT(304, DAT_PROVIDER_ATTR, pz_support);
AT(308, DAT_PROVIDER_ATTR, optimal_buffer_alignment);
AT(312, DAT_PROVIDER_ATTR, evd_stream_merging_supported);
AT(456, DAT_PROVIDER_ATTR, srq_supported);
AT(460, DAT_PROVIDER_ATTR, srq_watermarks_supported);
AT(464, DAT_PROVIDER_ATTR, srq_ep_pz_difference_supported);
AT(468, DAT_PROVIDER_ATTR, srq_info_supported);
AT(472, DAT_PROVIDER_ATTR, ep_recv_info_supported);
AT(476, DAT_PROVIDER_ATTR, lmr_sync_req);
AT(480, DAT_PROVIDER_ATTR, dto_async_return_guaranteed);
AT(484, DAT_PROVIDER_ATTR, rdma_write_for_rdma_read_req);
AT(488, DAT_PROVIDER_ATTR, rdma_read_lmr_rmr_context_exposure);
AT(492, DAT_PROVIDER_ATTR, rmr_scope_supported);
AT(496, DAT_PROVIDER_ATTR, is_signal_safe);
AT(500, DAT_PROVIDER_ATTR, ha_supported);
AT(504, DAT_PROVIDER_ATTR, ha_loadbalancing);
AT(508, DAT_PROVIDER_ATTR, num_provider_specific_attr);
AT(512, DAT_PROVIDER_ATTR, provider_specific_attr);

SIZE(DAT_EP_ATTR, 88);
AT(0, DAT_EP_ATTR, service_type);
AT(4, DAT_EP_ATTR, max_message_size);
AT(8, DAT_EP_ATTR, max_rdma_size);
AT(12, DAT_EP_ATTR, qos);
AT(16, DAT_EP_ATTR, recv_completion_flags);
AT(20, DAT_EP_ATTR, request_completion_flags);
AT(24, DAT_EP_ATTR, max_recv_dtos);
AT(28, DAT_EP_ATTR, max_request_dtos);
AT(32, DAT_EP_ATTR, max_recv_iov);
AT(36, DAT_EP_ATTR, max_request_iov);
AT(40, DAT_EP_ATTR, max_rdma_read_in);
AT(44, DAT_EP_ATTR, max_rdma_read_out);
AT(48, DAT_EP_ATTR, srq_soft_hw);
AT(52, DAT_EP_ATTR, max_rdma_read_iov);
AT(56, DAT_EP_ATTR, max_rdma_write_iov);
AT(60, DAT_EP_ATTR, ep_transport_specific_count);
AT(64, DAT_EP_ATTR, ep_transport_specific);
AT(72, DAT_EP_ATTR, ep_provider_specific_count);
AT(80, DAT_EP_ATTR, ep_provider_specific);

SIZE(DAT_EP_PARAM, 184);
AT(0, DAT_EP_PARAM, ia_handle);
AT(8, DAT_EP_PARAM, ep_state);
AT(12, DAT_EP_PARAM, comm);
AT(24, DAT_EP_PARAM, local_ia_address_ptr);
AT(32, DAT_EP_PARAM, local_port_qual);
AT(40, DAT_EP_PARAM, remote_ia_address_ptr);
AT(48, DAT_EP_PARAM, remote_port_qual);
AT(56, DAT_EP_PARAM, pz_handle);
AT(64, DAT_EP_PARAM, recv_evd_handle);
AT(72, DAT_EP_PARAM, request_evd_handle);
AT(80, DAT_EP_PARAM, connect_evd_handle);
AT(88, DAT_EP_PARAM, srq_handle);
AT(96, DAT_EP_PARAM, ep_attr);

SIZE(DAT_EVD_PARAM, 32);
AT(0, DAT_EVD_PARAM, ia_handle);
AT(8, DAT_EVD_PARAM, evd_qlen);
AT(12, DAT_EVD_PARAM, evd_state);
AT(16, DAT_EVD_PARAM, cno_handle);
AT(24, DAT_EVD_PARAM, evd_flags);

SIZE(DAT_CNO_PARAM, 32);
AT(0, DAT_CNO_PARAM, ia_handle);
AT(8, DAT_CNO_PARAM, proxy_type);
AT(16, DAT_CNO_PARAM, proxy);

SIZE(DAT_LMR_PARAM, 80);
AT(0, DAT_LMR_PARAM, ia_handle);
AT(8, DAT_LMR_PARAM, mem_type);
AT(16, DAT_LMR_PARAM, region_desc);
AT(32, DAT_LMR_PARAM, length);
AT(40, DAT_LMR_PARAM, pz_handle);
AT(48, DAT_LMR_PARAM, mem_priv);
AT(52, DAT_LMR_PARAM, va_type);
AT(56, DAT_LMR_PARAM, lmr_context);
AT(60, DAT_LMR_PARAM, rmr_context);
AT(64, DAT_LMR_PARAM, registered_size);
AT(72, DAT_LMR_PARAM, registered_address);

SIZE(DAT_RMR_PARAM, 48);
AT(0, DAT_RMR_PARAM, ia_handle);
AT(8, DAT_RMR_PARAM, pz_handle);
AT(16, DAT_RMR_PARAM, lmr_triplet);
AT(32, DAT_RMR_PARAM, mem_priv);
AT(36, DAT_RMR_PARAM, rmr_context);
AT(40, DAT_RMR_PARAM, rmr_scope);
AT(44, DAT_RMR_PARAM, va_type);

SIZE(DAT_PSP_PARAM, 32);
AT(0, DAT_PSP_PARAM, ia_handle);
AT(8, DAT_PSP_PARAM, conn_qual);
AT(16, DAT_PSP_PARAM, evd_handle);
AT(24, DAT_PSP_PARAM, psp_flags);

SIZE(DAT_RSP_PARAM, 32);
AT(0, DAT_RSP_PARAM, ia_handle);
AT(8, DAT_RSP_PARAM, conn_qual);
AT(16, DAT_RSP_PARAM, evd_handle);
AT(24, DAT_RSP_PARAM, ep_handle);

SIZE(DAT_CSP_PARAM, 32);
AT(0, DAT_CSP_PARAM, ia_handle);
AT(8, DAT_CSP_PARAM, comm);
AT(16, DAT_CSP_PARAM, address_ptr);
AT(24, DAT_CSP_PARAM, evd_handle);

SIZE(DAT_PZ_PARAM, 8);
AT(0, DAT_PZ_PARAM, ia_handle);

SIZE(DAT_CR_PARAM, 40);
AT(0, DAT_CR_PARAM, remote_ia_address_ptr);
AT(8, DAT_CR_PARAM, remote_port_qual);
AT(16, DAT_CR_PARAM, private_data_size);
AT(24, DAT_CR_PARAM, private_data);
AT(32, DAT_CR_PARAM, local_ep_handle);

SIZE(DAT_SRQ_ATTR, 12);
AT(0, DAT_SRQ_ATTR, max_recv_dtos);
AT(4, DAT_SRQ_ATTR, max_recv_iov);
AT(8, DAT_SRQ_ATTR, low_watermark);

SIZE(DAT_SRQ_PARAM, 48);
AT(0, DAT_SRQ_PARAM, ia_handle);
AT(8, DAT_SRQ_PARAM, srq_state);
AT(16, DAT_SRQ_PARAM, pz_handle);
AT(24, DAT_SRQ_PARAM, max_recv_dtos);
AT(28, DAT_SRQ_PARAM, max_recv_iov);
AT(32, DAT_SRQ_PARAM, low_watermark);
AT(36, DAT_SRQ_PARAM, available_dto_count);
AT(40, DAT_SRQ_PARAM, outstanding_dto_count);

SIZE(DAT_EVENT, 120);
AT(0, DAT_EVENT, event_number);
AT(8, DAT_EVENT, evd_handle);
AT(16, DAT_EVENT, event_data);
AT(56, DAT_EVENT, event_extension_data);

SIZE(DAT_DTO_COMPLETION_EVENT_DATA, 32);
AT(0, DAT_DTO_COMPLETION_EVENT_DATA, ep_handle);
AT(8, DAT_DTO_COMPLETION_EVENT_DATA, user_cookie);
AT(16, DAT_DTO_COMPLETION_EVENT_DATA, status);
AT(20, DAT_DTO_COMPLETION_EVENT_DATA, transfered_length);
AT(24, DAT_DTO_COMPLETION_EVENT_DATA, operation);
AT(28, DAT_DTO_COMPLETION_EVENT_DATA, rmr_context);

SIZE(DAT_RMR_BIND_COMPLETION_EVENT_DATA, 24);
AT(0, DAT_RMR_BIND_COMPLETION_EVENT_DATA, rmr_handle);
AT(8, DAT_RMR_BIND_COMPLETION_EVENT_DATA, user_cookie);
AT(16, DAT_RMR_BIND_COMPLETION_EVENT_DATA, status);

SIZE(DAT_CR_ARRIVAL_EVENT_DATA, 40);
AT(0, DAT_CR_ARRIVAL_EVENT_DATA, sp_handle);
AT(8, DAT_CR_ARRIVAL_EVENT_DATA, local_ia_address_ptr);
AT(16, DAT_CR_ARRIVAL_EVENT_DATA, conn_qual);
AT(24, DAT_CR_ARRIVAL_EVENT_DATA, cr_handle);
AT(32, DAT_CR_ARRIVAL_EVENT_DATA, truncate_flag);

SIZE(DAT_CONNECTION_EVENT_DATA, 24);
AT(0, DAT_CONNECTION_EVENT_DATA, ep_handle);
AT(8, DAT_CONNECTION_EVENT_DATA, private_data_size);
AT(16, DAT_CONNECTION_EVENT_DATA, private_data);

SIZE(DAT_ASYNCH_ERROR_EVENT_DATA, 16);
AT(0, DAT_ASYNCH_ERROR_EVENT_DATA, dat_handle);
AT(8, DAT_ASYNCH_ERROR_EVENT_DATA, reason);

SIZE(DAT_SOFTWARE_EVENT_DATA, 8);
AT(0, DAT_SOFTWARE_EVENT_DATA, pointer);

SIZE(DAT_LMR_TRIPLET, 16);
AT(0, DAT_LMR_TRIPLET, virtual_address);
AT(8, DAT_LMR_TRIPLET, segment_length);
AT(12, DAT_LMR_TRIPLET, lmr_context);

SIZE(DAT_RMR_TRIPLET, 16);
AT(0, DAT_RMR_TRIPLET, virtual_address);
AT(8, DAT_RMR_TRIPLET, segment_length);
AT(12, DAT_RMR_TRIPLET, rmr_context);

SIZE(DAT_SHARED_MEMORY, 16);
AT(0, DAT_SHARED_MEMORY, virtual_address);
AT(8, DAT_SHARED_MEMORY, shared_memory_id);

SIZE(DAT_REGION_DESCRIPTION, 16);
AT(0, DAT_REGION_DESCRIPTION, for_va);
AT(0, DAT_REGION_DESCRIPTION, for_lmr_handle);
AT(0, DAT_REGION_DESCRIPTION, for_shared_memory);

SIZE(DAT_NAMED_ATTR, 16);
AT(0, DAT_NAMED_ATTR, name);
AT(8, DAT_NAMED_ATTR, value);

SIZE(DAT_COMM, 12);
AT(0, DAT_COMM, domain);
AT(4, DAT_COMM, type);
AT(8, DAT_COMM, protocol);

SIZE(DAT_OS_WAIT_PROXY_AGENT, 16);
AT(0, DAT_OS_WAIT_PROXY_AGENT, instance_data);
AT(8, DAT_OS_WAIT_PROXY_AGENT, proxy_agent_func);

SIZE(DAT_PROVIDER_INFO, 268);
AT(0, DAT_PROVIDER_INFO, ia_name);
AT(256, DAT_PROVIDER_INFO, dapl_version_major);
AT(260, DAT_PROVIDER_INFO, dapl_version_minor);
AT(264, DAT_PROVIDER_INFO, is_thread_safe);

SIZE(DAT_IB_EXTENSION_EVENT_DATA, 64);
AT(0, DAT_IB_EXTENSION_EVENT_DATA, type);
AT(4, DAT_IB_EXTENSION_EVENT_DATA, status);
AT(8, DAT_IB_EXTENSION_EVENT_DATA, val);
AT(16, DAT_IB_EXTENSION_EVENT_DATA, remote_ah);
AT(56, DAT_IB_EXTENSION_EVENT_DATA, context);

SIZE(DAT_IB_ADDR_HANDLE, 40);
AT(0, DAT_IB_ADDR_HANDLE, ah);
AT(8, DAT_IB_ADDR_HANDLE, qpn);
AT(12, DAT_IB_ADDR_HANDLE, ia_addr);

SIZE(DAT_SP_HANDLE, 8);
AT(0, DAT_SP_HANDLE, rsp_handle);
AT(0, DAT_SP_HANDLE, psp_handle);
AT(0, DAT_SP_HANDLE, csp_handle);

SIZE(DAT_CONTEXT, 8);
AT(0, DAT_CONTEXT, as_ptr);
AT(0, DAT_CONTEXT, as_64);
AT(0, DAT_CONTEXT, as_index);

SIZE(DAT_PROVIDER, 648);
SLOT(0, device_name);
SLOT(1, extension);
SLOT(2, ia_open_func);
SLOT(3, ia_query_func);
SLOT(4, ia_close_func);
SLOT(5, set_consumer_context_func);
SLOT(6, get_consumer_context_func);
SLOT(7, get_handle_type_func);
SLOT(8, cno_create_func);
SLOT(9, cno_modify_agent_func);
SLOT(10, cno_query_func);
SLOT(11, cno_free_func);
SLOT(12, cno_wait_func);
SLOT(13, cr_query_func);
SLOT(14, cr_accept_func);
SLOT(15, cr_reject_func);
SLOT(16, cr_handoff_func);
SLOT(17, evd_create_func);
SLOT(18, evd_query_func);
SLOT(19, evd_modify_cno_func);
SLOT(20, evd_enable_func);
SLOT(21, evd_disable_func);
SLOT(22, evd_wait_func);
SLOT(23, evd_resize_func);
SLOT(24, evd_post_se_func);
SLOT(25, evd_dequeue_func);
SLOT(26, evd_free_func);
SLOT(27, ep_create_func);
SLOT(28, ep_query_func);
SLOT(29, ep_modify_func);
SLOT(30, ep_connect_func);
SLOT(31, ep_dup_connect_func);
SLOT(32, ep_disconnect_func);
SLOT(33, ep_post_send_func);
SLOT(34, ep_post_recv_func);
SLOT(35, ep_post_rdma_read_func);
SLOT(36, ep_post_rdma_write_func);
SLOT(37, ep_get_status_func);
SLOT(38, ep_free_func);
SLOT(39, lmr_create_func);
SLOT(40, lmr_query_func);
SLOT(41, lmr_free_func);
SLOT(42, rmr_create_func);
SLOT(43, rmr_query_func);
SLOT(44, rmr_bind_func);
SLOT(45, rmr_free_func);
SLOT(46, psp_create_func);
SLOT(47, psp_query_func);
SLOT(48, psp_free_func);
SLOT(49, rsp_create_func);
SLOT(50, rsp_query_func);
SLOT(51, rsp_free_func);
SLOT(52, pz_create_func);
SLOT(53, pz_query_func);
SLOT(54, pz_free_func);
SLOT(55, psp_create_any_func);
SLOT(56, ep_reset_func);
SLOT(57, evd_set_unwaitable_func);
SLOT(58, evd_clear_unwaitable_func);
SLOT(59, lmr_sync_rdma_read_func);
SLOT(60, lmr_sync_rdma_write_func);
SLOT(61, ep_create_with_srq_func);
SLOT(62, ep_recv_query_func);
SLOT(63, ep_set_watermark_func);
SLOT(64, srq_create_func);
SLOT(65, srq_free_func);
SLOT(66, srq_post_recv_func);
SLOT(67, srq_query_func);
SLOT(68, srq_resize_func);
SLOT(69, srq_set_lw_func);
SLOT(70, csp_create_func);
SLOT(71, csp_query_func);
SLOT(72, csp_free_func);
SLOT(73, ep_common_connect_func);
SLOT(74, rmr_create_for_ep_func);
SLOT(75, ep_post_send_with_invalidate_func);
SLOT(76, ep_post_rdma_read_to_rmr_func);
SLOT(77, cno_fd_create_func);
SLOT(78, cno_trigger_func);
SLOT(79, ia_ha_related_func);
SLOT(80, handle_extendedop_func);

SIZE(DAT_EVENT_DATA, 40);
SIZE(DAT_UPCALL_OBJECT, 16);
AT(0, DAT_UPCALL_OBJECT, instance_data);
AT(8, DAT_UPCALL_OBJECT, upcall_func);
SIZE(struct dat_rearm_evd_counters, 14 * 8);
#endif

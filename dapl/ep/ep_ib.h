/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ep_ib -- the extended operations of an InfiniBand endpoint
 */
#ifndef REARM_DAPL_EP_IB_H
#define REARM_DAPL_EP_IB_H

#include <stdarg.h>

#include <dat2/udat.h>

#include "dapl/object/lock.h"

/* Each reads its arguments from `args`; see dat_ib_extensions.h. */
DAT_RETURN dapl_ep_ib_fetch_and_add(DAT_EP_HANDLE ep, va_list args) DAPL_NO_LOCK;
DAT_RETURN dapl_ep_ib_cmp_and_swap(DAT_EP_HANDLE ep, va_list args) DAPL_NO_LOCK;
DAT_RETURN dapl_ep_ib_rdma_write_immed(DAT_EP_HANDLE ep, va_list args) DAPL_NO_LOCK;
DAT_RETURN dapl_ep_ib_ud_send(DAT_EP_HANDLE ep, va_list args) DAPL_NO_LOCK;
DAT_RETURN dapl_ep_ib_ud_cm_free(DAT_EP_HANDLE ep, va_list args) DAPL_NO_LOCK;
DAT_RETURN dapl_ep_ib_ud_ah_free(DAT_EP_HANDLE ep, va_list args) DAPL_NO_LOCK;

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The object in which the provider's two libraries differ, here for the software device. */
#include "dapl/ia/cq_arm_soft.c"

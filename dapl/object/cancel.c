/* SPDX-License-Identifier: BSD-3-Clause */
#include "dapl/object/cancel.h"

bool dapl_posts_may_cancel;

/* SPDX-License-Identifier: BSD-3-Clause */
#include "judge.h"

const struct soft_judge *soft_judge;

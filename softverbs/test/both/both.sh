#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# both.sh BOTH LOSES PORT-FILE: a server in the background and a client in front, as many test scripts start them.  BOTH is
# the program of both.c; LOSES is the end that loses a wake-up, or "none".
"$1" server "$3" "$2" &
"$1" client "$3" "$2"
status=$?
wait
exit $status

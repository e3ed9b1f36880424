/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * files -- the files of the devices, as programs look for them in /sys and /dev
 *
 * They lie in a folder beside the libraries (folder.h).  libsoftverbs-files.so, which is preloaded,
 * leads the program there from /sys/class/infiniband, /sys/class/infiniband_verbs,
 * /sys/class/infiniband_mad and /dev/infiniband.  README.md says why not by a mount.
 */
#ifndef SOFT_RUN_FILES_H
#define SOFT_RUN_FILES_H

#include "softverbs/device/topology.h"

/* Under the folder of SOFTVERBS_FILES the files have their own paths. */
#define SOFT_FILES_VARIABLE "SOFTVERBS_FILES"

/*
 * Makes the files of the topology beside `libraries`, a folder of this user, and sets the
 * environment of the program: false after a message.  `preloaded` is the path of
 * libsoftverbs-files.so.
 */
bool soft_files_show(
    const struct soft_topology *topology, const char *libraries, const char *preloaded);

#endif

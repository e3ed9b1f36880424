/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * log -- messages of the registry, selected by DAT_DBG_TYPE and DAT_DBG_DEST
 *
 * DAT_DBG_TYPE is a mask of the classes below (default: errors only).  DAT_DBG_DEST is a mask of 1
 * (standard output) and 2 (syslog); without it messages go to standard error.  Both are ignored in
 * a set-uid or otherwise privileged program.
 */
#ifndef REARM_DAT_LOG_H
#define REARM_DAT_LOG_H

enum log_class {
	LOG_ERRORS = 0x01,
	LOG_GENERAL = 0x02,
	LOG_CATALOG = 0x04,  /* the static registry: dat.conf and libraries */
	LOG_REGISTRY = 0x08, /* the dynamic registry: providers that registered */
	LOG_PROVIDER_API = 0x10,
	LOG_CONSUMER_API = 0x20
};

/* Writes one message, without newline; errno does not change. */
void log_message(enum log_class class, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider -- a dat.conf of one line, for programs that name the provider's library themselves
 */
#ifndef ISER_PROVIDER_H
#define ISER_PROVIDER_H

/*
 * From now on the registry knows one adapter, `ia`, served by `library` with these parameters,
 * words of dat.conf(5).  Before the first DAT call and the first thread, once.  0, or -1 after a
 * message.
 */
int provider_use(const char *ia, const char *library, const char *parameters);

#endif

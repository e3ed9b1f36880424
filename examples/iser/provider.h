/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * provider -- a dat.conf of one line, for programs that name the provider's library themselves
 */
#ifndef ISER_PROVIDER_H
#define ISER_PROVIDER_H

/*
 * From now on the registry knows one adapter, `ia`, served by `library`.  Before the first DAT
 * call and the first thread, once.  0, or -1: why was said.
 */
int provider_use(const char *ia, const char *library);

#endif

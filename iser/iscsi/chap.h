/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * chap -- the initiator proves that it knows a secret: CHAP, RFC 1994 and RFC 7143 12.1.3
 *
 * One way only: the target does not prove itself.  Secrets are in no message.
 */
#ifndef ISER_ISCSI_CHAP_H
#define ISER_ISCSI_CHAP_H

#include <stdbool.h>
#include <stddef.h>

#define CHAP_CHALLENGE 32 /* bytes */
#define CHAP_RESPONSE 32  /* bytes at most */
#define CHAP_NAME_BYTES 255
#define CHAP_SECRET_BYTES 255

/* Names and secrets of a file: a line "NAME SECRET" each; # begins a comment. */
struct chap_secrets;

/*
 * 0 or -errno: of reading, or -EBADMSG and *ret_line for a line that is none of these; -EACCES if
 * others may read it.
 */
int chap_load(const char *path, struct chap_secrets **secrets, unsigned int *ret_line);
void chap_free(struct chap_secrets *secrets);

/* The secret of a name, or NULL. */
const char *chap_secret(const struct chap_secrets *secrets, const char *name);

/* An exchange.  Zeroed at first. */
struct chap {
	int algorithm; /* 5: MD5, 7: SHA-256; 0: not begun */
	unsigned char id, challenge[CHAP_CHALLENGE];
};

/*
 * The list of CHAP_A: takes the strongest that is known, and makes a challenge.  False if it knows
 * none.
 */
bool chap_begin(struct chap *chap, const char *algorithms);

/* "0x...", of the challenge; `text` has room for 2 * CHAP_CHALLENGE + 3 bytes. */
const char *chap_challenge_text(const struct chap *chap, char *text);

/* Whether CHAP_N and CHAP_R are right. */
bool chap_verify(const struct chap *chap, const struct chap_secrets *secrets, const char *name,
    const char *response);

/* What the initiator answers: the number of bytes in `response`, or -EBADMSG. */
int chap_respond(int algorithm, unsigned char id, const char *secret,
    const unsigned char *challenge, size_t length, unsigned char response[CHAP_RESPONSE]);

#endif

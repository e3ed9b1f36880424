/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * digest -- the SHA-256 of a file's first bytes
 */
#ifndef ISER_DIGEST_H
#define ISER_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

struct backing;

#define DIGEST_BYTES 32

struct digest {
	unsigned char bytes[DIGEST_BYTES];
};

#define DIGEST_TEXT (2 * DIGEST_BYTES + 1)

/* Hears now and then how far the sum is, and at its end. */
typedef void (*digest_progress_fn)(uint64_t done, uint64_t total);

/* 0 or -errno; -EIO when the file is shorter than its size.  `progress` may be NULL. */
int digest_backing(
    const struct backing *backing, digest_progress_fn progress, struct digest *ret_digest);

bool digest_equal(const struct digest *a, const struct digest *b);

/* In hexadecimal, as sha256sum prints it. */
const char *digest_text(const struct digest *digest, char text[DIGEST_TEXT]);

#endif

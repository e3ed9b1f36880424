/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/digest.h"

#include "iser/backing.h"
#include "iser/scsi/file.h"

#include <errno.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK (1u << 20)
#define PROGRESS_STEP (32 * CHUNK)

int
digest_backing(
    const struct backing *backing, digest_progress_fn progress, struct digest *ret_digest)
{
	struct digest digest;
	unsigned char *chunk = NULL;
	EVP_MD_CTX *context;
	int r = -ENOMEM;

	context = EVP_MD_CTX_new();
	if (!context)
		return -ENOMEM;
	chunk = malloc(CHUNK);
	if (!chunk || !EVP_DigestInit_ex(context, EVP_sha256(), NULL))
		goto out;
	for (uint64_t at = 0; at < backing->bytes;) {
		uint64_t left = backing->bytes - at;
		size_t n = left < CHUNK ? (size_t)left : CHUNK;

		r = file_read(backing->fd, at, chunk, n);
		if (r)
			goto out;
		if (!EVP_DigestUpdate(context, chunk, n)) {
			r = -EIO;
			goto out;
		}
		at += n;
		if (progress && (at % PROGRESS_STEP == 0 || at == backing->bytes))
			progress(at, backing->bytes);
	}
	r = EVP_DigestFinal_ex(context, digest.bytes, NULL) ? 0 : -EIO;
	if (r == 0)
		*ret_digest = digest;
out:
	free(chunk);
	EVP_MD_CTX_free(context);
	return r;
}

bool
digest_equal(const struct digest *a, const struct digest *b)
{
	return memcmp(a->bytes, b->bytes, DIGEST_BYTES) == 0;
}

const char *
digest_text(const struct digest *digest, char text[DIGEST_TEXT])
{
	for (int i = 0; i < DIGEST_BYTES; i++)
		snprintf(text + 2 * i, 3, "%02x", digest->bytes[i]);
	return text;
}

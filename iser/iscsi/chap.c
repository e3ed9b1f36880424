/* SPDX-License-Identifier: BSD-3-Clause */
#include "iser/iscsi/chap.h"

#include "iser/iscsi/text.h"

#include <ctype.h>
#include <errno.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/rand.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct secret {
	struct secret *next;
	char name[CHAP_NAME_BYTES + 1], secret[CHAP_SECRET_BYTES + 1];
};

struct chap_secrets {
	struct secret *first;
};

static const struct {
	int number;
	const char *word;
	const EVP_MD *(*digest)(void);
} algorithms[] = {
	/* The first that the initiator offers, too, is taken. */
	{ 7, "7", EVP_sha256 },
	{ 5, "5", EVP_md5 },
};

#define ALGORITHMS (sizeof algorithms / sizeof algorithms[0])

/* ---- secrets ---- */

static char *
word_end(char *text)
{
	while (*text && !isspace((unsigned char)*text))
		text++;
	return text;
}

static char *
word_begin(char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return text;
}

/* 0, -EBADMSG or -ENOMEM. */
static int
take_line(struct chap_secrets *secrets, char *line)
{
	char *name = word_begin(line), *name_end = word_end(name);
	char *word = word_begin(name_end), *end = word_end(word);
	struct secret *secret;

	if (*name == '#' || !*name)
		return 0;
	if (end == word || *word_begin(end) || name_end - name > CHAP_NAME_BYTES ||
	    end - word > CHAP_SECRET_BYTES)
		return -EBADMSG;
	*name_end = *end = '\0';
	secret = calloc(1, sizeof *secret);
	if (!secret)
		return -ENOMEM;
	strcpy(secret->name, name);
	strcpy(secret->secret, word);
	secret->next = secrets->first;
	secrets->first = secret;
	return 0;
}

int
chap_load(const char *path, struct chap_secrets **ret_secrets, unsigned int *ret_line)
{
	struct chap_secrets *secrets;
	char line[1024];
	struct stat st;
	FILE *file;
	int r = 0;

	*ret_line = 0;
	file = fopen(path, "re");
	if (!file)
		return -errno;
	if (fstat(fileno(file), &st) || st.st_mode & (S_IROTH | S_IWOTH | S_IWGRP)) {
		fclose(file);
		return -EACCES;
	}
	secrets = calloc(1, sizeof *secrets);
	if (!secrets)
		r = -ENOMEM;
	while (r == 0 && fgets(line, sizeof line, file)) {
		++*ret_line;
		r = strchr(line, '\n') || feof(file) ? take_line(secrets, line) : -EBADMSG;
	}
	if (r == 0 && ferror(file))
		r = -EIO;
	OPENSSL_cleanse(line, sizeof line);
	fclose(file);
	if (r) {
		chap_free(secrets);
		return r;
	}
	*ret_secrets = secrets;
	return 0;
}

void
chap_free(struct chap_secrets *secrets)
{
	struct secret *secret;

	if (!secrets)
		return;
	while ((secret = secrets->first)) {
		secrets->first = secret->next;
		OPENSSL_cleanse(secret, sizeof *secret);
		free(secret);
	}
	free(secrets);
}

const char *
chap_secret(const struct chap_secrets *secrets, const char *name)
{
	const struct secret *secret = secrets->first;

	while (secret && strcmp(secret->name, name) != 0)
		secret = secret->next;
	return secret ? secret->secret : NULL;
}

/* ---- the exchange ---- */

bool
chap_begin(struct chap *chap, const char *offered)
{
	for (unsigned int i = 0; i < ALGORITHMS; i++) {
		if (!text_list_has(offered, algorithms[i].word))
			continue;
		if (RAND_bytes(&chap->id, 1) != 1 ||
		    RAND_bytes(chap->challenge, CHAP_CHALLENGE) != 1)
			return false;
		chap->algorithm = algorithms[i].number;
		return true;
	}
	return false;
}

const char *
chap_challenge_text(const struct chap *chap, char *text)
{
	char *at = text + sprintf(text, "0x");

	for (unsigned int i = 0; i < CHAP_CHALLENGE; i++)
		at += sprintf(at, "%02x", chap->challenge[i]);
	return text;
}

int
chap_respond(int algorithm, unsigned char id, const char *secret, const unsigned char *challenge,
    size_t length, unsigned char response[CHAP_RESPONSE])
{
	EVP_MD_CTX *context = EVP_MD_CTX_new();
	unsigned int bytes = 0;
	int r = -EBADMSG;

	for (unsigned int i = 0; context && i < ALGORITHMS; i++)
		if (algorithms[i].number == algorithm &&
		    EVP_DigestInit_ex(context, algorithms[i].digest(), NULL) == 1 &&
		    EVP_DigestUpdate(context, &id, 1) == 1 &&
		    EVP_DigestUpdate(context, secret, strlen(secret)) == 1 &&
		    EVP_DigestUpdate(context, challenge, length) == 1 &&
		    EVP_DigestFinal_ex(context, response, &bytes) == 1)
			r = (int)bytes;
	EVP_MD_CTX_free(context);
	return r;
}

bool
chap_verify(const struct chap *chap, const struct chap_secrets *secrets, const char *name,
    const char *response)
{
	unsigned char theirs[CHAP_RESPONSE], right[CHAP_RESPONSE];
	const char *secret = chap_secret(secrets, name);
	int bytes = text_binary(response, theirs, sizeof theirs);

	return secret && bytes > 0 &&
	       chap_respond(chap->algorithm, chap->id, secret, chap->challenge, CHAP_CHALLENGE,
		   right) == bytes &&
	       CRYPTO_memcmp(theirs, right, (size_t)bytes) == 0;
}

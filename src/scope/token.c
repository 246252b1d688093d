/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/token.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/memory.h"

enum { TOKEN_BYTES_MIN = 16, TOKEN_BYTES_MAX = 256 };

int token_read(const char *path, char **out)
{
	char line[TOKEN_BYTES_MAX + 2] = "";
	FILE *file = fopen(path, "re");
	struct stat status;
	size_t length;

	if (!file)
		return fail(-errno, "cannot read the token %s", path);
	if (!fstat(fileno(file), &status) && status.st_mode & S_IROTH)
		warn("every user of this machine can read the token %s: chmod o-r", path);
	if (!fgets(line, sizeof(line), file))
		line[0] = '\0';
	fclose(file);
	length = strcspn(line, "\r\n");
	line[length] = '\0';
	if (length < TOKEN_BYTES_MIN || length > TOKEN_BYTES_MAX)
		return fail_plain(-EINVAL,
				  "the token %s has %zu characters in its first line, and needs %d to %d: openssl rand "
				  "-hex 32 makes one",
				  path, length, TOKEN_BYTES_MIN, TOKEN_BYTES_MAX);
	*out = xstrdup(line);
	return 0;
}

bool token_is(const char *token, const char *shown)
{
	size_t length = strlen(token), shown_length = strlen(shown);
	volatile unsigned char difference = length != shown_length;

	for (size_t i = 0; i < length; i++)
		difference |= token[i] ^ shown[shown_length ? i % shown_length : 0];
	return !difference;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/answer.h"

#include <civetweb.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { NUMBER_BYTES = 32, MESSAGE_BYTES = 512 };

void reply_fail(struct reply *reply, int status, const char *format, ...)
{
	char message[MESSAGE_BYTES];
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(message, sizeof(message), format, arguments);
	va_end(arguments);
	if (reply->fd >= 0)
		close(reply->fd);
	reply->fd = -1;
	reply->status = status;
	reply->type = "text/plain; charset=utf-8";
	reply->is_constant = false;
	reply->body.length = 0;
	text_put_escaped(&reply->body, message);
	text_put(&reply->body, "\n");
}

bool request_text_at(const struct request *request, const char *name, size_t number, char *buffer, size_t size_bytes)
{
	return mg_get_var2(request->query, strlen(request->query), name, buffer, size_bytes, number) >= 0;
}

bool request_text(const struct request *request, const char *name, char *buffer, size_t size_bytes)
{
	return request_text_at(request, name, 0, buffer, size_bytes);
}

bool request_number(const struct request *request, const char *name, int64_t min, int64_t max, int64_t *out)
{
	char text[NUMBER_BYTES], *end;
	long long value;

	if (!request_text(request, name, text, sizeof(text)) || (text[0] != '-' && (text[0] < '0' || text[0] > '9')))
		return false;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || end == text || *end || value < min || value > max)
		return false;
	*out = value;
	return true;
}

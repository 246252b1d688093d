/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/http_send.h"

#include <civetweb.h>
#include <sys/stat.h>
#include <unistd.h>

#include "serve/answer.h"

enum { FILE_STEP_BYTES = 16 << 10 };

const char http_common_headers[] = "X-Content-Type-Options: nosniff\r\n"
				   "X-Frame-Options: DENY\r\n"
				   "Referrer-Policy: no-referrer\r\n"
				   "Cross-Origin-Resource-Policy: same-origin\r\n";

/* Whoever goes away meanwhile gets no more. */
static void send_file(struct mg_connection *connection, int fd)
{
	char bytes[FILE_STEP_BYTES];
	ssize_t got;

	while ((got = read(fd, bytes, sizeof(bytes))) > 0)
		if (mg_write(connection, bytes, got) != got)
			return;
}

void http_send_reply(struct mg_connection *connection, const struct reply *reply, bool has_body)
{
	unsigned long long size_bytes = reply->body.length;
	struct stat status;

	if (reply->fd >= 0)
		size_bytes = fstat(reply->fd, &status) ? 0 : status.st_size;
	mg_printf(connection, "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %llu\r\nCache-Control: %s\r\n%s",
		  reply->status, mg_get_response_code_text(connection, reply->status), reply->type, size_bytes,
		  reply->is_constant ? "private, max-age=86400, immutable" : "no-store", http_common_headers);
	if (reply->fd >= 0)
		mg_printf(connection, "Content-Disposition: attachment; filename=\"%s\"\r\n", reply->file_name);
	mg_printf(connection, "\r\n");
	if (has_body && reply->fd >= 0)
		send_file(connection, reply->fd);
	else if (has_body && reply->body.length)
		mg_write(connection, reply->body.bytes, reply->body.length);
}

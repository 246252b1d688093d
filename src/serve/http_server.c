/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/http_server.h"

#include <civetweb.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "serve/answer.h"
#include "serve/answer_thread.h"
#include "serve/http_send.h"
#include "serve/secrets.h"
#include "serve/tls_door.h"

enum {
	HOST_BYTES = 32,
	PORTS_MAX = 2,
	FILE_STEP_BYTES = 16 << 10,
	COOKIE_NAME_BYTES = 16,
	STATUS_OK = 200,
	STATUS_SEE_OTHER = 303,
	STATUS_FORBIDDEN = 403,
	STATUS_METHOD = 405,
	STATUS_LENGTH = 411,
	STATUS_TOO_LARGE = 413,
	STATUS_BAD_REQUEST = 400,
	STATUS_UNAVAILABLE = 503,
	WORKER = 1, /* type of a thread of civetweb's that handles requests */
};

struct http_server {
	struct http_answers answers;
	const char *page; /* to which links lead */
	struct mg_context *context;
	struct secrets secrets;
	pthread_mutex_t lock; /* of secrets */
	uint16_t port;
	uint16_t door_port;                  /* behind the door */
	struct tls_door *door;               /* NULL: readers are on this machine */
	char cookie_name[COOKIE_NAME_BYTES]; /* browsers tell cookies of two ports apart by nothing else */
};

/* --- Who may ask --------------------------------------------------------------------------------- */

/* Those who come through the door have checked by the certificate that it is the host that they mean. */
static bool has_come_by_door(const struct http_server *server, struct mg_connection *connection)
{
	return server->door && mg_get_request_info(connection)->server_port == server->door_port;
}

/* A page of somebody else whose name leads here has another host. */
static bool is_own_host(const struct http_server *server, const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char own[HOST_BYTES];

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		snprintf(own, sizeof(own), "%s:%u", names[i], server->port);
		if (!strcmp(host, own))
			return true;
	}
	return false;
}

static bool is_own_origin(const struct http_server *server, struct mg_connection *connection, const char *origin)
{
	const char *host = mg_get_header(connection, "Host");

	if (has_come_by_door(server, connection))
		return !strncmp(origin, "https://", 8) && !strcmp(origin + 8, host);
	return !strncmp(origin, "http://", 7) && is_own_host(server, origin + 7);
}

/* NULL: it may. Browsers say where a request comes from; links from elsewhere are followed, and nothing more. */
static const char *refusal(const struct http_server *server, struct mg_connection *connection)
{
	const char *host = mg_get_header(connection, "Host"), *origin = mg_get_header(connection, "Origin");
	const char *site = mg_get_header(connection, "Sec-Fetch-Site");
	const char *mode = mg_get_header(connection, "Sec-Fetch-Mode");

	if (!host)
		return "the request says no host";
	if (!has_come_by_door(server, connection) && !is_own_host(server, host))
		return "the name of this server is 127.0.0.1 or localhost";
	if (origin && !is_own_origin(server, connection, origin))
		return "the request comes from another page";
	if (site && strcmp(site, "same-origin") != 0 && strcmp(site, "none") != 0 &&
	    (!mode || strcmp(mode, "navigate") != 0))
		return "the request comes from another page";
	return NULL;
}

static bool has_cookie(struct http_server *server, struct mg_connection *connection)
{
	const char *cookies = mg_get_header(connection, "Cookie");
	char cookie[SECRET_BYTES];

	return cookies && mg_get_cookie(cookies, server->cookie_name, cookie, sizeof(cookie)) > 0 &&
	       secrets_is_cookie(&server->secrets, cookie);
}

static bool use_token(struct http_server *server, const char *query)
{
	char token[SECRET_BYTES];
	bool is_used;

	if (mg_get_var(query, strlen(query), "token", token, sizeof(token)) < 0)
		return false;
	pthread_mutex_lock(&server->lock);
	is_used = secrets_use_token(&server->secrets, token);
	pthread_mutex_unlock(&server->lock);
	return is_used;
}

/* --- Answers ------------------------------------------------------------------------------------ */

static int send_refusal(struct mg_connection *connection, int status, const char *why)
{
	struct reply reply = { .fd = -1 };

	reply_fail(&reply, status, "pinch: %s", why);
	http_send_reply(connection, &reply, true);
	text_fini(&reply.body);
	return status;
}

/* The token does not stay in the address. */
static int welcome(struct http_server *server, struct mg_connection *connection)
{
	char link[HTTP_LINK_BYTES];

	mg_printf(connection,
		  "HTTP/1.1 %d See Other\r\nLocation: %s\r\nContent-Length: 0\r\nCache-Control: no-store\r\n"
		  "Set-Cookie: %s=%s; Path=/; HttpOnly; SameSite=Lax%s\r\n%s\r\n",
		  STATUS_SEE_OTHER, server->page, server->cookie_name, server->secrets.cookie,
		  has_come_by_door(server, connection) ? "; Secure" : "", http_common_headers);
	http_server_link(server, link);
	fprintf(stderr, "pinch: for another reader: %s\n", link);
	return STATUS_SEE_OTHER;
}

/* What a thread that answers is given. */
struct question {
	const struct http_answers *answers;
	const struct request *request;
	struct reply *reply;
};

static void answer_question(void *data)
{
	const struct question *question = data;

	question->answers->answer(question->answers->data, question->request, question->reply);
}

static int answer(struct http_server *server, struct mg_connection *connection, const struct mg_request_info *info,
		  const struct text *body)
{
	struct answer_thread *thread = mg_get_thread_pointer(connection);
	struct request request = {
		.path = info->local_uri,
		.query = info->query_string ? info->query_string : "",
		.is_post = body,
		.body = body ? body->bytes : NULL,
		.body_bytes = body ? body->length : 0,
	};
	struct reply reply = { .status = STATUS_OK, .type = "application/json", .fd = -1 };

	if (!thread)
		return send_refusal(connection, STATUS_UNAVAILABLE, "there is no thread to answer: try again later");
	answer_thread_do(thread, answer_question, &(struct question){ &server->answers, &request, &reply });
	http_send_reply(connection, &reply, strcmp(info->request_method, "HEAD") != 0);
	text_fini(&reply.body);
	if (reply.fd >= 0)
		close(reply.fd);
	return reply.status;
}

/* 0; or the status of the refusal, and why. */
static int read_body(struct mg_connection *connection, long long size_bytes, struct text *body, const char **why)
{
	char bytes[FILE_STEP_BYTES];
	int got;

	*why = "the text does not say how long it is";
	if (size_bytes < 0)
		return STATUS_LENGTH;
	*why = "the text has more than 64 KB";
	if (size_bytes > HTTP_BODY_BYTES_MAX)
		return STATUS_TOO_LARGE;
	while ((long long)body->length < size_bytes) {
		got = mg_read(connection, bytes, sizeof(bytes));
		*why = "the text ends too early";
		if (got <= 0)
			return STATUS_BAD_REQUEST;
		text_put_bytes(body, bytes, got);
	}
	return 0;
}

/* Only pages that this server has sent: their requests say so. */
static int answer_post(struct http_server *server, struct mg_connection *connection, const struct mg_request_info *info)
{
	struct text body = { 0 };
	const char *why;
	int status;

	if (!mg_get_header(connection, "Origin"))
		return send_refusal(connection, STATUS_FORBIDDEN, "the request does not say which page it comes from");
	status = read_body(connection, info->content_length, &body, &why);
	if (status)
		send_refusal(connection, status, why);
	else
		status = answer(server, connection, info, &body);
	text_fini(&body);
	return status;
}

static bool is_method(const struct mg_request_info *info, const char *method)
{
	return !strcmp(info->request_method, method);
}

static int on_request(struct mg_connection *connection, void *data)
{
	const struct mg_request_info *info = mg_get_request_info(connection);
	struct http_server *server = data;
	const char *why = refusal(server, connection);

	if (why)
		return send_refusal(connection, STATUS_FORBIDDEN, why);
	if (!is_method(info, "GET") && !is_method(info, "HEAD") && !is_method(info, "POST"))
		return send_refusal(connection, STATUS_METHOD, "this server is for reading: GET");
	if (!is_method(info, "POST") && !strcmp(info->local_uri, server->page) && info->query_string &&
	    use_token(server, info->query_string))
		return welcome(server, connection);
	if (!has_cookie(server, connection))
		return send_refusal(connection, STATUS_FORBIDDEN,
				    "this link was used already, or it is of another run: use the link that pinch view "
				    "printed last");
	if (is_method(info, "POST"))
		return answer_post(server, connection, info);
	return answer(server, connection, info, NULL);
}

/* Of what goes wrong with one connection, its reader hears. */
static int ignore_message(const struct mg_connection *connection, const char *message)
{
	(void)connection;
	(void)message;
	return 1;
}

/* Each thread of civetweb's that handles requests has one that answers. */
static void *begin_thread(const struct mg_context *context, int type)
{
	(void)context;
	return type == WORKER ? answer_thread_new(ANSWER_STACK_BYTES) : NULL;
}

static void end_thread(const struct mg_context *context, int type, void *thread)
{
	(void)context;
	if (type == WORKER)
		answer_thread_free(thread);
}

/* False: the port is in use, or cannot be had. */
static bool listen_on_port(struct http_server *server, uint16_t port, bool has_door)
{
	static const struct mg_callbacks callbacks = {
		.log_message = ignore_message,
		.init_thread = begin_thread,
		.exit_thread = end_thread,
	};
	char address[2 * HOST_BYTES];
	const char *options[] = {
		"listening_ports",
		address,
		"num_threads",
		"16",
		"request_timeout_ms",
		"10000",
		"enable_keep_alive",
		"yes",
		"keep_alive_timeout_ms",
		"10000",
		"tcp_nodelay",
		"1",
		NULL,
	};

	snprintf(address, sizeof(address), "127.0.0.1:%u%s", port, has_door ? ",127.0.0.1:0" : "");
	server->context = mg_start(&callbacks, server, options);
	return server->context;
}

static bool listen_on_one(struct http_server *server, const struct http_place *place)
{
	if (!place->port_count)
		return listen_on_port(server, place->port, place->listen);
	for (unsigned int i = 0; i < place->port_count; i++)
		if (listen_on_port(server, place->port + i, place->listen))
			return true;
	return listen_on_port(server, 0, place->listen);
}

static int listen_on(struct http_server *server, const struct http_place *place)
{
	struct mg_server_port ports[PORTS_MAX];
	int count = place->listen ? 2 : 1;

	if (!listen_on_one(server, place))
		return fail(errno ? -errno : -EADDRINUSE, "cannot listen on 127.0.0.1:%u", place->port);
	if (mg_get_server_ports(server->context, count, ports) < count)
		return fail_plain(-EIO, "cannot find out the port that the server listens on");
	server->port = ports[0].port;
	server->door_port = ports[count - 1].port;
	snprintf(server->cookie_name, sizeof(server->cookie_name), "pinch-%u", server->port);
	mg_set_request_handler(server->context, "/", on_request, server);
	return 0;
}

static int open_door(struct http_server *server, const struct http_place *place)
{
	const struct tls_door_options options = { place->listen, place->certificate, place->key, server->door_port };

	return tls_door_open(&options, &server->door);
}

int http_server_open(const struct http_place *place, const struct http_answers *answers, struct http_server **out)
{
	struct http_server *server = xcalloc(1, sizeof(*server));
	int err;

	server->answers = *answers;
	server->page = place->page;
	pthread_mutex_init(&server->lock, NULL);
	err = secrets_make(&server->secrets);
	if (!err)
		err = listen_on(server, place);
	if (!err && place->listen)
		err = open_door(server, place);
	if (err)
		http_server_close(server);
	else
		*out = server;
	return err;
}

void http_server_close(struct http_server *server)
{
	if (!server)
		return;
	tls_door_close(server->door);
	if (server->context)
		mg_stop(server->context);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

void http_server_link(struct http_server *server, char link[static HTTP_LINK_BYTES])
{
	pthread_mutex_lock(&server->lock);
	if (server->door)
		snprintf(link, HTTP_LINK_BYTES, "https://%s%s?token=%s", tls_door_host(server->door), server->page,
			 server->secrets.token);
	else
		snprintf(link, HTTP_LINK_BYTES, "http://127.0.0.1:%u%s?token=%s", server->port, server->page,
			 server->secrets.token);
	pthread_mutex_unlock(&server->lock);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "serve/metrics_server.h"

#include <civetweb.h>
#include <errno.h>
#include <pthread.h>
#include <seccomp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "helper/confine.h"

enum {
	FORMS = 2, /* text and OpenMetrics */
	ADDRESS_BYTES = 64,
	PORT_MAX = 65535,
	ANSWER_SECONDS_MAX = 8, /* less than Prometheus waits by default */
	STATUS_OK = 200,
	STATUS_FORBIDDEN = 403,
	STATUS_NOT_FOUND = 404,
	STATUS_METHOD = 405,
	STATUS_UNAVAILABLE = 503,
};

static const char plain_text[] = "text/plain; charset=utf-8";
static const char *const types[FORMS] = {
	"text/plain; version=0.0.4; charset=utf-8",
	"application/openmetrics-text; version=1.0.0; charset=utf-8",
};

struct metrics_server {
	struct metrics_source source;
	struct mg_context *context;
	uint16_t port;
	int event_fd;
	pthread_mutex_t lock; /* of all that follows */
	pthread_cond_t told;
	uint64_t asked, answered; /* turns: who asks in one is answered by the same or a later one */
	struct text texts[FORMS];
	bool is_over;
};

/* --- In threads of the server ------------------------------------------------------------------- */

static void ask(struct metrics_server *server)
{
	static const uint64_t one = 1;

	server->asked = server->answered + 1;
	while (write(server->event_fd, &one, sizeof(one)) < 0 && errno == EINTR)
		continue;
}

/* A copy of the answer. False: there was none in time. */
static bool wait_for_answer(struct metrics_server *server, bool is_openmetrics, struct text *out)
{
	struct timespec until;
	uint64_t turn;
	bool is_told;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ANSWER_SECONDS_MAX;
	pthread_mutex_lock(&server->lock);
	ask(server);
	turn = server->asked;
	while (server->answered < turn && !server->is_over)
		if (pthread_cond_timedwait(&server->told, &server->lock, &until))
			break;
	is_told = server->answered >= turn;
	if (is_told)
		text_put_bytes(out, server->texts[is_openmetrics].bytes, server->texts[is_openmetrics].length);
	pthread_mutex_unlock(&server->lock);
	return is_told;
}

static int reply(struct mg_connection *connection, int status, const char *type, const char *bytes, size_t length)
{
	bool has_body = strcmp(mg_get_request_info(connection)->request_method, "HEAD") != 0;

	mg_printf(connection,
		  "HTTP/1.1 %d %s\r\nContent-Type: %s\r\nContent-Length: %zu\r\nCache-Control: no-store\r\n"
		  "X-Content-Type-Options: nosniff\r\n\r\n",
		  status, mg_get_response_code_text(connection, status), type, length);
	if (has_body && length)
		mg_write(connection, bytes, length);
	return status;
}

static int reply_line(struct mg_connection *connection, int status, const char *line)
{
	return reply(connection, status, plain_text, line, strlen(line));
}

static int reply_metrics(struct metrics_server *server, struct mg_connection *connection)
{
	const char *accept = mg_get_header(connection, "Accept");
	bool is_openmetrics = accept && strstr(accept, "application/openmetrics-text");
	struct text metrics = { 0 };
	int status;

	if (wait_for_answer(server, is_openmetrics, &metrics))
		status = reply(connection, STATUS_OK, types[is_openmetrics], metrics.bytes, metrics.length);
	else
		status =
			reply_line(connection, STATUS_UNAVAILABLE, "pinch: no figures: tracing ends, or had no time\n");
	text_fini(&metrics);
	return status;
}

/* The name of a page of somebody else may lead here: it is not ours then. */
static bool is_own_host(const struct metrics_server *server, const char *host)
{
	static const char *const names[] = { "127.0.0.1", "localhost" };
	char own[ADDRESS_BYTES];

	for (size_t i = 0; host && i < sizeof(names) / sizeof(*names); i++) {
		snprintf(own, sizeof(own), "%s:%u", names[i], server->port);
		if (!strcmp(host, own))
			return true;
	}
	return false;
}

static int on_request(struct mg_connection *connection, void *data)
{
	const struct mg_request_info *info = mg_get_request_info(connection);
	struct metrics_server *server = data;

	if (!is_own_host(server, mg_get_header(connection, "Host")))
		return reply_line(connection, STATUS_FORBIDDEN,
				  "pinch: the name of this server is 127.0.0.1 or localhost\n");
	if (strcmp(info->request_method, "GET") != 0 && strcmp(info->request_method, "HEAD") != 0)
		return reply_line(connection, STATUS_METHOD, "pinch: this server is for reading: GET\n");
	if (!strcmp(info->local_uri, "/metrics"))
		return reply_metrics(server, connection);
	if (!strcmp(info->local_uri, "/health"))
		return reply_line(connection, STATUS_OK, "tracing\n");
	return reply_line(connection, STATUS_NOT_FOUND, "pinch: there are /metrics and /health\n");
}

/* --- In the thread that has the figures ---------------------------------------------------------- */

void metrics_server_step(struct metrics_server *server)
{
	struct text texts[FORMS] = { 0 };
	uint64_t count, turn;
	bool is_asked;

	while (read(server->event_fd, &count, sizeof(count)) < 0 && errno == EINTR)
		continue;
	pthread_mutex_lock(&server->lock);
	turn = server->asked;
	is_asked = turn > server->answered;
	pthread_mutex_unlock(&server->lock);
	if (!is_asked)
		return;
	for (int form = 0; form < FORMS; form++)
		server->source.put(server->source.data, form, &texts[form]);
	pthread_mutex_lock(&server->lock);
	for (int form = 0; form < FORMS; form++) {
		text_fini(&server->texts[form]);
		server->texts[form] = texts[form];
	}
	server->answered = turn;
	pthread_cond_broadcast(&server->told);
	pthread_mutex_unlock(&server->lock);
}

int metrics_server_fd(const struct metrics_server *server)
{
	return server->event_fd;
}

uint16_t metrics_server_port(const struct metrics_server *server)
{
	return server->port;
}

/* --- Begin and end ------------------------------------------------------------------------------ */

/* The port; -EINVAL: the address is none of this machine's own. */
static int parse_address(const char *address)
{
	const char *colon = strrchr(address, ':');
	size_t length = colon ? (size_t)(colon - address) : 0;
	char *end;
	long port;

	if (!colon || colon[1] < '0' || colon[1] > '9')
		return -EINVAL;
	port = strtol(colon + 1, &end, 10);
	if (*end || port > PORT_MAX)
		return -EINVAL;
	if (length && !(length == strlen("127.0.0.1") && !strncmp(address, "127.0.0.1", length)) &&
	    !(length == strlen("localhost") && !strncmp(address, "localhost", length)))
		return -EINVAL;
	return (int)port;
}

static const struct confined_call never_needed[] = {
	DENIED(execve),  DENIED(execveat), DENIED(fork),   DENIED(vfork),
	DENIED(ptrace),  DENIED(kill),     DENIED(tgkill), DENIED(process_vm_readv),
	DENIED(connect), DENIED(mount),    DENIED(bpf),    DENIED(perf_event_open),
	DENIED(setns),   DENIED(unshare),
};

/* A thread that reads what strangers send opens no file and has no privileges. What a kernel lacks, it does without. */
static void *begin_thread(const struct mg_context *context, int type)
{
	(void)context;
	(void)type;
	/* First what lets others be given up without privileges. */
	confine_without_calls(never_needed, sizeof(never_needed) / sizeof(*never_needed));
	confine_paths(NULL, 0);
	confine_capabilities(NULL, 0);
	return NULL;
}

static int ignore_message(const struct mg_connection *connection, const char *message)
{
	(void)connection;
	(void)message;
	return 1;
}

static int listen_on(struct metrics_server *server, int port)
{
	static const struct mg_callbacks callbacks = { .log_message = ignore_message, .init_thread = begin_thread };
	struct mg_server_port got;
	char listened[ADDRESS_BYTES];
	const char *options[] = {
		"listening_ports", listened, "num_threads", "4", "request_timeout_ms", "10000", NULL,
	};

	snprintf(listened, sizeof(listened), "127.0.0.1:%d", port);
	errno = 0;
	server->context = mg_start(&callbacks, server, options);
	if (!server->context || mg_get_server_ports(server->context, 1, &got) < 1)
		return fail(errno ? -errno : -EADDRINUSE, "cannot listen on %s", listened);
	server->port = got.port;
	mg_set_request_handler(server->context, "/", on_request, server);
	return 0;
}

static void init_told(struct metrics_server *server)
{
	pthread_condattr_t attributes;

	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&server->told, &attributes);
	pthread_condattr_destroy(&attributes);
	pthread_mutex_init(&server->lock, NULL);
}

int metrics_server_check(const char *address)
{
	return parse_address(address) < 0
		       ? fail_plain(
				 -EINVAL,
				 "--metrics takes :PORT of this machine, not '%s': metrics name code, and are not encrypted",
				 address)
		       : 0;
}

int metrics_server_open(const char *address, const struct metrics_source *source, struct metrics_server **out)
{
	struct metrics_server *server = xcalloc(1, sizeof(*server));
	int port = parse_address(address), err;

	server->source = *source;
	init_told(server);
	server->event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	err = server->event_fd < 0 ? fail(-errno, "cannot make an eventfd") : listen_on(server, port);
	if (err)
		metrics_server_close(server);
	else
		*out = server;
	return err;
}

void metrics_server_close(struct metrics_server *server)
{
	if (!server)
		return;
	pthread_mutex_lock(&server->lock);
	server->is_over = true;
	pthread_cond_broadcast(&server->told);
	pthread_mutex_unlock(&server->lock);
	if (server->context)
		mg_stop(server->context);
	for (int form = 0; form < FORMS; form++)
		text_fini(&server->texts[form]);
	if (server->event_fd >= 0)
		close(server->event_fd);
	pthread_cond_destroy(&server->told);
	pthread_mutex_destroy(&server->lock);
	free(server);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/receiver.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"
#include "base/memory.h"
#include "base/text.h"
#include "scope/address.h"
#include "scope/connection.h"
#include "scope/tls.h"
#include "scope/token.h"
#include "trace/trace_format.h"

enum {
	CONNECT_MS_MAX = 10000,
	BYTES_AT_ONCE = 256 << 10,
	WORDS_MAX = 200, /* of a scope that sends no trace */
	MAGIC_BYTES = sizeof(TRACE_MAGIC) - 1,
};

/* From the wish for the end to the next bytes. */
static const uint64_t end_ns_max = 20000000000;

struct receiver {
	const struct receiver_options *options;
	struct address address;
	struct tls *tls; /* NULL: without */
	struct connection *connection;
	int signal_fd, fd;
	char *bytes;
	char first[WORDS_MAX]; /* not written yet: nobody knows whether it is a trace */
	size_t first_count;
	bool is_trace, is_over;
	uint64_t began_ns, asked_ns, came_ns; /* asked_ns: for the end; 0: not yet */
	sigset_t signals_before;
};

/* --- The connection --------------------------------------------------------------------------- */

/* A short message, as it leaves at once. */
static int send_all(struct receiver *receiver, const char *bytes, size_t size_bytes)
{
	struct pollfd waits = { .fd = connection_fd(receiver->connection), .events = POLLOUT };
	ssize_t n;

	while (size_bytes) {
		n = connection_send(receiver->connection, bytes, size_bytes);
		if (n == -EAGAIN && poll(&waits, 1, CONNECT_MS_MAX) > 0)
			continue;
		if (n < 0)
			return n;
		bytes += n;
		size_bytes -= n;
	}
	return 0;
}

static int greet(struct receiver *receiver)
{
	struct pollfd waits = { .fd = connection_fd(receiver->connection) };
	uint64_t limit_ns = clock_ns() + CONNECT_MS_MAX * 1000000ull;
	const char *reason;
	int err;

	while ((err = connection_greet(receiver->connection)) == -EAGAIN && clock_ns() < limit_ns) {
		waits.events = connection_wants_space(receiver->connection) ? POLLOUT : POLLIN;
		poll(&waits, 1, CONNECT_MS_MAX);
	}
	if (!err)
		return 0;
	reason = connection_reason(receiver->connection);
	return fail_plain(err, "cannot agree on TLS with %s: %s", receiver->options->address,
			  reason ? reason : strerror(-err));
}

static int show_token(struct receiver *receiver)
{
	struct text line = { 0 };
	char *token;
	int err = token_read(receiver->options->token, &token);

	if (err)
		return err;
	text_printf(&line, TOKEN_WORD "%s\n", token);
	err = send_all(receiver, line.bytes, line.length);
	explicit_bzero(line.bytes, line.length);
	explicit_bzero(token, strlen(token));
	text_fini(&line);
	free(token);
	return err ? fail(err, "cannot write to %s", receiver->options->address) : 0;
}

int receiver_check(const struct receiver_options *options)
{
	struct address address;
	bool is_tls;
	int err = address_parse(options->address, &address);

	if (err)
		return err;
	is_tls = address.kind == ADDRESS_TLS;
	if (is_tls && !options->token)
		return fail_plain(-EINVAL, "%s: a scope with TLS asks for a token: give --token FILE",
				  options->address);
	if (!is_tls && (options->token || options->ca))
		return fail_plain(-EINVAL,
				  "--token and --tls-ca are for tls:HOST:PORT: %s would show the token to everybody on "
				  "the way",
				  options->address);
	return 0;
}

static int connect_there(struct receiver *receiver)
{
	int fd, err = receiver_check(receiver->options);

	if (!err)
		err = address_parse(receiver->options->address, &receiver->address);
	if (!err && receiver->address.kind == ADDRESS_TLS)
		err = tls_open_reader(receiver->options->ca, receiver->address.host, &receiver->tls);
	if (!err)
		err = address_connect(&receiver->address, CONNECT_MS_MAX, &fd);
	if (err)
		return err;
	address_bound_silence(fd);
	receiver->connection = connection_new(fd, receiver->tls);
	if (!receiver->connection)
		return fail_plain(-EPROTO, "cannot begin TLS with %s", receiver->options->address);
	err = greet(receiver);
	return err || !receiver->tls ? err : show_token(receiver);
}

/* --- What comes ------------------------------------------------------------------------------- */

int receiver_write(int fd, const char *bytes, size_t size_bytes)
{
	struct pollfd waits = { .fd = fd, .events = POLLOUT };
	ssize_t n;

	while (size_bytes) {
		n = write(fd, bytes, size_bytes);
		if (n < 0 && (errno == EINTR || (errno == EAGAIN && poll(&waits, 1, -1) >= 0)))
			continue;
		if (n < 0)
			return fail(-errno, "cannot write what was received");
		bytes += n;
		size_bytes -= n;
	}
	return 0;
}

/* Whoever is there sends something else than a trace: its first words may say why. */
static int fail_by_words(struct receiver *receiver)
{
	struct text words = { 0 };
	int err;

	receiver->first[receiver->first_count] = '\0';
	receiver->first[strcspn(receiver->first, "\n")] = '\0';
	text_put_escaped(&words, receiver->first);
	if (words.length)
		err = fail_plain(-EBADMSG, "%s sends no trace: \"%s\"", receiver->options->address, words.bytes);
	else
		err = fail_plain(-EBADMSG, "%s has sent nothing", receiver->options->address);
	text_fini(&words);
	return err;
}

static int take_first(struct receiver *receiver, const char *bytes, size_t count)
{
	size_t space = sizeof(receiver->first) - 1 - receiver->first_count;
	size_t taken = count < space ? count : space;

	memcpy(receiver->first + receiver->first_count, bytes, taken);
	receiver->first_count += taken;
	if (receiver->first_count < MAGIC_BYTES)
		return 0;
	if (memcmp(receiver->first, TRACE_MAGIC, MAGIC_BYTES))
		return memchr(receiver->first, '\n', receiver->first_count) || taken < count ? fail_by_words(receiver)
											     : 0;
	receiver->is_trace = true;
	if (receiver_write(receiver->fd, receiver->first, receiver->first_count))
		return -EIO;
	return receiver_write(receiver->fd, bytes + taken, count - taken);
}

static int take_bytes(struct receiver *receiver)
{
	ssize_t n = connection_receive(receiver->connection, receiver->bytes, BYTES_AT_ONCE);

	if (n == -EAGAIN)
		return 0;
	receiver->came_ns = clock_ns();
	if (n <= 0) {
		receiver->is_over = true;
		if (n < 0)
			warn("%s has gone: %s", receiver->options->address, strerror(-n));
		return receiver->is_trace ? 0 : fail_by_words(receiver);
	}
	return receiver->is_trace ? receiver_write(receiver->fd, receiver->bytes, n)
				  : take_first(receiver, receiver->bytes, n);
}

/* --- How long --------------------------------------------------------------------------------- */

static void block_signals(struct receiver *receiver)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGHUP);
	sigprocmask(SIG_BLOCK, &signals, &receiver->signals_before);
	receiver->signal_fd = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void ask_for_end(struct receiver *receiver)
{
	static const char words[] = "end\n";

	receiver->asked_ns = receiver->came_ns = clock_ns();
	if (send_all(receiver, words, sizeof(words) - 1))
		receiver->is_over = true;
}

static void note_time(struct receiver *receiver)
{
	uint64_t now_ns = clock_ns(), duration_ns = receiver->options->duration_ns;
	struct signalfd_siginfo info;

	if (read(receiver->signal_fd, &info, sizeof(info)) == sizeof(info)) {
		if (receiver->asked_ns)
			receiver->is_over = true;
		else
			ask_for_end(receiver);
	} else if (!receiver->asked_ns && duration_ns && now_ns - receiver->began_ns >= duration_ns) {
		ask_for_end(receiver);
	} else if (receiver->asked_ns && now_ns - receiver->came_ns > end_ns_max) {
		warn("%s does not end its trace: what came is used", receiver->options->address);
		receiver->is_over = true;
	}
}

/* In ms; -1: nothing is due. */
static int wait_ms(const struct receiver *receiver)
{
	uint64_t due_ns, now_ns = clock_ns();

	if (receiver->asked_ns)
		due_ns = receiver->came_ns + end_ns_max;
	else if (receiver->options->duration_ns)
		due_ns = receiver->began_ns + receiver->options->duration_ns;
	else
		return -1;
	return due_ns <= now_ns ? 0 : due_ns - now_ns > 1000000000 ? 1000 : (int)((due_ns - now_ns) / 1000000) + 1;
}

static int receive(struct receiver *receiver)
{
	struct pollfd fds[] = {
		{ .fd = connection_fd(receiver->connection), .events = POLLIN },
		{ .fd = receiver->signal_fd, .events = POLLIN },
	};
	int err = 0;

	receiver->began_ns = clock_ns();
	while (!err && !receiver->is_over) {
		err = take_bytes(receiver);
		note_time(receiver);
		if (!err && !receiver->is_over)
			poll(fds, 2, connection_has_more(receiver->connection) ? 0 : wait_ms(receiver));
	}
	return err;
}

int receiver_open(const struct receiver_options *options, struct receiver **out)
{
	struct receiver *receiver = xcalloc(1, sizeof(*receiver));
	int err;

	receiver->options = options;
	err = connect_there(receiver);
	if (err)
		receiver_close(receiver);
	else
		*out = receiver;
	return err;
}

void receiver_close(struct receiver *receiver)
{
	if (!receiver)
		return;
	connection_free(receiver->connection);
	tls_close(receiver->tls);
	free(receiver->bytes);
	free(receiver);
}

int receiver_socket(const struct receiver *receiver)
{
	return connection_fd(receiver->connection);
}

int receiver_take(struct receiver *receiver, int fd)
{
	const struct receiver_options *options = receiver->options;
	int err;

	if (!options->is_quiet && isatty(STDERR_FILENO))
		fprintf(stderr, "pinch: receives the trace of %s; Ctrl-C ends it\n", options->address);
	receiver->fd = fd;
	receiver->bytes = xcalloc(1, BYTES_AT_ONCE);
	block_signals(receiver);
	err = receive(receiver);
	close(receiver->signal_fd);
	sigprocmask(SIG_SETMASK, &receiver->signals_before, NULL);
	return err;
}

int receiver_run(const struct receiver_options *options, int fd)
{
	struct receiver *receiver;
	int err = receiver_open(options, &receiver);

	if (err)
		return err;
	err = receiver_take(receiver, fd);
	receiver_close(receiver);
	return err;
}

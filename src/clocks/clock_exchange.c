/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "clocks/clock_exchange.h"

#include <endian.h>
#include <errno.h>
#include <netdb.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/fail.h"

enum { VERSION = 1, ANSWER_MS_MAX = 1000, ADDRESS_BYTES_MAX = 256 };

static const char question_mark[8] = "pnchclkQ", answer_mark[8] = "pnchclkA";

/* All numbers are little-endian. A question has the asker's number and t0 alone. */
struct packet {
	char mark[8];
	uint32_t version, number;
	uint64_t t0, t1, t2;
	uint8_t boot[CLOCK_BOOT_BYTES];
};
_Static_assert(sizeof(struct packet) == 56, "this layout goes over the network");

/* --- Addresses -------------------------------------------------------------------------------------- */

/* Splits "HOST:PORT", "HOST", "[HOST]:PORT" in place. */
static void split(char *text, const char **host, const char **port)
{
	char *colon = strrchr(text, ':'), *bracket = strrchr(text, ']');

	*host = text;
	if (bracket && *text == '[') {
		*host = text + 1;
		*bracket = '\0';
		colon = bracket[1] == ':' ? bracket + 1 : NULL;
	} else if (colon && strchr(text, ':') != colon) {
		colon = NULL; /* of IPv6, without a port */
	}
	if (!colon)
		return;
	*colon = '\0';
	*port = colon + 1;
}

static int resolve(const char *address, int flags, struct addrinfo **out)
{
	struct addrinfo hints = { .ai_family = AF_UNSPEC, .ai_socktype = SOCK_DGRAM, .ai_flags = flags };
	char text[ADDRESS_BYTES_MAX], port_text[16];
	const char *host, *port = port_text;
	int err;

	snprintf(port_text, sizeof(port_text), "%d", CLOCK_PORT);
	if (snprintf(text, sizeof(text), "%s", address) >= (int)sizeof(text))
		return fail_plain(-EINVAL, "the address of a clock is too long: give HOST:PORT");
	split(text, &host, &port);
	err = getaddrinfo(host, port, &hints, out);
	if (err)
		return fail_plain(-EINVAL, "cannot find %s: %s: give HOST:PORT", address, gai_strerror(err));
	return 0;
}

static int open_socket(const char *address, int flags, int (*use)(int, const struct sockaddr *, socklen_t), int *fd)
{
	struct addrinfo *found;
	int err = resolve(address, flags, &found), made;

	if (err)
		return err;
	made = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (made < 0 || use(made, found->ai_addr, found->ai_addrlen)) {
		err = -errno;
		if (made >= 0)
			close(made);
	}
	freeaddrinfo(found);
	if (!err)
		*fd = made;
	return err;
}

/* --- Answering -------------------------------------------------------------------------------------- */

int clock_server_open(struct clock_server *server, const char *address)
{
	int err = open_socket(address ? address : "127.0.0.1", AI_PASSIVE, bind, &server->fd);

	if (err && err != -EINVAL)
		fail(err, "cannot answer at %s: give another ADDRESS:PORT", address ? address : "127.0.0.1");
	if (!err)
		clock_boot_read(server->boot);
	return err;
}

static uint64_t server_now_ns(const struct clock_server *server)
{
	return server->now_ns ? server->now_ns(server->data) : clock_ns();
}

void clock_server_answer(const struct clock_server *server)
{
	struct sockaddr_storage from;
	socklen_t from_bytes = sizeof(from);
	struct packet packet;
	ssize_t bytes = recvfrom(server->fd, &packet, sizeof(packet), MSG_TRUNC, (void *)&from, &from_bytes);

	packet.t1 = htole64(server_now_ns(server));
	if (bytes != sizeof(packet) || memcmp(packet.mark, question_mark, sizeof(packet.mark)) ||
	    packet.version != htole32(VERSION))
		return;
	memcpy(packet.mark, answer_mark, sizeof(packet.mark));
	memcpy(packet.boot, server->boot, sizeof(packet.boot));
	packet.t2 = htole64(server_now_ns(server));
	sendto(server->fd, &packet, sizeof(packet), MSG_DONTWAIT, (void *)&from, from_bytes);
}

/* --- Asking ----------------------------------------------------------------------------------------- */

int clock_peer_open(const char *address, int *fd)
{
	int err = open_socket(address, 0, connect, fd);

	if (err && err != -EINVAL)
		fail(err, "cannot ask the clock at %s", address);
	return err;
}

/* Of answers to earlier questions, none counts. */
static bool is_answer(const struct packet *packet, ssize_t bytes, uint32_t number, uint64_t t0)
{
	return bytes == sizeof(*packet) && !memcmp(packet->mark, answer_mark, sizeof(packet->mark)) &&
	       packet->version == htole32(VERSION) && packet->number == htole32(number) && packet->t0 == htole64(t0);
}

static int await_answer(int fd, uint32_t number, uint64_t t0, struct packet *packet, uint64_t *t3)
{
	uint64_t limit_ns = t0 + ANSWER_MS_MAX * 1000000ull;

	for (;;) {
		struct pollfd poll_fd = { .fd = fd, .events = POLLIN };
		uint64_t now_ns = clock_ns();
		ssize_t bytes;

		if (now_ns >= limit_ns || poll(&poll_fd, 1, (limit_ns - now_ns) / 1000000 + 1) == 0)
			return -ETIMEDOUT;
		bytes = recv(fd, packet, sizeof(*packet), MSG_TRUNC);
		*t3 = clock_ns();
		if (is_answer(packet, bytes, number, t0))
			return 0;
		if (bytes < 0 && errno != EAGAIN && errno != EINTR)
			return -errno;
	}
}

static int ask_once(int fd, uint32_t number, struct clock_sample *sample, uint8_t boot[CLOCK_BOOT_BYTES])
{
	struct packet question = { .version = htole32(VERSION), .number = htole32(number) }, packet;
	int err;

	memcpy(question.mark, question_mark, sizeof(question.mark));
	sample->t0 = clock_ns();
	question.t0 = htole64(sample->t0);
	if (send(fd, &question, sizeof(question), 0) != sizeof(question))
		return errno ? -errno : -EIO;
	err = await_answer(fd, number, sample->t0, &packet, &sample->t3);
	if (err)
		return err;
	sample->t1 = le64toh(packet.t1);
	sample->t2 = le64toh(packet.t2);
	memcpy(boot, packet.boot, CLOCK_BOOT_BYTES);
	return 0;
}

int clock_peer_ask(int fd, unsigned int count, struct clock_sample *sample, uint8_t boot[CLOCK_BOOT_BYTES])
{
	struct clock_sample samples[2];
	int err = -EBADMSG;

	for (unsigned int i = 0; i < count; i++) {
		int once = ask_once(fd, i, &samples[1], boot);

		if (once)
			return once;
		if (!clock_sample_is_possible(&samples[1]))
			continue;
		samples[0] = err ? samples[1] : *clock_sample_best(samples, 2);
		err = 0;
	}
	if (!err)
		*sample = samples[0];
	return err;
}

/* --- Which host ------------------------------------------------------------------------------------- */

static int digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool clock_boot_parse(const char *text, uint8_t boot[CLOCK_BOOT_BYTES])
{
	size_t count = 0;

	for (; *text; text++) {
		if (*text == '-')
			continue;
		if (digit(*text) < 0 || count == 2 * CLOCK_BOOT_BYTES)
			return false;
		boot[count / 2] = boot[count / 2] << 4 | digit(*text);
		count++;
	}
	return count == 2 * CLOCK_BOOT_BYTES;
}

void clock_boot_read(uint8_t boot[CLOCK_BOOT_BYTES])
{
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	char text[64] = "";

	if (file && fgets(text, sizeof(text), file))
		text[strcspn(text, "\n")] = '\0';
	if (file)
		fclose(file);
	if (!clock_boot_parse(text, boot))
		memset(boot, 0, CLOCK_BOOT_BYTES);
}

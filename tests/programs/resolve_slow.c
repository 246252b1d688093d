// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * resolve_slow [await]
 * Planted bottleneck: the thread `client` (main) resolves slow.example, for which the thread `names`
 * computes 300 ms before it answers, by DNS, that it is 127.0.0.7. There it asks the thread `server`
 * ten times, which computes for 70 ms before it answers. Prints the server's port. All of that in
 * a network of its own, with its own /etc/resolv.conf; ends with status 77 where that cannot be.
 * With await, it resolves nothing before somebody follows getaddrinfo(), and then twice: who follows it
 * does that at its beginning and at its end, one after the other.
 * Known answer: the heaviest wait is `socket`, in await_answer(), peer 127.0.0.7:PORT, host
 * slow.example; another one is `poll`, below find_server().
 */
#include "asking.h"
#include <net/if.h>
#include <netdb.h>
#include <sched.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/stat.h>

enum { NAME_MS = 300, NAMES_PORT = 53, MESSAGE_BYTES = 512, HEADER_BYTES = 12, BREAKPOINT = 0xcc };

static int names_socket;

static void skip(const char *why)
{
	printf("%s: %m\n", why);
	exit(TEST_SKIPPED);
}

/* In this mount namespace only. */
static void replace_file(const char *path, const char *text)
{
	char name[] = "/tmp/pinch-resolve-XXXXXX";
	int fd = mkstemp(name);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(name);
	close(fd);
	chmod(name, 0644);
	if (mount(name, path, NULL, MS_BIND, NULL)) {
		unlink(name);
		skip(path);
	}
	unlink(name);
}

static void be_alone(void)
{
	struct ifreq loopback = { .ifr_name = "lo", .ifr_flags = IFF_UP | IFF_RUNNING };
	int fd;

	if (unshare(CLONE_NEWNET | CLONE_NEWNS) || mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL))
		skip("namespaces");
	fd = socket(AF_INET, SOCK_DGRAM, 0);
	if (ioctl(fd, SIOCSIFFLAGS, &loopback))
		skip("loopback");
	close(fd);
	replace_file("/etc/resolv.conf", "nameserver 127.0.0.1\noptions timeout:30 attempts:1\n");
	replace_file("/etc/nsswitch.conf", "hosts: dns\n");
}

/* The question of one name as it came, and one answer to it. */
static void answer_name(void)
{
	static const unsigned char answer[] = {
		0xc0, HEADER_BYTES, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 127, 0, 0, 7,
	};
	unsigned char message[MESSAGE_BYTES + sizeof(answer)];
	struct sockaddr_in from;
	socklen_t length = sizeof(from);
	ssize_t bytes = recvfrom(names_socket, message, MESSAGE_BYTES, 0, (struct sockaddr *)&from, &length);
	ssize_t end = HEADER_BYTES;

	if (bytes < HEADER_BYTES)
		die("recvfrom");
	while (end < bytes && message[end])
		end += message[end] + 1;
	end += 5; /* its end, its type and its class */
	await_blocked(client, ANY_CALL);
	compute_ms(NAME_MS);
	message[2] = 0x81;
	message[3] = 0x80;
	memset(message + 6, 0, 6);
	message[7] = 1;
	memcpy(message + end, answer, sizeof(answer));
	if (sendto(names_socket, message, end + sizeof(answer), 0, (struct sockaddr *)&from, length) < 0)
		die("sendto");
}

static void answer_names(int number)
{
	while (number--)
		answer_name();
}

static void serve(int number)
{
	(void)number;
	answer_all();
}

static OWN_FRAME struct addrinfo *find_server(const char *port)
{
	struct addrinfo hints = { .ai_family = AF_INET, .ai_socktype = SOCK_STREAM }, *found;
	int err = getaddrinfo("slow.example", port, &hints, &found);

	if (err) {
		fprintf(stderr, "slow.example: %s\n", gai_strerror(err));
		exit(1);
	}
	return found;
}

static void await_probe(void)
{
	const volatile unsigned char *code = (const volatile unsigned char *)getaddrinfo;

	for (int i = 0; *code != BREAKPOINT; i++) {
		if (i == AWAIT_LIMIT_MS) {
			fprintf(stderr, "nobody follows getaddrinfo()\n");
			exit(1);
		}
		sleep_ms(1);
	}
}

int main(int argc, char **argv)
{
	struct sockaddr_in names = { .sin_family = AF_INET, .sin_port = htons(NAMES_PORT) };
	struct sockaddr_in address = { .sin_family = AF_INET };
	struct addrinfo *found;
	struct role roles[2];
	bool awaits = argc > 1 && !strcmp(argv[1], "await");
	char port[8];

	role_name_self("client");
	client = gettid();
	be_alone();
	names_socket = socket(AF_INET, SOCK_DGRAM, 0);
	if (bind(names_socket, (struct sockaddr *)&names, sizeof(names)) ||
	    listen_at((struct sockaddr *)&address, sizeof(address)))
		skip("bind");
	printf("%d\n", ntohs(address.sin_port));
	fflush(stdout);
	if (awaits)
		await_probe();
	role_start(&roles[0], "names", answer_names, 1 + awaits);
	role_start(&roles[1], "server", serve, 0);
	snprintf(port, sizeof(port), "%d", ntohs(address.sin_port));
	if (awaits)
		freeaddrinfo(find_server(port));
	found = find_server(port);
	ask_all(found->ai_addr, found->ai_addrlen);
	freeaddrinfo(found);
	role_join_all(roles, 2);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A program that notices when somebody changes its code. Its copies, with one symbol moved or renamed, are
 * what attackers run. Reads lines from its standard input and answers each with one; ends with its input.
 *
 *   identity calls           "N": calls a function N times; answers how many results were wrong
 *   identity hosts           the same of getaddrinfo()
 *   identity work NAME       a thread of this name runs in a known chain of functions; "N": its answers so far
 *   identity map FILE...     maps files to execute them, and runs none
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * One byte after its beginning is the last byte of a number: a breakpoint there is never met, and
 * changes what the function returns.
 */
uint64_t traced_function(uint64_t x);
__asm__(".text\n"
	".globl traced_function\n"
	".type traced_function, @function\n"
	".balign 16\n"
	"traced_function:\n"
	".cfi_startproc\n"
	"	movl $0x12345678, %eax\n"
	"	addq %rdi, %rax\n"
	"	ret\n"
	".cfi_endproc\n"
	".size traced_function, . - traced_function\n");

static uint64_t call_function(uint64_t count)
{
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < count; i++)
		wrong += traced_function(i) != 0x12345678 + i;
	return wrong;
}

static uint64_t call_getaddrinfo(uint64_t count)
{
	const struct addrinfo hints = {
		.ai_family = AF_INET,
		.ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST,
	};
	uint64_t wrong = 0;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t address = htonl(0x0a000000 | (i & 0xffffff));
		struct addrinfo *found = NULL;
		char host[INET_ADDRSTRLEN];

		inet_ntop(AF_INET, &address, host, sizeof(host));
		if (getaddrinfo(host, NULL, &hints, &found) || !found || found->ai_next ||
		    ((struct sockaddr_in *)found->ai_addr)->sin_addr.s_addr != address)
			wrong++;
		if (found)
			freeaddrinfo(found);
	}
	return wrong;
}

static void answer(uint64_t (*call)(uint64_t count))
{
	char line[64];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		printf("%llu\n", (unsigned long long)call(strtoull(line, NULL, 10)));
		fflush(stdout);
	}
}

/* --- A chain of functions that are known by their names ----------------------------------------- */

static volatile uint64_t turns;

/* Ends in a wait, so that each turn has a slice that ends with all of its callers on the stack. */
__attribute__((noipa)) void honest_inner(uint64_t count)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	char buffer[48];

	for (uint64_t i = 0; i < count; i++) {
		snprintf(buffer, sizeof(buffer), "%d", (int)(i & 7));
		for (volatile unsigned int j = 0; j < 20000; j++)
			;
		turns += buffer[0] != '9';
	}
	nanosleep(&pause, NULL);
}

__attribute__((noipa)) void honest_middle(uint64_t count)
{
	volatile char buffer[200];

	buffer[count % sizeof(buffer)] = 1;
	honest_inner(count);
	turns += buffer[count % sizeof(buffer)];
}

__attribute__((noipa)) void honest_outer(uint64_t count)
{
	volatile char buffer[72];

	buffer[count % sizeof(buffer)] = 1;
	honest_middle(count);
	turns += buffer[count % sizeof(buffer)];
}

static void *work(void *name)
{
	prctl(PR_SET_NAME, name);
	for (;;)
		honest_outer(20);
	return NULL;
}

static uint64_t count_turns(uint64_t count)
{
	(void)count;
	return turns;
}

/* --- Mappings ----------------------------------------------------------------------------------- */

static int map_all(char **paths)
{
	for (; *paths; paths++) {
		int fd = open(*paths, O_RDONLY);
		struct stat status;

		if (fd < 0 || fstat(fd, &status) ||
		    mmap(NULL, status.st_size, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0) == MAP_FAILED) {
			perror(*paths);
			return 1;
		}
		close(fd);
	}
	return 0;
}

static uint64_t count_nothing(uint64_t count)
{
	return count;
}

int main(int argc, char **argv)
{
	const char *mode = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(mode, "calls")) {
		answer(call_function);
	} else if (!strcmp(mode, "hosts")) {
		answer(call_getaddrinfo);
	} else if (!strcmp(mode, "work") && argc > 2) {
		if (pthread_create(&thread, NULL, work, argv[2]))
			return 1;
		answer(count_turns);
	} else if (!strcmp(mode, "map") && argc > 2) {
		if (map_all(argv + 2))
			return 1;
		answer(count_nothing);
	} else {
		fprintf(stderr, "usage: identity calls | hosts | work NAME | map FILE...\n");
		return 2;
	}
	/* Its thread never ends. */
	_exit(0);
}

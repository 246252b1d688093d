// SPDX-License-Identifier: GPL-2.0-or-later
// Runs code that it has generated, at 0x10000000, which has no name but what a file of a JIT compiler says;
// and maps, executable, each file whose path it reads from its standard input. A line "OFFSET PATH" has it
// call the code at that place of the file, again and again, too. Says "ready", then "mapped" or "failed ERRNO"
// for each line. It ends with its input, or after ten minutes.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { CODE_ADDRESS = 0x10000000, CODE_BYTES = 4096, FUNCTIONS_MAX = 4096, SECONDS_MAX = 600 };

typedef void function(void);

// Those below the count are there: who adds one raises it last.
static function *functions[FUNCTIONS_MAX];
static size_t function_count;

__attribute__((noinline)) static void mapper_sleep(void)
{
	struct timespec pause = { .tv_nsec = 1000000 };

	nanosleep(&pause, NULL);
	__asm__ volatile("" ::: "memory");
}

// push %rbp; mov %rsp, %rbp; mov $N, %ecx; 1: dec %ecx; jnz 1b; mov $mapper_sleep, %rax; call *%rax;
// pop %rbp; ret
static void *generate(void)
{
	static const uint8_t begin[] = { 0x55, 0x48, 0x89, 0xe5, 0xb9, 0x00, 0x00, 0x10,
					 0x00, 0xff, 0xc9, 0x75, 0xfc, 0x48, 0xb8 };
	static const uint8_t end[] = { 0xff, 0xd0, 0x5d, 0xc3 };
	uint64_t callee = (uintptr_t)mapper_sleep;
	uint8_t *code = mmap((void *)CODE_ADDRESS, CODE_BYTES, PROT_READ | PROT_WRITE,
			     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

	if (code == MAP_FAILED) {
		perror("mmap");
		exit(1);
	}
	memcpy(code, begin, sizeof(begin));
	memcpy(code + sizeof(begin), &callee, sizeof(callee));
	memcpy(code + sizeof(begin) + sizeof(callee), end, sizeof(end));
	if (mprotect(code, CODE_BYTES, PROT_READ | PROT_EXEC)) {
		perror("mprotect");
		exit(1);
	}
	return code;
}

static void add(const void *code)
{
	if (function_count == FUNCTIONS_MAX)
		return;
	memcpy(&functions[function_count], &code, sizeof(code));
	__atomic_store_n(&function_count, function_count + 1, __ATOMIC_RELEASE);
}

static void *run(void *unused)
{
	for (;;)
		for (size_t i = 0; i < __atomic_load_n(&function_count, __ATOMIC_ACQUIRE); i++)
			functions[i]();
	return unused;
}

// Returns 0 or an errno. offset: of code to be called, 0 for none.
static int map(const char *path, uint64_t offset)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), err = 0;
	struct stat status;
	uint8_t *bytes;

	if (fd < 0)
		return errno;
	if (fstat(fd, &status)) {
		err = errno;
		goto out_close;
	}
	bytes = mmap(NULL, status.st_size ? status.st_size : 1, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (bytes == MAP_FAILED)
		err = errno;
	else if (offset)
		add(bytes + offset);
out_close:
	close(fd);
	return err;
}

int main(void)
{
	char line[4096];
	pthread_t thread;

	alarm(SECONDS_MAX);
	add(generate());
	if (pthread_create(&thread, NULL, run, NULL))
		return 1;
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		char *path = line;
		uint64_t offset = line[0] == '/' ? 0 : strtoull(line, &path, 0);
		int err;

		path[strcspn(path, "\n")] = '\0';
		err = map(path + (*path == ' '), offset);
		if (err)
			printf("failed %d\n", err);
		else
			puts("mapped");
		fflush(stdout);
	}
	return 0;
}

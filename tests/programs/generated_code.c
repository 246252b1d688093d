// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Waits in code that it has generated, as a .NET program does: the wait's stack is wait_shortly(),
 * "Monitor::Wait", "Program::Main", main. Says when it is ready, and leaves /tmp/perf-PID.map and
 * /tmp/perfinfo-PID.map behind. The latter lists loaded images, and no names.
 *
 * generated_code plain|double|nameless ROUNDS. double: the code is mapped once to write and once to
 * execute. nameless: without the files.
 */
#define _GNU_SOURCE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { CODE_BYTES = 4096, MAIN_AT = 0x100, WAIT_AT = 0x200, FUNCTION_BYTES = 18 };

static void __attribute__((noinline)) wait_shortly(void)
{
	struct timespec time = { .tv_nsec = 1000000 };

	nanosleep(&time, NULL);
}

/* push %rbp; mov %rsp, %rbp; movabs $target, %rax; call *%rax; pop %rbp; ret */
static void put_function(uint8_t *at, uint64_t target)
{
	static const uint8_t code[FUNCTION_BYTES] = {
		0x55, 0x48, 0x89, 0xe5, 0x48, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xd0, 0x5d, 0xc3,
	};

	memcpy(at, code, sizeof(code));
	memcpy(at + 6, &target, sizeof(target));
}

static uint8_t *make_code(int is_double)
{
	int fd = is_double ? memfd_create("doublemapper", MFD_CLOEXEC) : -1;
	uint8_t *written, *executed;

	if (fd >= 0 && ftruncate(fd, CODE_BYTES))
		return NULL;
	written = mmap(NULL, CODE_BYTES, PROT_READ | PROT_WRITE | (fd < 0 ? PROT_EXEC : 0),
		       fd < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED, fd, 0);
	executed = fd < 0 ? written : mmap(NULL, CODE_BYTES, PROT_READ | PROT_EXEC, MAP_SHARED, fd, 0);
	if (written == MAP_FAILED || executed == MAP_FAILED)
		return NULL;
	put_function(written + MAIN_AT, (uint64_t)executed + WAIT_AT);
	put_function(written + WAIT_AT, (uint64_t)wait_shortly);
	return executed;
}

static FILE *create(const char *kind)
{
	char path[64];

	snprintf(path, sizeof(path), "/tmp/%s-%d.map", kind, getpid());
	return fopen(path, "w");
}

static int write_names(const uint8_t *code)
{
	FILE *names = create("perf"), *images = create("perfinfo");

	if (!names || !images)
		return -1;
	fprintf(names, "%016lX %x void [Program] Program::Main(string[])[PreStub]\n", (long)code + MAIN_AT,
		FUNCTION_BYTES);
	fprintf(names, "%016lX %x void [Program] Program::Main(string[])[QuickJitted]\n", (long)code + MAIN_AT,
		FUNCTION_BYTES);
	fprintf(names,
		"%016lX %x bool [System.Private.CoreLib] System.Threading.Monitor::Wait"
		"(object,int32)[OptimizedTier1]\n",
		(long)code + WAIT_AT, FUNCTION_BYTES);
	fprintf(images, "ImageLoad;/usr/lib/dotnet/System.Private.CoreLib.dll;"
			"8ca6b9a2-9e4c-4d6b-8a09-1f6c0a5c2f33;\n");
	fprintf(images, "%016lX %x an image\n", (long)code, CODE_BYTES);
	return fclose(names) || fclose(images) ? -1 : 0;
}

int main(int argc, char **argv)
{
	uint8_t *code;

	if (argc < 3) {
		fprintf(stderr, "usage: generated_code plain|double|nameless ROUNDS\n");
		return 2;
	}
	code = make_code(!strcmp(argv[1], "double"));
	if (!code || (strcmp(argv[1], "nameless") && write_names(code))) {
		perror("generated_code");
		return 1;
	}
	puts("ready");
	fflush(stdout);
	for (int i = atoi(argv[2]); i > 0; i--)
		((void (*)(void))(uintptr_t)(code + MAIN_AT))();
	return 0;
}

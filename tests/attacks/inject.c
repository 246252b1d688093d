// SPDX-License-Identifier: GPL-2.0-or-later
// inject [-i] PID NUMBER [ARGUMENT]...
//
// Has a process make a system call, as code that took it over would, and lets it go on. An argument is a
// number, or @TEXT, the address of that text. -i: by int $0x80, with the numbers of 32-bit programs. Says
// "result N", N as the kernel returned it, or "killed SIGNAL".
#define _GNU_SOURCE
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { ARGUMENTS_MAX = 6, RED_ZONE_BYTES = 4096, TEXT_BYTES = 256 };

static pid_t pid;
static int memory;

static void die(const char *what)
{
	perror(what);
	exit(1);
}

// Waits until the process stops or ends; it ends here, too, when that one does.
static void wait_stop(void)
{
	int status;

	if (waitpid(pid, &status, __WALL) != pid)
		die("waitpid");
	if (WIFSIGNALED(status))
		printf("killed %d\n", WTERMSIG(status));
	else if (WIFEXITED(status))
		printf("exited %d\n", WEXITSTATUS(status));
	else if (WSTOPSIG(status) == SIGSYS)
		puts("killed 31");
	else
		return;
	if (WIFSTOPPED(status))
		kill(pid, SIGKILL);
	exit(0);
}

// Some code of the process, which is put back.
static uint64_t find_code(void)
{
	unsigned long long begin;
	char path[32], line[8192], flags[8];
	FILE *maps;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps))
		if (sscanf(line, "%llx-%*x %7s", &begin, flags) == 2 && flags[2] == 'x' &&
		    !strstr(line, "[vsyscall]")) {
			fclose(maps);
			return begin;
		}
	errno = ENOENT;
	die("executable memory");
	return 0;
}

static void put(uint64_t address, const void *bytes, size_t size_bytes)
{
	if (pwrite(memory, bytes, size_bytes, address) != (ssize_t)size_bytes)
		die("writing to the process");
}

// A call that the stop has interrupted is made again.
static void make_again(struct user_regs_struct *registers)
{
	long long result = registers->rax;

	if ((long long)registers->orig_rax < 0 || result > -512 || result < -516 || result == -515)
		return;
	registers->rip -= 2;
	registers->rax = result == -516 ? 219 : registers->orig_rax; // restart_syscall
	registers->orig_rax = -1;
}

static void set_arguments(struct user_regs_struct *registers, bool is_32, char **words)
{
	unsigned long long numbers[ARGUMENTS_MAX] = { 0 };
	uint64_t text = registers->rsp - RED_ZONE_BYTES;

	for (int i = 0; i < ARGUMENTS_MAX && words[i]; i++) {
		if (words[i][0] == '@') {
			text -= TEXT_BYTES;
			put(text, words[i] + 1, strnlen(words[i] + 1, TEXT_BYTES - 1) + 1);
			numbers[i] = text;
		} else {
			numbers[i] = strtoull(words[i], NULL, 0);
		}
	}
	registers->orig_rax = -1;
	if (is_32) {
		registers->rbx = numbers[0], registers->rcx = numbers[1], registers->rdx = numbers[2];
		registers->rsi = numbers[3], registers->rdi = numbers[4], registers->rbp = numbers[5];
	} else {
		registers->rdi = numbers[0], registers->rsi = numbers[1], registers->rdx = numbers[2];
		registers->r10 = numbers[3], registers->r8 = numbers[4], registers->r9 = numbers[5];
	}
}

int main(int argc, char **argv)
{
	static const uint8_t call_64[] = { 0x0f, 0x05, 0x90, 0x90 }, call_32[] = { 0xcd, 0x80, 0x90, 0x90 };
	bool is_32 = argc > 1 && !strcmp(argv[1], "-i");
	struct user_regs_struct saved, registers;
	uint8_t code[sizeof(call_64)];
	uint64_t place;
	char path[32];

	argc -= is_32;
	argv += is_32;
	if (argc < 3 || argc > 3 + ARGUMENTS_MAX) {
		fprintf(stderr, "usage: inject [-i] PID NUMBER [ARGUMENT]...\n");
		return 2;
	}
	pid = atoi(argv[1]);
	snprintf(path, sizeof(path), "/proc/%d/mem", pid);
	memory = open(path, O_RDWR | O_CLOEXEC);
	if (memory < 0)
		die(path);
	if (ptrace(PTRACE_ATTACH, pid, NULL, NULL))
		die("PTRACE_ATTACH");
	wait_stop();
	if (ptrace(PTRACE_GETREGS, pid, NULL, &saved))
		die("PTRACE_GETREGS");
	place = find_code();
	if (pread(memory, code, sizeof(code), place) != sizeof(code))
		die("reading the process");
	put(place, is_32 ? call_32 : call_64, sizeof(code));
	registers = saved;
	registers.rip = place;
	registers.rax = strtoull(argv[2], NULL, 0);
	set_arguments(&registers, is_32, argv + 3);
	if (ptrace(PTRACE_SETREGS, pid, NULL, &registers) || ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL))
		die("PTRACE_SINGLESTEP");
	wait_stop();
	if (ptrace(PTRACE_GETREGS, pid, NULL, &registers))
		die("PTRACE_GETREGS");
	printf("result %lld\n", is_32 ? (long long)(int)registers.rax : (long long)registers.rax);
	put(place, code, sizeof(code));
	make_again(&saved);
	if (ptrace(PTRACE_SETREGS, pid, NULL, &saved) || ptrace(PTRACE_DETACH, pid, NULL, NULL))
		die("PTRACE_DETACH");
	return 0;
}

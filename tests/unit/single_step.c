/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "single_step.h"

#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

enum { TRAP_FLAG = 1 << 8 };

static const uint8_t syscall_bytes[] = { 0x0f, 0x05 };

/* Of what runs; the handler reads it. */
static struct {
	uint64_t begin, end;
	uint64_t *instructions;
	size_t count, max;
	volatile bool is_on;
	sigjmp_buf out;
} run;

static void on_trap(int number __attribute__((unused)), siginfo_t *info __attribute__((unused)), void *data)
{
	ucontext_t *context = data;
	uint64_t ip = context->uc_mcontext.gregs[REG_RIP];

	if (!run.is_on) {
		context->uc_mcontext.gregs[REG_EFL] &= ~TRAP_FLAG;
		return;
	}
	if (ip >= run.begin && ip < run.end && run.count < run.max)
		run.instructions[run.count++] = ip;
	if (run.count < run.max && (context->uc_mcontext.gregs[REG_RAX] != SYS_futex ||
				    memcmp((const void *)ip, syscall_bytes, sizeof(syscall_bytes))))
		return;
	run.is_on = false;
	siglongjmp(run.out, 1);
}

size_t single_step(void (*function)(void *), void *argument, uint64_t begin, uint64_t end, uint64_t *instructions,
		   size_t max)
{
	struct sigaction action = { .sa_sigaction = on_trap, .sa_flags = SA_SIGINFO }, before;

	run.begin = begin;
	run.end = end;
	run.instructions = instructions;
	run.count = 0;
	run.max = max;
	sigaction(SIGTRAP, &action, &before);
	if (!sigsetjmp(run.out, 1)) {
		run.is_on = true;
		/* The red zone is kept. */
		__asm__ volatile("lea -128(%%rsp), %%rsp; pushf; orl %0, (%%rsp); popf;"
				 "lea 128(%%rsp), %%rsp" ::"i"(TRAP_FLAG)
				 : "memory", "cc");
		function(argument);
		run.is_on = false;
	}
	sigaction(SIGTRAP, &before, NULL);
	return run.count;
}

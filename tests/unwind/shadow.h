/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What a program of generate.py says about its own stack: each function puts the address that it
 * returns to on a shadow stack, and shadow_block() prints that and waits for a byte.
 *
 * Nobody takes its own entry off, since a function that calls another one in its last statement
 * cannot: the caller does, by setting the count to its own after each call. An exception that
 * leaves functions out needs nothing more, either.
 *
 * Where the compiler has made a tail call, the callee returns to where its caller would have: the
 * two entries are alike. Two others next to each other never are, for no function calls itself.
 *
 * What libc and libstdc++ are called by tells shadow.S.
 */
#pragma once

#include <link.h>
#include <pthread.h>
#include <search.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#ifdef __cplusplus
#include <exception>
extern "C" {
#endif

enum { SHADOW_MAX = 4096, SHADOW_VALUES = 16, SHADOW_ALTSTACK_BYTES = 32 << 20 };

/* The numbers are known to shadow.S and to unwind_truth.py. */
enum {
	SHADOW_CALL = 0,
	SHADOW_TAIL = 1,  /* its function's last statement is a call, or is a jump to libc */
	SHADOW_EXACT = 2, /* where a signal was taken, not where a call returns to */
};

struct shadow_entry {
	void *address;
	long kind;
};

extern struct shadow_entry shadow_entries[SHADOW_MAX];
extern volatile long shadow_count;
extern volatile long shadow_zero; /* which the compiler does not know */
extern volatile long shadow_values[SHADOW_VALUES];
extern volatile double shadow_doubles[SHADOW_VALUES];
extern char *volatile shadow_trap;    /* a page that cannot be read */
extern void *volatile shadow_library; /* an address in the program's library */

void shadow_block(void);
void shadow_handle(int number, void (*handler)(int, siginfo_t *, void *), int flags);
void shadow_setup(void);

void shim_qsort(void *, size_t, size_t, int (*)(const void *, const void *));
void *shim_bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
void *shim_lfind(const void *, const void *, size_t *, size_t, int (*)(const void *, const void *));
void *shim_tfind(const void *, void *const *, int (*)(const void *, const void *));
void shim_twalk(const void *, void (*)(const void *, VISIT, int));
int shim_pthread_once(pthread_once_t *, void (*)(void));
int shim_dl_iterate_phdr(int (*)(struct dl_phdr_info *, size_t, void *), void *);
int shim_raise(int);
void *shim_memcpy(void *, const void *, size_t);
void *shim_memset(void *, int, size_t);
size_t shim_strlen(const char *);
void shim_exit(int) __attribute__((noreturn));
void shim_abort(void) __attribute__((noreturn));

#ifdef __clang__
#define SHADOW_APART __attribute__((noinline))
#else
#define SHADOW_APART __attribute__((noinline, noclone))
#endif

/* The memory exists, and what it holds matters. */
#define shadow_use(pointer) __asm__ volatile("" : : "r"(pointer) : "memory")

static inline __attribute__((always_inline)) long shadow_push(void *address, long kind)
{
	long place = shadow_count;

	shadow_entries[place].address = address;
	shadow_entries[place].kind = kind;
	shadow_count = place + 1;
	__asm__ volatile("" : : : "memory");
	return place + 1;
}

#define SHADOW_ENTER(kind) const long shadow_mine = shadow_push(__builtin_return_address(0), kind)
#define SHADOW_BACK() (shadow_count = shadow_mine)

#define SHADOW_RIP(context) (((ucontext_t *)(context))->uc_mcontext.gregs[REG_RIP])

#ifdef SHADOW_MAIN
struct shadow_entry shadow_entries[SHADOW_MAX];
volatile long shadow_count, shadow_zero;
volatile long shadow_values[SHADOW_VALUES] = { 3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3 };
volatile double shadow_doubles[SHADOW_VALUES] = { 2, 7, 1, 8, 2, 8, 1, 8, 2, 8, 4, 5, 9, 0, 4, 5 };
char *volatile shadow_trap;
void *volatile shadow_library;
int main(void);

/* Without stdio: a handler may be what calls it. */
static void shadow_print(const char *word, void *address, long kind)
{
	char line[64];
	int bytes = snprintf(line, sizeof(line), "%s %#lx %ld\n", word, (unsigned long)address, kind);

	if (write(1, line, bytes) != bytes)
		_exit(3);
}

SHADOW_APART void shadow_block(void)
{
	char byte;

	shadow_print("pid", (void *)(long)getpid(), 0);
	shadow_print("main", (void *)main, 0);
	shadow_print("library", shadow_library, 0);
	shadow_print("frame", __builtin_return_address(0), SHADOW_CALL);
	for (long i = shadow_count; i-- > 0;)
		shadow_print("frame", shadow_entries[i].address, shadow_entries[i].kind);
	shadow_print("blocked", NULL, 0);
	if (read(0, &byte, 1) != 1)
		_exit(0);
}

void shadow_handle(int number, void (*handler)(int, siginfo_t *, void *), int flags)
{
	struct sigaction action;
	stack_t stack;

	memset(&action, 0, sizeof(action));
	memset(&stack, 0, sizeof(stack));
	if (flags & SA_ONSTACK) {
		stack.ss_size = SHADOW_ALTSTACK_BYTES;
		stack.ss_sp = mmap(NULL, stack.ss_size, PROT_READ | PROT_WRITE,
				   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		sigaltstack(&stack, NULL);
	}
	action.sa_sigaction = handler;
	action.sa_flags = flags | SA_SIGINFO;
	sigaction(number, &action, NULL);
}
#endif

#ifdef __cplusplus
}
#endif

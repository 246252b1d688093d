// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Edge: what a waiting thread has in memory goes away while it waits, or has never been there. Main
 * ends each wait 50 ms after it began, in end_wait(); the threads wait in wait_on().
 *	stack	its stack is unmapped, and comes back before the end
 *	hidden	its stack may not be read meanwhile
 *	nowhere	its stack pointer and frame pointer point at nothing (x86-64)
 *	word	the page with the futex's word is unmapped; nobody maps it again
 *	shared	the same; it is woken by another mapping of the same page
 *	edge	the word is the last one before unmapped memory
 * Known answer: each of them waits once, for a futex, for 50 ms at least; main ends all the waits.
 */
#include "roles.h"
#include <linux/futex.h>
#include <sys/mman.h>

enum { WAIT_MS = 50, STACK_BYTES = 1 << 16, PAGE_BYTES = 4096 };

static struct role waiter;
static uint32_t *word;
static int operation = FUTEX_PRIVATE_FLAG;
static uint32_t own_word;

static char *map(size_t bytes, int flags, int fd)
{
	char *memory = (char *)mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, fd, 0);

	if (memory == MAP_FAILED)
		die("mmap");
	return memory;
}

static OWN_FRAME void wait_on(int number)
{
	(void)number;
	syscall(SYS_futex, word, FUTEX_WAIT | operation, 0, NULL, NULL, 0);
}

/* With nothing where stacks are looked for: the kernel touches none of it. */
static OWN_FRAME void wait_nowhere(int number)
{
#ifdef __x86_64__
	long result = SYS_futex;
	register long timeout __asm__("r10") = 0;

	(void)number;
	__asm__ volatile("mov %%rsp, %%r12\n\tmov %%rbp, %%r13\n\t"
			 "mov $0x1000, %%rsp\n\tmov $0x2000, %%rbp\n\tsyscall\n\t"
			 "mov %%r12, %%rsp\n\tmov %%r13, %%rbp"
			 : "+a"(result)
			 : "D"(word), "S"(FUTEX_WAIT | FUTEX_PRIVATE_FLAG), "d"(0), "r"(timeout)
			 : "rcx", "r11", "r12", "r13", "memory");
#else
	wait_on(number);
#endif
}

static OWN_FRAME void end_wait(uint32_t *its_word)
{
	compute_ms(WAIT_MS);
	if (syscall(SYS_futex, its_word, FUTEX_WAKE | operation, 1, NULL, NULL, 0) != 1)
		die("nobody was woken");
	pthread_join(waiter.thread, NULL);
}

static void begin_wait(const char *name, void (*run)(int))
{
	role_start(&waiter, name, run, 0);
	role_await_all(&waiter, 1, SYS_futex);
}

static void start_on(const char *name, char *stack)
{
	pthread_attr_t attributes;

	snprintf(waiter.name, sizeof(waiter.name), "%s", name);
	waiter.run = wait_on;
	waiter.tid = 0;
	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, STACK_BYTES) ||
	    pthread_create(&waiter.thread, &attributes, role_main, &waiter))
		die("pthread_create");
	pthread_attr_destroy(&attributes);
	role_await_all(&waiter, 1, SYS_futex);
}

/* Its thread-local data lie there, too. */
static void lose_stack(void)
{
	char *stack = map(STACK_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1), *copy = malloc(STACK_BYTES);

	if (!copy)
		die("malloc");
	start_on("stack", stack);
	memcpy(copy, stack, STACK_BYTES);
	munmap(stack, STACK_BYTES);
	compute_ms(WAIT_MS);
	if (mmap(stack, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1,
		 0) != stack)
		die("mmap");
	memcpy(stack, copy, STACK_BYTES);
	end_wait(word);
	free(copy);
}

static void hide_stack(void)
{
	char *stack = map(STACK_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	start_on("hidden", stack);
	mprotect(stack, STACK_BYTES, PROT_NONE);
	compute_ms(WAIT_MS);
	mprotect(stack, STACK_BYTES, PROT_READ | PROT_WRITE);
	end_wait(word);
}

static void lose_word(void)
{
	word = (uint32_t *)map(PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);
	begin_wait("word", wait_on);
	munmap(word, PAGE_BYTES);
	end_wait(word);
}

static void lose_shared_word(void)
{
	int fd = memfd_create("odd_memory", MFD_CLOEXEC);
	uint32_t *other;

	if (fd < 0 || ftruncate(fd, PAGE_BYTES))
		die("memfd_create");
	other = (uint32_t *)map(PAGE_BYTES, MAP_SHARED, fd);
	word = (uint32_t *)map(PAGE_BYTES, MAP_SHARED, fd);
	operation = 0;
	begin_wait("shared", wait_on);
	munmap(word, PAGE_BYTES);
	end_wait(other);
	operation = FUTEX_PRIVATE_FLAG;
}

static void wait_at_edge(void)
{
	char *pages = map(2 * PAGE_BYTES, MAP_PRIVATE | MAP_ANONYMOUS, -1);

	munmap(pages + PAGE_BYTES, PAGE_BYTES);
	word = (uint32_t *)(pages + PAGE_BYTES) - 1;
	begin_wait("edge", wait_on);
	end_wait(word);
}

int main(void)
{
	role_name_self("ender");
	word = &own_word;
	lose_stack();
	hide_stack();
	begin_wait("nowhere", wait_nowhere);
	end_wait(word);
	lose_word();
	lose_shared_word();
	wait_at_edge();
	return 0;
}

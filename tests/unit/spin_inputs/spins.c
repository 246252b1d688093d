/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ways to wait for another thread with the CPU. Each function gets words with which it waits for
 * ever: all are 1, but where its own comment says otherwise. Of what it does again and again,
 * every instruction must be found to be in a spin loop.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS __attribute__((visibility("default")))

struct words {
	_Atomic int lock;
	_Atomic int next, serving; /* of a ticket lock */
	_Atomic(struct words *) link;
	_Atomic uint64_t state;
	volatile int plain;
	_Atomic bool flag;
	int limit;
};

/* No function: without optimisation it would be called. */
#define RELAX() __asm__ volatile("rep; nop" ::: "memory")

SPINS void spin_test_and_set(struct words *words)
{
	while (atomic_exchange_explicit(&words->lock, 1, memory_order_acquire))
		;
}

SPINS void spin_test_and_test_and_set(struct words *words)
{
	while (atomic_exchange_explicit(&words->lock, 1, memory_order_acquire))
		while (atomic_load_explicit(&words->lock, memory_order_relaxed))
			RELAX();
}

SPINS void spin_test_and_test_and_set_bare(struct words *words)
{
	for (;;) {
		if (!atomic_load_explicit(&words->lock, memory_order_relaxed) && !atomic_exchange(&words->lock, 1))
			return;
	}
}

SPINS void spin_ticket(struct words *words)
{
	int mine = atomic_fetch_add(&words->next, 1) + 1;

	while (atomic_load_explicit(&words->serving, memory_order_acquire) != mine)
		;
}

SPINS void spin_ticket_with_back_off(struct words *words)
{
	int mine = atomic_fetch_add(&words->next, 1) + 10;

	for (;;) {
		int serving = atomic_load_explicit(&words->serving, memory_order_acquire);

		if (serving == mine)
			return;
		for (int i = mine - serving; i; i--)
			__asm__ volatile("" ::: "memory");
	}
}

SPINS void spin_compare_and_swap(struct words *words)
{
	int free = 0;

	while (!atomic_compare_exchange_weak(&words->lock, &free, 2))
		free = 0;
}

SPINS void spin_compare_and_swap_with_pause(struct words *words)
{
	for (;;) {
		int free = 0;

		if (atomic_compare_exchange_strong(&words->lock, &free, 2))
			return;
		RELAX();
	}
}

SPINS void spin_flag(struct words *words)
{
	/* Set to true, where it waits for false. */
	while (atomic_load(&words->flag))
		;
}

static volatile int stop;

SPINS void spin_global(struct words *words)
{
	(void)words;
	while (!stop)
		;
}

SPINS void spin_global_with_pause(struct words *words)
{
	(void)words;
	while (!stop)
		RELAX();
}

static struct words *_Atomic shared;

/* Nothing but the pointer is known, and it may change as well. */
SPINS void spin_through_a_pointer(struct words *words)
{
	atomic_store(&shared, words);
	while (atomic_load_explicit(&atomic_load_explicit(&shared, memory_order_relaxed)->lock, memory_order_relaxed))
		;
}

SPINS void spin_bit(struct words *words)
{
	while (atomic_fetch_or(&words->lock, 1) & 1)
		;
}

SPINS void spin_for_change(struct words *words)
{
	int before = words->plain;

	while (words->plain == before)
		;
}

SPINS void spin_bounded(struct words *words)
{
	for (int i = 0; i < 100000000; i++)
		if (!atomic_load_explicit(&words->lock, memory_order_acquire))
			return;
}

SPINS void spin_doubling(struct words *words)
{
	int delay = 1;

	while (atomic_exchange(&words->lock, 1)) {
		for (int i = 0; i < delay; i++)
			RELAX();
		if (delay < 64)
			delay *= 2;
	}
}

/* The counter is volatile, for the delay to be there, so it lies on the stack. */
SPINS void spin_with_volatile_delay(struct words *words)
{
	while (atomic_load(&words->lock))
		for (volatile int i = 0; i < 20; i++)
			;
}

SPINS void spin_on_own_node(struct words *words)
{
	struct words node = { .lock = 1 };

	atomic_store(&words->link, &node); /* others may change it from here on */
	while (atomic_load_explicit(&node.lock, memory_order_acquire))
		RELAX();
}

SPINS void spin_for_a_link(struct words *words)
{
	struct words *next;

	atomic_store(&words->link, NULL);
	do {
		next = atomic_load_explicit(&words->link, memory_order_acquire);
	} while (!next);
	atomic_store(&next->lock, 0);
}

/* Readers count in steps of 2; a writer has set 1. */
SPINS void spin_to_read(struct words *words)
{
	for (;;) {
		uint64_t state = atomic_load_explicit(&words->state, memory_order_relaxed);

		if (state & 1) {
			RELAX();
			continue;
		}
		if (atomic_compare_exchange_weak(&words->state, &state, state + 2))
			return;
	}
}

/* An odd number: somebody writes. */
SPINS void spin_on_sequence(struct words *words)
{
	uint64_t before;

	do {
		do
			before = atomic_load(&words->state);
		while (before & 1);
	} while (atomic_load(&words->state) != before);
}

SPINS void spin_peterson(struct words *words)
{
	while (atomic_load(&words->lock) && atomic_load(&words->next) == 1)
		;
}

SPINS void spin_barrier(struct words *words)
{
	int mine = !atomic_load(&words->serving);

	while (atomic_load_explicit(&words->serving, memory_order_acquire) != mine)
		RELAX();
}

/* Counts on, then asks the kernel, which it never comes to within a test's patience. */
SPINS void spin_then_sleep(struct words *words)
{
	int count = 0;

	while (atomic_load_explicit(&words->lock, memory_order_acquire))
		if (++count == 100000000) {
			usleep(1);
			count = 0;
		}
}

SPINS void spin_until_time(struct words *words)
{
	uint64_t end = __builtin_ia32_rdtsc() + (1ull << 60);

	while (atomic_load(&words->lock))
		if (__builtin_ia32_rdtsc() > end)
			return;
}

SPINS void spin_decrementing(struct words *words)
{
	atomic_store(&words->next, 0);
	__asm__ volatile("1: lock decl %0; jns 3f; 2: pause; cmpl $0, %0; jle 2b; jmp 1b; 3:"
			 : "+m"(words->next)::"memory", "cc");
}

SPINS void spin_thread_local(struct words *words)
{
	static __thread volatile int mine __attribute__((tls_model("initial-exec")));

	words->limit = 0;
	while (!mine)
		;
}

SPINS void yield_call(struct words *words)
{
	while (atomic_load(&words->lock))
		sched_yield();
}

SPINS void spin_yield_inline(struct words *words)
{
	while (atomic_load(&words->lock)) {
		long result;

		__asm__ volatile("mov %1, %%eax; syscall"
				 : "=&a"(result)
				 : "i"(SYS_sched_yield)
				 : "rcx", "r11", "memory");
	}
}

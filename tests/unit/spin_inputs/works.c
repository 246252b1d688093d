/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Loops that work, and those that are not waits though they look like it. No instruction of theirs
 * is in a spin loop.
 */
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#define WORKS __attribute__((visibility("default")))

struct node {
	struct node *next, *left, *right;
	int key;
};

struct shared {
	_Atomic(struct node *) head;
	_Atomic uint64_t count, sequence;
	uint64_t first, second;
	volatile bool stop;
	_Atomic bool is_verbose;
};

void report(uint64_t number);

WORKS void work_copy(char *to, const char *from, size_t count)
{
	for (size_t i = 0; i < count; i++)
		to[i] = from[i];
}

WORKS void work_volatile_copy(volatile char *to, const volatile char *from, size_t count)
{
	while (count--)
		*to++ = *from++;
}

WORKS size_t work_length(const volatile char *text)
{
	const volatile char *end = text;

	while (*end)
		end++;
	return end - text;
}

WORKS const volatile char *work_find(const volatile char *text, char wanted, size_t count)
{
	for (; count; count--, text++)
		if (*text == wanted)
			return text;
	return NULL;
}

WORKS int work_compare(const volatile char *a, const volatile char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a - *b;
}

WORKS uint64_t work_sum(const uint64_t *numbers, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += numbers[i];
	return sum;
}

WORKS double work_dot(const double *a, const double *b, size_t count)
{
	double sum = 0;

	for (size_t i = 0; i < count; i++)
		sum += a[i] * b[i];
	return sum;
}

WORKS uint32_t work_hash(const unsigned char *bytes, size_t count)
{
	uint32_t hash = 2166136261u;

	while (count--)
		hash = (hash ^ *bytes++) * 16777619;
	return hash;
}

WORKS uint32_t work_checksum(const uint32_t table[256], const unsigned char *bytes, size_t count)
{
	uint32_t sum = ~0u;

	for (size_t i = 0; i < count; i++)
		sum = table[(sum ^ bytes[i]) & 255] ^ sum >> 8;
	return ~sum;
}

WORKS int work_list(const struct node *node)
{
	int sum = 0;

	for (; node; node = node->next)
		sum += node->key;
	return sum;
}

WORKS const struct node *work_list_end(const struct node *volatile *node)
{
	while ((*node)->next)
		node = (const struct node *volatile *)&(*node)->next;
	return *node;
}

WORKS const struct node *work_list_until(const struct node *node, const struct node *volatile *end)
{
	while (node != *end)
		node = node->next;
	return node;
}

WORKS const struct node *work_tree(const struct node *node, int key)
{
	while (node && node->key != key)
		node = key < node->key ? node->left : node->right;
	return node;
}

WORKS uint64_t work_random(uint64_t state, uint64_t count)
{
	while (count--)
		state = state * 6364136223846793005u + 1442695040888963407u;
	return state;
}

WORKS uint64_t work_shift_register(uint64_t state, const volatile uint64_t *wanted)
{
	while (state != *wanted) {
		state ^= state << 13;
		state ^= state >> 7;
		state ^= state << 17;
	}
	return state;
}

/* Works until it is asked to stop, which is read each time. */
WORKS uint64_t work_until_stopped(struct shared *shared, uint64_t state)
{
	while (!shared->stop)
		state = state * 6364136223846793005u + 1;
	return state;
}

WORKS uint64_t work_collatz(uint64_t number)
{
	uint64_t steps = 0;

	for (; number != 1; steps++)
		number = number & 1 ? 3 * number + 1 : number / 2;
	return steps;
}

WORKS uint64_t work_common_divisor(uint64_t a, uint64_t b)
{
	while (b) {
		uint64_t rest = a % b;

		a = b;
		b = rest;
	}
	return a;
}

WORKS uint64_t work_fibonacci(unsigned int count)
{
	uint64_t a = 0, b = 1;

	while (count--) {
		uint64_t c = a + b;

		a = b;
		b = c;
	}
	return a;
}

WORKS int work_bits(uint64_t mask)
{
	int count = 0;

	for (; mask; count++)
		mask &= mask - 1;
	return count;
}

WORKS size_t work_search(const int *sorted, size_t count, int wanted)
{
	size_t low = 0, high = count;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (sorted[middle] < wanted)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

WORKS void work_sort(int *numbers, size_t count)
{
	for (size_t i = 1; i < count; i++)
		for (size_t k = i; k && numbers[k - 1] > numbers[k]; k--) {
			int number = numbers[k];

			numbers[k] = numbers[k - 1];
			numbers[k - 1] = number;
		}
}

WORKS void work_multiply(const double *a, const double *b, double *c, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < n; k++)
			for (size_t j = 0; j < n; j++)
				c[i * n + j] += a[i * n + k] * b[k * n + j];
}

WORKS size_t work_run_lengths(const unsigned char *in, size_t count, unsigned char *out)
{
	unsigned char *begin = out;

	for (size_t i = 0; i + 1 < count; i += 2)
		for (unsigned char run = in[i]; run; run--)
			*out++ = in[i + 1];
	return out - begin;
}

WORKS size_t work_characters(const char *text)
{
	size_t count = 0;

	for (; *text; text++)
		count += (*text & 0xc0) != 0x80;
	return count;
}

WORKS void work_reverse(char *text, size_t count)
{
	for (size_t i = 0, k = count; i + 1 < k; i++) {
		char c = text[i];

		text[i] = text[--k];
		text[k] = c;
	}
}

WORKS uint64_t work_number(const char *text)
{
	uint64_t number = 0;

	while (*text >= '0' && *text <= '9')
		number = number * 10 + (*text++ - '0');
	return number;
}

/* Does nothing, and waits for nobody. */
WORKS void work_delay(unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		__asm__ volatile("");
}

WORKS void work_volatile_delay(unsigned int count)
{
	for (volatile unsigned int i = 0; i < count; i++)
		;
}

WORKS void work_delay_of_memory(const volatile unsigned int *count)
{
	for (unsigned int i = 0; i < *count; i++)
		;
}

WORKS void work_clock(uint64_t end)
{
	while (__builtin_ia32_rdtsc() < end)
		;
}

WORKS uint64_t work_counted_items(struct shared *shared, const uint64_t *items, uint64_t count)
{
	uint64_t sum = 0, item;

	while ((item = atomic_fetch_add(&shared->count, 1)) < count)
		sum += items[item];
	return sum;
}

WORKS void work_counting(struct shared *shared, uint64_t count)
{
	while (count--)
		atomic_fetch_add(&shared->count, 1);
}

WORKS void work_push(struct shared *shared, struct node *node)
{
	struct node *head = atomic_load(&shared->head);

	do
		node->next = head;
	while (!atomic_compare_exchange_weak(&shared->head, &head, node));
}

WORKS struct node *work_pop(struct shared *shared)
{
	struct node *head = atomic_load(&shared->head);

	while (head && !atomic_compare_exchange_weak(&shared->head, &head, head->next))
		;
	return head;
}

WORKS void work_maximum(struct shared *shared, uint64_t number)
{
	uint64_t known = atomic_load(&shared->count);

	while (known < number && !atomic_compare_exchange_weak(&shared->count, &known, number))
		;
}

WORKS void work_times_three(struct shared *shared)
{
	uint64_t known;

	do
		known = atomic_load(&shared->count);
	while (!atomic_compare_exchange_strong(&shared->count, &known, known * 3));
}

/* Reads twice only when somebody wrote meanwhile. */
WORKS uint64_t work_consistent(struct shared *shared)
{
	uint64_t before, sum;

	do {
		before = atomic_load(&shared->sequence);
		sum = *(volatile uint64_t *)&shared->first + *(volatile uint64_t *)&shared->second;
	} while (atomic_load(&shared->sequence) != before);
	return sum;
}

WORKS void work_with_calls(struct shared *shared, uint64_t count)
{
	for (uint64_t i = 0; i < count; i++)
		if (atomic_load_explicit(&shared->is_verbose, memory_order_relaxed))
			report(i);
}

WORKS void work_polled_array(const volatile bool *ready, size_t count, uint64_t *sums)
{
	for (size_t i = 0; i < count; i++)
		if (ready[i])
			sums[i]++;
}

WORKS void work_random_bits(void)
{
	unsigned char is_done;

	do
		__asm__ volatile("rdrand %%rax; setc %0" : "=qm"(is_done)::"rax", "cc");
	while (!is_done);
}

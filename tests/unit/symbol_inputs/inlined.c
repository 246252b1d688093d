/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function with two levels of inlined calls. Lines are named by the tests: each "LINE x"
 * comment is looked up in this file, not counted.
 */
volatile int sink;

static inline __attribute__((always_inline)) void innermost(int value)
{
	sink = value;                                                    /* LINE innermost */
	__asm__ volatile(".globl place_inlined\nplace_inlined:\n\tnop"); /* LINE asm */
	sink = value + 1;
}

static inline __attribute__((always_inline)) void middle(int value)
{
	innermost(value * 3); /* LINE middle */
	sink = value;
}

__attribute__((noinline)) int outer(int value)
{
	middle(value); /* LINE outer */
	return sink + value;
}

static __attribute__((noinline, used)) int local_function(int value)
{
	sink = value;
	__asm__ volatile(".globl place_local\nplace_local:\n\tnop"); /* LINE local */
	return sink * 7;
}

#ifdef FOR_SERVER /* another build-id, whose debug file is nowhere else */
int is_for_server = 1;
#endif

#ifndef IS_LIBRARY
int pause(void);

int main(int count, char **args)
{
	(void)args;
	/* An argument: for tests that look at a living process. */
	while (count > 1)
		pause();
	return outer(count) + local_function(count) == -1;
}
#endif

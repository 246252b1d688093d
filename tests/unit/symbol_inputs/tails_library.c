/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The other file of tails.c. */
volatile int y;

__attribute__((noinline, noclone)) static void within(int n)
{
	y += n;
}

__attribute__((noinline)) void outside(int n)
{
	y++;
	within(n);
}
void outside_alias(int n) __attribute__((alias("outside")));

__attribute__((noinline)) void outside_rare(int n)
{
	y -= n;
}

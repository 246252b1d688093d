/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that end with jumps: tail_calls_test.c says what is to be put back of them. */
#define OWN __attribute__((noinline, noclone))

/* A macro, so that each caller does something after the call. */
#define CALLER(name, call)   \
	OWN void name(int n) \
	{                    \
		call;        \
		x += n;      \
	}

volatile int x;
void (*volatile pointer)(int);

void outside(int n);
void outside_alias(int n);
void outside_rare(int n);

OWN void last(int n)
{
	x += n;
}
CALLER(call_last, last(n))

#line 100
OWN void three(int n)
{
	x++;
	last(n);
}
#line 200
OWN void two(int n)
{
	x++;
	three(n);
}
#line 300
OWN void one(int n)
{
	x++;
	two(n);
}
CALLER(call_one, one(n))

/* Two ways, from one beginning to one end. */
OWN void join(int n)
{
	x += 2;
	last(n);
}
OWN void left(int n)
{
	x += 3;
	join(n);
}
OWN void right(int n)
{
	x += 4;
	join(n);
}
OWN void either(int n)
{
	if (x)
		left(n);
	else
		right(n);
}
CALLER(call_either, either(n))

/* Nobody knows how often round. */
OWN void pong(int n);
OWN void ping(int n)
{
	if (!n) {
		x += 5;
		last(n);
	} else {
		pong(n - 1);
	}
}
OWN void pong(int n)
{
	x += 6;
	ping(n);
}
CALLER(call_ping, ping(n))

/* Perhaps by way of another function. */
OWN void through(int n)
{
	x += 7;
	pointer(n);
}
CALLER(call_through, through(n))
OWN void straight(int n)
{
	x += 8;
	last(n);
}
OWN void doubtful(int n)
{
	if (x)
		straight(n);
	else
		pointer(n);
}
CALLER(call_doubtful, doubtful(n))

/* An indirect call says nothing. */
CALLER(call_pointer, pointer(n))

/* It does not lead to last(). */
OWN void elsewhere(int n)
{
	x += 9;
}
OWN void other(int n)
{
	x += 10;
	elsewhere(n);
}
CALLER(call_other, other(n))

/* A jump to a part of its own is none to another function. */
OWN __attribute__((cold)) void fail(int n)
{
	x = n;
}
OWN int rare(int n)
{
	if (n == 77) {
		fail(n);
		x++;
	}
	return x + n;
}
CALLER(call_rare, rare(n))

/* A switch jumps by a table. */
OWN void chosen(int n)
{
	switch (n) {
	case 0:
		x += 1;
		break;
	case 1:
		x -= 2;
		break;
	case 2:
		x *= 3;
		break;
	case 3:
		x /= 4;
		break;
	case 4:
		x %= 5;
		break;
	case 5:
		x ^= 6;
		break;
	case 6:
		x |= 7;
		break;
	}
	straight(n);
}
CALLER(call_chosen, chosen(n))

/* A table of functions is none of a switch. */
void (*volatile table[4])(int);
OWN void by_table(int n)
{
	if (n < 4)
		table[n](n);
	else
		straight(n);
}
CALLER(call_by_table, by_table(n))

/* In another file. */
OWN void put(int n)
{
	x += 11;
	outside(n);
}
CALLER(call_put, put(n))
OWN void put_alias(int n)
{
	x += 12;
	outside_alias(n);
}
CALLER(call_put_alias, put_alias(n))
CALLER(call_outside, outside(n))
CALLER(call_outside_alias, outside_alias(n))
OWN void put_either(int n)
{
	if (x)
		outside(n);
	else
		outside_rare(n);
}
CALLER(call_put_either, put_either(n))

int main(void)
{
	call_last(1), call_one(1), call_either(1), call_ping(1), call_through(1), call_doubtful(1), call_pointer(1);
	call_other(1), call_rare(1), call_chosen(1), call_put(1), call_put_alias(1), call_outside(1);
	call_outside_alias(1), call_put_either(1), call_by_table(7);
}

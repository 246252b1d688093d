// SPDX-License-Identifier: GPL-2.0-or-later
/* A library with a USDT probe: usdt_hits calls it. */
#include <sys/sdt.h>

void library_call(unsigned number);

void library_call(unsigned number)
{
	DTRACE_PROBE1(usdt_library, call, number);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/size_signal.h"

#include <signal.h>

static void (*inherited)(int signal_number) = SIG_DFL;

void size_signal_ignore(void)
{
	void (*old)(int) = signal(SIGXFSZ, SIG_IGN);

	if (old != SIG_ERR)
		inherited = old;
}

void size_signal_restore(void)
{
	signal(SIGXFSZ, inherited);
}

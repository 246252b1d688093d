// SPDX-License-Identifier: GPL-2.0-or-later
/* A tracepoint of LTTng-UST, lttng_planted:request, that is hit as often as its argument says. Nobody need run LTTng. */
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "usdt_lttng.h"

#include <stdlib.h>

int main(int argc, char **argv)
{
	int count = argc == 2 ? atoi(argv[1]) : 0;

	for (int i = 0; i < count; i++)
		lttng_ust_tracepoint(lttng_planted, request, i);
	return 0;
}

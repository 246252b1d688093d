// SPDX-License-Identifier: GPL-2.0-or-later
/* lttng_event [ROUNDS] [NAME]: what a tracepoint of LTTng-UST costs, with a session or without; see loops.h. */
#include <stdint.h>

#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "lttng_tp.h"

#include "loops.h"

static uint64_t run_event(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++) {
		lttng_ust_tracepoint(pinch_bench, event, i);
		keep(i);
	}
	return cycles() - begun;
}

int main(int argc, char **argv)
{
	int rounds = rounds_of(argc, argv);

	calibrate();
	report(argc > 2 ? argv[2] : "lttng_ust_tracepoint", run_event, rounds);
	return 0;
}

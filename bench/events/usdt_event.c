// SPDX-License-Identifier: GPL-2.0-or-later
/* usdt_event [ROUNDS] [NAME]: what a USDT probe costs, probed or not; see loops.h. */
#include <sys/sdt.h>

#include "loops.h"

static uint64_t run_event(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++) {
		DTRACE_PROBE1(pinch_bench, event, i);
		keep(i);
	}
	return cycles() - begun;
}

int main(int argc, char **argv)
{
	int rounds = rounds_of(argc, argv);

	calibrate();
	report(argc > 2 ? argv[2] : "USDT probe", run_event, rounds);
	return 0;
}

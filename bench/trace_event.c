// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * trace_event [ROUNDS]
 * What a call of trace_event() costs, in a loop of 1,000 calls: TSC cycles and ns a call, the quartiles and the extremes of
 * ROUNDS (default 1,000) loops. Beside it the read of the clock alone, and the loop alone, which is in all of them.
 */
#include "pinchtrace.h"

#include "events/loops.h"

#ifndef __x86_64__
#error "it counts cycles of the time stamp counter"
#endif

static uint64_t run_nothing(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++)
		keep(i);
	return cycles() - begun;
}

static uint64_t run_clock(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++)
		keep(__builtin_ia32_rdtsc());
	return cycles() - begun;
}

static uint64_t run_event(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++) {
		trace_event(1, 2, i);
		keep(i);
	}
	return cycles() - begun;
}

static uint64_t run_payload(void)
{
	uint64_t begun = cycles();

	for (uint32_t i = 0; i < CALLS; i++) {
		uint64_t payload[3] = { i, i, i };

		trace_event_payload(1, 2, i, payload, sizeof(payload));
		keep(i);
	}
	return cycles() - begun;
}

int main(int argc, char **argv)
{
	int rounds = rounds_of(argc, argv);
	double nothing_ns, clock_ns, enabled_ns, disabled_ns;

	calibrate();
	printf("%-28s %7s %7s   %7s %7s %7s %7s %8s\n", "of a call", "ns", "cycles", "min", "quarter", "median",
	       "quarter", "max");
	nothing_ns = report("the loop alone", run_nothing, rounds);
	clock_ns = report("rdtsc", run_clock, rounds);
	enabled_ns = report("trace_event, enabled", run_event, rounds);
	report("with a payload of 24 bytes", run_payload, rounds);
	trace_disable(1);
	disabled_ns = report("trace_event, disabled", run_event, rounds);
	trace_enable(1);
	trace_set_triggers(3, 3, TRACE_NO_EVENT, 0, 0, 0, TRACE_ONE_SHOT);
	report("waiting for a start event", run_event, rounds);
	printf("enabled: %.2f ns above the clock's read; disabled: %.2f ns above the loop\n", enabled_ns - clock_ns,
	       disabled_ns - nothing_ns);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-or-later
import { duration } from "./format";
import { useRange, useSetRange, zoomed } from "./range";

/** For those who have no wheel and no mouse. */
export function RangeButtons({ whole_ns }: { whole_ns: number }) {
	const range = useRange(), setRange = useSetRange();
	const go = (factor: number, shift: number) => () => setRange(zoomed(range, whole_ns, factor, shift));

	return <span class="choices" role="group" aria-label="Stretch of time">
		<button type="button" class="no-print" aria-label="Earlier" data-tip="Earlier" disabled={!range} onClick={go(1, -0.5)}>&larr;</button>
		<button type="button" class="no-print" aria-label="Later" data-tip="Later" disabled={!range} onClick={go(1, 0.5)}>&rarr;</button>
		<button type="button" class="no-print" aria-label="Zoom in" data-tip="Zoom in" onClick={go(0.5, 0)}>+</button>
		<button type="button" class="no-print" aria-label="Zoom out" data-tip="Zoom out" disabled={!range} onClick={go(2, 0)}>&minus;</button>
		<button type="button" class="no-print" data-tip="The whole time traced" disabled={!range} onClick={() => setRange(null)}>All</button>
		<span class="muted range">{range ? `${duration(range.from_ns)} to ${duration(range.to_ns)}` : `all ${duration(whole_ns)}`}</span>
	</span>;
}

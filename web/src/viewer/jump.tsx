// SPDX-License-Identifier: GPL-2.0-or-later
import { titleOf } from "./lanes";
import { exactly } from "./moment";
import type { Session } from "./session";

/** A button that goes to a lane at a time; words alone where there is no such lane. */
export function Jump({ session, lane, begin_ns, end_ns, children }:
	{ session: Session; lane: number | undefined; begin_ns: number; end_ns: number; children: string }) {
	return lane === undefined || !session.trace.lanes[lane] ? <span>{children}</span>
		: <button type="button" class="open" data-tip={`Show ${titleOf(session.trace.lanes[lane])} at ${exactly(begin_ns)}`}
			onClick={() => session.reveal(lane, begin_ns, end_ns)}>{children}</button>;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// One execution of a span, chosen in the list: the page is about it alone.
import type { Session } from "./session";
import { useStored } from "./store";
import type { EventRow } from "./trace";

/** The filter names it by its thread and its beginning; its time and its threads are selected, so that events, report and what is saved are of it, too. */
export function OnlySpan({ session, row }: { session: Session; row: EventRow | undefined }) {
	const filters = useStored(session.store, state => state.filters), lane = (thread: number | undefined) => session.tree.laneOfThread.get(thread ?? 0) ?? [];
	const choose = ({ thread, end_thread, time_ns, end_ns }: EventRow) => {
		session.store.set({ filters: { ...filters, span: `${thread}@${time_ns}` } });
		session.select({ from_ns: time_ns, to_ns: Math.max(time_ns + 1, end_ns ?? time_ns) }, [lane(thread), lane(end_thread)].flat());
	};

	return <button type="button" disabled={!row} data-tip="The chosen execution alone: graph, sums and waits follow; its time and its threads are selected, for events, report and what is saved"
		onClick={() => row && choose(row)}>Only this span</button>;
}

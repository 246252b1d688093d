// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of tables that something else on the page wants to be opened: a finding, its wait.
import { useEffect, useState } from "preact/hooks";

type Wanted = { rank: number } | null;	// from 1, as the data has it

const listeners = new Map<string, (wanted: Wanted) => void>();
const wantedOf = new Map<string, Wanted>();

export function openRow(table: string, rank: number): void {
	const wanted = { rank };

	wantedOf.set(table, wanted);
	listeners.get(table)?.(wanted);
}

/** A new object for each wish, so that the same row can be wished for again. */
export function useWanted(table: string): Wanted {
	const [wanted, want] = useState<Wanted>(wantedOf.get(table) ?? null);

	useEffect(() => {
		listeners.set(table, want);
		return () => { listeners.delete(table); };
	}, []);
	return wanted;
}

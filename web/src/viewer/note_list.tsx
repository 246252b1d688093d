// SPDX-License-Identifier: GPL-2.0-or-later
// The notes, as a list to edit; each leads to its place.
import { useEffect, useRef } from "preact/hooks";
import { visible } from "../format";
import { titleOf } from "./lanes";
import { exactly } from "./moment";
import { isSamePlace, type Note, NOTE_LENGTH_MAX } from "./notes";
import type { Session } from "./session";
import { useStored } from "./store";

function NoteRow({ session, note, isNew }: { session: Session; note: Note; isNew: boolean }) {
	const { store } = session, input = useRef<HTMLInputElement>(null), lane = session.lane(note.lane);
	const change = (text: string) => store.set({ notes: store.state.notes.map(one => isSamePlace(one, note) ? { ...one, text } : one) });
	const where = `${lane ? `${visible(titleOf(lane))} at ` : ""}${exactly(note.time_ns)}`;

	useEffect(() => {
		if (isNew)
			input.current?.focus();
	}, []);
	return <li>
		<button type="button" class="open" data-tip="Show this place" onClick={() => session.goTo(note.time_ns, lane ? note.lane : null)}>{where}</button>
		<input ref={input} type="text" value={note.text} maxLength={NOTE_LENGTH_MAX} placeholder="a note" aria-label={`Note at ${where}`}
			onInput={event => change(event.currentTarget.value)} onKeyDown={event => event.stopPropagation()} />
		<button type="button" class="forget" aria-label={`Delete the note at ${where}`}
			onClick={() => store.set({ notes: store.state.notes.filter(one => !isSamePlace(one, note)) })}>&times;</button>
	</li>;
}

export function NoteList({ session }: { session: Session }) {
	const notes = useStored(session.store, state => state.notes), known = useRef<readonly Note[] | null>(null), before = known.current;

	known.current = notes;
	if (!notes.length)
		return null;
	return <ul class="notes" aria-label="Notes">{notes.map(note => <NoteRow key={`${note.lane}@${note.time_ns}`} session={session} note={note}
		isNew={before !== null && !before.some(one => isSamePlace(one, note))} />)}</ul>;
}

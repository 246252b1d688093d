// SPDX-License-Identifier: GPL-2.0-or-later
// The tab of scripts: an editor, the scripts that the browser has, and beside it what the last run says.
import { useEffect, useRef, useState } from "preact/hooks";
import { plural, share, visible } from "../format";
import { Section } from "../page";
import { download } from "./save";
import { examples, lineOf, type ScriptRun, saveScript, savedScripts, scriptName, scriptText } from "./scripts";
import type { Session } from "./session";
import { StatisticsOfScript } from "./statistics_view";
import { useStored } from "./store";

const FIRST = `-- How long each thread was off a CPU.
events = { "sched.SWITCH" }
local off = {}

function on_event(event)
	local begin = off[event.next]
	if begin then
		activity { name = "off CPU", begin = begin, ["end"] = event.time, thread = event.next }
	end
	off[event.next] = nil
	off[event.thread] = event.time
end
`;

/** Selects a line and shows it. */
function goToLine(editor: HTMLTextAreaElement, line: number): void {
	const lines = editor.value.split("\n"), begin = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);

	editor.focus();
	editor.setSelectionRange(begin, begin + (lines[line - 1] ?? "").length);
	editor.scrollTop = Math.max(0, (line - 4) * editor.scrollHeight / Math.max(1, lines.length));
}

function wordsOf(run: ScriptRun, session: Session): string {
	const progress = run.is_complete ? run.until_ns < session.trace.whole_ns * 0.999 && !session.trace.is_live ? `Read up to ${share(run.until_ns / session.trace.whole_ns)} of the time` : "The trace is read"
		: `Running: ${share(run.until_ns / session.trace.whole_ns)} of the time`;
	const found = [run.tables ? plural(run.tables, "table of statistics", "tables of statistics") : "", run.activities || (!run.has_filter && !run.tables) ? plural(run.activities, "activity", "activities") : "", run.has_filter && !run.has_failed ? "its filter chooses events of the list" : ""].filter(Boolean);

	return `${progress}; ${found.join("; ")}.`;
}

/** What the last run says. */
function Result({ session, onLine }: { session: Session; onLine: (line: number) => void }) {
	const run = useStored(session.store, state => state.scriptRun), script = useStored(session.store, state => state.script), { error } = session.scripts, line = lineOf(run);

	return <div class="script-result">
		{error && <p role="alert">{error}</p>}
		{run?.has_failed && <p role="alert" class="script-error">{visible(run.notes.find(note => note.startsWith("script error: ")) ?? "The script has failed")}
			{line !== null && <> <button type="button" onClick={() => onLine(line)}>Go to line {line}</button></>}</p>}
		<p role="status" class="muted">{run ? wordsOf(run, session) : error ? "" : script ? "Asking\u2026" : "No script is in use."}</p>
		{run && run.notes.some(note => !note.startsWith("script error: ")) && <pre class="script-said" tabIndex={0} aria-label="What the script has printed">{
			run.notes.filter(note => !note.startsWith("script error: ")).map(note => visible(note)).join("\n")}</pre>}
	</div>;
}

interface Edited {
	name: string;
	text: string;
}

/** Saved scripts, and files. */
function Shelf({ session, edited, onEdit }: { session: Session; edited: Edited; onEdit: (edited: Edited) => void }) {
	const [said, say] = useState(""), file = useRef<HTMLInputElement>(null), saved = savedScripts(), name = scriptName(edited.name);
	const load = async (list: FileList | null) => {
		const one = list?.[0];
		if (one)
			onEdit({ name: scriptName(one.name), text: await one.text() });
		file.current!.value = "";
	};
	const keep = (text: string | null) => {
		say(saveScript(name, text) ?? (text === null ? `${name} is deleted.` : `${name} is saved in this browser, for all traces.`));
		session.store.set({});		// the menu of filters shows it
	};

	return <div class="choices">
		<select aria-label="Saved scripts" value={saved.has(name) ? name : ""} onChange={({ currentTarget: { value } }) => value && onEdit({ name: value, text: saved.get(value) ?? "" })}>
			<option value="">{saved.size ? "Saved scripts" : "No saved script"}</option>
			{[...saved.keys()].sort().map(one => <option key={one} value={one}>{one}</option>)}
		</select>
		<select aria-label="Examples of scripts" value="" onChange={({ currentTarget }) => {
			onEdit(examples.find(one => one.name === currentTarget.value) ?? edited);
			currentTarget.value = "";
		}}>
			<option value="">Examples</option>
			{examples.map(({ name: one }) => <option key={one} value={one}>{one}</option>)}
		</select>
		<input type="text" class="script-name" aria-label="Name of the script" value={edited.name} onInput={event => onEdit({ ...edited, name: event.currentTarget.value })} />
		<button type="button" onClick={() => keep(edited.text)}>Save</button>
		<button type="button" disabled={!saved.has(name)} onClick={() => keep(null)}>Delete</button>
		<button type="button" onClick={() => file.current!.click()}>Load a file</button>
		<input type="file" ref={file} accept=".lua" hidden aria-label="File with a script" onChange={event => void load(event.currentTarget.files)} />
		<button type="button" onClick={() => download(name, new Blob([edited.text], { type: "text/plain" }))}>Download</button>
		<span class="muted" role="status">{said}</span>
	</div>;
}

export function ScriptTab({ session }: { session: Session }) {
	const script = useStored(session.store, state => state.script), run = useStored(session.store, state => state.scriptRun), editor = useRef<HTMLTextAreaElement>(null);
	const [edited, edit] = useState<Edited>(() => ({ name: script || "off_cpu.lua", text: scriptText(script) ?? (script ? "" : FIRST) }));
	const start = () => void session.scripts.start(scriptName(edited.name), edited.text);
	const onKey = (event: KeyboardEvent) => {
		event.stopPropagation();
		if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
			event.preventDefault();
			start();
		}
	};

	useEffect(() => {
		const text = savedScripts().get(script);	// it was chosen in the menu of filters
		if (script && text !== undefined && script !== scriptName(edited.name))
			edit({ name: script, text });
	}, [script]);
	return <Section id="scripts" title="Scripts" about="A script in Lua chooses events, finds activities, and adds them up in statistics: pinch-scripts(5). It runs at the server, without files and network, in bounded time and memory."
		tools={<div class="choices">
			<button type="button" onClick={start} aria-keyshortcuts="Control+Enter" data-tip="Ctrl+Enter in the editor">Run</button>
			<button type="button" disabled={!run || run.is_complete} onClick={() => void session.scripts.stop()}>Stop</button>
			<button type="button" disabled={!script} onClick={() => session.scripts.forget()} data-tip="Graph and lists are as without a script">Use none</button>
		</div>}>
		<Shelf session={session} edited={edited} onEdit={edit} />
		<div class="script">
			<textarea ref={editor} class="script-text" aria-label="Script in Lua" rows={18} spellcheck={false} autocomplete="off" value={edited.text}
				onInput={event => edit({ ...edited, text: event.currentTarget.value })} onKeyDown={onKey} />
			<Result session={session} onLine={line => goToLine(editor.current!, line)} />
		</div>
		<StatisticsOfScript session={session} />
	</Section>;
}

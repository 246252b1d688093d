// SPDX-License-Identifier: GPL-2.0-or-later
// Scripts in Lua that the user writes: kept by the browser, for all traces, and run by the server, one at a time.
import { isAborted, query, Refusal } from "./server";
import type { Session } from "./session";

export const SCRIPT_BYTES_MAX = 64 << 10, NAME_LENGTH_MAX = 60;

const SCRIPTS_MAX = 100, AGAIN_MS = 30, LIVE_MS = 2500, NOT_FOUND = 404, UNAVAILABLE = 503, KEY = "pinch-scripts";

declare const EXAMPLES: { name: string; text: string }[];

/** Scripts that come with the page. */
export const examples = EXAMPLES;

/** What a name of a link means in this browser; undefined: nothing. */
export function scriptText(name: string): string | undefined {
	return savedScripts().get(name) ?? examples.find(one => one.name === name)?.text;
}

/** What the server says of a script. */
export interface ScriptRun {
	id: string;
	name: string;
	is_complete: boolean;		// the trace is read
	until_ns: number;		// up to when it is
	has_failed: boolean;
	has_filter: boolean;
	activities: number;
	tables: number;			// of statistics; of a trace that grows: of what there is
	notes: string[];		// errors, and what it has printed
}

/** As the server wants names: those of files in Lua. */
export function scriptName(text: string): string {
	const name = text.replace(/\.lua$/, "").replace(/[^\w.-]+/g, "_").slice(0, NAME_LENGTH_MAX - 4);

	return `${name || "script"}.lua`;
}

/** The line of the script that a message is about. */
export function lineOf(run: ScriptRun | null): number | null {
	const found = run?.has_failed ? run.notes.map(note => /\.lua:(\d+):/.exec(note)).find(match => match) : null;

	return found ? Number(found[1]) : null;
}

/** A browser may keep nothing: then there are none. */
export function savedScripts(): Map<string, string> {
	try {
		const saved: unknown = JSON.parse(localStorage.getItem(KEY) ?? "{}");
		return new Map(saved && typeof saved === "object" ? Object.entries(saved).filter((one): one is [string, string] => typeof one[1] === "string") : []);
	} catch {
		return new Map();
	}
}

/** text: null: it is deleted. Returns why it cannot be. */
export function saveScript(name: string, text: string | null): string | null {
	const saved = savedScripts();

	if (text === null)
		saved.delete(name);
	else if (saved.size >= SCRIPTS_MAX && !saved.has(name))
		return `The browser keeps ${SCRIPTS_MAX} scripts: delete one`;
	else
		saved.set(name, text);
	try {
		localStorage.setItem(KEY, JSON.stringify(Object.fromEntries(saved)));
		return null;
	} catch {
		return "The browser has no space for it: download it";
	}
}

/** The script that is in use: the server goes on with it as long as it is asked. */
export class Scripts {
	error: string | null = null;		// the script did not reach the server
	private text = "";
	private timer = 0;
	private abort: AbortController | null = null;
	private readonly reader = Array.from(crypto.getRandomValues(new Uint8Array(12)), byte => byte.toString(16).padStart(2, "0")).join("");

	constructor(private session: Session) {
		session.server.onConnection(() => {
			if (session.server.connection === "there" && session.store.state.script)
				this.start(session.store.state.script, this.text);
		});
	}

	/** Of the link: what this browser has by that name, or what comes with the page. */
	open(): void {
		const name = this.session.store.state.script, text = scriptText(name);

		if (name && text !== undefined)
			void this.start(name, text);
		else if (name)
			this.fail(`The link uses the script ${name}, which this browser does not have: load it, and run it`);
	}

	async start(name: string, text: string): Promise<void> {
		const { signal } = this.again();

		this.text = text;
		this.error = null;
		if (new Blob([text]).size > SCRIPT_BYTES_MAX)
			return this.fail("The script has more than 64 KB");
		this.session.store.set({ script: name, scriptRun: null, row: 0 });
		await this.take(() => this.session.server.post<ScriptRun>(query("scripts", { name, reader: this.reader }), text, signal));
	}

	/** What it has found so far stays. */
	async stop(): Promise<void> {
		const run = this.session.store.state.scriptRun, { signal } = this.again();

		if (run)
			await this.take(() => this.session.server.post<ScriptRun>(query("scripts/stop", { script: run.id }), "", signal), { isLast: true });
	}

	/** Graph and lists are as without it. */
	forget(): void {
		this.again();
		this.error = null;
		this.session.store.set({ script: "", scriptRun: null, row: 0 });
	}

	private again(): AbortController {
		clearTimeout(this.timer);
		this.abort?.abort();
		return this.abort = new AbortController();
	}

	private async take(ask: () => Promise<ScriptRun>, { isLast = false, isAgain = false } = {}): Promise<void> {
		try {
			const run = await ask();
			this.session.store.set({ scriptRun: run });
			if (!isLast && (!run.is_complete || this.session.trace.is_live))
				this.timer = window.setTimeout(() => this.look(run), run.is_complete ? LIVE_MS : AGAIN_MS);
		} catch (error) {
			if (error instanceof Refusal && error.status === UNAVAILABLE)
				this.timer = window.setTimeout(() => this.take(ask, { isLast, isAgain }), AGAIN_MS);	// many scripts are run
			else if (isAgain && error instanceof Refusal && error.status === NOT_FOUND)
				return this.start(this.session.store.state.script, this.text);	// the server has opened the trace again
			else if (!isAborted(error))
				this.fail(error instanceof Error ? error.message : String(error));
		}
	}

	private look({ id }: ScriptRun): Promise<void> {
		return this.take(() => this.session.server.json<ScriptRun>(query("scripts", { script: id }), this.abort!.signal), { isAgain: true });
	}

	private fail(message: string): void {
		this.error = message;
		this.session.store.set({ scriptRun: null });
	}
}

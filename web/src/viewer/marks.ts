// SPDX-License-Identifier: GPL-2.0-or-later
// Events of programs' own in what is seen: asked for when the view has come to rest.
import type { Range } from "../range";
import { isAborted } from "./server";
import type { Session } from "./session";
import { rangesOf } from "./tiles";
import type { LaneMarks } from "./trace";

const REST_MS = 120, AGAIN_MS = 60;

export interface Mark {
	time_ns: number;
	name: string;
	argument: number;
}

export function wakeKey(lane: number, time_ns: number): string {
	return `${lane} ${time_ns}`;
}

export class MarkStore {
	byLane = new Map<number, Mark[]>();
	leftOut = 0;
	isUnread = false;		// not all of the time was looked at
	wakes: ReadonlySet<string> | null = null;	// wake-ups that the script chooses: wakeKey(); null: all
	wakesLeftOut = 0;
	private key = "";
	private timer = 0;
	private abort: AbortController | null = null;

	constructor(private session: Session, private onMarks: () => void) {}

	/** lanes: of threads. */
	want(range: Range, lanes: number[]): void {
		const key = `marks?from=${Math.floor(range.from_ns)}&to=${Math.ceil(range.to_ns)}&lanes=${rangesOf([...lanes].sort((a, b) => a - b))}${this.session.trace.key && `&of=${this.session.trace.key}`}${this.script}`;

		if (key === this.key || !lanes.length)
			return;
		this.key = key;
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.ask(key), REST_MS);
	}

	again(): void {
		this.key = "";
	}

	/** The filter of the script in use, for the server. */
	private get script(): string {
		return this.session.hasScriptFilter ? `&script=${this.session.scriptId}` : "";
	}

	private async ask(path: string): Promise<void> {
		this.abort?.abort();
		this.abort = new AbortController();
		try {
			const got = await this.session.server.json<LaneMarks>(path, this.abort.signal);
			this.take(got, path.includes("&script="));
			if (got.is_counted === false)
				this.timer = window.setTimeout(() => this.ask(path), AGAIN_MS);
		} catch (error) {
			if (!isAborted(error)) {
				this.byLane = new Map();
				this.wakes = null;
			}
		}
		this.onMarks();
	}

	private take({ names, marks, left_out, unread, wakes, wakes_left_out }: LaneMarks, isChosen: boolean): void {
		this.byLane = new Map();
		this.wakes = isChosen ? new Set((wakes ?? []).map(([lane, time_ns]) => wakeKey(lane, time_ns))) : null;
		this.wakesLeftOut = wakes_left_out ?? 0;
		this.leftOut = left_out;
		this.isUnread = (unread ?? 0) > 0;
		for (const [lane, time_ns, name, argument] of marks) {
			const list = this.byLane.get(lane) ?? [];
			list.push({ time_ns, name: names[name] ?? "event", argument });
			this.byLane.set(lane, list);
		}
	}
}

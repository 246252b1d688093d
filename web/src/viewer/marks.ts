// SPDX-License-Identifier: GPL-2.0-or-later
// Events of programs' own in what is seen: asked for when the view has come to rest.
import type { Range } from "../range";
import { isAborted } from "./server";
import type { Session } from "./session";
import { rangesOf } from "./tiles";
import type { LaneMarks } from "./trace";

const REST_MS = 120;

export interface Mark {
	time_ns: number;
	name: string;
	argument: number;
}

export class MarkStore {
	byLane = new Map<number, Mark[]>();
	leftOut = 0;
	isUnread = false;		// not all of the time was looked at
	private key = "";
	private timer = 0;
	private abort: AbortController | null = null;

	constructor(private session: Session, private onMarks: () => void) {}

	/** lanes: of threads. */
	want(range: Range, lanes: number[]): void {
		const key = `marks?from=${Math.floor(range.from_ns)}&to=${Math.ceil(range.to_ns)}&lanes=${rangesOf([...lanes].sort((a, b) => a - b))}${this.session.trace.key && `&of=${this.session.trace.key}`}`;

		if (key === this.key || !lanes.length)
			return;
		this.key = key;
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.ask(key), REST_MS);
	}

	again(): void {
		this.key = "";
	}

	private async ask(path: string): Promise<void> {
		this.abort?.abort();
		this.abort = new AbortController();
		try {
			this.take(await this.session.server.json<LaneMarks>(path, this.abort.signal));
		} catch (error) {
			if (!isAborted(error))
				this.byLane = new Map();
		}
		this.onMarks();
	}

	private take({ names, marks, left_out, unread }: LaneMarks): void {
		this.byLane = new Map();
		this.leftOut = left_out;
		this.isUnread = (unread ?? 0) > 0;
		for (const [lane, time_ns, name, argument] of marks) {
			const list = this.byLane.get(lane) ?? [];
			list.push({ time_ns, name: names[name] ?? "event", argument });
			this.byLane.set(lane, list);
		}
	}
}

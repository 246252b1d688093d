// SPDX-License-Identifier: GPL-2.0-or-later
// Activities of what is seen, and messages among them: asked for when the view has come to rest, and again while the server still finds some.
import type { Range } from "../range";
import { partText } from "./part_query";
import { isAborted } from "./server";
import type { Session } from "./session";
import { rangesOf } from "./tiles";
import type { LaneActivities } from "./trace";

const REST_MS = 120, AGAIN_MS = 150;

/** So many bars lie above each other in a lane at most. */
export const LEVELS = 3;

export interface Activity {
	name: string;
	number: number;			// of its name
	lane: number;			// -1: the thread has none
	end_lane: number;
	begin_ns: number;
	end_ns: number;
	words: string;			// its parameters
	level: number;			// of the bars above each other in a lane; LEVELS and more: they are not drawn
}

/** Bars that overlap get one level after the other; all are in the order in which they begin. */
export function setLevels(bars: Activity[]): void {
	const until: number[] = [];

	for (const bar of bars) {
		const free = until.findIndex(end_ns => end_ns <= bar.begin_ns);
		bar.level = free < 0 ? until.length : free;
		if (bar.level < LEVELS)
			until[bar.level] = bar.end_ns;
	}
}

export class ActivityStore {
	byLane = new Map<number, Activity[]>();
	messages: Activity[] = [];
	leftOut = 0;
	unreadFrom_ns: number | null = null;	// what lies behind is not read yet
	private key = "";
	private path = "";
	private timer = 0;
	private abort: AbortController | null = null;

	constructor(private session: Session, private onActivities: () => void) {
		session.server.onConnection(() => session.server.connection === "there" && this.again());
	}

	/** lanes: of threads. */
	want(range: Range, lanes: number[]): void {
		const script = this.session.scriptId, path = `drawn-activities?from=${Math.floor(range.from_ns)}&to=${Math.ceil(range.to_ns)}&lanes=${rangesOf([...lanes].sort((a, b) => a - b))}${partText(this.session.store.state.filters)}${script ? `&script=${script}` : ""}`;
		const key = `${this.session.trace.whole_ns} ${path}`;	// a trace that has grown has more

		if (key === this.key || !lanes.length)
			return;
		this.key = key;
		this.path = path;
		this.later(path, REST_MS);
	}

	/** The server is back. */
	private again(): void {
		this.key = "";
		this.onActivities();
	}

	private later(path: string, after_ms: number): void {
		clearTimeout(this.timer);
		this.timer = window.setTimeout(() => this.ask(path), after_ms);
	}

	private async ask(path: string): Promise<void> {
		this.abort?.abort();
		this.abort = new AbortController();
		try {
			const got = await this.session.server.json<LaneActivities>(path, this.abort.signal);
			this.take(got);
			if (!got.is_complete && path === this.path)
				this.later(path, AGAIN_MS);
		} catch (error) {
			if (!isAborted(error)) {
				this.byLane = new Map();
				this.messages = [];
			}
		}
		this.onActivities();
	}

	private take({ names, activities, left_out, until_ns, is_complete }: LaneActivities): void {
		this.byLane = new Map();
		this.messages = [];
		this.leftOut = left_out;
		this.unreadFrom_ns = is_complete ? null : until_ns;
		for (const [lane, begin_ns, end_ns, number, end_lane, is_message, words] of activities) {
			const activity = { name: names[number] ?? "activity", number, lane, end_lane, begin_ns, end_ns, words, level: 0 };
			if (is_message)
				this.messages.push(activity);
			else if (lane >= 0)
				this.bars(lane).push(activity);
		}
		for (const bars of this.byLane.values())
			setLevels(bars);
	}

	private bars(lane: number): Activity[] {
		const bars = this.byLane.get(lane) ?? [];

		this.byLane.set(lane, bars);
		return bars;
	}
}

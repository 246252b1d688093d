// SPDX-License-Identifier: GPL-2.0-or-later
// A trace that grows: how far it is, asked for as long as more may come, and shown unless the user wants the picture to stand still.
import type { Server } from "./server";
import type { Now } from "./trace";

const ASKED_MS = 400, LANES_MS = 4000;

/** What is shown of it. */
export interface Shown {
	key: string;
	isLive: boolean;
	grow: (whole_ns: number) => void;
}

export class Live {
	now: Now | null = null;
	isPaused = false;
	private listeners = new Set<() => void>();
	private timer = 0;
	private lanes_ms = performance.now();	// when they were last asked for
	private hasEnded = false;

	/** askTrace: the lanes are others by now, or their sums are old. */
	constructor(private server: Server, private shown: () => Shown | null, private askTrace: () => void) {
		void this.ask();
	}

	/** Returns what ends it. */
	on(listener: () => void): () => void {
		this.listeners.add(listener);
		return () => { this.listeners.delete(listener); };
	}

	pause(isPaused: boolean): void {
		this.isPaused = isPaused;
		this.tell();
		this.again();
	}

	/** At once. */
	again(): void {
		clearTimeout(this.timer);
		void this.ask();
	}

	end(): void {
		this.hasEnded = true;
		clearTimeout(this.timer);
	}

	private tell(): void {
		for (const listener of this.listeners)
			listener();
	}

	private async ask(): Promise<void> {
		const shown = this.shown();

		try {
			this.take(await this.server.json<Now>("now"), shown);
		} catch {				// the server says itself when it is lost
		}
		clearTimeout(this.timer);
		if (!this.hasEnded && (!this.now || this.now.phase === "recording" || this.now.phase === "indexing" || this.isBehind(this.now)))
			this.timer = window.setTimeout(() => void this.ask(), ASKED_MS);
	}

	/** Whether what is shown is not the last that there is. */
	private isBehind(now: Now): boolean {
		const shown = this.shown();

		return now.key !== "" && shown !== null && (shown.key !== now.key || (shown.isLive && now.phase === "whole"));
	}

	private take(now: Now, shown: Shown | null): void {
		this.now = now;
		if (!this.isPaused && shown) {
			if (this.isBehind(now) || ((now.phase === "recording" || (now.phase === "indexing" && shown.isLive)) && performance.now() - this.lanes_ms > LANES_MS)) {
				this.lanes_ms = performance.now();
				this.askTrace();
			} else {
				shown.grow(now.whole_ns);
			}
		}
		this.tell();
	}
}

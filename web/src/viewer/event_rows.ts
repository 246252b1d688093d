// SPDX-License-Identifier: GPL-2.0-or-later
// Rows of the list of events: fetched page by page, those in view first; what is not wanted any more is not waited for.
import { isAborted, query } from "./server";
import type { Session } from "./session";
import type { EventPage, EventRow } from "./trace";

export type Wanted = Record<string, string | number | readonly string[] | null | undefined>;

const PAGE_ROWS = 200, PAGES_MAX = 60, COUNT_MS = 40, AT_ONCE = 1000;

export class EventRows {
	rows = 0;
	isCounted = true;
	error: string | null = null;
	isKnown = false;			// how many there are
	leftOut = 0;				// that are not listed
	private pages = new Map<number, EventRow[]>();
	private timer = 0;
	private stale = new Set<number>();	// pages that may have more by now
	private flights = new Map<number, AbortController>();

	/** path: of the list, at the server. */
	constructor(private session: Session, private path: string, readonly filters: Wanted, private onRows: () => void) {}

	get(row: number): EventRow | undefined {
		return this.pages.get(Math.floor(row / PAGE_ROWS))?.[row % PAGE_ROWS];
	}

	/** Those from first up to last are to be seen. */
	want(first: number, last: number): void {
		const from = Math.floor(first / PAGE_ROWS), to = Math.floor(Math.max(first, last) / PAGE_ROWS);

		for (const [page, abort] of this.flights)
			if (page >= 0 && (page < from || page > to)) {
				abort.abort();
				this.flights.delete(page);
			}
		for (let page = from; page <= to; page++)
			if ((!this.pages.has(page) || this.stale.has(page)) && !this.flights.has(page) && (!this.isKnown || page === 0 || page * PAGE_ROWS < this.rows))
				this.ask(page);
	}

	/** The first row that is not before a time. */
	async at(time_ns: number): Promise<number> {
		return (await this.session.server.json<{ row: number }>(query(`${this.path}/at`, { time: Math.round(time_ns), ...this.filters }))).row;
	}

	/** Those from the first one on, at most so many. */
	async first(most: number): Promise<EventRow[]> {
		const rows: EventRow[] = [];

		while (rows.length < most) {
			const got = await this.session.server.json<EventPage>(query(this.path, { row: rows.length, count: Math.min(AT_ONCE, most - rows.length), ...this.filters }));
			rows.push(...got.events);
			if (!got.events.length && got.is_counted)
				break;
		}
		return rows;
	}

	/** What failed is tried again, and there may be more. */
	again(): void {
		this.error = null;
		for (const [page, rows] of this.pages)
			if (rows.length < PAGE_ROWS)
				this.pages.delete(page);
		this.isKnown = false;
		this.onRows();
	}

	/** There are more events by now. */
	grown(): void {
		if (this.isKnown && this.isCounted)
			void this.count();
	}

	stop(): void {
		clearTimeout(this.timer);
		for (const abort of this.flights.values())
			abort.abort();
	}

	/** As long as rows are not counted, each question makes the server count on. */
	private learn(got: EventPage): void {
		this.rows = got.rows;
		this.isCounted = got.is_counted;
		this.leftOut = got.left_out ?? 0;
		this.isKnown = true;
		this.error = null;
		clearTimeout(this.timer);
		if (!got.is_counted)
			this.timer = window.setTimeout(() => this.count(), COUNT_MS);
	}

	private async count(): Promise<void> {
		const abort = new AbortController();

		this.flights.get(-1)?.abort();
		this.flights.set(-1, abort);
		try {
			this.learn(await this.session.server.json<EventPage>(query(this.path, { row: 0, count: 1, ...this.filters }), abort.signal));
			for (const [page, rows] of this.pages)
				if (rows.length < PAGE_ROWS)
					this.stale.add(page);
			this.onRows();
		} catch {				// it is asked again when something is wanted
		}
	}

	private async ask(page: number): Promise<void> {
		const abort = new AbortController();

		this.flights.set(page, abort);
		try {
			const got = await this.session.server.json<EventPage>(query(this.path, { row: page * PAGE_ROWS, count: PAGE_ROWS, ...this.filters }), abort.signal);
			this.learn(got);
			this.pages.delete(page);
			this.stale.delete(page);
			this.pages.set(page, got.events);
			if (got.events.length < Math.min(PAGE_ROWS, got.rows - page * PAGE_ROWS)) {	// the server still looks for them
				this.stale.add(page);
				setTimeout(this.onRows, COUNT_MS);
			}
			for (const old of this.pages.keys()) {
				if (this.pages.size <= PAGES_MAX)
					break;
				this.pages.delete(old);
			}
		} catch (error) {
			if (isAborted(error))
				return;
			this.error = error instanceof Error ? error.message : String(error);
			this.pages.set(page, []);
		}
		if (this.flights.get(page) === abort)
			this.flights.delete(page);
		this.onRows();
	}
}

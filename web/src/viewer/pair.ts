// SPDX-License-Identifier: GPL-2.0-or-later
// Two traces that are looked at together: what is seen of one is seen of the other, at the same time since a common moment.
import { laterBy, type Range } from "../range";
import type { Companion, Session } from "./session";
import { commonOf, type State } from "./store";
import type { Lane, Trace } from "./trace";

/** A name without its numbers, which threads of a pool differ in. */
/** Names that differ in numbers only are one. */
export const collapsed = (name: string) => name.replace(/\d+/g, "*");

/** What a lane is called on both sides, whatever its numbers are: its names from the process on. */
export function namesOf(trace: Trace): string[] {
	const made: string[] = [], hosts = trace.lanes.filter(lane => lane.kind === "host").length;
	const own = (lane: Lane) => lane.kind === "cpu" ? `CPU ${lane.cpu}` : lane.kind === "host" && hosts === 1 ? "" : collapsed(lane.name);

	for (const lane of trace.lanes) {
		const above = trace.lanes[lane.parent]?.kind === "name" ? trace.lanes[lane.parent].parent : lane.parent;
		made.push([made[above] ?? "", own(lane)].filter(Boolean).join(": "));
	}
	return made;
}

function union(a: Range, b: Range): Range {
	return { from_ns: Math.min(a.from_ns, b.from_ns), to_ns: Math.max(a.to_ns, b.to_ns) };
}

const isSameState = (a: Partial<State>, b: State) => (Object.keys(a) as (keyof State)[]).every(key => key === "view"
	? a.view?.from_ns === b.view?.from_ns && a.view?.to_ns === b.view?.to_ns : a[key] === b[key]);

export class Pair implements Companion {
	leader: Session;			// the side that the user has the pointer or the keys on
	private isTelling = false;
	private names: { of: [Trace, Trace]; names: [string[], string[]]; alone: [Set<number>, Set<number>] } | null = null;
	private stops: (() => void)[];

	constructor(readonly first: Session, readonly second: Session) {
		this.leader = first;
		first.companion = second.companion = this;
		this.stops = [first, second].map(session => session.store.on(this.follower(session)));
		this.tell(first);
	}

	end(): void {
		this.stops.forEach(stop => stop());
		this.first.companion = this.second.companion = null;
	}

	/** So much later is a moment on the second side than the same moment on the first. */
	get offset_ns(): number {
		return this.second.store.offset_ns;
	}

	set offset_ns(offset_ns: number) {
		this.second.store.offset_ns = Math.round(offset_ns);
		this.tell(this.first);
		this.first.store.set({});
		this.second.store.set({});		// what is selected has other times, too
	}

	/** The offset with which both sides begin at the same place. */
	get begins_ns(): number {
		return Math.round(this.second.own.from_ns - this.first.own.from_ns);
	}

	/** What is chosen on both sides begins at the same place. */
	align(): void {
		const a = this.first.store.state.slice, b = this.second.store.state.slice;

		if (a && b)
			this.offset_ns = b.time_ns - a.time_ns;
	}

	whole(of: Session): Range {
		return of === this.first ? union(of.own, laterBy(this.second.own, -this.offset_ns)) : union(of.own, laterBy(this.first.own, this.offset_ns));
	}

	alone(of: Session): ReadonlySet<number> {
		return this.named.alone[of === this.first ? 0 : 1];
	}

	hover(of: Session, time_ns: number | null): void {
		const other = this.other(of);

		of.hovered_ns = null;
		other.hovered_ns = time_ns === null ? null : time_ns + this.shift(of);
		other.redraw();
	}

	drag(of: Session, range: Range | null): void {
		const other = this.other(of);

		other.dragged = range && laterBy(range, this.shift(of));
		other.redraw();
	}

	/** The names of the lanes of both sides. */
	get named() {
		const of: [Trace, Trace] = [this.first.trace, this.second.trace];

		if (!this.names || this.names.of.some((trace, i) => trace !== of[i])) {
			const names: [string[], string[]] = [namesOf(of[0]), namesOf(of[1])], has = names.map(list => new Set(list));
			const only = (side: 0 | 1) => new Set(of[side].lanes.filter(lane => !has[1 - side].has(names[side][lane.id])).map(lane => lane.id));
			this.names = { of, names, alone: [only(0), only(1)] };
		}
		return this.names;
	}

	protected other(session: Session): Session {
		return session === this.first ? this.second : this.first;
	}

	/** How much later the other side's times are. */
	private shift(from: Session): number {
		return from === this.first ? this.offset_ns : -this.offset_ns;
	}

	private follower(session: Session): () => void {
		let { toggled, scroll } = session.store.state;

		return () => {
			const { state } = session.store;
			if (this.isTelling) {
				({ toggled, scroll } = state);
				return;
			}
			const flipped = toggled === state.toggled ? [] : [...new Set([...toggled, ...state.toggled])].filter(lane => toggled.has(lane) !== state.toggled.has(lane));
			const isScrolled = scroll !== state.scroll && session === this.leader;
			({ toggled, scroll } = state);
			this.tell(session, { ...flipped.length ? { toggled: this.toggledLike(session, flipped) } : {}, ...isScrolled ? { scroll } : {} });
		};
	}

	/** Of the other side, with the lanes of these names as open as they are here. */
	protected toggledLike(session: Session, flipped: readonly number[]): ReadonlySet<number> {
		const other = this.other(session), side = session === this.first ? 0 : 1, { names } = this.named, toggled = new Set(other.store.state.toggled);

		for (const id of flipped) {
			const isOpen = session.tree.isOpenAtFirst(session.trace.lanes[id]) !== session.store.state.toggled.has(id);
			for (const lane of other.trace.lanes)
				if (names[1 - side][lane.id] === names[side][id] && lane.kind === session.trace.lanes[id].kind) {
					if (other.tree.isOpenAtFirst(lane) === isOpen)
						toggled.delete(lane.id);
					else
						toggled.add(lane.id);
				}
		}
		return toggled;
	}

	private tell(from: Session, more: Partial<State> = {}): void {
		const other = this.other(from), part = { ...commonOf(from.store.state, this.shift(from)), ...more };

		if (isSameState(part, other.store.state))
			return;
		this.isTelling = true;
		other.store.set(part);
		this.isTelling = false;
	}
}

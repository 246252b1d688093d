// SPDX-License-Identifier: GPL-2.0-or-later
// The graph: time across, lanes down. The canvas has the picture, the page its names and its buttons.
import { useContext, useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { duration, plural, visible } from "../format";
import { type Choice, Choices, Swatch } from "../page";
import { type Range, useRange } from "../range";
import { colourOf, stateNames, stateTitle } from "../states";
import { ThemeContext } from "../theme";
import { APPLICATION_COLOURS } from "./applications";
import { Drawer } from "./draw";
import { FilterBar } from "./filter_bar";
import { FiltersOn } from "./filters_on";
import { sliceAround } from "./find";
import { Gestures } from "./gestures";
import { type Wishes, press } from "./keys";
import { type Labelled, Labels } from "./labels";
import { MarkStore } from "./marks";
import { NoteList } from "./note_list";
import { exactly, moment, stretchOf } from "./moment";
import { levelOf } from "./overlays";
import { Save } from "./save";
import { headOf, Scene } from "./scene";
import type { Session } from "./session";
import { type Colouring, flipped, type Overlay, useStored } from "./store";
import { sliceWords } from "./tell";
import type { Lane } from "./trace";

/** Draws at most once a frame. */
function useDrawing(session: Session) {
	const made = useRef<{ scene: Scene; marks: MarkStore; drawer: Drawer | null; frame: number; draw: () => void; listeners: Set<() => void> } | null>(null);

	if (!made.current) {
		const scene = new Scene(session, () => made.current!.draw()), listeners = new Set<() => void>();
		const draw = () => {
			made.current!.frame ||= requestAnimationFrame(() => {
				made.current!.frame = 0;
				made.current!.drawer?.draw();
				listeners.forEach(listener => listener());
			});
		};
		made.current = { scene, marks: new MarkStore(session, draw), drawer: null, frame: 0, draw, listeners };
	}
	return made.current;
}

type Drawing = ReturnType<typeof useDrawing>;

/** Names of lanes and what is said below the picture follow what was drawn. */
function Names({ session, drawing }: { session: Session; drawing: Drawing }) {
	const [, again] = useState(0), last = useRef("");
	const { scene } = drawing, focus = useStored(session.store, state => state.focus);

	useEffect(() => {
		const update = () => {
			const key = `${scene.scroll} ${scene.height} ${scene.headPx}`;
			if (key !== last.current)
				again(n => n + 1);
			last.current = key;
		};
		drawing.listeners.add(update);
		return () => { drawing.listeners.delete(update); };
	}, []);
	useStored(session.store, () => session.layout);
	const labelled = (row: Labelled["row"]): Labelled => ({ row, top: scene.topOf(row) });
	return <Labels session={session} pinned={session.layout.pinned.map(labelled)} rows={scene.seen.map(labelled)} focus={focus} />;
}

function Said({ drawing }: { drawing: Drawing }) {
	const [said, say] = useState("");

	useEffect(() => {
		const update = () => say(drawing.scene.session.tiles.error ? `The server does not give what is to be drawn: ${drawing.scene.session.tiles.error}`
			: drawing.scene.said);
		drawing.listeners.add(update);
		return () => { drawing.listeners.delete(update); };
	}, []);
	return <p class="status muted said" role="status">{said}</p>;
}

/** For those who do not see the picture: where the keys are. */
function Announced({ session, scene }: { session: Session; scene: Scene }) {
	const focus = useStored(session.store, state => state.focus), cursor_ns = useStored(session.store, state => state.cursor_ns);
	const row = focus === null ? undefined : session.layout.byLane.get(focus);
	const slice = row && cursor_ns !== null && scene.width ? sliceAround(session.tiles, session.trace, row.lane.id, levelOf(scene), cursor_ns, scene.view) : null;

	return <p class="away" aria-live="polite">{row && [row.title, row.isOpen === null ? "" : row.isOpen ? "open" : "closed",
		...(slice ? sliceWords(session, row.lane, slice) : cursor_ns === null ? [] : [`at ${exactly(cursor_ns)}`])].filter(Boolean).join(", ")}</p>;
}

function useCanvas(drawing: Drawing, scroller: { current: HTMLDivElement | null }, canvas: { current: HTMLCanvasElement | null }): void {
	const { scene, marks, draw } = drawing, { session } = scene;

	useLayoutEffect(() => {
		const box = scroller.current!, area = canvas.current!;
		const resize = () => {
			scene.width = area.parentElement!.clientWidth;
			scene.height = box.clientHeight;
			draw();
		};
		const scroll = () => {
			scene.scroll = box.scrollTop;
			if (Math.round(scene.scroll) !== Math.round(session.store.state.scroll))
				session.store.set({ scroll: scene.scroll });
			draw();
		};
		const follow = () => {			// what a link, or a step back, says
			if (Math.abs(box.scrollTop - session.store.state.scroll) >= 1)
				box.scrollTop = session.store.state.scroll;
			draw();
		};
		const observer = new ResizeObserver(resize), gestures = new Gestures(area, box, scene, marks, draw);

		drawing.drawer = new Drawer(area, scene, marks);
		observer.observe(box);
		observer.observe(area.parentElement!);
		box.addEventListener("scroll", scroll, { passive: true });
		const ends = [session.store.on(follow), session.onTiles(draw)];

		box.scrollTop = session.store.state.scroll;
		return () => {
			gestures.end();
			observer.disconnect();
			box.removeEventListener("scroll", scroll);
			ends.forEach(end => end());
		};
	}, []);
}

/** The lane with the focus is kept in view. */
function useFocusInView(session: Session, scene: Scene, scroller: { current: HTMLDivElement | null }): void {
	const focus = useStored(session.store, state => state.focus);

	useEffect(() => {
		const row = focus === null ? undefined : session.layout.rows.find(row => row.lane.id === focus), box = scroller.current!;
		const room = scene.height - scene.lanesTop;
		if (!row || session.layout.pinned.some(pinned => pinned.lane.id === focus) || room <= 0)
			return;
		if (row.top < box.scrollTop)
			box.scrollTop = row.top;
		else if (row.top + row.height > box.scrollTop + room)
			box.scrollTop = row.top + row.height - room;
	}, [focus]);
}

function Picture({ session, wishes }: { session: Session; wishes: Wishes }) {
	const drawing = useDrawing(session), { scene } = drawing;
	const scroller = useRef<HTMLDivElement>(null), canvas = useRef<HTMLCanvasElement>(null);
	const { theme } = useContext(ThemeContext), layout = useStored(session.store, () => session.layout);
	const onKey = (event: KeyboardEvent) => {
		if (press(scene, event, wishes)) {
			event.preventDefault();
			event.stopPropagation();
		}
	};

	const head = useStored(session.store, () => headOf(session));

	useCanvas(drawing, scroller, canvas);
	useFocusInView(session, scene, scroller);
	useEffect(() => {
		scene.palette = null;
		drawing.draw();
	}, [theme]);
	return <>
		<div class="graph-view" ref={scroller} style={{ maxHeight: `${layout.height + layout.pinnedHeight + head + 4}px` }}>
			<div class="graph-stage">
				<Names session={session} drawing={drawing} />
				<div class="graph-canvas" role="application" tabIndex={0} aria-label="What threads did over time; press ? for the keys" onKeyDown={onKey}>
					<canvas ref={canvas} data-tips="" aria-hidden="true" />
				</div>
			</div>
			<div style={{ height: `max(0px, calc(${layout.height + head + layout.pinnedHeight}px - 100%))` }} />
		</div>
		<Said drawing={drawing} />
		<NoteList session={session} />
		<Save session={session} drawer={() => drawing.drawer} />
		<Announced session={session} scene={scene} />
	</>;
}

/** also: lanes of another side. */
export function StateLegend({ session, also }: { session: Session; also?: readonly Lane[] }) {
	const { shares, lanes } = session.trace;
	const used = useMemo(() => stateNames.filter(state => [...lanes, ...also ?? []].some(lane => lane.ns[shares.indexOf(state)] > 0)), [shares, lanes, also]);

	const filters = useStored(session.store, state => state.filters), chosen = session.chosenShares, isChosen = (state: string) => chosen === null || (chosen >>> shares.indexOf(state) & 1) === 1;
	const flip = (state: string) => {
		const names = flipped(new Set(chosen === null ? [] : used.filter(isChosen)), state);
		session.store.set({ filters: { ...filters, cause: [...names].join(", ") }, row: 0 });
	};

	return <div class="legend" role="group" aria-label="States">{used.map(state => <button type="button" key={state} aria-pressed={isChosen(state)} data-tip="Look at this state; again, at all"
		onClick={() => flip(state)}><Swatch colour={colourOf(state)} />{stateTitle(state)}</button>)}</div>;
}

const weightTitles = ["1 active thread", "2", "3 to 4", "5 to 8", "more"];

/** What the colours of lanes say. */
function Legend({ session }: { session: Session }) {
	const colouring = useStored(session.store, state => state.colouring), { names, others } = session.tree.applications;

	switch (colouring) {
	case "application": return <div class="legend">{names.slice(0, APPLICATION_COLOURS).map((name, i) => <span key={name}><Swatch colour={`k-${i}`} />{visible(name)}{
		i === APPLICATION_COLOURS - 1 && others ? ` and ${plural(others, "other")}` : ""}</span>)}
		<span class="muted">running, in the colour of the application; CPUs where their slices can be told apart</span></div>;
	case "weight": return <div class="legend">{weightTitles.map((title, i) => <span key={title}><Swatch colour={`w-${i}`} />{title}</span>)}
		<span class="muted">active threads, by how many share a moment: each of n counts 1/n (CMetric), on average over a pixel</span></div>;
	default: return <StateLegend session={session} />;
	}
}

export function rangeWords({ from_ns, to_ns }: Range): string {
	const step_ns = (to_ns - from_ns) / 1000;

	return `${moment(from_ns, step_ns, to_ns)} to ${moment(to_ns, step_ns, to_ns)} (${duration(to_ns - from_ns)})`;
}

/** Selects a time that the user writes. */
function TimeField({ session }: { session: Session }) {
	const [isWrong, setWrong] = useState(false);
	const take = (text: string) => {
		const stretch = stretchOf(text, session.whole);
		setWrong(text.trim() !== "" && !stretch);
		if (stretch)
			session.select(stretch);
	};

	return <input type="text" class="time" placeholder="1.2s..1.4s" aria-label="Select a time, such as 1.2s..1.4s" aria-invalid={isWrong}
		data-tip="Selects this time: from..to, since the trace begins" onChange={event => take(event.currentTarget.value)} onKeyDown={event => event.stopPropagation()} />;
}

/** What is seen and what is selected, with the buttons that those need who have no wheel and no keys. */
export function Navigation({ session, wishes }: { session: Session; wishes: Wishes }) {
	const hasView = useStored(session.store, state => state.view !== null || state.follow !== null), selection = useRange();
	const [from_ns, to_ns] = useStored(session.store, () => `${session.view.from_ns} ${session.view.to_ns}`).split(" ").map(Number);
	const boxed = useStored(session.store, state => state.boxed);
	const middle = (from_ns + to_ns) / 2;

	return <div class="choices" role="group" aria-label="Stretch of time that is seen">
		<button type="button" data-tip="Undo the last step (Backspace)" aria-label="Undo" onClick={() => session.link.undo()}>{"\u21b6"}</button>
		<button type="button" data-tip="Redo (Shift Backspace)" aria-label="Redo" onClick={() => session.link.redo()}>{"\u21b7"}</button>
		<button type="button" aria-label="Earlier" data-tip="Earlier (A)" disabled={!hasView} onClick={() => session.pan(-0.5)}>&larr;</button>
		<button type="button" aria-label="Later" data-tip="Later (D)" disabled={!hasView} onClick={() => session.pan(0.5)}>&rarr;</button>
		<button type="button" aria-label="Zoom in" data-tip="Zoom in (W)" onClick={() => session.zoom(0.5, middle)}>+</button>
		<button type="button" aria-label="Zoom out" data-tip="Zoom out (S)" disabled={!hasView} onClick={() => session.zoom(2, middle)}>&minus;</button>
		<button type="button" data-tip="The whole trace (0, double click)" disabled={!hasView} onClick={() => session.showAll()}>All</button>
		<button type="button" data-tip="Zoom to the selected time (F)" disabled={!selection} onClick={() => session.zoomToSelection()}>Selection</button>
		<TimeField session={session} />
		<button type="button" aria-label="Keys" data-tip="All keys (?)" onClick={wishes.onHelp}>?</button>
		<span class="muted range">{hasView ? rangeWords({ from_ns, to_ns }) : `all ${duration(session.whole.to_ns - session.whole.from_ns)}`}</span>
		<button type="button" data-tip="A note at the cursor, or in the middle (M)" onClick={() => session.addNote(session.store.state.cursor_ns ?? middle,
			session.store.state.cursor_ns === null ? null : session.store.state.focus)}>Note</button>
		{selection && <span class="range selected">selected: {rangeWords(selection)}{boxed.length ? ` of ${plural(boxed.length, "lane")}` : ""}
			<button type="button" class="forget" aria-label="Forget the selection" data-tip="Forget the selection (Escape)" onClick={() => session.select(null)}>&times;</button></span>}
	</div>;
}

const overlayTitles: [Overlay, string, string][] = [
	["wakes", "Wake-ups", "Arrows from who woke to who was woken, where slices can be told apart"],
	["marks", "Events", "Circles: events of the programs' own"],
	["activities", "Activities", "Bars in the lanes of threads: what lasts from one event to another, by pairs of events and by scripts"],
	["messages", "Messages", "Arrows from who sent to who received"],
];

const colourChoices: Choice<Colouring>[] = [{ name: "state", title: "by state" }, { name: "application", title: "by application" }, { name: "weight", title: "by weight" }];

/** What is drawn over the lanes and above them, as switches. */
function Drawn({ session }: { session: Session }) {
	const hidden = useStored(session.store, state => state.hidden);
	const all: [Overlay, string, string][] = [...overlayTitles, ...session.tree.curves.map(({ name, title, about }): [Overlay, string, string] =>
		[name, title[0].toUpperCase() + title.slice(1), `A curve: ${about.toLowerCase()}`])];

	return <div class="choices" role="group" aria-label="What is drawn with the lanes">
		{all.map(([name, title, tip]) => <button type="button" key={name} aria-pressed={!hidden.has(name)} data-tip={tip}
			onClick={() => session.store.set({ hidden: flipped(session.store.state.hidden, name) })}>{title}</button>)}
	</div>;
}

/** What two graphs have in common stands above the first: of the second, the picture alone is shown. */
export function SecondGraph({ session, wishes }: { session: Session; wishes: Wishes }) {
	return <div class="graph-box"><Picture session={session} wishes={wishes} /></div>;
}

export function Graph({ session, wishes, search }: { session: Session; wishes: Wishes; search: { current: HTMLInputElement | null } }) {
	const words = useStored(session.store, state => state.words), sort = useStored(session.store, state => state.sort);
	const colouring = useStored(session.store, state => state.colouring);

	return <div class="graph-box">
		<div class="tools">
			<input type="search" ref={search} placeholder="Search lanes" aria-label="Search lanes" value={words}
				onInput={event => session.store.set({ words: event.currentTarget.value })} />
			<FilterBar session={session} />
			<div class="choices" role="group" aria-label="Order of lanes"><span class="muted">Order</span>
				<button type="button" aria-pressed={sort === "lost"} onClick={() => session.store.set({ sort: "lost" })}>by lost time</button>
				<button type="button" aria-pressed={sort === "name"} onClick={() => session.store.set({ sort: "name" })}>by name</button>
			</div>
			<span class="choices"><span class="muted">Colours</span><Choices label="Colours of lanes" of={colourChoices} chosen={colouring} onChoose={name => session.store.set({ colouring: name })} /></span>
			<Drawn session={session} />
		</div>
		<FiltersOn session={session} />
		<Navigation session={session} wishes={wishes} />
		<Picture session={session} wishes={wishes} />
		{session.trace.left_out > 0 && <p class="muted">{plural(session.trace.left_out, "thread")} have no lane of their own, for there are too many.</p>}
		<Legend session={session} />
	</div>;
}

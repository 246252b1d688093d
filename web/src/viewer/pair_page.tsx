// SPDX-License-Identifier: GPL-2.0-or-later
// Two traces on one page: a graph of each, one above the other, and what differs between them.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Licences } from "../about";
import { duration, visible } from "../format";
import { RangeFrame } from "../range";
import { ThemeContext, useTheme } from "../theme";
import { Tip } from "../tip";
import { ComparisonOfSides } from "./compare_report";
import { Details } from "./details";
import { DifferenceList } from "./difference_list";
import { EventList } from "./events";
import { Graph, SecondGraph } from "./graph";
import { Help } from "./help";
import { Link } from "./link";
import { exactly } from "./moment";
import { Pair } from "./pair";
import { Server } from "./server";
import { Session } from "./session";
import { Store, useStored } from "./store";
import { Gone, Opening, useConnection, useSession, useWholeWindow } from "./viewer";

const links: [string, string][] = [["lanes", "Graphs"], ["differences", "Differences"], ["report", "Comparison"], ["events", "Lists"]];
const NS_PER_MS = 1e6;

/** What both sides need before anything is known of them. */
function makeSides() {
	const stores = [new Store(), new Store()], servers = [new Server(), new Server("b/")], link = new Link(stores[0], stores[1]);

	return { stores, servers, link };
}

/** How the times of both sides are put beside each other. */
function Alignment({ pair }: { pair: Pair }) {
	const offset_ns = useStored(pair.second.store, () => pair.offset_ns);
	const a = useStored(pair.first.store, state => state.slice), b = useStored(pair.second.store, state => state.slice);

	return <div class="choices alignment" role="group" aria-label="Alignment of the two traces">
		<label>B is later by <input type="number" step="any" value={offset_ns / NS_PER_MS} onKeyDown={event => event.stopPropagation()}
			onChange={event => Number.isFinite(event.currentTarget.valueAsNumber) && (pair.offset_ns = event.currentTarget.valueAsNumber * NS_PER_MS)} /> ms</label>
		<button type="button" disabled={!a || !b} data-tip={a && b ? `${exactly(a.time_ns)} of A beside ${exactly(b.time_ns)} of B` : "Choose a moment in each graph first: a click on a state of a thread, or on a row of waits or spans"}
			onClick={() => pair.align()}>Align here</button>
		<button type="button" disabled={offset_ns === pair.begins_ns} data-tip="The first thing that is known of a thread, of both" onClick={() => { pair.offset_ns = pair.begins_ns; }}>Align begins</button>
	</div>;
}

function Side({ letter, session, pair, children }: { letter: string; session: Session; pair: Pair; children: preact.ComponentChildren }) {
	const lead = () => { pair.leader = session; };

	return <div class={`side side-${letter.toLowerCase()}`} onPointerEnter={lead} onFocusCapture={lead}>
		<h2><span class="letter">{letter}</span> {visible(session.trace.name)} <span class="muted">{duration(session.own.to_ns - session.own.from_ns)}</span></h2>
		{children}
	</div>;
}

/** Of one side at a time. */
function Lists({ pair }: { pair: Pair }) {
	const [side, setSide] = useState(0), session = side ? pair.second : pair.first;
	const frame = useFrame(pair);

	return <>
		<div class="choices" role="group" aria-label="Whose lists are shown"><span class="muted">Lists of</span>
			{["A", "B"].map((letter, i) => <button type="button" key={letter} aria-pressed={side === i} onClick={() => setSide(i)}>{letter}</button>)}</div>
		<RangeFrame.Provider value={side ? frame : zeroFrame}><EventList key={side} session={session} /></RangeFrame.Provider>
	</>;
}

const zeroFrame = { begin_ns: 0, whole_ns: null };

/** The selected time, in the time of the second side. */
function useFrame(pair: Pair) {
	const offset_ns = useStored(pair.second.store, () => pair.offset_ns);

	return useMemo(() => ({ begin_ns: -offset_ns, whole_ns: null }), [offset_ns]);
}

function Sides({ first, second }: { first: Session; second: Session }) {
	const pair = useMemo(() => new Pair(first, second), [first, second]), [isHelp, setHelp] = useState(false), frame = useFrame(pair);
	const search = useRef<HTMLInputElement>(null), panels = [useRef<HTMLElement>(null), useRef<HTMLElement>(null)];
	const wishes = panels.map(panel => ({ onHelp: () => setHelp(true), onPause: () => undefined, onSearch: () => search.current?.focus(),
		onDetails: () => requestAnimationFrame(() => panel.current?.focus({ preventScroll: true })) }));

	useEffect(() => () => pair.end(), [pair]);
	return <>
		<Alignment pair={pair} />
		<section id="lanes" class="paired" aria-label="Graphs">
			<Side letter="A" session={first} pair={pair}><div class="looked"><Graph session={first} wishes={wishes[0]} search={search} /><Details session={first} panel={panels[0]} /></div></Side>
			<RangeFrame.Provider value={frame}>
				<Side letter="B" session={second} pair={pair}><div class="looked"><SecondGraph session={second} wishes={wishes[1]} /><Details session={second} panel={panels[1]} /></div></Side>
			</RangeFrame.Provider>
		</section>
		<DifferenceList pair={pair} />
		<ComparisonOfSides pair={pair} />
		<Lists pair={pair} />
		<Help isOpen={isHelp} onClose={() => setHelp(false)} />
	</>;
}

export function PairPage({ names }: { names: [string, string] }) {
	const theme = useTheme(), [{ stores, servers, link }] = useState(makeSides);
	const opened = [0, 1].map(i => useSession(servers[i], trace => new Session(servers[i], trace, stores[i], link))), connections = servers.map(useConnection);
	const sessions = opened.map(one => "session" in one ? one.session : null);

	useWholeWindow();
	useEffect(() => { document.title = `${names.map(visible).join(", ")} \u2013 pinch view`; }, []);
	return <ThemeContext.Provider value={theme}>
		<header>
			<a class="skip" href="#main">Skip to the graphs</a>
			<h1><span class="brand">pinch view</span> <span class="command">{visible(names[0])} and {visible(names[1])}</span></h1>
			<nav aria-label="Sections"><ul>{links.map(([id, title]) => <li key={id}><a href={`#${id}`}>{title}</a></li>)}</ul></nav>
			<button type="button" class="theme" aria-pressed={theme.theme === "dark"} onClick={theme.toggle}>Dark</button>
		</header>
		<Gone connection={connections.find(one => one !== "there") ?? "there"} />
		<main id="main" tabIndex={-1}>{sessions[0] && sessions[1] ? <Sides first={sessions[0]} second={sessions[1]} />
			: opened.map((one, i) => <div key={i}><h2>{i ? "B" : "A"} {visible(names[i])}</h2>{"session" in one ? <p class="muted">The trace is indexed.</p> : <Opening opened={one} />}</div>)}</main>
		<footer><Licences /></footer>
		<Tip />
	</ThemeContext.Provider>;
}

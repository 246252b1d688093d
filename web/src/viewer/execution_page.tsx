// SPDX-License-Identifier: GPL-2.0-or-later
// Two groups of the executions of one trace, a graph of each above the other, aligned where executions begin, and what pinch compare says of both.
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { Licences } from "../about";
import { duration, plural, visible } from "../format";
import { ThemeContext, useTheme } from "../theme";
import { Tip } from "../tip";
import { ExecutionDetails } from "./execution_details";
import { GroupReport } from "./execution_report";
import { ExecutionChoices } from "./execution_choices";
import { ExecutionPair } from "./execution_pair";
import { ExecutionSums } from "./execution_sums";
import { type Choices, completed, type Executions, type Group, groupOf, GroupServer, lanesOfThreads, type Question, questionOf, sidesOf, traceOfGroup } from "./executions";
import { Navigation, SecondGraph, StateLegend } from "./graph";
import { Help } from "./help";
import { Link } from "./link";
import { isAborted, query, Server } from "./server";
import { Session } from "./session";
import { Store, useStored } from "./store";
import { type Answer, type Lane, type Trace, traceOf, type Unready } from "./trace";
import { Gone, useConnection, useWholeWindow } from "./viewer";

const links: [string, string][] = [["lanes", "Graphs"], ["sums", "Sums"], ["report", "Comparison"], ["flames", "Flames"]];
const UNREADY_MS = 300;

export interface Side {
	letter: string;
	group: Group;
	session: Session;
}

interface Known {
	trace: Trace;
	choices: Choices;
	question: Question;
}

interface Loaded {
	known: Known | null;
	of: Executions | null;
	drawn: number;		// of its groups: from 0 to 1
	error: string;
}

const nothing: Loaded = { known: null, of: null, drawn: 0, error: "" };

/** The trace may still be indexed; and executions are grouped once, for whoever asked first. */
async function whenReady<T extends { is_ready: true }>(server: Server, path: string, signal: AbortSignal): Promise<T> {
	for (;;) {
		const answer = await server.json<T | Unready>(path, signal);
		if (answer.is_ready)
			return answer;
		await new Promise(resolve => setTimeout(resolve, UNREADY_MS));
	}
}

/** The server finds what executions of a group did together step by step, as it is asked, and answers others in between. */
async function drawn(server: Server, question: Question, groups: number[], signal: AbortSignal, onStep: (done: number) => void): Promise<void> {
	for (const [i, group] of groups.entries())
		for (let answer: Unready | { is_ready: true } | null = null; !answer?.is_ready; ) {
			answer = await server.json<Unready | { is_ready: true }>(query("executions/drawn", { ...question, group }), signal);
			onStep((i + (answer.is_ready ? 1 : answer.done)) / groups.length);
		}
}

/** Asked for again when the server is back. */
function useLoaded(server: Server): Loaded {
	const [loaded, setLoaded] = useState(nothing);

	useEffect(() => {
		let isThere = false;
		const abort = new AbortController(), load = async () => {
			const trace = traceOf(await whenReady<Answer>(server, "trace", abort.signal)), choices = await server.json<Choices>("executions/choices", abort.signal);
			const known = { trace, choices, question: completed(questionOf(location.search), choices) };
			setLoaded({ ...nothing, known });
			const of = await whenReady<Executions>(server, query("executions/list", known.question), abort.signal);
			await drawn(server, known.question, sidesOf(known.question, of), abort.signal, drawn => setLoaded({ known, of, drawn, error: "" }));
			isThere = true;
		};
		const ask = () => load().catch(error => isAborted(error) || setLoaded(old => ({ ...old, error: String(error.message ?? error) })));
		const end = server.onConnection(() => server.connection === "there" && !isThere && ask());
		ask();
		return () => {
			abort.abort();
			end();
		};
	}, [server]);
	return loaded;
}

function makeSides(known: Known, of: Executions) {
	const stores = [new Store(), new Store()], link = new Link(stores[0], stores[1]);

	return sidesOf(known.question, of).map((number, i): Side => {
		const group = groupOf(of, number);
		return { letter: "AB"[i], group, session: new Session(new GroupServer(known.question, number), traceOfGroup(known.trace, of, group), stores[i], link) };
	});
}

function Heading({ side: { letter, group }, of }: { side: Side; of: Executions }) {
	const mean_ns = group.members.reduce((sum, i) => sum + of.lengths_ns[i], 0) / Math.max(1, group.members.length);

	return <h2><span class="letter">{letter}</span> Group {group.number} <span class="muted">{plural(group.members.length, "execution")} of {duration(Math.round(mean_ns))} on average</span></h2>;
}

/** What both graphs have in common. */
function Tools({ session, search }: { session: Session; search: { current: HTMLInputElement | null } }) {
	const words = useStored(session.store, state => state.words), sort = useStored(session.store, state => state.sort);

	return <div class="tools">
		<input type="search" ref={search} placeholder="Search threads" aria-label="Search threads" value={words} onInput={event => session.store.set({ words: event.currentTarget.value })} />
		<div class="choices" role="group" aria-label="Order of executions"><span class="muted">Order</span>
			<button type="button" aria-pressed={sort === "lost"} onClick={() => session.store.set({ sort: "lost" })}>longest first</button>
			<button type="button" aria-pressed={sort === "name"} onClick={() => session.store.set({ sort: "name" })}>by beginning</button>
		</div>
	</div>;
}

function Sides({ known, of, server }: { known: Known; of: Executions; server: Server }) {
	const sides = useMemo(() => makeSides(known, of), [known, of]), pair = useMemo(() => new ExecutionPair(sides[0].session, sides[1].session), [sides]), [isHelp, setHelp] = useState(false);
	const lanes = useMemo((): Map<number, Lane> => lanesOfThreads(known.trace), [known]), search = useRef<HTMLInputElement>(null), panels = [useRef<HTMLElement>(null), useRef<HTMLElement>(null)];
	const wishes = panels.map(panel => ({ onHelp: () => setHelp(true), onPause: () => undefined, onSearch: () => search.current?.focus(),
		onDetails: () => requestAnimationFrame(() => panel.current?.focus({ preventScroll: true })) }));

	useEffect(() => {
		const ends = sides.map(({ session }) => session.server.onConnection(() => session.server.connection === "there" && session.tiles.again()));
		performance.mark("pinch-ready");
		return () => {
			ends.forEach(end => end());
			pair.end();
			sides[0].session.link.end();
		};
	}, [pair]);
	return <>
		<Tools session={pair.first} search={search} />
		<Navigation session={pair.first} wishes={wishes[0]} />
		<section id="lanes" class="paired" aria-label="Graphs">{sides.map((side, i) => {
			const lead = () => { pair.leader = side.session; };
			return <div key={side.letter} class={`side side-${side.letter.toLowerCase()}`} onPointerEnter={lead} onFocusCapture={lead}>
				<Heading side={side} of={of} />
				<div class="looked"><SecondGraph session={side.session} wishes={wishes[i]} /><ExecutionDetails side={side} of={of} lanes={lanes} panel={panels[i]} /></div>
			</div>;
		})}</section>
		<StateLegend session={pair.first} also={pair.second.trace.lanes} />
		<ExecutionSums pair={pair} sides={sides} />
		<GroupReport question={known.question} server={server} />
		<Help isOpen={isHelp} onClose={() => setHelp(false)} />
	</>;
}

export function ExecutionPage({ name }: { name: string }) {
	const theme = useTheme(), [server] = useState(() => new Server()), { known, of, drawn, error } = useLoaded(server), connection = useConnection(server);

	useWholeWindow();
	useEffect(() => { document.title = `executions of ${visible(name)} \u2013 pinch view`; }, []);
	return <ThemeContext.Provider value={theme}>
		<header>
			<a class="skip" href="#main">Skip to the graphs</a>
			<h1><span class="brand">pinch view</span> <span class="command">executions of {visible(name)}</span></h1>
			<p><a href="./">The trace</a></p>
			<nav aria-label="Sections"><ul>{links.map(([id, title]) => <li key={id}><a href={`#${id}`}>{title}</a></li>)}</ul></nav>
			<button type="button" class="theme" aria-pressed={theme.theme === "dark"} onClick={theme.toggle}>Dark</button>
		</header>
		<Gone connection={connection} />
		<main id="main" tabIndex={-1}>
			{known && <ExecutionChoices choices={known.choices} question={known.question} of={of} />}
			{error ? <p role="alert">{error}</p> : drawn < 1 && <p class="muted" role="status">{of ? `What the executions did is being found: ${Math.floor(100 * drawn)} %` : known ? "The executions are being grouped\u2026" : "The trace is being indexed\u2026"}</p>}
			{known && of && drawn >= 1 && <Sides known={known} of={of} server={server} />}
		</main>
		<footer><Licences /></footer>
		<Tip />
	</ThemeContext.Provider>;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// The viewer: the page as pinch view serves it, of a trace of any size.
import { useEffect, useRef, useState } from "preact/hooks";
import { Licences } from "../about";
import { exactNs, plural, share, visible } from "../format";
import { ThemeContext, useTheme } from "../theme";
import { Tip } from "../tip";
import { Details } from "./details";
import { EventList } from "./events";
import { ExecutionLink } from "./execution_link";
import { Graph } from "./graph";
import { Help } from "./help";
import { Live } from "./live";
import { Length, LiveBar } from "./live_bar";
import { ReportOfSelection } from "./report";
import { ScriptTab } from "./scripts_tab";
import { type Connection, Refusal, Server } from "./server";
import { Session } from "./session";
import { SumsOfSelection } from "./sums";
import { type Answer, type Now, type Trace, traceOf, type Unready } from "./trace";
import "./viewer.css";

const UNREADY_MS = 300;

export type Opened = { session: Session; live: Live } | { done: number } | { error: string };

/** The trace, as soon as there is one; a longer one when it grows or the server has been away. */
export function useSession(server: Server, make = (trace: Trace) => new Session(server, trace)): Opened {
	const [opened, setOpened] = useState<Opened>({ done: 0 });
	const session = useRef<Session | null>(null);

	useEffect(() => {
		let timer = 0, live: Live | null = null;
		const shown = () => session.current && { key: session.current.trace.key, isLive: session.current.trace.is_live, grow: (whole_ns: number) => session.current!.grow(whole_ns) };
		const open = (answer: Answer, isRecorded: boolean) => {
			session.current = make(traceOf(answer));
			if (isRecorded && session.current.store.state.view === null)
				session.current.follow();
			live = new Live(server, shown, ask);
			setOpened({ session: session.current, live });
			performance.mark("pinch-ready");
		};
		const take = (answer: Answer | Unready, isRecorded: boolean) => {
			if (!answer.is_ready) {
				setOpened(session.current && live ? { session: session.current, live } : { done: answer.done });
				timer = window.setTimeout(ask, UNREADY_MS);
			} else if (session.current && live) {
				session.current.update(traceOf(answer));
				setOpened({ session: session.current, live });
			} else {
				open(answer, isRecorded);
			}
		};
		/** Of what grows, it may be the index alone. */
		const isRecorded = async (answer: Answer | Unready) => answer.is_ready && !session.current && answer.is_live === true && (await server.json<Now>("now")).phase === "recording";
		const ask = () => server.json<Answer | Unready>("trace").then(async answer => [answer, await isRecorded(answer)] as const).then(([answer, is]) => take(answer, is), error => {
			if (error instanceof Refusal && !session.current)
				setOpened({ error: error.message });
		});
		const onConnection = () => {
			if (server.connection !== "there")
				return;
			session.current?.again();
			live?.again();
			ask();
		};
		const end = server.onConnection(onConnection);
		const onFocus = () => server.connection === "refused" && ask();	// the link may have been opened elsewhere
		addEventListener("focus", onFocus);
		ask();
		return () => {
			clearTimeout(timer);
			removeEventListener("focus", onFocus);
			live?.end();
			end();
		};
	}, [server]);
	return opened;
}

export function useConnection(server: Server): Connection {
	const [connection, set] = useState(server.connection);

	useEffect(() => server.onConnection(() => set(server.connection)), [server]);
	return connection;
}

export function Gone({ connection }: { connection: Connection }) {
	switch (connection) {
	case "gone": return <p class="gone" role="alert">The server does not answer: what is here stays, and the page goes on when it is back.</p>;
	case "refused": return <p class="gone" role="alert">The server does not know this browser: open the address that pinch view has printed.</p>;
	default: return null;
	}
}

/** The address holds the state: links within the page must not take its place. */
function onLink(event: MouseEvent): void {
	const link = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[href^='#']") : null;
	const target = link && document.getElementById(link.getAttribute("href")!.slice(1));

	if (!link)
		return;
	event.preventDefault();
	target?.scrollIntoView();
	if (target?.matches("[tabindex]"))
		target.focus({ preventScroll: true });
}

const links: [string, string][] = [["lanes", "Graph"], ["sums", "Sums"], ["events", "Lists"], ["scripts", "Scripts"], ["report", "Report"]];

function Looked({ session, live }: { session: Session; live: Live }) {
	const [isHelp, setHelp] = useState(false);
	const search = useRef<HTMLInputElement>(null), panel = useRef<HTMLElement>(null);
	const wishes = {
		onHelp: () => setHelp(true),
		onSearch: () => search.current?.focus(),
		onPause: () => live.now?.phase === "recording" && live.pause(!live.isPaused),
		onDetails: () => requestAnimationFrame(() => panel.current?.focus({ preventScroll: true })),
	};

	return <>
		<LiveBar session={session} live={live} />
		<section id="lanes" class="looked" aria-label="Graph">
			<Graph session={session} wishes={wishes} search={search} />
			<Details session={session} panel={panel} />
		</section>
		<SumsOfSelection session={session} />
		<EventList session={session} />
		<ScriptTab session={session} />
		<ReportOfSelection session={session} />
		<Help isOpen={isHelp} onClose={() => setHelp(false)} />
	</>;
}

export function Opening({ opened }: { opened: Opened }) {
	if ("error" in opened)
		return <p role="alert">The trace cannot be shown: {opened.error}</p>;
	return "done" in opened ? <p class="opening" role="status">{"The trace is being indexed: "}{share(opened.done)}
		<progress max={1} value={opened.done} aria-label="How much of the trace is indexed" /></p> : null;
}

/** The page takes all of the window. */
export function useWholeWindow(): void {
	useEffect(() => {
		document.documentElement.classList.add("viewer");
		document.addEventListener("click", onLink);
		return () => document.removeEventListener("click", onLink);
	}, []);
}

export function ViewerPage() {
	const theme = useTheme(), [server] = useState(() => new Server());
	const opened = useSession(server), connection = useConnection(server);
	const session = "session" in opened ? opened.session : null;

	useWholeWindow();
	useEffect(() => { document.title = `${session ? visible(session.trace.name) : "opening"} \u2013 pinch view`; }, [session]);
	return <ThemeContext.Provider value={theme}>
		<header>
			<a class="skip" href="#main">Skip to the graph</a>
			<h1><span class="brand">pinch view</span> <span class="command">{session ? visible(session.trace.name) : ""}</span></h1>
			{session && <p class="muted" data-tip={exactNs(session.whole.to_ns - session.whole.from_ns)}><Length session={session} />, {
				session.trace.events !== null && `${plural(session.trace.events, "event")}, `}{plural(session.tree.laneOfThread.size, "thread")}</p>}
			{session && <ExecutionLink session={session} />}
			<nav aria-label="Sections"><ul>{links.map(([id, title]) => <li key={id}><a href={`#${id}`}>{title}</a></li>)}</ul></nav>
			<button type="button" class="theme" aria-pressed={theme.theme === "dark"} onClick={theme.toggle}>Dark</button>
		</header>
		<Gone connection={connection} />
		<main id="main" tabIndex={-1}>{"session" in opened ? <Looked session={opened.session} live={opened.live} /> : <Opening opened={opened} />}</main>
		<footer><Licences /></footer>
		<Tip />
	</ThemeContext.Provider>;
}

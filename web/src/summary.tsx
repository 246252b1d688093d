// SPDX-License-Identifier: GPL-2.0-or-later
// What to know first: the verdict, where the time went, what stands out.
import { Bars } from "./bars";
import { CopyCsv } from "./csv";
import { count, duration, exactNs, plural, share, shareOf, visible } from "./format";
import { openRow } from "./opening";
import { Section, Swatch } from "./page";
import { colourOf, stateTitle } from "./states";
import type { Report, ReportCause, ReportFinding, ReportWhatif } from "./report";

export function Verdict({ report }: { report: Report }) {
	const { target, totals, losses } = report;
	const lost = losses.records + losses.gaps;
	const figures: [string, string, string][] = [
		["wall time", duration(target.wall_ns), exactNs(target.wall_ns)],
		["CPUs", target.cpu_count ? count(target.cpu_count) : "unknown", "that the machine has"],
		["active threads", totals.parallelism.toFixed(2), `on average; max ${plural(totals.alive_max, "thread")} alive at once`],
		["critical", shareOf(totals.critical_ns, target.wall_ns), `${duration(totals.critical_ns)} with at most ${totals.nmin
			? plural(totals.nmin, "thread") : "half of the living threads"} active`],
		["stalled", shareOf(totals.stalled_ns, target.wall_ns), `${duration(totals.stalled_ns)} with no thread active`],
		["threads", count(totals.threads), `${plural(totals.switches, "switch", "switches")} between them were traced`],
		["events lost", count(lost), lost ? "figures are approximate" : "nothing was lost"],
	];

	return <section id="verdict" aria-labelledby="verdict-title">
		<h2 id="verdict-title">Verdict</h2>
		<div class="verdict">{report.verdict.lines.map((line, i) => <p key={i}>{visible(line)}</p>)}
			{lost > 0 && <p class="warning">Events were lost: all figures are approximate.</p>}</div>
		<dl class="figures">
			{figures.map(([name, figure, tip]) => <div key={name} data-tip={tip}><dt>{name}</dt><dd>{figure}</dd></div>)}
		</dl>
	</section>;
}

interface Slice {
	name: string;
	colour: string;
	ns: number;
	about: string;
}

/** The bar of the whole; slices too thin to be seen are left to the list below it. */
function WholeBar({ slices, total, label }: { slices: Slice[]; total: number; label: string }) {
	let at = 0;

	return <svg class="whole" viewBox="0 0 1000 26" preserveAspectRatio="none" role="img" aria-label={label}>
		{slices.map(slice => {
			const x = at, width = total ? 1000 * slice.ns / total : 0;
			at += width;
			return <rect key={slice.name} x={x} width={width} height="26" class={slice.colour}
				data-tip={`${slice.name}: ${duration(slice.ns)}, ${shareOf(slice.ns, total)}\n${slice.about}`} />;
		})}
	</svg>;
}

function SliceList({ slices, total }: { slices: Slice[]; total: number }) {
	return <ul class="slices">
		{slices.filter(slice => slice.ns).map(slice => <li key={slice.name} data-tip={`${slice.about}\n${exactNs(slice.ns)}`}>
			<Swatch colour={slice.colour} /><span>{slice.name}</span>
			<b>{shareOf(slice.ns, total)}</b><span class="muted number">{duration(slice.ns)}</span>
		</li>)}
	</ul>;
}

/** By how many threads were active: that one was is no sign that the program had what it needs. */
function wallSlices({ balance: { wall }, target: { wall_ns }, totals }: Report): Slice[] {
	const few = totals.nmin ? `at most ${plural(totals.nmin, "thread")}` : "at most half of the threads";

	return [
		{ name: "more threads", colour: "c-running", ns: Math.max(0, wall_ns - totals.critical_ns - totals.stalled_ns), about: `more than ${few.replace("at most ", "")} were active` },
		{ name: few, colour: "c-runnable", ns: totals.critical_ns,
			about: `critical: ${few} active, and at least one${wall.spinning_ns ? `; in ${duration(wall.spinning_ns)} of the wall time, threads did nothing but spin` : ""}` },
		{ name: "no thread", colour: "c-lock", ns: totals.stalled_ns, about: "stalled" },
	];
}

/** Causes for which threads had no CPU: they are parts of cpu_wait_ns. */
const READY_CAUSES = new Set(["cpu-wait", "throttled"]);

function threadSlices({ balance: { threads } }: Report): Slice[] {
	const sum = (causes: ReportCause[], value: (cause: ReportCause) => number) => causes.reduce((total, cause) => total + value(cause), 0);
	const busy_ns = (cause: ReportCause) => cause.wait_ns - cause.idle_ns;
	const known_ns = sum(threads.causes.filter(cause => READY_CAUSES.has(cause.cause)), busy_ns);
	const causes = threads.causes.map(cause => ({
		name: stateTitle(cause.cause), colour: colourOf(cause.cause), ns: busy_ns(cause),
		about: `${plural(cause.waits, "wait")}${cause.idle_ns ? `; ${duration(cause.idle_ns)} more were idle` : ""}`,
	}));

	return [
		{ name: "running", colour: "c-running", ns: threads.running_ns - threads.spinning_ns, about: "on a CPU" },
		{ name: "spinning", colour: "c-spinning", ns: threads.spinning_ns, about: "on a CPU, waiting in a spin loop" },
		{ name: "waiting for a CPU", colour: "c-runnable", ns: Math.max(0, threads.cpu_wait_ns - known_ns), about: "runnable, waiting for a CPU" },
		...causes,
		{ name: "idle", colour: "c-idle", ns: sum(threads.causes, cause => cause.idle_ns),
			about: "waited, with no work to do" },
	].filter(slice => slice.ns > 0);
}

export function Balance({ report }: { report: Report }) {
	const wall = wallSlices(report), threads = threadSlices(report);
	const { wall_ns } = report.target, { total_ns } = report.balance.threads;
	const tools = <CopyCsv of="the balance sheet" make={() => ({
		titles: ["of", "what", "time (ns)"],
		rows: [...threads.map(s => ["thread time", s.name, s.ns]), ...wall.map(s => ["wall time", s.name, s.ns])],
	})} />;

	return <Section id="balance" title="Balance sheet" tools={tools}
		about="Where the time of all threads went: all but running is lost parallelism. And how many of them were active.">
		<h3>Time of all threads <span class="muted" data-tip={exactNs(total_ns)}>{duration(total_ns)}</span></h3>
		<WholeBar slices={threads} total={total_ns} label={`The time of all threads, ${duration(total_ns)}`} />
		<SliceList slices={threads} total={total_ns} />
		<h3>Wall time, by active threads <span class="muted" data-tip={exactNs(wall_ns)}>{duration(wall_ns)}</span></h3>
		<WholeBar slices={wall} total={wall_ns} label={`The wall time, ${duration(wall_ns)}`} />
		<SliceList slices={wall} total={wall_ns} />
	</Section>;
}

/** Where the rest is shown: the call path or the wait that the finding is about. */
function Links({ finding, report }: { finding: ReportFinding; report: Report }) {
	const { wait_rank: wait, path_rank: path } = finding;

	return <>
		{wait && wait <= report.waits.length && <a class="no-print" href="#waits" onClick={() => openRow("waits", wait)}>wait {wait}</a>}{" "}
		{path && path <= report.paths.length && <a class="no-print" href="#paths" onClick={() => openRow("call paths", path)}>path {path}</a>}
	</>;
}

export function Findings({ report }: { report: Report }) {
	const { findings } = report;
	const tools = <CopyCsv of="findings" make={() => ({
		titles: ["share of thread time", "finding", "pattern", "evidence"],
		rows: findings.map(f => [f.share, f.title, f.pattern, f.evidence.join("; ")]),
	})} />;

	return <Section id="findings" title="Findings" tools={tools}
		about="What stands out, by the share of non-idle thread time that it costs.">
		{!findings.length && <p class="muted">Nothing stands out.</p>}
		<ol class="findings">
			{findings.map((finding, i) => <li key={i}>
				<span class="share number" data-tip="of non-idle thread time">{share(finding.share)}</span>
				<div>
					<p><strong>{visible(finding.title)}</strong> <Links finding={finding} report={report} /></p>
					<ul>{finding.evidence.map((words, e) => <li key={e}>{visible(words)}</li>)}</ul>
				</div>
			</li>)}
		</ol>
		<WhatIfs whatifs={report.whatifs} />
	</Section>;
}

function whatIfWords({ kind, name, scale }: ReportWhatif): string {
	switch (kind) {
	case "cpus": return `on ${visible(name)} CPUs`;
	case "function": return `${visible(name)} in ${share(scale)} of its time`;
	default: return `${kind === "lock" ? "waits for" : "waits in"} ${visible(name)} ${share(scale)} as long`;
	}
}

/** A first estimate; absent where none gains more than its uncertainty. */
function WhatIfs({ whatifs }: { whatifs: ReportWhatif[] }) {
	if (!whatifs.length)
		return null;
	return <>
		<h3>What if</h3>
		<p class="about">Each alone, predicted by a replay of the run of {duration(whatifs[0].run_ns)}.</p>
		<ul class="whatifs">{whatifs.map((whatif, i) => <li key={i} data-tip={`${duration(whatif.least_ns)} to ${duration(whatif.most_ns)}`}>
			<b>{duration(whatif.predicted_ns)}</b>: {whatIfWords(whatif)}</li>)}</ul>
	</>;
}

interface Level {
	from: number;
	to: number;
	ns: number;
}

const SINGLE_LEVELS = 3, LEVEL_GROWTH = 1.5;

/** Above a few threads, levels are shown together: 4-5, 6-8, 9-12, as the text does. */
function levelsOf(parallelism: Report["parallelism"]): Level[] {
	const levels: Level[] = [];
	const sorted = [...parallelism].sort((a, b) => a.active - b.active);
	let from = 0, to = 0;

	for (const { active, ns } of sorted) {
		while (active > to) {
			from = to + 1;
			to = from <= SINGLE_LEVELS ? from : Math.ceil(from * LEVEL_GROWTH) - 1;
		}
		if (levels.length && levels[levels.length - 1].from === from)
			levels[levels.length - 1].ns += ns;
		else
			levels.push({ from, to, ns });
	}
	return levels;
}

function levelName({ from, to }: Level): string {
	return !to ? "none (stalled)" : from === to ? plural(from, "thread") : `${count(from)} to ${plural(to, "thread")}`;
}

export function Levels({ report }: { report: Report }) {
	const levels = levelsOf(report.parallelism), { wall_ns } = report.target;
	const most = Math.max(0, ...levels.map(level => level.ns));

	return <>
		<div class="tools"><h3>How many threads were active</h3><CopyCsv of="active threads" make={() => ({
			titles: ["from (threads)", "to (threads)", "time (ns)"], rows: levels.map(level => [level.from, level.to, level.ns]) })} /></div>
		<Bars max={most} label="Wall time by the number of active threads" bars={levels.map(level => ({
			name: levelName(level), text: `${shareOf(level.ns, wall_ns)} \u00b7 ${duration(level.ns)}`,
			tip: `${levelName(level)} active for ${duration(level.ns)}, ${shareOf(level.ns, wall_ns)} of the wall time`,
			parts: [{ value: level.ns, colour: level.to ? "c-running" : "c-lock" }],
		}))} />
	</>;
}

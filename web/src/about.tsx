// SPDX-License-Identifier: GPL-2.0-or-later
// How far the figures can be trusted, what tracing cost, and who made the libraries of this page.
import { count, duration, size, visible } from "./format";
import { Section } from "./page";
import type { Report } from "./report";

declare const LICENCES: { name: string; version: string; licence: string; text: string }[];

function shown(name: string, value: number): string {
	if (name.endsWith("_ns") || name === "ns")
		return duration(value);
	return name.endsWith("_bytes") ? size(value) : Number.isInteger(value) ? count(value) : value.toFixed(3);
}

function exact(name: string, value: number): string {
	const unit = name.endsWith("_ns") || name === "ns" ? "ns" : name.endsWith("_bytes") ? "bytes" : name.replace(/_/g, " ");

	return `${Number.isInteger(value) ? count(value) : value} ${unit}`;
}

function Figures({ of }: { of: [string, number][] }) {
	return <dl class="plain">{of.map(([name, value]) => <div key={name} data-tip={exact(name, value)}>
		<dt>{name.replace(/_(ns|bytes)$/, "").replace(/_/g, " ")}</dt><dd>{shown(name, value)}</dd></div>)}</dl>;
}

export function About({ report }: { report: Report }) {
	const lost = Object.entries(report.losses).filter(([name, n]) => n && name !== "keep_min");

	return <Section id="about" title="About this run">
		{report.notes.length > 0 && <ul class="notes">{report.notes.map((note, i) => <li key={i}>{visible(note)}</li>)}</ul>}
		<div class="columns">
			<div><h3>What was lost</h3>{lost.length ? <Figures of={lost} /> : <p>Nothing.</p>}
				<p class="muted">The account closes to {count(report.totals.accounting_error_ns)} ns.</p></div>
			<div><h3>What tracing cost</h3>{report.cost.events ? <Figures of={Object.entries(report.cost)} /> : <p>Not known: the recording had not ended, or was killed.</p>}</div>
		</div>
	</Section>;
}

export function Licences() {
	return <details class="licences no-print">
		<summary>Libraries in this page, and their licences</summary>
		{LICENCES.map(({ name, version, licence, text }) => <details key={name}>
			<summary>{name} {version}, {licence}</summary><pre tabIndex={0}>{text}</pre></details>)}
	</details>;
}

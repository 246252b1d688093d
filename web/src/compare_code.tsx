// SPDX-License-Identifier: GPL-2.0-or-later
// Functions and call paths that ran more, or less, on the second side of a comparison, as far as samples tell.
import { useMemo, useState } from "preact/hooks";
import { words } from "./columns";
import { duration, plural, signed, visible } from "./format";
import { type Choice, Choices, Section } from "./page";
import { type Column, Table } from "./table";
import type { CodeChange, CodeDifference, ComparisonCode } from "./types";

type Shown = keyof ComparisonCode;

const choices: Choice<Shown>[] = [{ name: "cpu", title: "CPU time" }, { name: "cmetric", title: "CMetric" }, { name: "paths", title: "Call paths" }];
const ABOUT: Record<Shown, string> = {
	cpu: "Functions by CPU time: in themselves, and with what they called.",
	cmetric: "Functions by CMetric, at any number of active threads: in themselves, and with what they called.",
	paths: "Call paths by CMetric, as reports rank them: a function of the program's own, and its caller.",
};

function plusMinus(d: CodeDifference): string {
	return `${signed(d.change_ns)} \u00b1 ${duration(d.change_error_ns)}`;
}

function chance(p: number): string {
	return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

const change = (title: string, of: (row: CodeChange) => CodeDifference): Column<CodeChange> => ({
	title, unit: "ns", value: row => of(row).change_ns, show: row => of(row).is_significant ? plusMinus(of(row)) : "\u2013",
	tip: row => `${plusMinus(of(row))}\np ${chance(of(row).p)}${of(row).is_significant ? "" : ": may be chance"}`,
});

const side = (title: string, of: (row: CodeChange) => [number, number]): Column<CodeChange> => ({
	title, unit: "ns", value: row => of(row)[0], show: row => duration(of(row)[0]), tip: row => `${duration(of(row)[0])} \u00b1 ${duration(of(row)[1])}`,
});

function columnsOf(shown: Shown, sides: [string, string]): Column<CodeChange>[] {
	const of = (row: CodeChange) => shown === "paths" ? row.self : row.total;

	return [
		words(shown === "paths" ? "call path" : "function", row => row.name, true),
		...(shown === "paths" ? [] : [change("change of itself", row => row.self)]),
		side(visible(sides[0]), row => [of(row).first_ns, of(row).first_error_ns]), side(visible(sides[1]), row => [of(row).second_ns, of(row).second_error_ns]),
		change(shown === "paths" ? "change" : "change with callees", of),
	];
}

/** In the CSV, where a change is a number. */
function copiedOf(shown: Shown): Column<CodeChange>[] {
	const error = (title: string, of: (row: CodeChange) => CodeDifference): Column<CodeChange> => ({ title, unit: "ns", value: row => of(row).change_error_ns });

	return shown === "paths" ? [error("\u00b1", row => row.self)] : [error("\u00b1 of itself", row => row.self), error("\u00b1 with callees", row => row.total)];
}

export function CodeChanges({ code, sides }: { code: ComparisonCode; sides: [string, string] }) {
	const [shown, choose] = useState<Shown>("cpu");
	const changes = code[shown] ?? code.cpu;
	const columns = useMemo(() => columnsOf(shown, sides), [shown, sides]);

	return <Section id="functions" title="Functions" isHeavy about={`${ABOUT[shown]} \u00b1 is a standard error of sampling.`}
		tools={code.cmetric && <Choices label="What is compared" of={choices} chosen={shown} onChoose={choose} />}>
		{changes.list.length ? <Table key={shown} name={shown === "paths" ? "paths" : "functions"} columns={columns} rows={changes.list} copied={copiedOf(shown)} />
			: <p class="muted">No difference that samples can carry.</p>}
		{changes.unsure > 0 && <p class="muted">{plural(changes.unsure, "more difference")} may be chance of sampling.</p>}
	</Section>;
}

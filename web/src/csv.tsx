// SPDX-License-Identifier: GPL-2.0-or-later
// What is drawn or listed, as CSV in the clipboard.
import { useState } from "preact/hooks";
import { plural } from "./format";

export type Cell = string | number | null | undefined;

export interface CsvTable {
	titles: string[];
	rows: Cell[][];
}

/** By RFC 4180; an apostrophe keeps a spreadsheet from taking a hostile name for a formula. */
function cellText(cell: Cell): string {
	if (cell === null || cell === undefined)
		return "";
	if (typeof cell === "number")
		return String(cell);
	return `"${(/^[=+\-@\t\r]/.test(cell) ? "'" + cell : cell).replace(/"/g, '""')}"`;
}

export function csvText(table: CsvTable): string {
	return [table.titles, ...table.rows].map(row => row.map(cellText).join(",") + "\r\n").join("");
}

/** The old way still works where a page may not use the clipboard by itself. */
function copyByCommand(text: string): boolean {
	const area = document.createElement("textarea");

	area.value = text;
	area.className = "away";
	document.body.append(area);
	area.select();
	const did = document.execCommand("copy");
	area.remove();
	return did;
}

async function copy(text: string): Promise<boolean> {
	try {
		await navigator.clipboard.writeText(text);
		return true;
	} catch {
		return copyByCommand(text);
	}
}

const SAID_MS = 2500;

export function CopyCsv({ of, make }: { of: string; make: () => CsvTable }) {
	const [said, say] = useState("");
	const onClick = async () => {
		const table = make();
		const did = await copy(csvText(table));

		say(did ? `copied ${plural(table.rows.length, "row")}` : "the browser does not allow it");
		setTimeout(() => say(""), SAID_MS);
	};

	return <span class="copy no-print">
		<span class="muted" role="status">{said}</span>
		<button type="button" onClick={onClick} aria-label={`Copy ${of} as CSV`}
			data-tip={`Copy ${of} to the clipboard, as CSV`}>CSV</button>
	</span>;
}

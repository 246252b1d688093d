// SPDX-License-Identifier: GPL-2.0-or-later
// Filters that choose parts of what threads did: by what waits are for, by CPU, by executions of spans. As the server wants them.
import { wordsOf } from "./chosen";
import { timeOf } from "./moment";
import { query } from "./server";
import type { FilterName, Filters } from "./store";

/** Filters by parts that are drawn pale where they are not chosen. */
export const partNames: readonly FilterName[] = ["object", "cpu", "span"];
const NO_CPU = "65536", WORDS_MAX = 8, CPUS_MAX = 64;

export type PartQuery = Record<string, string | number | readonly string[] | null>;

function cpusOf(text: string | undefined): string[] {
	const words = wordsOf(text), numbers = words.filter(word => /^\d{1,5}$/.test(word)).slice(0, CPUS_MAX);

	return numbers.length || !words.length ? numbers : [NO_CPU];
}

/** "request", ">1ms", "<5ms", or "3@123456", the one that begins then in the thread of that number. */
export function spansOf(text: string | undefined): PartQuery {
	const names: string[] = [], asked: PartQuery = { "span-least": null, "span-most": null, execution: null };

	for (const word of wordsOf(text)) {
		const length = /^([<>])\s*(.+)$/.exec(word), ns = length && timeOf(length[2], "ms");
		if (length && ns !== null)
			asked[length[1] === ">" ? "span-least" : "span-most"] = Math.round(ns);
		else if (/^[1-9]\d{0,9}@-?\d{1,16}$/.test(word))
			asked.execution = word;
		else
			names.push(word);
	}
	return { ...asked, span: names.slice(0, WORDS_MAX) };
}

export function partsOf(filters: Filters): PartQuery {
	return { object: wordsOf(filters.object).slice(0, WORDS_MAX), cpu: cpusOf(filters.cpu), ...spansOf(filters.span) };
}

/** Filters of CPUs and spans as pinch report takes them. */
export function optionsOf(filters: Filters): { cpus: string[]; spans: string[] } {
	const spans = wordsOf(filters.span).map(word => /^[<>]/.test(word) ? `${word[0]}${Math.round(timeOf(word.slice(1).trim(), "ms") ?? 0)}ns` : word);

	return { cpus: cpusOf(filters.cpu), spans: spans.filter(word => !/^[<>]0ns$/.test(word)) };
}

/** The same as text behind other parameters; empty: all is chosen. */
export function partText(filters: Filters): string {
	return query("", partsOf(filters)).replace("?", "&");
}

/** Whether an event of a subsystem passes the filters of subsystems and events. */
export function passesEvent(filters: Filters, subsystem: string, event: string): boolean {
	const subsystems = wordsOf(filters.subsystem), events = wordsOf(filters.event);

	return (!subsystems.length || subsystems.includes(subsystem)) && (!events.length || events.includes(event) || events.includes(`${subsystem}.${event}`));
}

/** Whether both events of a message pass: it is called after what their names have before SEND and RECEIVE. */
export function passesMessage(filters: Filters, name: string): boolean {
	const [subsystem, ...rest] = name.split("."), stem = rest.length ? `${rest.join(".")}_` : "";

	return ["SEND", "RECEIVE"].every(word => passesEvent(filters, subsystem, stem + word));
}

// SPDX-License-Identifier: GPL-2.0-or-later
// The data of the page: parts of JSON, each compressed in an element of its own, read when they are wanted.
import type { Report, ReportDocument, ResultGraph, ResultPath } from "./report";
import type { Comparison, Configurations, Folds, KernelLocks, LeftOut, Marks, Timelines } from "./types";

export interface PartTypes {
	report: ReportDocument;
	left_out: LeftOut;
	folds: Folds;
	timelines: Timelines;
	marks: Marks;
	graph: ResultGraph;
	path: ResultPath;
	comparison: Comparison;
	configurations: Configurations;	// of three runs or more
	first: Report;			// of the two that are compared
	first_left_out: LeftOut;
	second: Report;
	second_left_out: LeftOut;
	klock: KernelLocks;
	viewer: { name: string; pinch: string; other?: string };	// the page is served by pinch view, which has the trace
}

export type PartName = keyof PartTypes;

/** Younger browsers decode base64 by themselves, in a fraction of the time. */
interface Base64Decoder {
	fromBase64?: (base64: string) => Uint8Array<ArrayBuffer>;
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> {
	const { fromBase64 } = Uint8Array as Base64Decoder;

	if (fromBase64)
		return fromBase64.call(Uint8Array, base64);
	const text = atob(base64);
	const bytes = new Uint8Array(text.length);

	for (let i = 0; i < text.length; i++)
		bytes[i] = text.charCodeAt(i);
	return bytes;
}

async function read(element: Element): Promise<unknown> {
	const stream = new Blob([bytesOf(element.textContent!)]).stream();

	element.textContent = "";	// it is not asked for again, and may be large
	return new Response(stream.pipeThrough(new DecompressionStream("gzip"))).json();
}

export class Parts {
	/** What the page begins with; undefined: as always. */
	readonly first: string | undefined;
	private elements = new Map<string, Element>();
	private promises = new Map<string, Promise<unknown>>();

	constructor(page: Document) {
		for (const element of page.querySelectorAll("script[data-part]"))
			this.elements.set(element.getAttribute("data-part")!, element);
		this.first = page.querySelector("script[data-first]")?.getAttribute("data-part") ?? undefined;
	}

	has(name: PartName): boolean {
		return this.elements.has(name);
	}

	/** Undefined: the page has no such part. */
	load<N extends PartName>(name: N): Promise<PartTypes[N]> | undefined {
		const element = this.elements.get(name);

		if (element && !this.promises.has(name)) {
			const promise = read(element);

			promise.catch(() => {});	// who shows it says so, and may come later than the error
			this.promises.set(name, promise);
		}
		return this.promises.get(name) as Promise<PartTypes[N]> | undefined;
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
// What the folding rules say of frames: src/view/html/fold_part.c has asked them. What is learned of one report holds for all:
// the rules are the same.
import type { ReportFrame } from "./report";
import type { Folds } from "./types";

/** Shown, but no call path is named after it. */
const PLUMBING = "-";

const labels = new Map<string, string>();

const keyOf = (name: string | null, module: string | null) => `${module ?? ""}\n${name ?? ""}`;
const labelOf = (frame: ReportFrame) => labels.get(keyOf(frame.function, frame.module));

export function learnFolds(folds: Folds): void {
	for (const [name, module, label] of folds)
		labels.set(keyOf(name, module), label);
}

/** The boilerplate that a frame is part of; null: none. */
export function foldLabel(frame: ReportFrame): string | null {
	const label = labelOf(frame);

	return label === undefined || label === PLUMBING ? null : label;
}

export function isPlumbing(frame: ReportFrame): boolean {
	return frame.is_kernel || labelOf(frame) !== undefined;
}

/** The caller of own code without a name, if it has one. */
function namedCaller(frames: ReportFrame[]): ReportFrame {
	return frames.slice(1).find(frame => frame.function && !frame.is_kernel && !foldLabel(frame)) ?? frames[0];
}

/** The call by which libraries that go into each other were left; null: there is none. */
function libraryCall(frames: ReportFrame[]): ReportFrame | null {
	let found: ReportFrame | null = null;

	for (const frame of frames) {
		if (frame.is_kernel)
			continue;
		if (foldLabel(frame))
			break;
		if (frame.function && !frame.is_inlined)
			found = frame;
	}
	return found;
}

/** The frame that a call path is named after, innermost first: the choice of fold_find_headline() in src/stacks/fold.c. */
export function headlineFrame(frames: ReportFrame[]): ReportFrame | undefined {
	const own = frames.findIndex(frame => !isPlumbing(frame));

	return frames.find(frame => frame.function && !isPlumbing(frame)) ?? (own >= 0 ? namedCaller(frames.slice(own)) : undefined) ??
		libraryCall(frames) ?? frames.find(frame => !frame.is_kernel) ?? frames[0];
}

export type Piece = { frame: ReportFrame; folded?: undefined } | { folded: ReportFrame[]; labels: string[] };

/** A call path as the text shows it: the innermost frame as it is, then runs of boilerplate as one each. */
export function pieces(frames: ReportFrame[]): Piece[] {
	const all: Piece[] = [];

	frames.forEach((frame, i) => {
		const label = i ? foldLabel(frame) : null, last = all[all.length - 1];

		if (!label)
			all.push({ frame });
		else if (!last?.folded)
			all.push({ folded: [frame], labels: [label] });
		else {
			last.folded.push(frame);
			if (!last.labels.some(known => known.endsWith(label)))
				last.labels.push(label);
		}
	});
	return all;
}

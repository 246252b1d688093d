// SPDX-License-Identifier: GPL-2.0-or-later
// A call path, innermost first.
import { headlineFrame, pieces } from "./folds";
import { frameName, framePlace, plural, visible } from "./format";
import type { ReportFrame } from "./report";

function Frame({ frame, isHeadline }: { frame: ReportFrame; isHeadline?: boolean }) {
	return <li class={`${frame.is_kernel ? "is-kernel" : ""} ${isHeadline ? "is-headline" : ""}`}>
		<span class="function">{frameName(frame)}</span>{" "}
		<span class="muted">{framePlace(frame)}{frame.is_inlined ? " (inlined)" : ""}{frame.is_tail_call ? " (tail call)" : ""}{
			frame.is_guessed ? " (by frame pointer)" : ""}</span>
	</li>;
}

export function Stack({ frames, hint }: { frames: ReportFrame[]; hint?: string | null }) {
	const headline = headlineFrame(frames);

	if (!frames.length)
		return <p class="muted">No stack was recorded.</p>;
	return <><ol class="stack">
		{pieces(frames).map((piece, i) => piece.folded
			? <li key={i}><details><summary class="muted">{piece.labels.map(visible).join(", ")}, {plural(piece.folded.length, "frame")}</summary>
				<ol class="stack">{piece.folded.map((frame, k) => <Frame key={k} frame={frame} />)}</ol></details></li>
			: <Frame key={i} frame={piece.frame} isHeadline={piece.frame === headline} />)}
	</ol>{hint && <p class="muted">{hint}</p>}</>;
}

/** The function that a call path is named after. */
export function headline(frames: ReportFrame[]): string {
	const frame = headlineFrame(frames);

	return frame ? frameName(frame) : "no stack";
}

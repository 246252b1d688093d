// SPDX-License-Identifier: GPL-2.0-or-later
// A call path, innermost first.
import { frameName, framePlace } from "./format";
import type { ReportFrame } from "./report";

export function Stack({ frames, hint }: { frames: ReportFrame[]; hint?: string | null }) {
	if (!frames.length)
		return <p class="muted">No stack was recorded.</p>;
	return <><ol class="stack">
		{frames.map((frame, i) => <li key={i} class={frame.is_kernel ? "is-kernel" : ""}>
			<span class="function">{frameName(frame)}</span>{" "}
			<span class="muted">{framePlace(frame)}{frame.is_inlined ? " (inlined)" : ""}{frame.is_tail_call ? " (tail call)" : ""}</span>
		</li>)}
	</ol>{hint && <p class="muted">{hint}</p>}</>;
}

/** The innermost function of the user's own is what the eye wants; without rules at hand, one with a file. */
export function headline(frames: ReportFrame[]): string {
	const frame = frames.find(f => f.file && !f.is_kernel && !f.file.startsWith("/usr/") && !/^(\.\.?\/|nptl\/|sysdeps\/|std)/.test(f.file)) ??
		frames.find(f => f.function) ?? frames[0];

	return frame ? frameName(frame) : "no stack";
}

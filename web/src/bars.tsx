// SPDX-License-Identifier: GPL-2.0-or-later
// Bars with a name before and a figure after each.
import { useState } from "preact/hooks";
import { cut } from "./format";
import { useWidth } from "./page";

export interface Bar {
	name: string;
	text: string;			// the figure
	tip: string;
	parts: { value: number; colour: string }[];
}

const ROW_PX = 24, FIGURE_PX = 128, CHAR_PX = 7, BARS_FIRST = 20;

export function Bars({ bars, max, label }: { bars: Bar[]; max: number; label: string }) {
	const { ref, width } = useWidth<HTMLDivElement>();
	const [isAll, showAll] = useState(false);
	const shown = isAll ? bars : bars.slice(0, BARS_FIRST);
	const names_px = Math.min(240, width * 0.36);
	const room = Math.max(0, width - names_px - FIGURE_PX);

	return <div ref={ref} class="drawn">
		<svg width={width} height={shown.length * ROW_PX} role="img" aria-label={label}>
			{shown.map((bar, i) => {
				let x = names_px;

				return <g key={i} data-tip={bar.tip} transform={`translate(0 ${i * ROW_PX})`}>
					<rect width={width} height={ROW_PX} class="hit" />
					<text x={names_px - 8} y="16" text-anchor="end">{cut(bar.name, Math.floor((names_px - 8) / CHAR_PX))}</text>
					{bar.parts.map((part, p) => {
						const size = max > 0 ? Math.max(part.value > 0 ? 1 : 0, room * part.value / max) : 0;
						x += size;
						return <rect key={p} x={x - size} y="4" width={size} height={ROW_PX - 8} class={part.colour} rx="1.5" />;
					})}
					<text x={x + 8} y="16" class="figure">{bar.text}</text>
				</g>;
			})}
		</svg>
		{bars.length > BARS_FIRST && <button type="button" class="no-print" onClick={() => showAll(!isAll)}>
			{isAll ? "Show fewer" : `Show all ${bars.length}`}</button>}
	</div>;
}

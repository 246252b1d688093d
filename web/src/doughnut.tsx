// SPDX-License-Identifier: GPL-2.0-or-later
// Shares of a whole.
import { duration, shareOf } from "./format";

export interface Share {
	name: string;
	value: number;
	colour: string;
	tip: string;
}

const RADIUS = 90, HOLE = 54, SIZE = 200, FULL = 0.99999;

function arc(from: number, to: number): string {
	const at = (share: number, radius: number) => `${(SIZE / 2 + radius * Math.sin(2 * Math.PI * share)).toFixed(2)} ${
		(SIZE / 2 - radius * Math.cos(2 * Math.PI * share)).toFixed(2)}`;
	const end = Math.min(to, from + FULL), large = end - from > 0.5 ? 1 : 0;

	return `M${at(from, RADIUS)} A${RADIUS} ${RADIUS} 0 ${large} 1 ${at(end, RADIUS)} L${at(end, HOLE)} ` +
		`A${HOLE} ${HOLE} 0 ${large} 0 ${at(from, HOLE)} Z`;
}

export function Doughnut({ shares, label, unit }: { shares: Share[]; label: string; unit: string }) {
	const whole = shares.reduce((sum, share) => sum + share.value, 0);
	let at = 0;

	return <svg class="doughnut" viewBox={`0 0 ${SIZE} ${SIZE}`} role="img" aria-label={label}>
		{shares.map(share => {
			const from = at;
			at += whole ? share.value / whole : 0;
			return <path key={share.name} d={arc(from, at)} class={share.colour}
				data-tip={`${share.name}: ${duration(share.value)}, ${shareOf(share.value, whole)}\n${share.tip}`} />;
		})}
		<text x={SIZE / 2} y={SIZE / 2 - 2} text-anchor="middle" class="total">{duration(whole)}</text>
		<text x={SIZE / 2} y={SIZE / 2 + 16} text-anchor="middle" class="figure">{unit}</text>
	</svg>;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Lines of states as paths: what painter.ts does with pixels, with heights as they are.
import type { Layer, Line } from "./painter";
import { short, type SvgPen } from "./svg_pen";

const BYTES = [0, 8, 16];

function hex(pixel: number): string {
	return "#" + BYTES.map(shift => (pixel >>> shift & 255).toString(16).padStart(2, "0")).join("");
}

/** Rectangles of places next to each other, of one colour and from one height to another, are one. */
function pathsOf(line: Line, share: number, under: Float64Array, per_ns: number, height: number, bottom: number, ratio: number, colourAt: (x: number) => number): Map<number, string> {
	const ns = line.of(share), paths = new Map<number, string>();
	let begin = 0, from = 0, to = 0, pixel = 0;
	const flush = (x: number) => {
		if (to > from && x > begin)
			paths.set(pixel, `${paths.get(pixel) ?? ""}M${short(begin / ratio)} ${short(bottom - from)}H${short(x / ratio)}V${short(bottom - to)}H${short(begin / ratio)}z`);
	};

	for (let x = 0; x < line.width; x++) {
		const low = under[x], high = Math.min(height, low + ns[x] * per_ns), colour = colourAt(x);
		under[x] = high;
		if (low === from && high === to && colour === pixel)
			continue;
		flush(x);
		[begin, from, to, pixel] = [x, low, high, colour];
	}
	flush(line.width);
	return paths;
}

/** In px of the style sheet, of which each has ratio places of the line. All of the height is whole_ns. */
export function paintPaths(pen: SvgPen, layers: readonly Layer[], top: number, height: number, whole_ns: number, ratio: number): void {
	const under = new Float64Array(layers[0].line.width);

	for (const share of layers[0].colours.stack)
		for (const { line, colours } of layers) {
			const across = colours.across && colours.across.shares >>> share & 1 ? colours.across.pixel : null;
			if (!(line.used >>> share & 1))
				continue;
			for (const [pixel, path] of pathsOf(line, share, under, height / whole_ns, height, top + height, ratio, x => across ? across[x] : colours.pixel[share]))
				pen.put(`<path d="${path}" fill="${colours.hatched >>> share & 1 ? "url(#hatch)" : hex(pixel)}"/>`);
		}
}

// SPDX-License-Identifier: GPL-2.0-or-later
// The picture: it is drawn each time from the tiles that are there, but for lanes that have not changed; what is missing is wished for.
import type { Range } from "../range";
import { colour } from "../theme";
import { plural } from "../format";
import { type Curve, noneWords } from "./curves";
import type { Row } from "./lanes";
import type { MarkStore } from "./marks";
import { moment, stepFor } from "./moment";
import { drawOverlays } from "./overlays";
import { Painted } from "./painted";
import { hatchUnknown, type Layer, Line, paint, type ShareOf } from "./painter";
import { ACTIVE, type Colours, coloursOf, CPU_APPLICATION, paletteOf, weightsOf } from "./palette";
import type { Pen } from "./pen";
import { AXIS_PX, CURVES_Y, GAP_PX, OVERVIEW_PX, type Scene } from "./scene";
import { paintPaths } from "./strip_paths";
import { short, SvgPen } from "./svg_pen";
import { type Piece, Tiles } from "./tiles";
import { CPU_TRACED, type Gap, type Lane } from "./trace";

const TICK_PX = 96, HATCH_PX = 6, PALE = 0.22, FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

export class Drawer {
	private context: CanvasRenderingContext2D;
	private pen: Pen;			// what draws all but lines of states
	private svg: SvgPen | null = null;	// in which those are drawn, too
	private image: ImageData | null = null;
	private line: Line | null = null;
	private chosen: Line | null = null;	// the parts of it that filters choose
	private weights: Uint32Array | null = null;	// the colour of who is active, by the place
	private painted = new Painted();		// rows of lanes, in the image
	private overview: ImageData | null = null;
	private overviewPainted = new Painted();

	constructor(readonly canvas: HTMLCanvasElement, readonly scene: Scene, readonly marks: MarkStore) {
		this.pen = this.context = canvas.getContext("2d", { alpha: false })!;
	}

	draw(): void {
		const { scene } = this, { session, width, height, headPx } = scene, { tiles, chosenTiles } = session;

		if (width < 1 || height <= headPx)
			return;
		this.resize();
		if (scene.shares !== session.chosenShares)
			scene.palette = null;
		scene.palette ??= paletteOf(session.trace, scene.shares = session.chosenShares);
		tiles.begin();
		chosenTiles?.begin();
		this.drawAll();
		for (const drawn of [tiles, chosenTiles])
			drawn?.end((scene.view.from_ns + scene.view.to_ns) / 2);
		this.canvas.toggleAttribute("data-drawn", true);
		this.canvas.dataset.waiting = String(tiles.waiting + (chosenTiles?.waiting ?? 0));
		this.canvas.dataset.wakes = String(scene.wakes.length);
		this.canvas.dataset.view = `${scene.view.from_ns}~${scene.view.to_ns}`;
	}

	private drawAll(): void {
		const { scene } = this, { width, headPx } = scene;

		this.drawLanes();
		this.context.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
		const { pen } = this;
		pen.font = FONT;
		pen.textBaseline = "middle";
		pen.fillStyle = colour("bg");
		pen.fillRect(0, 0, width, headPx);
		this.drawOverview();
		this.drawAxis();
		this.drawCurves();
		scene.said = drawOverlays(pen, scene, this.marks);
	}

	/** The same as an SVG, with the names of lanes beside it, labels_px wide. */
	toSvg(labels_px: number): string {
		const { scene } = this, { width, height } = scene, labels = new SvgPen(this.context), svg = new SvgPen(this.context);

		this.drawLabels(labels, labels_px);
		this.pen = this.svg = svg;
		this.drawAll();
		this.pen = this.context;
		this.svg = null;
		this.draw();
		return `<svg xmlns="http://www.w3.org/2000/svg" width="${short(labels_px + width)}" height="${short(height)}" font-family="system-ui, 'DejaVu Sans', sans-serif" font-size="11">
<defs><pattern id="hatch" width="8" height="8" patternUnits="userSpaceOnUse"><path d="M-1 1l2-2M0 8l8-8M7 9l2-2" stroke="${colour("muted")}"/></pattern></defs>
<rect width="100%" height="100%" fill="${colour("bg")}"/>
<svg width="${short(labels_px)}" height="${short(height)}">
${labels}
</svg>
<svg x="${short(labels_px)}" width="${short(width)}" height="${short(height)}">
${svg}
</svg>
</svg>
`;
	}

	/** The names of curves and lanes, for a picture without the page. */
	drawLabels(pen: Pen, width: number): void {
		const { scene } = this, { pinned } = scene.session.layout;
		const put = (words: string, x: number, y: number) => {
			let text = words;
			while (text.length > 1 && pen.measureText(text).width > width - x - 4)
				text = `${text.slice(0, -2)}\u2026`;
			pen.fillText(text, x, y);
		};

		pen.font = FONT;
		pen.textBaseline = "middle";
		pen.fillStyle = colour("bg");
		pen.fillRect(0, 0, width, scene.height);
		pen.fillStyle = colour("fg");
		for (const row of scene.seen)
			put(row.title, 6 + 9 * Math.min(row.depth, 4), scene.middleOf(row));
		pen.fillStyle = colour("bg");
		pen.fillRect(0, 0, width, scene.lanesTop);
		pen.fillStyle = colour("fg");
		for (const row of pinned)
			put(row.title, 6, scene.middleOf(row));
		for (const { title, top, height } of scene.session.curves)
			put(title, 6, CURVES_Y + top + height / 2);
	}

	private resize(): void {
		const { scene, canvas } = this, ratio = devicePixelRatio || 1;
		const width = Math.round(scene.width * ratio), height = Math.round(scene.height * ratio), lanes = Math.max(1, height - Math.round(scene.headPx * ratio));

		scene.ratio = ratio;
		if (canvas.width !== width || canvas.height !== height) {
			canvas.width = width;
			canvas.height = height;
		}
		if (this.image?.width !== width || this.image.height !== lanes)
			this.image = new ImageData(width, lanes);
		if (this.line?.width !== width)
			[this.line, this.chosen] = [new Line(width), new Line(width)];
	}

	/** The level of which columns are no wider than a pixel. */
	private get shift(): number {
		const { view } = this.scene;

		return Tiles.shiftFor((view.to_ns - view.from_ns) / this.canvas.width);
	}

	private drawLanes(): void {
		const { scene, image } = this, { session } = scene, { layout } = session, pixels = new Uint32Array(image!.data.buffer);

		this.weights = session.store.state.colouring === "weight" ? this.makeWeights() : null;
		if (!this.keepsLanes())
			pixels.fill(scene.palette!.ground);
		const changed = scene.seen.filter(row => this.paintRow(row, row.key, pixels));
		if (layout.pinned.length)
			this.paintPinned(pixels, changed.length > 0);
		this.context.setTransform(1, 0, 0, 1, 0, 0);
		this.context.putImageData(image!, 0, Math.round(scene.headPx * scene.ratio));
	}

	/** Whether lanes of which the same is known look as they did: an SVG needs all of them. */
	private keepsLanes(): boolean {
		const { scene, image, svg, weights } = this, { session, view } = scene, { colouring } = session.store.state;

		return this.painted.begin([view.from_ns, view.to_ns, image, scene.scroll, scene.headPx, scene.ratio, scene.palette, colouring, weights, session.trace, session.tree,
			session.layout, session.chosenTiles, svg]) && !svg;
	}

	/** They lie over the others. */
	private paintPinned(pixels: Uint32Array, isCovered: boolean): void {
		const { scene, image, svg } = this, { layout } = scene.session, pinned_px = Math.round(layout.pinnedHeight * scene.ratio);

		if (isCovered)
			pixels.fill(scene.palette!.ground, 0, Math.min(pixels.length, pinned_px * image!.width));
		if (svg) {
			svg.fillStyle = colour("bg");
			svg.fillRect(0, scene.headPx, scene.width, layout.pinnedHeight);
		}
		for (const row of layout.pinned)
			this.paintRow(row, -1 - row.key, pixels, isCovered);
	}

	/** part: what it is called among those that were painted. Returns whether it is painted again: there is something new, or it must be. */
	private paintRow(row: Row, part: number, pixels: Uint32Array, must = false): boolean {
		const { scene, svg } = this, line = this.line!, { view, ratio, session } = scene, { colouring } = session.store.state;
		const palette = scene.palette!, colours = coloursOf(palette, row.lane, colouring, session.tree.applications.of(row.lane), this.weights);
		const top = Math.round((scene.topOf(row) - scene.headPx) * ratio), height = Math.round((row.height - GAP_PX) * ratio);
		const whole_ns = row.lane.threads * (view.to_ns - view.from_ns) / line.width, isCpu = row.lane.kind === "cpu";
		const pieces: Piece[] = [], chosen: Piece[] = [];

		session.tiles.cover(row.lane.id, this.shift, view.from_ns, view.to_ns, pieces);
		session.chosenTiles?.cover(row.lane.id, this.shift, view.from_ns, view.to_ns, chosen);
		if (this.painted.has(part, [...pieces, ...chosen]) && !must)
			return false;
		pixels.fill(palette.ground, Math.max(0, top * line.width), Math.max(0, (top + height) * line.width));
		line.fill(pieces, view, colouring === "application" && isCpu ? this.applicationOf : null);
		if (isCpu && session.trace.gaps.length)
			hatchUnknown(line, pieces, view, pixels, top, height, palette.hatching);
		const layers = this.layersOf(row, colours, chosen);
		if (svg)
			paintPaths(svg, layers, scene.topOf(row), row.height - GAP_PX, whole_ns, ratio);
		paint(layers, pixels, top, height, whole_ns, palette.hatching);
		return true;
	}

	/** The line, which is filled; with filters, the parts that they choose, and the rest of it, which is pale. */
	private layersOf(row: Row, colours: Colours, pieces: Piece[]): Layer[] {
		const { scene, line, chosen } = this, { session, view, palette } = scene, isCpu = row.lane.kind === "cpu";

		if (!session.chosenTiles)
			return [{ line: line!, colours }];
		chosen!.fill(pieces, view, session.store.state.colouring === "application" && isCpu ? this.applicationOf : null);
		line!.takeOut(chosen!);
		return [{ line: chosen!, colours }, { line: line!, colours: isCpu ? palette!.cpuGhost : palette!.ghost }];
	}

	/** Whose CPU it is, where that is known. */
	private applicationOf: ShareOf = (share, who) => {
		const application = share === CPU_TRACED ? this.scene.session.tree.applications.ofThread(who) : null;

		return application === null ? share : CPU_APPLICATION + application;
	};

	private makeWeights(): Uint32Array {
		const { scene, line } = this, { trace: { shares }, tiles, tree } = scene.session;

		this.fill(line!, tiles, tree.tops, scene.view);
		return weightsOf(scene.palette!, sumOf(ACTIVE.map(state => shares.indexOf(state)).filter(share => share >= 0).map(share => line!.of(share)), line!.width),
			(scene.view.to_ns - scene.view.from_ns) / line!.width);
	}

	/** The tiles that say what lanes do over a range. */
	private cover(tiles: Tiles, lanes: readonly Lane[], range: Range): Piece[] {
		const shift = Tiles.shiftFor((range.to_ns - range.from_ns) / this.canvas.width), pieces: Piece[] = [];

		for (const lane of lanes)
			tiles.cover(lane.id, shift, range.from_ns, range.to_ns, pieces);
		return pieces;
	}

	/** What lanes do over a range. */
	private fill(line: Line, tiles: Tiles, lanes: readonly Lane[], range: Range): void {
		line.fill(this.cover(tiles, lanes, range), range);
	}

	private drawOverview(): void {
		const { scene, pen } = this, { whole, view } = scene, whole_ns = whole.to_ns - whole.from_ns;
		const left = (view.from_ns - whole.from_ns) / whole_ns * scene.width, right = (view.to_ns - whole.from_ns) / whole_ns * scene.width;

		this.paintOverview();
		pen.fillStyle = colour("bg");
		pen.globalAlpha = 0.6;
		pen.fillRect(0, 0, left, OVERVIEW_PX - 4);
		pen.fillRect(right, 0, scene.width - right, OVERVIEW_PX - 4);
		pen.globalAlpha = 1;
		pen.strokeStyle = colour("fg");
		pen.strokeRect(Math.max(0.5, left), 0.5, Math.max(2, Math.min(scene.width - 1, right) - left), OVERVIEW_PX - 5);
	}

	/** What the threads that are looked at do over all the time, with all of the height for the most at once. It is painted again only when more is known. */
	private paintOverview(): void {
		const { scene, context, svg, line } = this, { whole, palette, session: { tiles, chosenTiles, lookedAt } } = scene, height = Math.round((OVERVIEW_PX - 4) * scene.ratio);
		const pieces = this.cover(tiles, lookedAt, whole), chosen = chosenTiles ? this.cover(chosenTiles, lookedAt, whole) : null;

		if (svg) {
			const { layers, most } = this.overviewLayers(pieces, chosen);
			paintPaths(svg, layers, 0, OVERVIEW_PX - 4, most, scene.ratio);
			return;
		}
		this.overviewPainted.begin([whole.from_ns, whole.to_ns, line!.width, height, palette, lookedAt, chosenTiles]);
		if (!this.overviewPainted.has(0, [...pieces, ...chosen ?? []]) || !this.overview) {
			const { layers, most } = this.overviewLayers(pieces, chosen);
			this.overview = context.createImageData(line!.width, height);
			paint(layers, new Uint32Array(this.overview.data.buffer).fill(palette!.ground), 0, height, most, palette!.hatching);
		}
		context.putImageData(this.overview, 0, 0);
	}

	/** With filters of parts, the line has the rest of what they choose. Returns the most that a place has. */
	private fillLookedAt(pieces: Piece[], chosenPieces: Piece[] | null, range: Range): number {
		const line = this.line!, chosen = this.chosen!;

		line.fill(pieces, range);
		const most = line.most();
		if (chosenPieces) {
			chosen.fill(chosenPieces, range);
			line.takeOut(chosen);
		}
		return most;
	}

	private overviewLayers(pieces: Piece[], chosenPieces: Piece[] | null): { layers: Layer[]; most: number } {
		const line = this.line!, { whole, palette } = this.scene, most = this.fillLookedAt(pieces, chosenPieces, whole), all = { line, colours: palette!.threads };

		return { layers: chosenPieces ? [{ line: this.chosen!, colours: palette!.threads }, { line, colours: palette!.ghost }] : [all], most };
	}

	private drawAxis(): void {
		const { scene, pen } = this, { view, width } = scene, step_ns = stepFor(TICK_PX / scene.perNs);
		const middle = OVERVIEW_PX + AXIS_PX / 2;

		pen.fillStyle = colour("muted");
		pen.strokeStyle = colour("line");
		pen.beginPath();
		for (let time_ns = Math.ceil(view.from_ns / step_ns) * step_ns; time_ns <= view.to_ns; time_ns += step_ns) {
			const x = Math.round(scene.xOf(time_ns)) + 0.5;
			pen.moveTo(x, OVERVIEW_PX + 4);
			pen.lineTo(x, OVERVIEW_PX + AXIS_PX);
			pen.fillText(moment(time_ns, step_ns, view.to_ns), x + 4, middle);
		}
		pen.stroke();
		for (const gap of scene.session.trace.gaps)
			drawGap(pen, scene, gap);
		pen.beginPath();
		pen.moveTo(0, OVERVIEW_PX + AXIS_PX - 0.5);
		pen.lineTo(width, OVERVIEW_PX + AXIS_PX - 0.5);
		pen.stroke();
	}

	private drawCurves(): void {
		const { view, session: { curves, tiles, chosenTiles, lookedAt } } = this.scene;

		if (!curves.length)
			return;
		this.fillLookedAt(this.cover(tiles, lookedAt, view), chosenTiles ? this.cover(chosenTiles, lookedAt, view) : null, view);
		const made = curves.map(curve => [curve.name, this.drawCurve(curve)] as const);
		this.canvas.dataset.scales = made.map(([name, { most }]) => `${name}=${most}`).join("&");
		this.canvas.dataset.chosen = made.map(([name, { chosen_ns }]) => `${name}=${Math.round(chosen_ns)}`).join("&");
	}

	/** The ns of what filters choose of a curve at each place, and of all of it. */
	private curveOf(curve: Curve): { chosen: Float64Array; all: Float64Array } {
		const { session } = this.scene, line = this.line!, isChosen = (share: number) => session.chosenShares === null || (session.chosenShares >>> share & 1) === 1;
		const chosen = sumOf(curve.shares.filter(isChosen).map(share => (session.chosenTiles ? this.chosen! : line).of(share)), line.width);

		return { chosen, all: sumOf(curve.shares.flatMap(share => session.chosenTiles ? [line.of(share), this.chosen!.of(share)] : [line.of(share)]), line.width) };
	}

	/** How many threads are in the states of a curve, on average over each pixel; pale is what filters do not choose. Returns what its height stands for, and the time of what is chosen. */
	private drawCurve(curve: Curve): { most: number; chosen_ns: number } {
		const { scene, pen, line } = this, { view, session } = scene, ns_per_px = (view.to_ns - view.from_ns) / line!.width;
		const top = CURVES_Y + curve.top + 2, height = curve.height - 6, { chosen, all } = this.curveOf(curve), isFiltered = session.isOfParts;
		const most = Math.max(1, Math.ceil(all.reduce((max, ns) => Math.max(max, ns / ns_per_px), 0) - 1e-6));

		if (isFiltered) {
			pen.globalAlpha = PALE;
			this.fillCurve(curve, all, ns_per_px * most);
			pen.globalAlpha = 1;
		}
		this.fillCurve(curve, chosen, ns_per_px * most);
		pen.strokeStyle = colour("line");
		pen.strokeRect(-1, top - 0.5, scene.width + 2, height + 1);
		this.drawScale(`${plural(most, "thread")}${isFiltered && chosen.every(ns => ns === 0) ? `, ${noneWords(curve, session.store.state.filters)}` : ""}`, top);
		return { most, chosen_ns: chosen.reduce((sum, ns) => sum + ns, 0) };
	}

	/** All of the height is whole_ns. */
	private fillCurve(curve: Curve, threads_ns: Float64Array, whole_ns: number): void {
		const { scene, pen } = this, height = curve.height - 6, bottom = CURVES_Y + curve.top + 2 + height;

		pen.fillStyle = colour(curve.colour);
		pen.beginPath();
		pen.moveTo(0, bottom);
		for (let x = 0; x < threads_ns.length; x++) {
			const y = bottom - Math.min(1, threads_ns[x] / whole_ns) * height;
			pen.lineTo(x / scene.ratio, y);
			pen.lineTo((x + 1) / scene.ratio, y);
		}
		pen.lineTo(scene.width, bottom);
		pen.fill();
	}

	/** What the height of a curve stands for. */
	private drawScale(words: string, top: number): void {
		const { pen } = this;

		pen.fillStyle = colour("bg");
		pen.globalAlpha = 0.75;
		pen.fillRect(0, top, pen.measureText(words).width + 8, 16);
		pen.globalAlpha = 1;
		pen.fillStyle = colour("fg");
		pen.fillText(words, 4, top + 8);
	}
}

function sumOf(lines: Float64Array[], width: number): Float64Array {
	const sum = new Float64Array(width);

	for (const line of lines)
		for (let x = 0; x < width; x++)
			sum[x] += line[x];
	return sum;
}

/** A stretch of the axis in which records were lost. */
function drawGap(pen: Pen, scene: Scene, gap: Gap): void {
	const left = Math.max(-HATCH_PX, scene.xOf(gap.begin_ns)), right = Math.min(scene.width, Math.max(left + 2, scene.xOf(gap.end_ns)));

	if (right < 0 || left > scene.width)
		return;
	pen.save();
	pen.beginPath();
	pen.rect(left, OVERVIEW_PX, right - left, AXIS_PX);
	pen.clip();
	pen.strokeStyle = colour("muted");
	pen.beginPath();
	for (let x = left - AXIS_PX; x < right; x += HATCH_PX) {
		pen.moveTo(x, OVERVIEW_PX + AXIS_PX);
		pen.lineTo(x + AXIS_PX, OVERVIEW_PX);
	}
	pen.stroke();
	pen.restore();
}

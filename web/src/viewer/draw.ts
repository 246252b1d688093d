// SPDX-License-Identifier: GPL-2.0-or-later
// The picture: all of it is drawn anew each time, from the tiles that are there; what is missing is wished for.
import type { Range } from "../range";
import { colour } from "../theme";
import { plural } from "../format";
import type { Curve } from "./curves";
import type { Row } from "./lanes";
import type { MarkStore } from "./marks";
import { moment, stepFor } from "./moment";
import { drawOverlays } from "./overlays";
import { hatch, Line, paint, type ShareOf } from "./painter";
import { ACTIVE, coloursOf, CPU_APPLICATION, paletteOf, weightsOf } from "./palette";
import { AXIS_PX, CURVES_Y, GAP_PX, OVERVIEW_PX, type Scene } from "./scene";
import { type Piece, Tiles } from "./tiles";
import { CPU_TRACED } from "./trace";

const TICK_PX = 96, FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

export class Drawer {
	private context: CanvasRenderingContext2D;
	private image: ImageData | null = null;
	private line: Line | null = null;
	private weights: Uint32Array | null = null;	// the colour of who is active, by the place

	constructor(readonly canvas: HTMLCanvasElement, readonly scene: Scene, readonly marks: MarkStore) {
		this.context = canvas.getContext("2d", { alpha: false })!;
	}

	draw(): void {
		const { scene, context } = this, { session, width, height, headPx } = scene, { tiles } = session;

		if (width < 1 || height <= headPx)
			return;
		this.resize();
		scene.palette ??= paletteOf(session.trace);
		tiles.begin();
		this.drawLanes();
		context.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
		context.font = FONT;
		context.textBaseline = "middle";
		context.fillStyle = colour("bg");
		context.fillRect(0, 0, width, headPx);
		this.drawOverview();
		this.drawAxis();
		this.drawCurves();
		scene.said = drawOverlays(context, scene, this.marks);
		tiles.end((scene.view.from_ns + scene.view.to_ns) / 2);
		this.canvas.toggleAttribute("data-drawn", true);
		this.canvas.dataset.waiting = String(tiles.waiting);
		this.canvas.dataset.view = `${scene.view.from_ns}~${scene.view.to_ns}`;
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
			this.line = new Line(width);
	}

	/** The level of which columns are no wider than a pixel. */
	private get shift(): number {
		const { view } = this.scene;

		return Tiles.shiftFor((view.to_ns - view.from_ns) / this.canvas.width);
	}

	private drawLanes(): void {
		const { scene, image } = this, { layout } = scene.session, pixels = new Uint32Array(image!.data.buffer);
		const pinned_px = Math.round(layout.pinnedHeight * scene.ratio);

		this.weights = scene.session.store.state.colouring === "weight" ? this.makeWeights() : null;
		pixels.fill(scene.palette!.ground);
		for (const row of scene.seen)
			this.paintRow(row, pixels);
		pixels.fill(scene.palette!.ground, 0, Math.min(pixels.length, pinned_px * image!.width));
		for (const row of layout.pinned)
			this.paintRow(row, pixels);
		this.context.setTransform(1, 0, 0, 1, 0, 0);
		this.context.putImageData(image!, 0, Math.round(scene.headPx * scene.ratio));
	}

	private paintRow(row: Row, pixels: Uint32Array): void {
		const { scene, line } = this, { view, ratio, session } = scene, pieces: Piece[] = [], { colouring } = session.store.state;
		const colours = coloursOf(scene.palette!, row.lane, colouring, session.tree.applications.of(row.lane), this.weights);
		const top = Math.round((scene.topOf(row) - scene.headPx) * ratio), height = Math.round((row.height - GAP_PX) * ratio);

		scene.session.tiles.cover(row.lane.id, this.shift, view.from_ns, view.to_ns, pieces);
		line!.fill(pieces, view, colouring === "application" && row.lane.kind === "cpu" ? this.applicationOf : null);
		paint(line!, pixels, top, height, row.lane.threads * (view.to_ns - view.from_ns) / line!.width, colours);
		hatch(pieces, view, pixels, line!.width, top, height, scene.palette!.hatching);
	}

	/** Whose CPU it is, where that is known. */
	private applicationOf: ShareOf = (share, who) => {
		const application = share === CPU_TRACED ? this.scene.session.tree.applications.ofThread(who) : null;

		return application === null ? share : CPU_APPLICATION + application;
	};

	private makeWeights(): Uint32Array {
		const { scene, line } = this, { shares } = scene.session.trace;

		this.fillTops(scene.view);
		return weightsOf(scene.palette!, sumOf(ACTIVE.map(state => shares.indexOf(state)).filter(share => share >= 0).map(share => line!.of(share)), line!.width),
			(scene.view.to_ns - scene.view.from_ns) / line!.width);
	}

	/** What all threads do over a range. */
	private fillTops(range: Range): void {
		const { tiles, tree } = this.scene.session, shift = Tiles.shiftFor((range.to_ns - range.from_ns) / this.canvas.width);
		const pieces: Piece[] = [];

		for (const lane of tree.tops)
			tiles.cover(lane.id, shift, range.from_ns, range.to_ns, pieces);
		this.line!.fill(pieces, range);
	}

	private drawOverview(): void {
		const { scene, context, line } = this, { whole, view, ratio } = scene, whole_ns = whole.to_ns - whole.from_ns;
		const height = Math.round((OVERVIEW_PX - 4) * ratio), image = context.createImageData(line!.width, height);
		const pixels = new Uint32Array(image.data.buffer).fill(scene.palette!.ground);
		const left = (view.from_ns - whole.from_ns) / whole_ns * scene.width, right = (view.to_ns - whole.from_ns) / whole_ns * scene.width;

		this.fillTops(whole);
		paint(line!, pixels, 0, height, line!.most(), scene.palette!.threads);	// all of the height: the most threads at once
		context.putImageData(image, 0, 0);
		context.fillStyle = colour("bg");
		context.globalAlpha = 0.6;
		context.fillRect(0, 0, left, OVERVIEW_PX - 4);
		context.fillRect(right, 0, scene.width - right, OVERVIEW_PX - 4);
		context.globalAlpha = 1;
		context.strokeStyle = colour("fg");
		context.strokeRect(Math.max(0.5, left), 0.5, Math.max(2, Math.min(scene.width - 1, right) - left), OVERVIEW_PX - 5);
	}

	private drawAxis(): void {
		const { scene, context } = this, { view, width } = scene, step_ns = stepFor(TICK_PX / scene.perNs);
		const middle = OVERVIEW_PX + AXIS_PX / 2;

		context.fillStyle = colour("muted");
		context.strokeStyle = colour("line");
		context.beginPath();
		for (let time_ns = Math.ceil(view.from_ns / step_ns) * step_ns; time_ns <= view.to_ns; time_ns += step_ns) {
			const x = Math.round(scene.xOf(time_ns)) + 0.5;
			context.moveTo(x, OVERVIEW_PX + 4);
			context.lineTo(x, OVERVIEW_PX + AXIS_PX);
			context.fillText(moment(time_ns, step_ns, view.to_ns), x + 4, middle);
		}
		context.moveTo(0, OVERVIEW_PX + AXIS_PX - 0.5);
		context.lineTo(width, OVERVIEW_PX + AXIS_PX - 0.5);
		context.stroke();
	}

	private drawCurves(): void {
		if (!this.scene.session.curves.length)
			return;
		this.fillTops(this.scene.view);
		this.canvas.dataset.scales = this.scene.session.curves.map(curve => `${curve.name}=${this.drawCurve(curve)}`).join("&");
	}

	/** How many threads are in the states of a curve, on average over each pixel. Returns what its height stands for. */
	private drawCurve(curve: Curve): number {
		const { scene, context, line } = this, { view } = scene, ns_per_px = (view.to_ns - view.from_ns) / line!.width;
		const top = CURVES_Y + curve.top + 2, height = curve.height - 6, bottom = top + height;
		const threads = sumOf(curve.shares.map(share => line!.of(share)), line!.width).map(ns => ns / ns_per_px);
		const most = Math.max(1, Math.ceil(threads.reduce((max, n) => Math.max(max, n), 0) - 1e-6));

		context.fillStyle = colour(curve.colour);
		context.beginPath();
		context.moveTo(0, bottom);
		for (let x = 0; x < threads.length; x++) {
			const y = bottom - Math.min(1, threads[x] / most) * height;
			context.lineTo(x / scene.ratio, y);
			context.lineTo((x + 1) / scene.ratio, y);
		}
		context.lineTo(scene.width, bottom);
		context.fill();
		context.strokeStyle = colour("line");
		context.strokeRect(-1, top - 0.5, scene.width + 2, height + 1);
		this.drawScale(plural(most, "thread"), top);
		return most;
	}

	/** What the height of a curve stands for. */
	private drawScale(words: string, top: number): void {
		const { context } = this;

		context.fillStyle = colour("bg");
		context.globalAlpha = 0.75;
		context.fillRect(0, top, context.measureText(words).width + 8, 16);
		context.globalAlpha = 1;
		context.fillStyle = colour("fg");
		context.fillText(words, 4, top + 8);
	}
}

function sumOf(lines: Float64Array[], width: number): Float64Array {
	const sum = new Float64Array(width);

	for (const line of lines)
		for (let x = 0; x < width; x++)
			sum[x] += line[x];
	return sum;
}

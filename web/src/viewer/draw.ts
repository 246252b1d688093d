// SPDX-License-Identifier: GPL-2.0-or-later
// The picture: all of it is drawn anew each time, from the tiles that are there; what is missing is wished for.
import type { Range } from "../range";
import { colour } from "../theme";
import { plural } from "../format";
import type { Row } from "./lanes";
import type { MarkStore } from "./marks";
import { moment, stepFor } from "./moment";
import { drawOverlays } from "./overlays";
import { Line, paint } from "./painter";
import { coloursOf, paletteOf } from "./palette";
import { AXIS_PX, CURVE_PX, GAP_PX, HEAD_PX, OVERVIEW_PX, type Scene } from "./scene";
import { type Piece, Tiles } from "./tiles";

const TICK_PX = 96, FONT = "11px system-ui, 'DejaVu Sans', sans-serif";

export class Drawer {
	private context: CanvasRenderingContext2D;
	private image: ImageData | null = null;
	private line: Line | null = null;

	constructor(readonly canvas: HTMLCanvasElement, readonly scene: Scene, readonly marks: MarkStore) {
		this.context = canvas.getContext("2d", { alpha: false })!;
	}

	draw(): void {
		const { scene, context } = this, { session, width, height } = scene, { tiles } = session;

		if (width < 1 || height <= HEAD_PX)
			return;
		this.resize();
		scene.palette ??= paletteOf(session.trace);
		tiles.begin();
		this.drawLanes();
		context.setTransform(scene.ratio, 0, 0, scene.ratio, 0, 0);
		context.font = FONT;
		context.textBaseline = "middle";
		context.fillStyle = colour("bg");
		context.fillRect(0, 0, width, HEAD_PX);
		this.drawOverview();
		this.drawAxis();
		this.drawCurve();
		scene.said = drawOverlays(context, scene, this.marks);
		tiles.end((scene.view.from_ns + scene.view.to_ns) / 2);
		this.canvas.toggleAttribute("data-drawn", true);
		this.canvas.dataset.waiting = String(tiles.waiting);
		this.canvas.dataset.view = `${scene.view.from_ns}~${scene.view.to_ns}`;
	}

	private resize(): void {
		const { scene, canvas } = this, ratio = devicePixelRatio || 1;
		const width = Math.round(scene.width * ratio), height = Math.round(scene.height * ratio);

		scene.ratio = ratio;
		if (canvas.width === width && canvas.height === height && this.image)
			return;
		canvas.width = width;
		canvas.height = height;
		this.image = new ImageData(width, Math.max(1, height - Math.round(HEAD_PX * ratio)));
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

		pixels.fill(scene.palette!.ground);
		for (const row of scene.seen)
			this.paintRow(row, pixels);
		pixels.fill(scene.palette!.ground, 0, Math.min(pixels.length, pinned_px * image!.width));
		for (const row of layout.pinned)
			this.paintRow(row, pixels);
		this.context.setTransform(1, 0, 0, 1, 0, 0);
		this.context.putImageData(image!, 0, Math.round(HEAD_PX * scene.ratio));
	}

	private paintRow(row: Row, pixels: Uint32Array): void {
		const { scene, line } = this, { view, ratio } = scene, pieces: Piece[] = [];
		const top = Math.round((scene.topOf(row) - HEAD_PX) * ratio), height = Math.round((row.height - GAP_PX) * ratio);

		scene.session.tiles.cover(row.lane.id, this.shift, view.from_ns, view.to_ns, pieces);
		line!.fill(pieces, view);
		paint(line!, pixels, top, height, row.lane.threads * (view.to_ns - view.from_ns) / line!.width, coloursOf(scene.palette!, row.lane));
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

	/** How many threads run, on average over each pixel. */
	private drawCurve(): void {
		const { scene, context, line } = this, { view, session } = scene;
		const top = OVERVIEW_PX + AXIS_PX + 2, height = CURVE_PX - 6, bottom = top + height;
		const ns_per_px = (view.to_ns - view.from_ns) / line!.width;

		this.fillTops(view);
		const running = line!.of(Math.max(0, session.trace.shares.indexOf("running")));
		const most = Math.max(1, Math.ceil(running.reduce((max, ns) => Math.max(max, ns / ns_per_px), 0) - 1e-6));
		context.fillStyle = colour("c-running");
		context.beginPath();
		context.moveTo(0, bottom);
		for (let x = 0; x < running.length; x++) {
			const y = bottom - Math.min(1, running[x] / ns_per_px / most) * height;
			context.lineTo(x / scene.ratio, y);
			context.lineTo((x + 1) / scene.ratio, y);
		}
		context.lineTo(scene.width, bottom);
		context.fill();
		context.strokeStyle = colour("line");
		context.strokeRect(-1, top - 0.5, scene.width + 2, height + 1);
		const words = plural(most, "thread");
		context.fillStyle = colour("bg");
		context.globalAlpha = 0.75;
		context.fillRect(0, top, context.measureText(words).width + 8, 16);
		context.globalAlpha = 1;
		context.fillStyle = colour("fg");
		context.fillText(words, 4, top + 8);
	}
}

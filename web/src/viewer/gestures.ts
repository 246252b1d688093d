// SPDX-License-Identifier: GPL-2.0-or-later
// Mouse, wheel and fingers on the picture.
import type { Range } from "../range";
import { hideTip, showTip } from "../tip";
import type { MarkStore } from "./marks";
import { levelOf } from "./overlays";
import type { Area, Scene } from "./scene";
import { sliceAround } from "./find";
import { tellAt } from "./tell";

const MOVED_PX = 4, WHEEL_ZOOM = 0.0016, WHEEL_MAX = 400, LINE_PX = 16;

interface Drag {
	kind: "pan" | "select" | "box" | "overview";
	id: number;			// of the pointer
	x: number;
	y: number;
	time_ns: number;
	view: Range;
	scroll: number;
	hasMoved: boolean;
}

export class Gestures {
	private drag: Drag | null = null;
	private fingers = new Map<number, { x: number; y: number }>();
	private stops: (() => void)[] = [];

	constructor(private canvas: HTMLCanvasElement, private scroller: HTMLElement, private scene: Scene, private marks: MarkStore,
		    private redraw: () => void) {
		this.listen("wheel", event => this.onWheel(event), { passive: false });
		this.listen("pointerdown", event => this.onDown(event));
		this.listen("pointermove", event => this.onMove(event));
		this.listen("pointerup", event => this.onUp(event));
		this.listen("pointercancel", event => this.onCancel(event));
		this.listen("pointerleave", () => this.onLeave());
		this.listen("dblclick", () => this.scene.session.showAll());
	}

	end(): void {
		for (const stop of this.stops)
			stop();
	}

	private listen<K extends keyof HTMLElementEventMap>(type: K, listener: (event: HTMLElementEventMap[K]) => void, options?: AddEventListenerOptions): void {
		this.canvas.addEventListener(type, listener, options);
		this.stops.push(() => this.canvas.removeEventListener(type, listener, options));
	}

	private placeOf(event: MouseEvent): { x: number; y: number } {
		const box = this.canvas.getBoundingClientRect();

		return { x: event.clientX - box.left, y: event.clientY - box.top };
	}

	private onWheel(event: WheelEvent): void {
		const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? LINE_PX : 1, { session, width } = this.scene;
		const { x, y } = this.placeOf(event), across = event.deltaX * unit, down = event.deltaY * unit;

		event.preventDefault();
		if (event.altKey)
			this.scroller.scrollTop += down;
		else if (event.shiftKey || Math.abs(across) > Math.abs(down))
			session.pan((across || down) / width);
		else
			session.zoom(Math.exp(Math.max(-WHEEL_MAX, Math.min(WHEEL_MAX, down)) * WHEEL_ZOOM),
				this.scene.areaAt(y) === "overview" ? this.scene.wholeTimeAt(x) : this.scene.timeAt(x));
	}

	private kindOf(area: Area, event: PointerEvent): Drag["kind"] {
		return area === "overview" ? "overview" : area === "axis" ? "select" : event.shiftKey ? area === "lanes" ? "box" : "select" : "pan";
	}

	private onDown(event: PointerEvent): void {
		const { x, y } = this.placeOf(event), { scene } = this;

		if (event.button)
			return;
		this.fingers.set(event.pointerId, { x, y });
		this.canvas.setPointerCapture(event.pointerId);
		this.drag = this.fingers.size > 1 ? null : { kind: this.kindOf(scene.areaAt(y), event), id: event.pointerId, x, y,
			time_ns: scene.timeAt(x), view: scene.view, scroll: this.scroller.scrollTop, hasMoved: false };
		if (this.drag?.kind === "overview")
			this.centre(x);
	}

	/** In the overview. */
	private centre(x: number): void {
		const { from_ns, to_ns } = this.scene.view, half_ns = (to_ns - from_ns) / 2, at_ns = this.scene.wholeTimeAt(x);

		this.scene.session.setView(at_ns - half_ns, at_ns + half_ns);
	}

	private onMove(event: PointerEvent): void {
		const place = this.placeOf(event), { drag } = this, before = this.fingers.get(event.pointerId);

		if (before && this.fingers.size === 2) {
			this.pinch(event.pointerId, place);
			return;
		}
		if (!drag || drag.id !== event.pointerId) {
			this.hover(event, place.x, place.y);
			return;
		}
		drag.hasMoved ||= Math.hypot(place.x - drag.x, place.y - drag.y) >= MOVED_PX;
		if (!drag.hasMoved)
			return;
		hideTip();
		this.scene.pointer = null;
		if (drag.kind === "overview")
			this.centre(place.x);
		else if (drag.kind !== "pan")
			this.stretch(drag, place.x, place.y);
		else
			this.pull(drag, place.x, place.y, event.pointerType === "mouse");
	}

	/** Of time, and of a box also of lanes. */
	private stretch(drag: Drag, x: number, y: number): void {
		const [from_ns, to_ns] = [drag.time_ns, this.scene.timeAt(Math.max(0, Math.min(x, this.scene.width)))].sort((a, b) => a - b);

		this.scene.dragged = { from_ns, to_ns };
		this.scene.box = drag.kind === "box" ? { top: Math.min(drag.y, y), bottom: Math.max(drag.y, y) } : null;
		this.scene.session.companion?.drag(this.scene.session, this.scene.dragged);
		this.redraw();
	}

	/** Down, fingers scroll by themselves. */
	private pull(drag: Drag, x: number, y: number, isMouse: boolean): void {
		const by_ns = (drag.x - x) / this.scene.width * (drag.view.to_ns - drag.view.from_ns);

		this.scene.session.setView(drag.view.from_ns + by_ns, drag.view.to_ns + by_ns);
		if (isMouse)
			this.scroller.scrollTop = drag.scroll + drag.y - y;
	}

	/** What is under each of two fingers stays there. */
	private pinch(id: number, place: { x: number; y: number }): void {
		const [other] = [...this.fingers].filter(([finger]) => finger !== id).map(([, at]) => at), before = this.fingers.get(id)!;
		const { session } = this.scene, width = Math.max(8, Math.abs(place.x - other.x)), old = Math.max(8, Math.abs(before.x - other.x));

		session.zoom(old / width, this.scene.timeAt(other.x));
		this.fingers.set(id, place);
	}

	private hover(event: PointerEvent, x: number, y: number): void {
		const words = tellAt(this.scene, this.marks, x, y);

		this.scene.pointer = { x, y };
		this.scene.session.companion?.hover(this.scene.session, this.scene.timeAt(x));
		if (words)
			showTip(words, event.clientX, event.clientY);
		else
			hideTip();
	}

	private onUp(event: PointerEvent): void {
		const { drag, scene } = this, { x, y } = this.placeOf(event);

		this.fingers.delete(event.pointerId);
		this.drag = null;
		if (!drag || drag.id !== event.pointerId)
			return;
		if (scene.dragged)
			scene.session.select(scene.dragged, scene.box ? scene.rowsIn(scene.box.top, scene.box.bottom).map(row => row.lane.id) : []);
		else if (!drag.hasMoved && drag.kind !== "overview")
			this.click(x, y);
		this.letGo();
	}

	/** Nothing is being selected any more. */
	private letGo(): void {
		this.scene.dragged = null;
		this.scene.box = null;
		this.scene.session.companion?.drag(this.scene.session, null);
		this.redraw();
	}

	/** A thread's slice opens its details, whatever else is clicked gets the cursor. */
	private click(x: number, y: number): void {
		const { session } = this.scene, row = this.scene.rowAt(y), time_ns = Math.round(this.scene.timeAt(x));
		const slice = row && sliceAround(session.tiles, session.trace, row.lane.id, levelOf(this.scene), time_ns, this.scene.view);

		session.store.set({ cursor_ns: time_ns, focus: row?.lane.id ?? session.store.state.focus,
			slice: row?.lane.kind === "thread" ? { lane: row.lane.id, time_ns: slice ? Math.max(slice.begin_ns, 0) : time_ns } : session.store.state.slice });
	}

	private onCancel(event: PointerEvent): void {
		this.fingers.delete(event.pointerId);
		this.drag = null;
		this.letGo();
	}

	private onLeave(): void {
		this.scene.pointer = null;
		this.scene.session.companion?.hover(this.scene.session, null);
		hideTip();
	}
}

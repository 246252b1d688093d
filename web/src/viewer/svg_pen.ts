// SPDX-License-Identifier: GPL-2.0-or-later
// Draws as a canvas does, into the text of an SVG.
import type { Pen } from "./pen";

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", "\"": "&quot;" };

function escaped(text: string): string {
	return text.replace(/[&<>"]/g, character => escapes[character]).replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "");
}

/** Two digits of a pixel are all that one sees. */
export function short(value: number): string {
	return String(Math.round(value * 100) / 100);
}

interface Style {
	fillStyle: string;
	strokeStyle: string;
	lineWidth: number;
	globalAlpha: number;
	dash: string;
	groups: number;			// that are open
}

export class SvgPen implements Pen {
	fillStyle = "#000";
	strokeStyle = "#000";
	lineWidth = 1;
	globalAlpha = 1;
	font = "11px system-ui, 'DejaVu Sans', sans-serif";
	textBaseline: CanvasTextBaseline = "middle";
	private parts: string[] = [];
	private path = "";
	private dash = "";
	private saved: Style[] = [];
	private groups = 0;
	private clips = 0;

	/** ruler: what measures words. */
	constructor(private ruler: Pen) {}

	/** An element as it is; nothing in it may come from a trace. */
	put(element: string): void {
		this.parts.push(element);
	}

	/** All that was drawn. */
	toString(): string {
		return this.parts.join("\n");
	}

	beginPath(): void {
		this.path = "";
	}

	moveTo(x: number, y: number): void {
		this.path += `M${short(x)} ${short(y)}`;
	}

	lineTo(x: number, y: number): void {
		this.path += `L${short(x)} ${short(y)}`;
	}

	rect(x: number, y: number, width: number, height: number): void {
		this.path += `M${short(x)} ${short(y)}h${short(width)}v${short(height)}h${short(-width)}z`;
	}

	/** Whole circles only. */
	arc(x: number, y: number, radius: number): void {
		const r = short(radius), d = short(2 * radius);

		this.path += `M${short(x - radius)} ${short(y)}a${r} ${r} 0 1 0 ${d} 0a${r} ${r} 0 1 0 -${d} 0z`;
	}

	fill(): void {
		this.put(`<path d="${this.path}" fill="${this.fillStyle}"${this.alpha}/>`);
	}

	stroke(): void {
		this.put(`<path d="${this.path}" fill="none" ${this.line}/>`);
	}

	clip(): void {
		const id = `clip${this.clips++}`;

		this.put(`<clipPath id="${id}"><path d="${this.path}"/></clipPath><g clip-path="url(#${id})">`);
		this.groups++;
	}

	fillRect(x: number, y: number, width: number, height: number): void {
		if (width > 0 && height > 0)
			this.put(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="${this.fillStyle}"${this.alpha}/>`);
	}

	strokeRect(x: number, y: number, width: number, height: number): void {
		if (width > 0 && height > 0)
			this.put(`<rect x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}" fill="none" ${this.line}/>`);
	}

	fillText(text: string, x: number, y: number): void {
		this.put(`<text x="${short(x)}" y="${short(y)}" fill="${this.fillStyle}"${this.alpha} dominant-baseline="central">${escaped(text)}</text>`);
	}

	measureText(text: string): TextMetrics {
		return this.ruler.measureText(text);
	}

	setLineDash(dash: number[]): void {
		this.dash = dash.length ? ` stroke-dasharray="${dash.join(" ")}"` : "";
	}

	save(): void {
		const { fillStyle, strokeStyle, lineWidth, globalAlpha, dash, groups } = this;

		this.saved.push({ fillStyle, strokeStyle, lineWidth, globalAlpha, dash, groups });
	}

	restore(): void {
		const { groups, ...style } = this.saved.pop()!;

		for (; this.groups > groups; this.groups--)
			this.put("</g>");
		Object.assign(this, style);
	}

	private get alpha(): string {
		return this.globalAlpha === 1 ? "" : ` opacity="${short(this.globalAlpha)}"`;
	}

	private get line(): string {
		return `stroke="${this.strokeStyle}" stroke-width="${short(this.lineWidth)}"${this.dash}${this.alpha}`;
	}
}

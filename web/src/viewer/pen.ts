// SPDX-License-Identifier: GPL-2.0-or-later
// What the picture is drawn with: a canvas, or SVG.

export type Pen = Pick<CanvasRenderingContext2D, "fillStyle" | "strokeStyle" | "lineWidth" | "globalAlpha" | "font" | "textBaseline" | "beginPath" | "moveTo" | "lineTo"
	| "arc" | "rect" | "fill" | "stroke" | "clip" | "fillRect" | "strokeRect" | "fillText" | "measureText" | "save" | "restore" | "setLineDash">;

// SPDX-License-Identifier: GPL-2.0-or-later
// The one tooltip of the page: of whatever has data-tip, under the pointer or with the focus, and of what
// charts tell by themselves. It only ever shows text.
import { useEffect, useRef, useState } from "preact/hooks";

interface Shown {
	text: string;
	x: number;
	y: number;
}

let show: (shown: Shown | null) => void = () => {};

/** At a place of the window. */
export function showTip(text: string, x: number, y: number): void {
	show({ text, x, y });
}

export function hideTip(): void {
	show(null);
}

function tipOf(event: Event): Element | null {
	return event.target instanceof Element ? event.target.closest("[data-tip]") : null;
}

function onPointer(event: PointerEvent): void {
	const element = tipOf(event);

	if (element)
		showTip(element.getAttribute("data-tip")!, event.clientX, event.clientY);
	else if (!(event.target instanceof Element && event.target.closest("[data-tips]")))
		hideTip();
}

function onFocus(event: FocusEvent): void {
	const element = tipOf(event);

	if (element && element.matches(":focus-visible")) {
		const box = element.getBoundingClientRect();

		showTip(element.getAttribute("data-tip")!, box.left + box.width / 2, box.bottom);
	}
}

function onKey(event: KeyboardEvent): void {
	if (event.key === "Escape")
		hideTip();
}

const AWAY = 14;

/** Beside the place, inside of the window. */
function place(box: HTMLElement, at: Shown): void {
	const { offsetWidth: width, offsetHeight: height } = box;
	const left = at.x + AWAY + width > innerWidth ? at.x - AWAY - width : at.x + AWAY;
	const top = at.y + AWAY + height > innerHeight ? at.y - AWAY - height : at.y + AWAY;

	box.style.left = `${Math.max(4, Math.min(left, innerWidth - width - 4))}px`;
	box.style.top = `${Math.max(4, top)}px`;
}

export function Tip() {
	const [shown, setShown] = useState<Shown | null>(null);
	const box = useRef<HTMLDivElement>(null);

	useEffect(() => {
		show = setShown;
		document.addEventListener("pointermove", onPointer);
		document.addEventListener("pointerdown", onPointer);
		document.addEventListener("focusin", onFocus);
		document.addEventListener("focusout", hideTip);
		document.addEventListener("keydown", onKey);
		addEventListener("scroll", hideTip, { passive: true });
	}, []);
	useEffect(() => {
		if (shown && box.current)
			place(box.current, shown);
	}, [shown]);
	return <div ref={box} class="tip" role="tooltip" hidden={!shown}>{shown?.text}</div>;
}

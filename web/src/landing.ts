// SPDX-License-Identifier: GPL-2.0-or-later
// Where a link leads to stays in view while parts of the page arrive above it, until somebody moves the page.
import { useEffect } from "preact/hooks";

interface Landing {
	find: () => Element | null | undefined;		// not there yet: nothing happens
	block: ScrollLogicalPosition;
}

const MOVES = ["wheel", "touchmove", "pointerdown", "keydown"];

let landing: Landing | null = null;

const arrive = () => landing?.find()?.scrollIntoView({ block: landing.block });
const sizes = new ResizeObserver(arrive);

for (const name of MOVES)
	addEventListener(name, () => { landing = null; }, { capture: true, passive: true });

/** Brings it into view, now and whenever the page gets another size. */
export function landOn(find: Landing["find"], block: ScrollLogicalPosition = "start"): void {
	landing = { find, block };
	sizes.observe(document.body);
	arrive();
}

function landOnHash(): void {
	const id = decodeURIComponent(location.hash.slice(1));

	if (id)
		landOn(() => document.getElementById(id));
}

/** For a page whose address names a section. */
export function useHashLanding(): void {
	useEffect(() => {
		const onClick = (event: MouseEvent) => {	// also to the section where it is already
			if (event.target instanceof Element && event.target.closest("a")?.getAttribute("href") === location.hash)
				landOnHash();
		};

		landOnHash();
		addEventListener("hashchange", landOnHash);
		addEventListener("click", onClick);
		return () => {
			removeEventListener("hashchange", landOnHash);
			removeEventListener("click", onClick);
		};
	}, []);
}

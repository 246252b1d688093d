// SPDX-License-Identifier: GPL-2.0-or-later
// What sections of the page are made of.
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

let isPrinting = false;			// also for what is made when the printing begins
addEventListener("beforeprint", () => { isPrinting = true; });
addEventListener("afterprint", () => { isPrinting = false; });

export function useIsPrinting(): boolean {
	const [is, set] = useState(isPrinting);

	useEffect(() => {
		const update = () => set(isPrinting);

		update();
		addEventListener("beforeprint", update);
		addEventListener("afterprint", update);
		return () => {
			removeEventListener("beforeprint", update);
			removeEventListener("afterprint", update);
		};
	}, []);
	return is;
}

/** True from when it comes near, or the page is printed: what is far away is not drawn yet. */
export function useNear<E extends Element>() {
	const [isNear, setNear] = useState(isPrinting);
	const ref = useRef<E>(null);

	useEffect(() => {
		const observer = new IntersectionObserver(entries => {
			if (entries.some(entry => entry.isIntersecting))
				setNear(true);
		}, { rootMargin: "400px" });
		const onPrint = () => setNear(true);

		observer.observe(ref.current!);
		addEventListener("beforeprint", onPrint);
		return () => {
			observer.disconnect();
			removeEventListener("beforeprint", onPrint);
		};
	}, []);
	return { ref, isNear };
}

const PAPER_PX = 688;			// A4 between the margins of style.css

/** How wide the element is, as long as it lives; 0: not known yet. It is printed before anybody could measure it on
    paper; beside_px: what stands beside it there. */
export function useWidth<E extends Element>(beside_px = 0) {
	const [width, setWidth] = useState(0), isPrinted = useIsPrinting();
	const ref = useRef<E>(null);

	useEffect(() => {
		const observer = new ResizeObserver(entries => setWidth(Math.floor(entries[0].contentRect.width)));

		observer.observe(ref.current!);
		return () => observer.disconnect();
	}, []);
	return { ref, width: isPrinted ? PAPER_PX - beside_px : width };
}

interface SectionProps {
	id: string;
	title: string;
	about?: string;			// what is shown, in what unit
	isHeavy?: boolean;		// not drawn before it comes near
	tools?: ComponentChildren;
	children: ComponentChildren;
}

function Waiting() {
	return <p class="muted waiting">Drawn when it comes into view.</p>;
}

export function Section({ id, title, about, isHeavy, tools, children }: SectionProps) {
	const { ref, isNear } = useNear<HTMLElement>();

	return <section id={id} ref={ref} aria-labelledby={`${id}-title`}>
		<div class="title">
			<h2 id={`${id}-title`}>{title}</h2>
			{tools}
		</div>
		{about && <p class="about">{about}</p>}
		{isHeavy && !isNear ? <Waiting /> : children}
	</section>;
}

/** Undefined until it is there; an error becomes a sentence. */
export function useLoaded<T>(promise: Promise<T> | undefined): { value?: T; error?: string } {
	const [loaded, setLoaded] = useState<{ value?: T; error?: string }>({});

	useEffect(() => {
		promise?.then(value => setLoaded({ value }), error => setLoaded({ error: String(error) }));
	}, [promise]);
	return loaded;
}

export interface Choice<T extends string> {
	name: T;
	title: string;
}

/** One of several, as buttons. */
export function Choices<T extends string>({ label, of, chosen, onChoose }:
	{ label: string; of: Choice<T>[]; chosen: T; onChoose: (name: T) => void }) {
	return <div class="choices no-print" role="group" aria-label={label}>
		{of.map(({ name, title }) => <button type="button" key={name} aria-pressed={name === chosen}
			onClick={() => onChoose(name)}>{title}</button>)}
	</div>;
}

export function Swatch({ colour }: { colour: string }) {
	return <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
		<rect width="10" height="10" rx="2" class={colour} />
	</svg>;
}

// SPDX-License-Identifier: GPL-2.0-or-later
import { useEffect, useRef } from "preact/hooks";
import { keyWords } from "./keys";

export function Help({ isOpen, onClose }: { isOpen: boolean; onClose: () => void }) {
	const box = useRef<HTMLDialogElement>(null);

	useEffect(() => {
		if (isOpen && !box.current!.open)
			box.current!.showModal();
		else if (!isOpen)
			box.current!.close();
	}, [isOpen]);
	return <dialog ref={box} class="help" aria-labelledby="help-title" onClose={onClose}>
		<h2 id="help-title">Keys and gestures in the graph</h2>
		<dl class="plain">{keyWords.map(([key, words]) => <div key={key}><dt><kbd>{key}</kbd></dt><dd>{words}</dd></div>)}</dl>
		<button type="button" onClick={onClose}>Close</button>
	</dialog>;
}

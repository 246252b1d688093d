// SPDX-License-Identifier: GPL-2.0-or-later
// Light or dark: as the system has it, unless the user says otherwise; on paper always light.
import { createContext } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useIsPrinting } from "./page";

export type Theme = "light" | "dark";

const dark = matchMedia("(prefers-color-scheme: dark)");

/** For what is drawn on a canvas: that has to be drawn again in other colours. */
export const ThemeContext = createContext<{ theme: Theme }>({ theme: "light" });

export function useTheme() {
	const [chosen, choose] = useState<Theme | null>(null);
	const [isDark, setDark] = useState(dark.matches);
	const isPrinted = useIsPrinting();
	const theme = isPrinted ? "light" : chosen ?? (isDark ? "dark" : "light");

	useEffect(() => {
		dark.addEventListener("change", () => setDark(dark.matches));
	}, []);
	document.documentElement.dataset.theme = theme;
	return { theme, toggle: () => choose(theme === "dark" ? "light" : "dark") };
}

/** A colour of style.css, for a canvas. */
export function colour(name: string): string {
	return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim() || "#888";
}

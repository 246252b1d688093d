// SPDX-License-Identifier: GPL-2.0-or-later
// Whose parts are shown: those of this page, or of a report that it fetched.
import { createContext } from "preact";
import { useContext } from "preact/hooks";
import { useLoaded } from "./page";
import { type PartName, Parts, type PartTypes } from "./parts";

export const PartsContext = createContext<Parts>(new Parts(document));

export function useParts(): Parts {
	return useContext(PartsContext);
}

export function usePart<N extends PartName>(name: N) {
	return useLoaded<PartTypes[N]>(useParts().load(name));
}

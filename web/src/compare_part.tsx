// SPDX-License-Identifier: GPL-2.0-or-later
// What differs between two runs, of the parts that the page of a comparison has.
import { Compared } from "./compare";
import { usePart } from "./parts_context";
import { Broken } from "./sections";

export function ComparisonPart() {
	const { value, error } = usePart("comparison");
	const first = { report: usePart("first").value, leftOut: usePart("first_left_out").value };
	const second = { report: usePart("second").value, leftOut: usePart("second_left_out").value };

	return value ? <Compared comparison={value} first={first} second={second} /> : <Broken error={error} />;
}

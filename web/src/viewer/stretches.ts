// SPDX-License-Identifier: GPL-2.0-or-later
// How lanes spent a stretch of time, to the ns, as the server says it.
import type { Range } from "../range";
import type { PartQuery } from "./part_query";
import { query, type Server } from "./server";
import { rangesOf } from "./tiles";
import type { Stretch } from "./trace";

const LANES_AT_ONCE = 500;

/** parts: of what these choose alone. */
export async function stretchOfLanes(server: Server, { from_ns, to_ns }: Range, ids: readonly number[], parts: PartQuery, signal?: AbortSignal): Promise<Stretch> {
	const sorted = [...ids].sort((a, b) => a - b), lanes: Stretch["lanes"] = [];
	let got: Stretch = { from_ns, to_ns, lanes };

	for (let i = 0; i < sorted.length; i += LANES_AT_ONCE) {
		got = await server.json<Stretch>(query("stretch", { from: Math.round(from_ns), to: Math.round(to_ns), lanes: rangesOf(sorted.slice(i, i + LANES_AT_ONCE)), ...parts }), signal);
		lanes.push(...got.lanes);
	}
	return { ...got, lanes };
}

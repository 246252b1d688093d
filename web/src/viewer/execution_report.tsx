// SPDX-License-Identifier: GPL-2.0-or-later
// What pinch compare says of two groups of executions: reasons, figures, flame graphs and graph.
import { useEffect } from "preact/hooks";
import { ComparisonPart } from "../compare_part";
import { Section, useNear } from "../page";
import { PartsContext } from "../parts_context";
import { useMade } from "./compare_report";
import type { Question } from "./executions";
import { query, type Server } from "./server";

export function GroupReport({ question, server }: { question: Question; server: Server }) {
	const { ref, isNear } = useNear<HTMLDivElement>(), { made, make } = useMade(server), of = query("executions/report", question);

	useEffect(() => {
		if (isNear && !made)
			make(of, "");
	}, [isNear]);
	return <div ref={ref} class="report">
		<Section id="report" title="Comparison" about="What pinch compare says of both groups, of whole executions."
			tools={made?.error ? <div class="choices"><button type="button" onClick={() => make(of, "")}>Again</button></div> : undefined}>
			{made?.error && <p role="alert">{made.error}</p>}
			{made && !made.parts && !made.error && <p class="muted" role="status">{"The comparison is being made\u2026"}</p>}
		</Section>
		{made?.parts && <PartsContext.Provider value={made.parts}><ComparisonPart /></PartsContext.Provider>}
	</div>;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// From the trace to its executions, if it has some.
import { useEffect, useState } from "preact/hooks";
import { plural } from "../format";
import type { Choices } from "./executions";
import type { Session } from "./session";

export function ExecutionLink({ session }: { session: Session }) {
	const [count, setCount] = useState(0), isWhole = !session.trace.is_live;

	useEffect(() => {
		const abort = new AbortController();
		if (isWhole)
			session.server.json<Choices>("executions/choices", abort.signal).then(({ spans }) => setCount(spans.reduce((sum, span) => sum + span.count, 0)), () => {});
		return () => abort.abort();
	}, [session, isWhole]);
	return count ? <p><a href="executions" data-tip={`${plural(count, "execution")} of spans, in groups that are alike: slow ones beside fast ones`}>Compare groups of executions</a></p> : null;
}

// SPDX-License-Identifier: GPL-2.0-or-later
// Two groups of executions that are looked at together: the same time since the beginning of each. They have no lane in common but that of all.
import { Pair } from "./pair";
import type { Session } from "./session";

const none: ReadonlySet<number> = new Set();

export class ExecutionPair extends Pair {
	override alone(): ReadonlySet<number> {
		return none;
	}

	protected override toggledLike(session: Session, flipped: readonly number[]): ReadonlySet<number> {
		const toggled = new Set(this.other(session).store.state.toggled);

		if (flipped.includes(0)) {
			if (session.store.state.toggled.has(0))
				toggled.add(0);
			else
				toggled.delete(0);
		}
		return toggled;
	}
}

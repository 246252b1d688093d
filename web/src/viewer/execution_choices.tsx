// SPDX-License-Identifier: GPL-2.0-or-later
// How executions are grouped and which groups are compared, as a form: the address has what is chosen.
import { plural, visible } from "../format";
import { stateTitle } from "../states";
import { type Choices, type Executions, type Question, sidesOf } from "./executions";
import { query } from "./server";

const GROUPS = [2, 3, 4, 5, 6];

/** Other groups have other lanes: the page begins anew. */
function ask(question: Question): void {
	location.assign(query(location.pathname, question));
}

function Kind({ choices: { spans, causes }, question }: { choices: Choices; question: Question }) {
	const chosen = question.cycle ? `cycle ${question.cycle}` : `span ${question.span ?? ""}`;
	const take = (value: string) => {
		const at = value.indexOf(" ");
		ask({ [value.slice(0, at)]: value.slice(at + 1), groups: question.groups, feature: question.feature });
	};

	return <label>Executions of <select aria-label="Executions of what" value={chosen} onChange={event => take(event.currentTarget.value)}>
		{!spans.length && !question.cycle && <option value="span ">nothing: choose what</option>}
		{spans.map(({ name, count }) => <option key={name} value={`span ${name}`}>{visible(name)}, {plural(count, "execution")}</option>)}
		<optgroup label="Cycles, from one wait to the next">{causes.map(cause => <option key={cause} value={`cycle ${cause}`}>{stateTitle(cause)}</option>)}</optgroup>
	</select></label>;
}

/** Which group is on a side: none is on both. */
function SideChoice({ side, question, of }: { side: 0 | 1; question: Question; of: Executions }) {
	const sides = sidesOf(question, of), sizes = Array.from({ length: of.count }, (_, i) => of.groups.reduce((sum, group) => sum + (group === i + 1 ? 1 : 0), 0));
	const take = (number: number) => {
		const other = sides[1 - side] === number ? sides[side] : sides[1 - side];
		ask({ ...question, between: (side ? [other, number] : [number, other]).join(",") });
	};

	return <label>{"AB"[side]} <select aria-label={`Group of side ${"AB"[side]}`} value={sides[side]} onChange={event => take(Number(event.currentTarget.value))}>
		{sizes.map((size, i) => <option key={i} value={i + 1}>{`group ${i + 1}, ${plural(size, "execution")}${i === 0 ? ", fastest" : i === of.count - 1 ? ", slowest" : ""}`}</option>)}
	</select></label>;
}

export function ExecutionChoices({ choices, question, of }: { choices: Choices; question: Question; of: Executions | null }) {
	return <div class="choices grouping" role="group" aria-label="Which executions are compared" onKeyDown={event => event.stopPropagation()}>
		<Kind choices={choices} question={question} />
		<label>in <select aria-label="Number of groups" value={question.groups ?? ""} data-tip="Groups have numbers by their mean duration" onChange={event => ask({ ...question, between: undefined, groups: event.currentTarget.value })}>
			<option value="">as many groups as fit</option>{GROUPS.map(n => <option key={n} value={n}>{n} groups</option>)}</select></label>
		<label>by <input type="text" class="filter" aria-label="Figures that make groups" list="figure-names" placeholder="all figures" value={question.feature ?? ""}
			data-tip="Figures by which executions are grouped, with commas between, such as duration,lost.lock"
			onChange={event => ask({ ...question, between: undefined, feature: event.currentTarget.value.trim() })} /></label>
		<datalist id="figure-names">{choices.figures.map(name => <option key={name} value={name} />)}</datalist>
		{of && <><SideChoice side={0} question={question} of={of} /><SideChoice side={1} question={question} of={of} /></>}
	</div>;
}

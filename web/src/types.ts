// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of JSON as doc/report-schema.json and the writers in src/view/ have them: what is drawn of them.

export interface Frame {
	function: string | null;
	file: string | null;
	line: number | null;
	module: string | null;
	offset: number;
	inlined: boolean;
	kernel: boolean;
}

export interface PathOf {
	rank: number;
	cmetric_ns: number;
	wall_share: number;
	slices: number;
	cause: string | null;
	is_estimated: boolean;
	threads: number;
	thread_names: string[];
	stack: Frame[];
	functions: { function: string | null; count: number; lines: { file: string | null; line: number | null;
		count: number }[] }[];
}

export interface Waker {
	share: number;
	lost_ns: number;
	count: number;
	context: string;
	name: string | null;
	names: string | null;
	cmetric_ns: number;
	stack: Frame[];
}

export interface Wait {
	cause: string;
	group: string;
	object: string | null;
	lost_ns: number;
	idle_ns: number;
	count: number;
	max_ns: number;
	cmetric_ns: number;
	is_estimated: boolean;
	stack: Frame[];
	wakers: Waker[];
}

export interface Lock {
	name: string | null;
	address: string;
	kind: string;
	class: string | null;
	waits: number;
	wait_ns: number;
	idle_ns: number;
	p50_ns: number;
	p99_ns: number;
	max_ns: number;
	queue_max: number;
	hold_ns: number;
	holds: number;
	holder: string | null;
	ender: string | null;
	ender_share: number;
	vain_waits: number;
	unlockers: Waker[];
}

interface Io {
	wait_ns: number;
	idle_ns: number;
	count: number;
	max_ns: number;
	cmetric_ns: number;
	read_ns: number;
	write_ns: number;
	asked_bytes: number;
	asked_count: number;
	peer_name: string | null;
	peer_thread: string | null;
	peer_pid: number | null;
}

export interface FileOf extends Io {
	path: string;
	deleted: boolean;
	cause: string;
}

export interface SocketOf extends Io {
	family: string;
	local: string;
	peer: string;
	host: string | null;
}

export interface Thread {
	tid: number;
	pid: number;
	name: string;
	group: string;
	threads: number;
	cmetric_ns: number;
	cmetric_oncpu_ns: number;
	running_ns: number;
	runnable_ns: number;
	blocked_ns: number;
	slices: number;
	critical_slices: number;
	stalls_ended_ns: number;
}

export interface Finding {
	title: string;
	pattern: string;
	cause: string;
	share: number;
	evidence: string[];
	wait: number | null;
	path: number | null;
}

export interface Cause {
	cause: string;
	group: string;
	lost_ns: number;
	idle_ns: number;
	count: number;
}

export interface Report {
	pinch: { version: string; schema: number };
	target: { command: string | null; pids: number[]; wall_ns: number; exit_status: number | null;
		is_running: boolean };
	totals: { active_ns: number; stalled_ns: number; critical_ns: number; cmetric_ns: number; critical_cmetric_ns: number;
		parallelism: number; nmin: number; is_nmin_default: boolean; threads: number; alive_max: number;
		switches: number; slices: number; samples: number; paths: number; closure_error_ns: number };
	losses: Record<string, number>;
	cost: Record<string, number>;
	parallelism: { active: number; ns: number }[];
	timeline: number[];
	paths: PathOf[];
	balance: {
		wall: { wall_ns: number; useful_ns: number; spinning_ns: number; stalled_ns: number };
		threads: { total_ns: number; busy_ns: number; running_ns: number; spinning_ns: number;
			runqueue_ns: number; causes: Cause[] };
	};
	findings: Finding[];
	waits: Wait[];
	locks: Lock[];
	files: FileOf[];
	sockets: SocketOf[];
	groups: { name: string; threads: number; cmetric_ns: number; imbalance: number }[];
	threads: Thread[];
	notes: string[];
}

/** What a report has and the page has not, so that it can be used soon. */
export interface LeftOut {
	waits: { cause: string; count: number; lost_ns: number }[];	// idle waits are not in it
	locks_with_unlockers: number;	// the first ones
}

export interface Timelines {
	begin_ns: number;		// 0: not known
	part_ns: number;
	parts: number;
	threads: { name: string; tid: number; pid: number; threads: number; states: Record<string, number[]> }[];
	left_out: number;
	all: Record<string, number[]>;
}

export interface GraphNode {
	parent: number | null;
	kind: string;
	cause?: string;			// of a wait
	label: string;
	ns: number;
	count: number;
	max_ns: number;
	is_cycle: boolean;
	is_cut: boolean;
}

export interface Graph {
	from_ns: number;
	to_ns: number;
	nodes: GraphNode[];
	left_out?: number;		// nodes, none of them longer than these
}

export interface PathPart {
	begin_ns: number;
	end_ns: number;
	depth: number;
	who: string;
	kind: string;
	what: string;
	end: string | null;
}

export interface PathSum {
	ns: number;
	count: number;
	max_ns: number;
	who: string;
	kind: string;
	what: string;
	end: string | null;
}

export interface CriticalPath {
	sums: PathSum[];
	parts: PathPart[];
	left_out: number;		// parts, all of them shorter
}

export interface Sample {
	n: number;
	mean: number;
	deviation: number | null;
}

export interface Difference {
	first: Sample;
	second: Sample;
	change: number;
	change_share: number | null;
	d: number | null;
	p: number | null;
}

export interface ComparisonNode extends Difference {
	parent: number | null;
	kind: string;
	label: string;
	boldness: number;
	in: [number, number];
}

export interface Comparison {
	of: string;
	is_per_second: boolean;
	sides: [string, string];
	silhouette?: number;
	groups?: { duration_ns: Sample }[];
	outliers?: { since_ns: number; duration_ns: number; thread: string }[];
	conditions: { condition: string; holds: boolean }[];
	reasons: ({ words: string; node: number | null } & Difference)[];
	unsure: number;
	figures: ({ name: string } & Difference)[];
	nodes: ComparisonNode[];
	left_out?: number;		// nodes, none of them with more time than these
}

export type Histogram = [number, number][];	// from which ns on, how many

export interface KernelLock {
	address: string;
	name: string | null;
	kind: string;
	where: string | null;
	waits: number;
	total_ns: number;
	mean_ns: number;
	p50_ns: number;
	p90_ns: number;
	p99_ns: number;
	max_ns: number;
	unfinished: number;
	acquisitions?: number;	// with --acquisitions, as the following
	take_ns?: number;
	holds?: number;
	hold_ns?: number;
	max_hold_ns?: number;
	threads: { name: string | null; context: string | null; pid: number; tid: number; waits: number; total_ns: number; stack: number | null }[];
	owners: { name: string | null; tid: number; ns: number; stack: number | null }[];
	histogram: Histogram;
}

export interface LockKind {
	kind: string;
	waits: number;
	total_ns: number;
	p25_ns: number;
	p50_ns: number;
	p75_ns: number;
	max_ns: number;
	histogram: Histogram;
}

export interface KernelLocks {
	duration_ns: number;
	tracing_ns: number;
	acquisitions?: number;	// as of each lock
	take_cost_ns?: number;
	hold_cost_ns?: number;
	locks: KernelLock[];
	kinds: LockKind[];
	stacks: string[][];
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Findings are causes: where what threads wait for is blocked in turn, the cause at the end of these chains becomes the
 * finding, and what threads were seen to wait for is its symptom (doc/metrics.md, "Findings").
 */
#include <math.h>
#include <string.h>

#include "findings/blame/blame.h"
#include "findings/parts/findings_waits.h"
#include "findings/patterns/draft.h"
#include "findings/patterns/file_group.h"

enum { SYMPTOMS_MAX = 8, SYMPTOMS_SAID = 2 };

/*
 * So much of what a row lost makes a cause its own. most_min: with so much of a cause it is about all of that. code_min, wait_min: of it must have run, or waited, where the rest had no
 * CPU; same_min: so much of a cause that threads met themselves makes it the same as the row; errors_min: a cause must be so many
 * of its errors.
 */
static const double most_min = 0.8, own_min = 0.5, code_min = 0.1, wait_min = 0.25, same_min = 0.99, errors_min = 3;

/* --- Words --------------------------------------------------------------------------------------- */

/* What the files have in common that are waited for; NULL: it is one, or they have nothing in common that is known. */
static const char *directory_of(struct findings *findings, const struct report_root *root)
{
	if (root->object)
		return root->is_directory ? root->object : NULL;
	return root->cause == CAUSE_FILE ? file_group_directory(findings, root->ns) : NULL;
}

/* What those do who are at the end of the chain: "sleep in f (a.c:3), called by g". */
static const char *root_words(struct findings *findings, const struct report_root *root)
{
	const char *where = blame_place(findings, root);
	const char *in = where ? arena_printf(findings->arena, " in %s", where) : "";
	const char *object = root->object ? words_object(findings, root->object) : NULL;
	const char *directory = directory_of(findings, root);

	if (root->ender)
		return arena_printf(findings->arena, "wait for %s (not traced)%s%s%s", root->ender,
				    object ? " at " : "", object ? object : "", in);
	switch (root->cause) {
	case CAUSE_SLEEP:
		return arena_printf(findings->arena, "sleep%s", in);
	case CAUSE_FILE:
		if (directory)
			return arena_printf(findings->arena, "wait for %s%s",
					    file_group_words(findings, directory, root->ns), in);
		if (!object)
			return arena_printf(findings->arena, "wait for files%s", in);
		return arena_printf(findings->arena, "wait for file %s%s", object, in);
	case CAUSE_SOCKET:
		return arena_printf(findings->arena, "wait for %s%s", object ? object : "sockets", in);
	case CAUSE_POLL:
		return arena_printf(findings->arena, "poll %s%s", object ? object : "descriptors", in);
	case CAUSE_CHILD:
		return arena_printf(findings->arena, "wait for %s%s", object ? object : "child processes", in);
	case CAUSE_PAGE_FAULT:
		return arena_printf(findings->arena, "wait for page faults%s%s%s", object ? " of " : "",
				    object ? object : "", in);
	case CAUSE_KERNEL_LOCK:
		return arena_printf(findings->arena, "wait for %s%s%s", object ? "the kernel's " : "kernel locks",
				    object ? object : "", in);
	case CAUSE_OTHER:
		return root->syscall ? arena_printf(findings->arena, "wait in the system call %s%s", root->syscall, in)
				     : arena_printf(findings->arena, "wait outside of system calls%s", in);
	case CAUSE_JOIN:
		return arena_printf(findings->arena, "wait for other threads to end%s", in);
	default:
		return arena_printf(findings->arena, "wait for %s %s%s%s%s", object ? "the" : "a",
				    wait_cause_name(root->cause), object ? " " : "", object ? object : "", in);
	}
}

static const char *title_of(struct findings *findings, const struct report_root *root)
{
	const char *words;

	if (root->kind == ROOT_CODE)
		return arena_printf(findings->arena, "threads wait for %s%s, which runs",
				    words_collection(findings, root->frames, root->frame_count),
				    blame_place(findings, root));
	words = root_words(findings, root);
	if (root->direct_ns >= own_min * root->ns)
		words = arena_printf(findings->arena, "threads %s", words);
	else if (root->who)
		words = arena_printf(findings->arena, "threads wait for others (%s) that %s", root->who, words);
	else
		words = arena_printf(findings->arena, "threads wait for others that %s", words);
	return root->is_timed && root->cause != CAUSE_SLEEP && !root->ender
		       ? arena_printf(findings->arena, "%s until they time out", words)
		       : words;
}

/* --- Whose symptom a finding is ------------------------------------------------------------------ */

static double lost_of(const struct blame_part *parts)
{
	double ns = 0;

	for (; parts; parts = parts->next)
		ns += parts->ns;
	return ns;
}

static double time_without_cpu(const struct blame_part *parts)
{
	double ns = 0;

	for (; parts; parts = parts->next)
		if (parts->root->kind == ROOT_CPU)
			ns += parts->ns;
	return ns;
}

/* The cause of most of what the row lost; NULL: it has several, or none. */
static const struct report_root *cause_of(const struct report_finding *row)
{
	double lost_ns = lost_of(row->blame), cpu_ns = time_without_cpu(row->blame);
	const struct blame_part *part = row->blame;

	while (part && part->root->kind != ROOT_WAIT && part->root->kind != ROOT_CODE)
		part = part->next;
	if (!part)
		return NULL;
	/* What others could not always run for is the cause, too; a shortage of CPUs is a finding of its own. */
	if (part->root->kind == ROOT_WAIT && row->pattern == PATTERN_WAIT)
		return part->ns >= wait_min * lost_ns && part->ns >= own_min * (lost_ns - cpu_ns) ? part->root : NULL;
	if (part->root->kind == ROOT_WAIT)
		return part->ns >= own_min * lost_ns ? part->root : NULL;
	if (!part->root->frame_count || part->root->ns <= errors_min * part->root->error_ns ||
	    part->ns < code_min * lost_ns || part->ns < own_min * (lost_ns - cpu_ns))
		return NULL;
	return part->root;
}

/*
 * Whether the row says more than its cause would: what is taken and given back is contended, whatever those do who have it,
 * and who waits for threads that nobody signalled.
 */
static bool has_own_words(const struct report_finding *row, const struct report_root *root)
{
	return row->pattern != PATTERN_WAIT && row->pattern != PATTERN_SPIN &&
	       (root->kind == ROOT_CODE || wait_cause_group(root->cause) == GROUP_SYNCHRONISATION);
}

/* Of a row about code that few others ran beside, or that held up an event loop: it may be what the others waited for. */
static const struct report_root *code_of(struct findings *findings, const struct report_finding *row)
{
	bool is_of_code = row->pattern == PATTERN_SERIAL_PHASE || row->pattern == PATTERN_HOT_THREAD;
	const struct report_path *path =
		is_of_code && row->path_rank ? &findings->report.paths[row->path_rank - 1] : NULL;

	if (row->code)
		return blame_find_code(findings, row->code->frames, row->code->frame_count);
	return path ? blame_find_code(findings, path->frames, path->frame_count) : NULL;
}

/* Whether the row is about nothing but the cause itself. */
static bool is_direct(const struct report_root *root)
{
	return root->kind == ROOT_WAIT && root->direct_ns == root->ns;
}

/* Whether it has nearly all that the cause took: rows that are too small for findings have the rest. */
static bool is_about_all(const struct report_finding *row, const struct report_root *root)
{
	return lost_of(row->blame) >= most_min * root->ns;
}

/* Rows of one cause. */
struct family {
	const struct report_root *root;
	struct report_finding *rows[FINDINGS_MAX];
	size_t count;
};

static struct family *find_family(struct family *families, size_t *count, const struct report_root *root)
{
	for (size_t i = 0; i < *count; i++)
		if (families[i].root == root)
			return &families[i];
	families[*count] = (struct family){ .root = root };
	return &families[(*count)++];
}

/* --- The finding --------------------------------------------------------------------------------- */

static void add_symptom(struct findings *findings, struct report_finding *out, const char *title, double share)
{
	const char **symptoms = (const char **)out->symptoms;

	if (!symptoms)
		out->symptoms = symptoms = arena_alloc(findings->arena, SYMPTOMS_MAX * sizeof(*symptoms));
	if (out->symptom_count == SYMPTOMS_MAX)
		return;
	if (!out->symptom)
		out->symptom = title;
	symptoms[out->symptom_count++] = arena_printf(findings->arena, "%s (%.0f %%)", title, 100 * share);
}

static void say_symptoms(struct findings *findings, struct report_finding *out, size_t all)
{
	const char *words = "";

	for (size_t i = 0; i < out->symptom_count && i < SYMPTOMS_SAID; i++)
		words = arena_printf(findings->arena, "%s%s%s", words, *words ? "; " : "", out->symptoms[i]);
	if (all > SYMPTOMS_SAID)
		words = arena_printf(findings->arena, "%s; %zu more", words, all - SYMPTOMS_SAID);
	if (*words)
		draft_say(findings, out, "seen as: %s", words);
}

/* Of what was lost, the part of those who met the cause themselves; "" where all did, or none. */
static const char *direct_words(struct findings *findings, double direct)
{
	static const double none_max = 0.01;

	if (direct < none_max || direct > 1 - none_max)
		return "";
	return arena_printf(findings->arena, ": %.0f %% in this wait, the rest in waits for threads that were in it",
			    100 * direct);
}

static void say_root(struct findings *findings, struct report_finding *out, const struct report_root *root)
{
	double direct = draft_share(root->direct_ns, root->ns);

	draft_say(findings, out, "%s lost %s by it%s",
		  root->victims ? words_counted(findings, root->victims, "thread") : "threads",
		  words_duration(findings, root->ns), direct_words(findings, direct));
	for (size_t i = 0; i < root->chain_count; i++) {
		const struct report_root_chain *chain = &root->chains[i];
		const char *words = chain->steps[0];

		if (chain->step_count < 2 || chain->ns * 5 < root->ns)
			continue;
		for (size_t k = 1; k < chain->step_count; k++)
			words = arena_printf(findings->arena, "%s, behind it %s", words, chain->steps[k]);
		draft_say(findings, out, "%.0f %% came so: %s", 100 * draft_share(chain->ns, root->ns), words);
		break;
	}
}

/* Of a row that stays, for it has words of its own; the evidence of others would only repeat it. */
static void keep_row(struct findings *findings, const struct family *family, struct report_finding *lead)
{
	for (size_t i = 0; i < family->count; i++)
		if (family->rows[i] != lead)
			add_symptom(findings, lead, family->rows[i]->title, family->rows[i]->share);
	say_symptoms(findings, lead, family->count - 1);
}

/* What is said of chains would repeat the cause. */
static bool is_of_chain(const struct report_finding *row, const char *sentence)
{
	const char *text = row->blocked_on ? row->blocked_on->text : NULL;
	size_t bytes = strlen(sentence), text_bytes = text ? strlen(text) : 0;

	return text && bytes >= text_bytes && !strcmp(sentence + bytes - text_bytes, text);
}

static void become_root(struct findings *findings, const struct family *family, struct report_finding *lead)
{
	const struct report_root *root = family->root;
	struct report_finding old = *lead;
	const char *said[EVIDENCE_MAX];
	double share = draft_share(root->ns, findings->report.balance.threads.busy_ns);
	bool tells_cause = old.pattern == PATTERN_SPIN; /* whoever spins does so until that is done */
	bool is_same = tells_cause || (root->kind == ROOT_WAIT && family->count == 1 &&
				       root->direct_ns >= same_min * root->ns && is_about_all(lead, root));

	memcpy(said, lead->evidence, lead->evidence_count * sizeof(*said));
	lead->evidence_count = 0;
	lead->pattern = PATTERN_WAIT;
	lead->cause = root->kind == ROOT_CODE ? CAUSE_ON_CPU : root->cause;
	lead->title = tells_cause ? old.title : title_of(findings, root);
	lead->root = root;
	lead->object = root->object ? root->object : directory_of(findings, root);
	lead->share = root->kind == ROOT_CODE ? fmax(share, old.share) : share;
	if (!is_same)
		add_symptom(findings, lead, old.title, old.share);
	for (size_t i = 0; i < family->count; i++)
		if (family->rows[i] != lead)
			add_symptom(findings, lead, family->rows[i]->title, family->rows[i]->share);
	if (root->cause == CAUSE_FILE && directory_of(findings, root))
		file_group_say_calls(findings, lead, directory_of(findings, root));
	say_symptoms(findings, lead, family->count);
	if (!is_same)
		say_root(findings, lead, root);
	for (size_t i = 0; i < old.evidence_count; i++)
		if (root->kind == ROOT_CODE || !is_of_chain(&old, said[i]))
			draft_say(findings, lead, "%s", said[i]);
}

static int compare_rows(const struct report_finding *a, const struct report_finding *b)
{
	return a->share != b->share ? (a->share < b->share ? 1 : -1) : strcmp(a->title, b->title);
}

/* The only one that says more than the cause would, if it is not small; or the largest; NULL: none is about waits. */
static struct report_finding *lead_of(const struct family *family, bool *is_kept)
{
	struct report_finding *largest = family->rows[0], *own = NULL;
	size_t own_count = 0;
	bool is_of_waits = false;

	for (size_t i = 0; i < family->count; i++) {
		struct report_finding *row = family->rows[i];

		is_of_waits |= row->blame != NULL;
		if (compare_rows(row, largest) < 0)
			largest = row;
		if (row->blame && has_own_words(row, family->root)) {
			own = row;
			own_count++;
		}
	}
	if (own_count == 1 && own->share >= own_min * largest->share)
		largest = own;
	*is_kept = has_own_words(largest, family->root) && own_count < 2;
	return is_of_waits ? largest : NULL;
}

static void fold_family(struct findings *findings, struct family *family)
{
	bool is_kept;
	struct report_finding *lead = lead_of(family, &is_kept);

	if (!lead || (family->count == 1 && (is_kept || (is_direct(family->root) && is_about_all(lead, family->root)))))
		return;
	if (is_kept)
		keep_row(findings, family, lead);
	else
		become_root(findings, family, lead);
	for (size_t i = 0; i < family->count; i++)
		if (family->rows[i] != lead)
			family->rows[i]->title = NULL;
}

/* Whether most of what the row lost was behind others who are traced: only then the verdict follows it there. */
static bool is_behind_others(const struct report_finding *row)
{
	const struct report_root *root = cause_of(row);

	return (root && root->kind == ROOT_CODE) || time_without_cpu(row->blame) >= own_min * lost_of(row->blame);
}

/* --- Those behind which others have no CPU -------------------------------------------------------- */

/* The finding that threads wait for a CPU that other processes have; NULL: there is none. */
static struct report_finding *taken_cpus(struct findings *findings, struct draft *draft)
{
	for (size_t i = 0; i < draft->count && patterns_lose_cpus(findings); i++)
		if (draft->rows[i].pattern == PATTERN_CPU_WAIT)
			return &draft->rows[i];
	return NULL;
}

static const struct report_root *root_of_cpu(const struct blame_part *parts)
{
	for (; parts; parts = parts->next)
		if (parts->root->kind == ROOT_CPU)
			return parts->root;
	return NULL;
}

/* What they would wait for if they had CPUs: most of what is left, if all that it took is a finding. NULL: nothing. */
static const struct report_root *rest_of(const struct findings *findings, const struct report_finding *row)
{
	double left_ns = lost_of(row->blame) - time_without_cpu(row->blame);

	for (const struct blame_part *part = row->blame; part; part = part->next)
		if (part->root->kind == ROOT_WAIT && wait_cause_group(part->root->cause) != GROUP_SYNCHRONISATION &&
		    part->ns >= own_min * left_ns)
			return draft_lost(findings, part->root->ns) >= finding_share_min ? part->root : NULL;
	return NULL;
}

/* A row whose threads wait for others that have no CPU is a symptom of that lack. */
static void fold_into_cpus(struct findings *findings, struct report_finding *cpus, struct report_finding *row)
{
	const struct report_root *root = root_of_cpu(row->blame);
	double share = draft_share(root->ns, findings->report.balance.threads.busy_ns);

	add_symptom(findings, cpus, row->title, row->share);
	cpus->share = fmax(cpus->share, share);
}

/* Whether threads wait there for others that run, or would: these do one after the other what they could do at once. */
static bool is_taking_turns(const struct report_finding *row)
{
	const struct report_blocked_on *on = row->blocked_on;

	return wait_cause_group(row->cause) == GROUP_SYNCHRONISATION && on &&
	       on->running_ns + on->cpu_wait_ns >= own_min * on->ns;
}

/* Where one thread runs while others wait for a lock, that is the other side of it. */
static void say_waiting(struct findings *findings, struct draft *draft, struct report_finding *row)
{
	const struct report_finding *waits = NULL;

	for (size_t i = 0; i < draft->count; i++) {
		const struct report_finding *other = &draft->rows[i];

		if (other != row && other->title && is_taking_turns(other) && other->share >= own_min * row->share &&
		    (!waits || other->share > waits->share))
			waits = other;
	}
	if (waits)
		draft_say(findings, row, "meanwhile %s (%.0f %%)", waits->title, 100 * waits->share);
}

/* Evidence stays where it is: nothing is added after this. */
static void close_ranks(struct draft *draft)
{
	size_t count = 0;

	for (size_t i = 0; i < draft->count; i++)
		if (draft->rows[i].title)
			draft->rows[count++] = draft->rows[i];
	draft->count = count;
}

void patterns_fold_by_root(struct findings *findings, struct draft *draft)
{
	struct family *families = arena_alloc(findings->arena, FINDINGS_MAX * sizeof(*families));
	struct report_finding *cpus = taken_cpus(findings, draft);
	size_t count = 0;

	for (size_t i = 0; i < draft->count; i++) {
		struct report_finding *row = &draft->rows[i];
		const struct report_root *root = row->blame ? cause_of(row) : code_of(findings, row);
		struct family *family;

		if (!root && cpus && row->blame && time_without_cpu(row->blame) >= own_min * lost_of(row->blame)) {
			fold_into_cpus(findings, cpus, row);
			root = rest_of(findings, row);
			if (!root)
				row->title = NULL;
		}
		family = root ? find_family(families, &count, root) : NULL;
		if (family)
			family->rows[family->count++] = row;
	}
	for (size_t i = 0; i < count; i++)
		fold_family(findings, &families[i]);
	if (cpus)
		say_symptoms(findings, cpus, cpus->symptom_count);
	for (size_t i = 0; i < draft->count; i++)
		if (draft->rows[i].pattern == PATTERN_SERIAL_PHASE || draft->rows[i].pattern == PATTERN_HOT_THREAD)
			say_waiting(findings, draft, &draft->rows[i]);
	close_ranks(draft);
	for (size_t i = 0; i < draft->count; i++)
		if (draft->rows[i].blame && !draft->rows[i].root && !is_behind_others(&draft->rows[i]))
			draft->rows[i].blocked_on = NULL;
}

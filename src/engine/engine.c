/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "engine/engine.h"

#include "activity/decode/decoders.h"
#include "account/criticality.h"
#include "account/code_samples.h"
#include "account/run_samples.h"
#include "engine/stream_names.h"
#include "klocks/klocks.h"
#include "session/hosts.h"
#include "session/backlog.h"
#include "session/session.h"
#include "session/threads.h"
#include "spin/spin_judge.h"
#include "spin/spin_repeats.h"
#include "stacks/fold.h"
#include "stacks/stacks.h"
#include "symbol/symbol.h"
#include "waits/accept_queues.h"
#include "waits/block_users.h"
#include "waits/cpu_waits.h"
#include "waits/files.h"
#include "waits/others.h"
#include "waits/go_waits.h"
#include "waits/resource_use.h"
#include "waits/sums/missing_wakeups.h"
#include "waits/sums/waits.h"
#include "waits/unread_input.h"

enum { PENDING_BYTES_MAX = 128 << 20 };

/* Of events that wait for a CPU that nobody needs. */
static const struct backlog_limits backlog_limits = { 4 << 20, 1 << 30, "/var/tmp" };

static bool is_spinning(void *data, const struct thread *thread, uint64_t time_ns, const struct ev_sched_sample *e,
			const struct ev_sched_sample *before)
{
	struct spin_loop loop;

	if (!spin_judge_is_spin(data, thread->pid, time_ns, e->ip, e->kernel_ip))
		return false;
	return !spin_judge_is_by_loop(data, thread->pid, time_ns, e->ip, e->kernel_ip, &loop) ||
	       spin_loop_holds(&loop, before, e);
}

static uint64_t iteration_length_of(void *data, uint32_t pid, uint64_t now_ns)
{
	return criticality_iteration_ns(data, pid, now_ns);
}

static int open_decoders(struct engine *engine)
{
	return decoders_open(engine->analyses, engine->threads,
			     &(struct decoders_options){
				     .scripts = engine->options.scripts,
				     .script_count = engine->options.script_count,
				     .filter = engine->options.filter,
			     },
			     &engine->decoders);
}

int engine_open(struct engine *engine, const struct engine_options *options)
{
	int err;

	struct criticality_options account = {
		.nmin = options->nmin,
		.keeps_strips = options->keeps_strips,
	};

	engine->options = *options;
	engine->session = session_new(options->stream_count, PENDING_BYTES_MAX);
	engine->analyses = options->is_offline ? engine->session : session_new(1, 0);
	engine->threads = threads_new(engine->analyses);
	err = open_decoders(engine);
	engine->stacks = stacks_new(engine->analyses, 0);
	engine->present = options->is_offline ? NULL : threads_new(engine->session);
	engine->symbols = symbols_new(engine->session);
	if (options->is_offline) {
		symbols_set_offline(engine->symbols, options->opens_files);
	} else {
		symbols_use_cache(engine->symbols);
		threads_forget_also(engine->threads, engine->present);
		symbols_follow_stacks(engine->symbols, engine->present);
	}
	engine->fold = fold_rules_new();
	engine->samples = run_samples_new();
	engine->code = options->has_critical_slices ? NULL : code_samples_new();
	engine->judge = spin_judge_new(engine->symbols, engine->fold);
	engine->files = files_new(engine->analyses, 0);
	engine->others = others_new(engine->analyses);
	engine->hosts = hosts_new(engine->analyses);
	engine->klocks = klocks_new(engine->analyses, engine->threads);
	engine->missing = missing_wakeups_new(engine->analyses);
	engine->waits = waits_new(engine->files, engine->others, engine->missing);
	engine->go_waits = go_waits_new(engine->analyses);
	engine->accept_queues = accept_queues_new(engine->analyses);
	engine->unread_input = unread_input_new(engine->analyses);
	engine->cpu_waits = cpu_waits_new(engine->analyses, engine->others);
	engine->block_users = block_users_new(engine->analyses, engine->threads, engine->others);
	engine->resources = resource_use_new(engine->analyses);
	account.stacks = engine->stacks;
	account.waits = engine->waits;
	account.missing = engine->missing;
	account.samples = engine->samples;
	account.code = engine->code;
	if (options->is_spin_inactive) {
		account.is_spinning = is_spinning;
		account.spin_data = engine->judge;
	}
	engine->criticality = criticality_new(engine->analyses, engine->threads, &account);
	unread_input_ask(engine->unread_input, iteration_length_of, engine->criticality);
	return err ? err : fold_rules_add_user(engine->fold);
}

void engine_connect(struct engine *engine)
{
	engine->backlog = backlog_new(engine->session, engine->analyses, &backlog_limits);
}

void engine_close(struct engine *engine)
{
	backlog_free(engine->backlog);
	decoders_close(engine->decoders);
	criticality_free(engine->criticality);
	spin_judge_free(engine->judge);
	run_samples_free(engine->samples);
	code_samples_free(engine->code);
	waits_free(engine->waits);
	go_waits_free(engine->go_waits);
	accept_queues_free(engine->accept_queues);
	unread_input_free(engine->unread_input);
	cpu_waits_free(engine->cpu_waits);
	block_users_free(engine->block_users);
	resource_use_free(engine->resources);
	klocks_free(engine->klocks);
	others_free(engine->others);
	hosts_free(engine->hosts);
	missing_wakeups_free(engine->missing);
	files_free(engine->files);
	symbols_free(engine->symbols);
	stream_names_free(engine->names);
	stacks_free(engine->stacks);
	threads_free(engine->threads);
	threads_free(engine->present);
	if (engine->analyses != engine->session)
		session_free(engine->analyses);
	session_free(engine->session);
	fold_rules_free(engine->fold);
	*engine = (struct engine){ 0 };
}

struct findings_input engine_findings_input(const struct engine *engine)
{
	return (struct findings_input){
		.criticality = engine->criticality,
		.stacks = engine->stacks,
		.waits = engine->waits,
		.cpu_waits = engine->cpu_waits,
		.block_users = engine->block_users,
		.resources = engine->resources,
		.go_waits = engine->go_waits,
		.accept_queues = engine->accept_queues,
		.unread_input = engine->unread_input,
		.decoders = engine->decoders,
		.files = engine->files,
		.klocks = engine->klocks,
		.others = engine->others,
		.hosts = engine->hosts,
		.symbols = engine->symbols,
		.fold = engine->fold,
		.samples = engine->samples,
		.code = engine->code,
		.judge = engine->judge,
		.nmin = engine->options.nmin,
		.is_spin_inactive = engine->options.is_spin_inactive,
	};
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "collect/kernel.h"

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory.h"
#include "collect/probe/acquisitions.h"
#include "collect/probe/iterator.h"
#include "collect/probe/kernel_names.h"
#include "collect/probe/klock_programs.h"
#include "collect/probe/loop_watch.h"
#include "collect/probe/programs.h"
#include "collect/probe/span_calls.h"
#include "collect/probe/usdt_programs.h"
#include "collect/probe/system.h"
#include "collect/probe/user_probes.h"
#include "collect/ring/cpu_rings.h"
#include "collect/ring/percpu.h"
#include "collect/sampler.h"
#include "collect/target/machine.h"
#include "collect/tick.h"
#include "session/syscalls.h"
#include "shared.h"
#include "symbol/symbol.h"
#include "pinch.skel.h"

enum {
	MEMORY_AT_ONCE = 1000,
};

struct kernel {
	struct programs *programs;
	struct pinch_bpf *bpf; /* of programs */
	unsigned int cpu_count;
	struct cpu_rings *rings;
	struct ring *doorbell;
	struct sampler *sampler;
	uint64_t sample_period_ns;
	struct bpf_link *iterator, *waits_iterator, *listeners_iterator;
	const struct klock_spec *acquisitions_spec; /* NULL: they are not counted */
	struct acquisitions *acquisitions;
	struct user_probes *user_probes;
	struct loop_watch *loop_watch;
};

static const char list_of_threads[] = "the kernel's threads";

/* What libbpf complained of first, in whichever thread: printed only when loading fails. */
static char libbpf_complaint[512];
static atomic_flag has_complained = ATOMIC_FLAG_INIT;

static int libbpf_print(enum libbpf_print_level level, const char *format, va_list args)
{
	if (getenv("PINCH_LIBBPF_DEBUG"))
		return vfprintf(stderr, format, args);
	if (level == LIBBPF_WARN && !atomic_flag_test_and_set(&has_complained)) {
		vsnprintf(libbpf_complaint, sizeof(libbpf_complaint), format, args);
		libbpf_complaint[strcspn(libbpf_complaint, "\n")] = '\0';
	}
	return 0;
}

/* Timers of ours are shorter than so many ticks by that part: they come to each moment between two ticks. */
enum { OFF_TICK_SHARE = 32 };

static uint32_t as_u32(uint64_t period_ns)
{
	return period_ns < UINT32_MAX ? period_ns : UINT32_MAX;
}

/* At the kernel's ticks if the period allows it, or else by timers. */
static void choose_sampling(struct kernel *kernel, const struct btf *btf)
{
	struct pinch_bpf *bpf = kernel->bpf;
	uint64_t tick_ns = tick_period_ns();
	struct tick_places places;

	if (kernel->sample_period_ns && tick_ns && kernel->sample_period_ns % tick_ns == 0 && btf &&
	    !tick_find(btf, &places)) {
		bpf->rodata->sample_each_ticks = kernel->sample_period_ns / tick_ns;
		bpf->rodata->sample_tick_ns = as_u32(kernel->sample_period_ns);
		bpf->rodata->hrtimer_bases_offset = places.hrtimer_bases;
		bpf->rodata->tick_cpu_sched_offset = places.tick_cpu_sched;
		bpf->rodata->irq_regs_offset = places.irq_regs;
	}
	bpf_program__set_autoload(bpf->progs.sample_expiry, kernel->sample_period_ns);
}

/* Without it, wake-ups by interrupts are taken for the work of whom they interrupt. */
static void choose_context(struct kernel *kernel, const struct btf *btf)
{
	uint32_t runqueues, preempt_count;

	if (!btf || !percpu_find(btf, "runqueues", &runqueues) || !percpu_find_preempt_count(btf, &preempt_count))
		return;
	kernel->bpf->rodata->runqueues_offset = runqueues;
	kernel->bpf->rodata->preempt_count_offset = preempt_count;
}

/* What depends on the kernel, as its type information tells it; without that, loading will say so. */
static void choose_programs(struct kernel *kernel)
{
	const struct btf *btf = programs_types(kernel->programs);

	choose_sampling(kernel, btf);
	choose_context(kernel, btf);
	klocks_choose(kernel->bpf, kernel->bpf->rodata->preempt_count_offset);
	bpf_program__set_autoload(kernel->bpf->progs.exit_begin, btf && machine_exit_is_late(btf));
	/* Without it, a wait in a page fault does not say of which file. */
	bpf_program__set_autoload(kernel->bpf->progs.page_fault, btf && machine_has_fault_events(btf));
	/* Without it, a thread that waits for many connections does not say for which one it was woken. */
	bpf_program__set_autoload(kernel->bpf->progs.data_ready, btf && machine_has_ready_events(btf));
	/* Without it, many short turns of a busy event loop are taken for a long one. */
	loop_watch_choose(kernel->bpf, kernel->sample_period_ns && btf && machine_has_call_events(btf));
	/* Without it, who sleeps to try again to lock a file seems to sleep for nothing. */
	bpf_program__set_autoload(kernel->bpf->progs.lock_posix, btf && machine_has_lock_events(btf));
	bpf_program__set_autoload(kernel->bpf->progs.lock_flock, btf && machine_has_lock_events(btf));
}

/* Whether this machine can be traced so. The number of its CPUs, or a negative errno after a message. */
static int check_machine(const struct kernel_options *options)
{
	int cpu_count = libbpf_num_possible_cpus();

	if (cpu_count < 0)
		return fail(cpu_count, "cannot count the CPUs");
	if (cpu_count > KERNEL_CPUS_MAX)
		return fail_plain(-E2BIG, "this machine may have %d CPUs; pinch supports at most %d", cpu_count,
				  KERNEL_CPUS_MAX);
	if (options->acquisitions && !machine_has_kprobes())
		return fail_plain(-EOPNOTSUPP,
				  "--acquisitions needs kprobes (CONFIG_KPROBE_EVENTS), which this kernel lacks; "
				  "without it, only locks that threads wait for are shown");
	return cpu_count;
}

static void set_awaited(struct pinch_bpf *bpf, const struct kernel_options *options)
{
	for (size_t i = 0; i < options->awaited_count && !options->tells_system; i++) {
		size_t bytes = strlen(options->awaited_names[i]);

		if (bytes >= AWAITED_NAME_BYTES)
			continue;
		memcpy(&bpf->rodata->awaited_names[i], options->awaited_names[i], bytes);
		bpf->rodata->awaits_names = true;
	}
}

/* The settings of the programs before they are loaded, and which of them are. */
static void set_options(struct kernel *kernel, const struct kernel_options *options)
{
	struct pinch_bpf *bpf = kernel->bpf;

	bpf->rodata->nmin = options->nmin;
	bpf->rodata->stack_depth = options->depth;
	bpf->rodata->jiffy_ns = as_u32(tick_period_ns());
	bpf->rodata->kernel_stacks = options->kernel_stacks;
	bpf->rodata->slice_stacks = options->slice_stacks;
	bpf->rodata->threads_only = options->threads_only;
	bpf->rodata->processes_only = options->processes_only;
	bpf->rodata->trace_all = options->trace_all;
	set_awaited(bpf, options);
	bpf->rodata->follows_hosts = options->follows_hosts;
	bpf_program__set_autoload(bpf->progs.resolve_begin, options->follows_hosts);
	bpf_program__set_autoload(bpf->progs.resolve_end, options->follows_hosts);
	bpf->rodata->own_pid = getpid();
	for (uint32_t number = 0; number < SYSCALLS_MAX; number++)
		bpf->rodata->wait_arguments[number] = syscall_argument(number);
	kernel->rings = cpu_rings_new(bpf, kernel->cpu_count, options->ring_bytes, options->tells_system);
	system_choose(bpf, options->tells_system);
	spans_choose(bpf, options->spans);
	usdt_choose(bpf, options->usdt);
	acquisitions_choose(bpf, options->acquisitions);
	choose_programs(kernel);
}

/* What libbpf says. */
static int explain(int err)
{
	if (err && !machine_explain_missing())
		fail(err, "the kernel refuses the BPF programs (%s)",
		     libbpf_complaint[0] ? libbpf_complaint : "no reason given");
	return err;
}

static int open_rings(struct kernel *kernel)
{
	const struct bpf_map *doorbell = kernel->bpf->maps.doorbell;
	int err = cpu_rings_make(kernel->rings);

	if (err)
		return err;
	err = ring_open(bpf_map__fd(doorbell), bpf_map__max_entries(doorbell), &kernel->doorbell);
	return err ? fail(err, "cannot map a ring buffer") : 0;
}

int kernel_open(const struct kernel_options *options, struct kernel **out)
{
	int cpu_count = check_machine(options);
	struct kernel *kernel;

	if (cpu_count < 0)
		return cpu_count;
	kernel = xcalloc(1, sizeof(*kernel));
	kernel->cpu_count = cpu_count;
	kernel->sample_period_ns = options->sample_period_ns;
	kernel->acquisitions_spec = options->acquisitions;
	libbpf_set_print(libbpf_print);
	kernel->programs = programs_open(&kernel->bpf);
	if (!kernel->programs) {
		int err = fail(-errno, "cannot open the BPF programs");

		kernel_close(kernel);
		return err;
	}
	set_options(kernel, options);
	kernel->user_probes = user_probes_new(kernel->bpf);
	kernel->loop_watch = loop_watch_new(kernel->bpf);
	*out = kernel;
	return 0;
}

int kernel_begin_load(struct kernel *kernel)
{
	int err = explain(programs_begin(kernel->programs));

	return err ? err : open_rings(kernel);
}

void kernel_close(struct kernel *kernel)
{
	if (!kernel)
		return;
	kernel_detach(kernel);
	cpu_rings_free(kernel->rings);
	ring_close(kernel->doorbell);
	user_probes_free(kernel->user_probes);
	loop_watch_free(kernel->loop_watch);
	sampler_free(kernel->sampler);
	acquisitions_free(kernel->acquisitions);
	programs_free(kernel->programs);
	free(kernel);
}

static void describe_timers(struct kernel *kernel, uint64_t period_ns, enum sample_role role)
{
	kernel->bpf->bss->sample_timer_ns = as_u32(period_ns);
	kernel->bpf->bss->sample_role = role;
}

static void start_sampling(struct kernel *kernel)
{
	struct pinch_bpf *bpf = kernel->bpf;
	const struct sampler_programs programs = { bpf->progs.sample_expiry, bpf->progs.sample_timer };

	if (bpf->rodata->sample_each_ticks) {
		kernel->sampler = sampler_follow_ticks(programs, kernel->cpu_count);
	} else if (kernel->sample_period_ns) {
		describe_timers(kernel, kernel->sample_period_ns, SAMPLE_REGULAR);
		kernel->sampler = sampler_start_timers(programs, kernel->sample_period_ns, kernel->cpu_count);
	}
}

static int end_load(struct kernel *kernel)
{
	int err = explain(programs_end(kernel->programs));

	malloc_trim(0); /* the kernel's type information is large and done with */
	return err;
}

int kernel_attach(struct kernel *kernel)
{
	struct pinch_bpf *bpf = kernel->bpf;
	int err = end_load(kernel);

	if (err)
		return err;
	bpf_program__set_autoattach(bpf->progs.sample_timer, false);
	bpf_program__set_autoattach(bpf->progs.sample_expiry, false);
	bpf_program__set_autoattach(bpf->progs.poll_begin, false);
	bpf_program__set_autoattach(bpf->progs.list_threads, false);
	bpf_program__set_autoattach(bpf->progs.list_waits, false);
	bpf_program__set_autoattach(bpf->progs.list_listeners, false);
	bpf_program__set_autoattach(bpf->progs.list_queues, false);
	bpf_program__set_autoattach(bpf->progs.nested_begin, false);
	bpf_program__set_autoattach(bpf->progs.nested_end, false);
	bpf_program__set_autoattach(bpf->progs.acquire_call, false);
	bpf_program__set_autoattach(bpf->progs.acquire_return, false);
	bpf_program__set_autoattach(bpf->progs.list_holds, false);
	bpf_program__set_autoattach(bpf->progs.exit_begin, false);
	bpf_program__set_autoattach(bpf->progs.resolve_begin, false);
	bpf_program__set_autoattach(bpf->progs.resolve_end, false);
	bpf_program__set_autoattach(bpf->progs.span_function_begin, false);
	bpf_program__set_autoattach(bpf->progs.span_function_end, false);
	err = klocks_prepare(bpf);
	if (err)
		return err;
	err = pinch_bpf__attach(bpf);
	if (!err)
		err = klocks_attach_nested(bpf);
	if (err)
		return fail(err, "cannot attach to the scheduler's tracepoints (%s)", libbpf_complaint);
	/* Where functions cannot be traced, threads' last slices have no stack. */
	if (bpf_program__autoload(bpf->progs.exit_begin))
		bpf->links.exit_begin = bpf_program__attach(bpf->progs.exit_begin);
	kernel_allow_memory(kernel);
	kernel->iterator = bpf_program__attach_iter(bpf->progs.list_threads, NULL);
	kernel->waits_iterator = bpf_program__attach_iter(bpf->progs.list_waits, NULL);
	kernel->listeners_iterator = bpf_program__attach_iter(bpf->progs.list_listeners, NULL);
	if (!kernel->iterator || !kernel->waits_iterator || !kernel->listeners_iterator)
		return fail(-errno, "cannot list the kernel's threads");
	start_sampling(kernel);
	return kernel->acquisitions_spec ? acquisitions_start(bpf, kernel->acquisitions_spec, &kernel->acquisitions)
					 : 0;
}

uint64_t kernel_tick_sampling_ns(const struct kernel *kernel)
{
	return sampler_is_at_ticks(kernel->sampler) ? kernel->sample_period_ns : 0;
}

/* They are described before their period changes, from when on each has a whole one before it. */
void kernel_sample_beside_ticks(struct kernel *kernel, uint32_t period_ns)
{
	describe_timers(kernel, period_ns, SAMPLE_BESIDE);
	sampler_run_timers(kernel->sampler, period_ns);
}

void kernel_sample_off_tick(struct kernel *kernel)
{
	uint64_t period_ns = kernel->sample_period_ns - kernel->sample_period_ns / OFF_TICK_SHARE;

	kernel->bpf->bss->sample_has_left_ticks = true;
	sampler_leave_ticks(kernel->sampler);
	describe_timers(kernel, period_ns, SAMPLE_INSTEAD);
	sampler_run_timers(kernel->sampler, period_ns);
}

void kernel_detach(struct kernel *kernel)
{
	sampler_stop(kernel->sampler);
	acquisitions_detach(kernel->acquisitions);
	bpf_link__destroy(kernel->iterator);
	bpf_link__destroy(kernel->waits_iterator);
	bpf_link__destroy(kernel->listeners_iterator);
	kernel->iterator = kernel->waits_iterator = kernel->listeners_iterator = NULL;
	user_probes_detach(kernel->user_probes);
	if (!kernel->bpf)
		return;
	if (kernel->loop_watch)
		loop_watch_stop(kernel->loop_watch);
	klocks_detach_nested(kernel->bpf);
	pinch_bpf__detach(kernel->bpf);
}

struct user_probes *kernel_user_probes(struct kernel *kernel)
{
	return kernel->user_probes;
}

struct loop_watch *kernel_loop_watch(struct kernel *kernel)
{
	return kernel->loop_watch;
}

static int set_target(struct kernel *kernel, uint32_t pid, uint32_t kind)
{
	int fd = bpf_map__fd(kernel->bpf->maps.targets);

	if (bpf_map_update_elem(fd, &pid, &kind, BPF_ANY))
		return fail(-errno, "cannot make process %u a target", pid);
	return 0;
}

int kernel_add_target(struct kernel *kernel, uint32_t pid)
{
	return set_target(kernel, pid, TARGET_EXISTING);
}

int kernel_add_command(struct kernel *kernel, uint32_t pid)
{
	return set_target(kernel, pid, TARGET_EXEC);
}

int kernel_list_threads(struct kernel *kernel)
{
	return iterator_run(kernel->iterator, list_of_threads);
}

int kernel_list_waits(struct kernel *kernel)
{
	int err;

	kernel->bpf->bss->waits_left = 0;
	err = iterator_run(kernel->waits_iterator, list_of_threads);
	return err ? err : (int)kernel->bpf->bss->waits_left;
}

int kernel_list_long_waits(struct kernel *kernel, uint64_t age_ns, uint32_t count)
{
	int err;

	kernel->bpf->bss->list_age_ns = age_ns;
	kernel->bpf->bss->list_room = count;
	err = iterator_run(kernel->waits_iterator, list_of_threads);
	kernel->bpf->bss->list_age_ns = 0;
	return err;
}

int kernel_list_listeners(struct kernel *kernel, bool is_second)
{
	kernel->bpf->bss->input_look_is_second = is_second;
	if (!is_second) {
		kernel->bpf->bss->input_look++;
		kernel->bpf->bss->inputs_new = 0;
	}
	return iterator_run(kernel->listeners_iterator, list_of_threads);
}

bool kernel_has_new_input(const struct kernel *kernel)
{
	return kernel->bpf->bss->inputs_new;
}

int kernel_list_holds(struct kernel *kernel)
{
	return kernel->acquisitions ? acquisitions_list(kernel->acquisitions) : 0;
}

unsigned int kernel_ring_count(const struct kernel *kernel)
{
	return cpu_rings_count(kernel->rings);
}

bool kernel_drain(struct kernel *kernel, unsigned int ring, ring_record_fn on_record, void *data)
{
	return cpu_rings_drain(kernel->rings, ring, on_record, data);
}

void kernel_tell_names(struct kernel *kernel, struct symbols *symbols)
{
	symbols_set_kernel_names(symbols, kernel_names_ask, kernel->bpf);
}

const struct btf *kernel_types_known(const struct kernel *kernel)
{
	return programs_types(kernel->programs);
}

double kernel_fill(const struct kernel *kernel)
{
	return cpu_rings_fill(kernel->rings);
}

int kernel_unwind_chunks_fd(const struct kernel *kernel)
{
	return bpf_map__fd(kernel->bpf->maps.unwind_chunks);
}

int kernel_unwind_spaces_fd(const struct kernel *kernel)
{
	return bpf_map__fd(kernel->bpf->maps.unwind_spaces);
}

unsigned int kernel_cpu_count(const struct kernel *kernel)
{
	return kernel->cpu_count;
}

int kernel_doorbell_fd(const struct kernel *kernel)
{
	return bpf_map__fd(kernel->bpf->maps.doorbell);
}

static int on_doorbell(void *data, const void *record, size_t size_bytes)
{
	unsigned int *bells = data;

	if (size_bytes)
		*bells |= 1u << *(const uint8_t *)record;
	return 0;
}

unsigned int kernel_hush(struct kernel *kernel)
{
	unsigned int bells = 0;

	ring_drain(kernel->doorbell, on_doorbell, &bells);
	return bells;
}

void kernel_await_names(struct kernel *kernel)
{
	kernel->bpf->bss->names_rung = 0;
}

void kernel_allow_memory(struct kernel *kernel)
{
	for (unsigned int i = 0; i < kernel->cpu_count; i++) {
		struct cpu_counts *cpu = &kernel->bpf->bss->cpu_counts[i];

		cpu->memory_allowed = cpu->memory_sent + MEMORY_AT_ONCE;
	}
}

void kernel_set_keep_all_above(struct kernel *kernel, uint32_t weight_ns)
{
	kernel->bpf->bss->keep_all_above_ns = weight_ns;
}

/* Within a step of 256 ns, times are taken to be spread evenly. */
static uint64_t median_ns(const uint64_t *times)
{
	uint64_t count = 0, below = 0;
	size_t i = 0;

	for (size_t k = 0; k < STACK_TIMES; k++)
		count += times[k];
	if (!count)
		return 0;
	while (2 * (below + times[i]) < count)
		below += times[i++];
	return (uint64_t)((i + (count / 2.0 - below) / times[i]) * (1 << STACK_TIME_SHIFT));
}

struct kernel_counts kernel_counts(const struct kernel *kernel)
{
	struct kernel_counts counts = { 0 };
	uint64_t timed_ns = 0, timed_runs = 0, stack_times[STACK_TIMES] = { 0 };

	for (unsigned int i = 0; i < kernel->cpu_count; i++) {
		const struct cpu_counts *cpu = &kernel->bpf->bss->cpu_counts[i];

		counts.lost += cpu->lost;
		counts.stack_ns += cpu->stack_ns;
		counts.governed_ns += cpu->governed_ns;
		counts.stack_frames += cpu->stack_frames;
		for (size_t end = 0; end < STACK_ENDS; end++)
			counts.stack_ends[end] += cpu->stack_ends[end];
		for (size_t k = 0; k < STACK_TIMES; k++)
			stack_times[k] += cpu->stack_times[k];
		counts.samples_lost += cpu->samples_lost;
		counts.hidden += cpu->hidden;
		counts.runs += cpu->runs;
		timed_ns += cpu->timed_ns;
		timed_runs += cpu->timed_runs;
	}
	counts.stack_median_ns = median_ns(stack_times);
	if (timed_runs)
		counts.run_ns = (double)timed_ns / timed_runs * counts.runs;
	counts.threads_alive = kernel->bpf->bss->threads_alive;
	counts.threads_untracked = kernel->bpf->bss->threads_untracked;
	return counts;
}

uint64_t kernel_system_lost(const struct kernel *kernel)
{
	return system_lost(kernel->bpf);
}

uint64_t kernel_klocks_lost(const struct kernel *kernel)
{
	return klocks_lost(kernel->bpf, kernel->cpu_count);
}

const char *kernel_sampling_note(const struct kernel *kernel)
{
	return sampler_note(kernel->sampler);
}

void kernel_put_acquisition_notes(const struct kernel *kernel, struct text *notes)
{
	if (kernel->acquisitions)
		acquisitions_put_notes(kernel->acquisitions, notes);
}

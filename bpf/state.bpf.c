// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "state.bpf.h"

const volatile __u32 nmin = 0;
const volatile __u32 stack_depth = STACK_DEPTH_MAX;
const volatile __u32 sample_each_ticks = 0;
const volatile __u32 sample_tick_ns = 0;
const volatile __u32 jiffy_ns = 0;
const volatile __u32 hrtimer_bases_offset = 0;
const volatile __u32 tick_cpu_sched_offset = 0;
const volatile __u32 irq_regs_offset = 0;
const volatile __u32 runqueues_offset = 0;
const volatile __u32 preempt_count_offset = 0;
const volatile bool kernel_stacks = false;
const volatile bool slice_stacks = false;
const volatile bool threads_only = false;
const volatile bool processes_only = false;
const volatile bool trace_all = false;
const volatile bool awaits_names = false;
const volatile struct awaited_name awaited_names[AWAITED_MAX] = {};
const volatile bool follows_hosts = false;
const volatile bool tells_system = false;
const volatile bool counts_acquisitions = false;
const volatile struct klock_kind_name klock_kind_names[KLOCK_KINDS_MAX] = {};
const volatile __u32 own_pid = 0;
const volatile __u32 task_type = 0;
const volatile __u32 slot_mask = 0;
const volatile struct span_call span_calls[SYSCALLS_MAX] = {};
const volatile struct span_rule span_rules[2 * SPANS_MAX] = {};
const volatile __u8 wait_arguments[SYSCALLS_MAX] = {};

struct chunks_map unwind_chunks SEC(".maps");
struct spaces_map unwind_spaces SEC(".maps");
struct threads_map threads SEC(".maps");
struct externals_map externals SEC(".maps");
struct targets_map targets SEC(".maps");
struct slots_map slots SEC(".maps");
struct rings_map rings SEC(".maps");
struct doorbell_map doorbell SEC(".maps");
struct rings_map sample_rings SEC(".maps");
struct rings_map system_rings SEC(".maps");
struct scratch_map scratch SEC(".maps");
struct memory_scratch_map memory_scratch SEC(".maps");
struct blocked_memory_map blocked_memory SEC(".maps");
struct blocked_python_map blocked_python SEC(".maps");
struct stacks_map stacks_known SEC(".maps");
struct stacks_map files_known SEC(".maps");
struct others_map others_known SEC(".maps");
struct file_scratch_map file_scratch SEC(".maps");
struct stacks_map klocks_known SEC(".maps");
struct klock_spins_map klock_spins SEC(".maps");
struct klock_others_map klock_others SEC(".maps");
struct klock_scratch_map klock_scratch SEC(".maps");
struct klocks_held_map klocks_held SEC(".maps");
struct usdt_sites_map usdt_sites SEC(".maps");
struct file_lockers_map file_lockers SEC(".maps");
struct block_askers_map block_askers SEC(".maps");
struct inputs_map inputs_seen SEC(".maps");

struct cpu_counts cpu_counts[KERNEL_CPUS_MAX] __attribute__((aligned(128))) = {};
struct system_cpu system_cpus[KERNEL_CPUS_MAX] __attribute__((aligned(128))) = {};
/* Written all the time; on a line of its own, for what follows is mostly read. */
__u64 activity __attribute__((aligned(128))) = 0;
__u64 threads_alive __attribute__((aligned(128))) = 0;
volatile __u64 looks_due = 0;
__u64 threads_born = 0;
__u64 externals_seen = 0;
__u32 names_rung = 0;
__u64 others_renamed = 0;
__u64 threads_untracked = 0;
__u64 waits_left = 0;
__u64 list_age_ns = 0;
__u32 list_room = 0;

__u32 input_look = 0, inputs_new = 0;
bool input_look_is_second = false;
__u64 holds_left = 0;
__u64 holds_lost = 0;
struct klock_own own_hold = {};
struct kernel_name kernel_name = {};
volatile __u64 keep_all_above_ns = 0;
volatile __u32 sample_timer_ns = 0;
volatile __u32 sample_role = SAMPLE_REGULAR;
volatile __u32 sample_has_left_ticks = false;
volatile __u64 polls_open = 0;
volatile __u32 samples_have_stacks = 0;

char LICENSE[] SEC("license") = "Dual BSD/GPL";

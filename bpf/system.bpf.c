// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Interrupts, what comes in by the network, and requests to disks: of the whole machine, loaded and
 * attached with --system only. An interrupt is one record, at its end.
 */
#include "context.bpf.h"
#include "system.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_tracing.h>

/* --- Interrupts ------------------------------------------------------------------------------- */

SEC("tp_btf/irq_handler_entry")
int BPF_PROG(irq_begin, int irq)
{
	struct system_cpu *here = system_here();

	here->irq = irq + 1;
	here->irq_begin_ns = bpf_ktime_get_ns();
	return 0;
}

SEC("tp_btf/irq_handler_exit")
int BPF_PROG(irq_end, int irq, struct irqaction *action, int result)
{
	struct system_cpu *here = system_here();
	__u64 begin_ns = here->irq_begin_ns;
	struct ev_system_interrupt *e;

	here->irq = 0;
	here->irq_begin_ns = 0;
	if (!begin_ns)
		return 0;
	e = system_reserve(EV_SYSTEM_INTERRUPT, number_here(bpf_get_current_task_btf()), sizeof(*e));
	if (!e)
		return 0;
	e->begin_ns = begin_ns;
	e->irq = irq;
	e->cpu = bpf_get_smp_processor_id();
	e->is_handled = result != 0;
	bpf_probe_read_kernel_str(e->name, sizeof(e->name), action->name);
	event_submit(e);
	return 0;
}

SEC("tp_btf/softirq_entry")
int BPF_PROG(softirq_begin, unsigned int vector)
{
	struct system_cpu *here = system_here();

	here->softirq = vector + 1;
	here->softirq_begin_ns = bpf_ktime_get_ns();
	return 0;
}

/* Records the packets that have come in since the last record. */
static __noinline int received_emit(void)
{
	struct system_cpu *here = system_here();
	struct ev_system_receive *e;

	e = system_reserve(EV_SYSTEM_RECEIVE, 0, sizeof(*e));
	if (e) {
		e->begin_ns = here->received_begin_ns;
		e->packets = here->received_packets;
		e->bytes = here->received_bytes;
		e->interface = here->received_interface;
		e->cpu = bpf_get_smp_processor_id();
		__builtin_memcpy(e->name, here->received_name, sizeof(e->name));
		event_submit(e);
	}
	here->received_packets = 0;
	return 0;
}

SEC("tp_btf/softirq_exit")
int BPF_PROG(softirq_end, unsigned int vector)
{
	struct system_cpu *here = system_here();
	__u64 begin_ns = here->softirq_begin_ns;
	struct ev_system_softirq *e;

	here->softirq = 0;
	here->softirq_begin_ns = 0;
	if (here->received_packets)
		received_emit();
	if (!begin_ns)
		return 0;
	e = system_reserve(EV_SYSTEM_SOFTIRQ, number_here(bpf_get_current_task_btf()), sizeof(*e));
	if (!e)
		return 0;
	e->begin_ns = begin_ns;
	e->cpu = bpf_get_smp_processor_id();
	e->vector = vector;
	event_submit(e);
	return 0;
}

/* What it wakes says that a timer did. */
SEC("tp_btf/hrtimer_expire_entry")
int BPF_PROG(timer_begin)
{
	system_here()->is_timer = 1;
	return 0;
}

SEC("tp_btf/hrtimer_expire_exit")
int BPF_PROG(timer_end)
{
	system_here()->is_timer = 0;
	return 0;
}

/* --- The network ------------------------------------------------------------------------------ */

/* Softirqs are held off here: no other packet comes in between. */
SEC("tp_btf/netif_receive_skb")
int BPF_PROG(net_receive, struct sk_buff *packet)
{
	struct system_cpu *here = system_here();
	struct net_device *device = BPF_CORE_READ(packet, dev);
	__u32 interface = BPF_CORE_READ(device, ifindex);

	if (here->received_packets && here->received_interface != interface)
		received_emit();
	if (!here->received_packets) {
		here->received_begin_ns = bpf_ktime_get_ns();
		here->received_bytes = 0;
		here->received_interface = interface;
		bpf_probe_read_kernel_str(here->received_name, sizeof(here->received_name),
					  (char *)device + bpf_core_field_offset(struct net_device, name));
	}
	here->received_packets++;
	here->received_bytes += packet->len;
	if (!here->softirq)
		received_emit();
	return 0;
}

/* --- Disks ------------------------------------------------------------------------------------ */

/* Whom the kernel has it from is no business of a trace: a name that nothing else has at the time. */
static __always_inline __u64 request_name(__u64 *buffer, struct request *request)
{
	/* Only as a number in memory may a pointer be computed with. */
	*(volatile __u64 *)buffer = (__u64)request;
	return hash_mix(0, *(volatile __u64 *)buffer);
}

static __always_inline __u32 request_device(struct request *request)
{
	struct request_queue *queue = BPF_CORE_READ(request, q);
	struct gendisk *disk = BPF_CORE_READ(queue, disk);

	return disk ? BPF_CORE_READ(disk, major) << 20 | BPF_CORE_READ(disk, first_minor) : 0;
}

static __always_inline __u8 request_flags(__u32 kernel_flags)
{
	__u8 flags = 0;

#define FLAG(bit, flag)                                                       \
	if (kernel_flags >> bpf_core_enum_value(enum req_flag_bits, bit) & 1) \
	flags |= flag
	FLAG(__REQ_SYNC, BLOCK_IS_SYNC);
	FLAG(__REQ_META, BLOCK_IS_META);
	FLAG(__REQ_FUA, BLOCK_IS_LASTING);
	FLAG(__REQ_PREFLUSH, BLOCK_FLUSHES);
	FLAG(__REQ_RAHEAD, BLOCK_IS_AHEAD);
	FLAG(__REQ_BACKGROUND, BLOCK_IS_BACKGROUND);
#undef FLAG
	return flags;
}

/* Before block_issue(), for programs are attached in this order: no request is issued whose completion is missed. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(block_complete, struct request *request, __u8 status, unsigned int bytes)
{
	struct ev_system_block_complete *e;

	e = system_reserve(EV_SYSTEM_BLOCK_COMPLETE, 0, sizeof(*e));
	if (!e)
		return 0;
	e->request = request_name(&e->request, request);
	e->sector = request->__sector;
	e->bytes = bytes;
	e->device = request_device(request);
	e->cpu = bpf_get_smp_processor_id();
	e->status = status;
	e->is_last = bytes >= request->__data_len;
	event_submit(e);
	return 0;
}

static __always_inline struct block_asker asker_here(void)
{
	struct task_struct *current = bpf_get_current_task_btf();
	enum wake_context context = context_here(current);
	bool is_thread = context <= WAKE_KERNEL_THREAD;

	return (struct block_asker){
		.thread = is_thread ? number_here(current) : 0,
		.tid = is_thread ? current->pid : 0,
		.context = context,
	};
}

/* What a device has no space for waits in its queue, from which whoever comes by issues it: often a kernel thread. */
SEC("tp_btf/block_rq_insert")
int BPF_PROG(block_insert, struct request *request)
{
	struct block_asker asker = asker_here();
	__u64 key = (__u64)request;

	bpf_map_update_elem(&block_askers, &key, &asker, BPF_ANY);
	return 0;
}

SEC("tp_btf/block_rq_issue")
int BPF_PROG(block_issue, struct request *request)
{
	__u64 key = (__u64)request;
	struct block_asker *found = bpf_map_lookup_elem(&block_askers, &key);
	struct block_asker asker = found ? *found : asker_here();
	struct ev_system_block_issue *e;

	/* The next request at the same place in memory may be issued without having been in a queue. */
	if (found)
		bpf_map_delete_elem(&block_askers, &key);
	e = system_reserve(EV_SYSTEM_BLOCK_ISSUE, asker.thread, sizeof(*e));
	if (!e)
		return 0;
	e->request = request_name(&e->request, request);
	e->sector = request->__sector;
	e->bytes = request->__data_len;
	e->device = request_device(request);
	e->tid = asker.tid;
	e->operation = request->cmd_flags;
	e->flags = request_flags(request->cmd_flags);
	e->context = asker.context;
	event_submit(e);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * Which names traced programs resolve to which addresses: getaddrinfo() of their C library. These
 * two programs are loaded and attached only when that is asked for.
 */
#include "emit.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_core_read.h>

enum {
	HOST_ANSWERS_MAX = 64, /* each address comes once for each type of socket */
	FAMILY_IPV4 = 2,
	FAMILY_IPV6 = 10,
};

/* As programs of 64 bits have it. */
struct answer { /* struct addrinfo */
	int flags, family, type, protocol;
	__u32 address_bytes, reserved;
	__u64 address;
	__u64 canonical_name;
	__u64 next;
};

struct socket_address { /* struct sockaddr_in, struct sockaddr_in6 */
	__u16 family;
	__u16 port;
	__u32 address; /* of IPv6, flow information */
	__u8 address6[16];
};

struct answer_walk {
	__u64 at, name;
	__u32 thread, pid;
	struct socket_address last;
};

SEC("uprobe")
int resolve_begin(struct pt_regs *ctx)
{
	struct thread_state *thread = thread_of(bpf_get_current_task_btf());
	struct host_call *call;

	if (!thread)
		return 0;
	call = &thread->host;
	call->name = ctx->di;
	call->result = ctx->cx;
	/* Where it returns to, the kernel replaces to know of it. */
	call->return_at = ctx->sp;
	bpf_probe_read_user(&call->return_address, sizeof(call->return_address), (void *)ctx->sp);
	return 0;
}

static __always_inline void host_send(const struct answer_walk *walk)
{
	const struct socket_address *address = &walk->last;
	struct ev_file_host *e = event_reserve(EV_FILE_HOST, walk->thread, sizeof(*e));

	if (!e)
		return;
	event_clear(e, sizeof(*e));
	e->family = address->family;
	e->pid = walk->pid;
	if (address->family == FAMILY_IPV4)
		__builtin_memcpy(e->address, &address->address, sizeof(address->address));
	else
		__builtin_memcpy(e->address, address->address6, sizeof(address->address6));
	bpf_probe_read_user_str(e->name, sizeof(e->name), (void *)walk->name);
	event_submit(e);
}

static __always_inline bool is_recorded(const struct socket_address *x, const struct socket_address *y)
{
	const __u64 *x6 = (const void *)x->address6, *y6 = (const void *)y->address6;

	if (x->family != y->family)
		return false;
	if (x->family == FAMILY_IPV4)
		return x->address == y->address;
	return x6[0] == y6[0] && x6[1] == y6[1];
}

/* One entry of the list. A callback of bpf_loop(). */
static long answer_step(__u32 index __attribute__((unused)), void *data)
{
	struct answer_walk *walk = data;
	struct socket_address address = {};
	struct answer answer = {};
	__u32 bytes;

	if (!walk->at || bpf_probe_read_user(&answer, sizeof(answer), (void *)walk->at))
		return 1;
	walk->at = answer.next;
	if (answer.family == FAMILY_IPV4)
		bytes = 8;
	else if (answer.family == FAMILY_IPV6)
		bytes = sizeof(address);
	else
		return 0;
	if (bpf_probe_read_user(&address, bytes, (void *)answer.address))
		return 0;
	address.family = answer.family;
	if (is_recorded(&address, &walk->last))
		return 0;
	walk->last = address;
	host_send(walk);
	return 0;
}

SEC("uretprobe")
int resolve_end(struct pt_regs *ctx)
{
	struct task_struct *current = bpf_get_current_task_btf();
	struct thread_state *thread = thread_of(current);
	struct answer_walk walk = {};
	struct host_call *call;

	if (!thread)
		return 0;
	call = &thread->host;
	walk.thread = thread->thread;
	walk.pid = current->tgid;
	walk.name = call->name;
	if (!ctx->ax && call->name && call->result &&
	    !bpf_probe_read_user(&walk.at, sizeof(walk.at), (void *)call->result))
		bpf_loop(HOST_ANSWERS_MAX, answer_step, &walk, 0);
	call->name = call->result = call->return_at = 0;
	return 0;
}

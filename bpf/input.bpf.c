// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "input.bpf.h"

#include "emit.bpf.h"
#include "hash.bpf.h"

#include <bpf/bpf_core_read.h>

__noinline __u64 input_of_pipe(__u64 address)
{
	struct pipe_inode_info *pipe = (struct pipe_inode_info *)address;
	__u32 tail = BPF_CORE_READ(pipe, tail);
	__u64 slot;

	if (!address || BPF_CORE_READ(pipe, head) == tail)
		return 0;
	/* A read moves one or the other. */
	slot = (__u64)(tail & (BPF_CORE_READ(pipe, ring_size) - 1)) * bpf_core_type_size(struct pipe_buffer);
	slot += (__u64)BPF_CORE_READ(pipe, bufs);
	return hash_mix(hash_mix(1, tail), BPF_CORE_READ((struct pipe_buffer *)slot, offset)) | 1;
}

/* A queue that is empty is its own first member. */
static __always_inline struct sk_buff *first_of(struct sk_buff_head *queue)
{
	struct sk_buff *first = BPF_CORE_READ(queue, next);

	return (void *)first == (void *)queue ? NULL : first;
}

static __always_inline __u64 hash_of(struct sk_buff *message)
{
	__u64 hash = hash_mix(hash_mix(2, (__u64)message), (__u64)BPF_CORE_READ(message, head));

	return hash_mix(hash, BPF_CORE_READ(message, len)) | 1;
}

__noinline __u64 input_of_unix(__u64 address)
{
	struct sk_buff *first = first_of(&((struct sock *)address)->sk_receive_queue);
	struct unix_skb_parms *parms;

	if (!first)
		return 0;
	/* Of a stream a part can be read. */
	parms = (struct unix_skb_parms *)first->cb;
	return hash_mix(hash_of(first), BPF_CORE_READ(parms, consumed)) | 1;
}

/* Who reads moves all that is there to a queue of its own, and reads from that first. */
__noinline __u64 input_of_udp(__u64 address)
{
	struct sk_buff *first = first_of(&((struct udp_sock *)address)->reader_queue);

	if (!first)
		first = first_of(&((struct sock *)address)->sk_receive_queue);
	return first ? hash_of(first) : 0;
}

__noinline __s64 input_age_ns(__u64 address, __u64 input)
{
	struct input_seen *seen = bpf_map_lookup_elem(&inputs_seen, &address);
	__u64 now_ns = bpf_ktime_get_ns();
	struct input_seen new = { input, now_ns, input_look, input_look };

	/* What was not there at the look before may be another one. */
	if (!seen || seen->input != input || seen->last + 1 < input_look) {
		if (input_look_is_second)
			return -1;
		inputs_new++;
		remember(&inputs_seen, &address, &new);
		return 0;
	}
	seen->last = input_look;
	return input_look_is_second && seen->first != input_look ? -1 : (__s64)(now_ns - seen->since_ns);
}

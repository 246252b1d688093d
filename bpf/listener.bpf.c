// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/*
 * How many connections wait at the sockets at which traced processes listen, and how many of those that they have accepted, of
 * their other sockets and of their pipes have input that was not read yet. Nothing runs when something comes: sockets and
 * pipes are found among the descriptors of each process, whenever the engine asks for it.
 */
#include "emit.bpf.h"
#include "file.bpf.h"
#include "hash.bpf.h"
#include "input.bpf.h"
#include "thread.bpf.h"

#include <bpf/bpf_tracing.h>

enum {
	LISTENERS_MAX = 16,     /* of a process */
	DESCRIPTORS_MAX = 4096, /* the first ones: servers listen before others connect */
	FILE_KIND_MASK = 0170000,
	FILE_KIND_SOCKET = 0140000,
	FILE_KIND_PIPE = 0010000,
	MODE_READ = 1,         /* FMODE_READ */
	STATE_ESTABLISHED = 1, /* TCP_ESTABLISHED */
	STATE_LISTENING = 10,  /* TCP_LISTEN, of Unix sockets, too */
	FAMILY_UNIX = 1,
	FAMILY_IPV4 = 2,
	FAMILY_IPV6 = 10,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	AGES = 12, /* ev_file_unread.unread */
	AGE_FIRST_NS = 4000000,
};

/* Descriptors of a process from the next one on. Of the one iterator that runs: on its stack, the verifier would follow each count. */
static struct search {
	__u64 descriptors; /* where the kernel has the files */
	__u64 file, sock;  /* of one that listens; 0: none */
	__u32 next, count;
	__u32 connections, unread[AGES];
	__u32 inputs, seen_unread[AGES];
	__u32 seen_count;
} search;

/* How long the last input has been there at least: the ticks that have passed may be the end of the first one and the beginning of the last one. */
static __always_inline __u64 age_ns(struct tcp_sock *tcp)
{
	__u32 ticks = (__u32)bpf_jiffies64() - BPF_CORE_READ(tcp, inet_conn.icsk_ack.lrcvtime);

	return ticks ? (__u64)(ticks - 1) * jiffy_ns : 0;
}

static __always_inline void age_add(__u32 *ages, __u64 age)
{
	__u64 limit_ns = AGE_FIRST_NS;

	for (int i = 0; i < AGES; i++, limit_ns *= 2) {
		if (age >= limit_ns && i < AGES - 1)
			continue;
		ages[i]++;
		break;
	}
}

static __always_inline void connection_add(struct sock *sock)
{
	struct tcp_sock *tcp = (struct tcp_sock *)sock;

	if (input_look_is_second)
		return;
	search.connections++;
	if (BPF_CORE_READ(tcp, rcv_nxt) != BPF_CORE_READ(tcp, copied_seq))
		age_add(search.unread, age_ns(tcp));
}

/* What is at the front of a queue is no other one than before if the queue still belongs to the same inode. */
static __always_inline void input_add(__u64 address, __u64 input, struct inode *inode)
{
	__s64 age;

	search.inputs++;
	if (!input)
		return;
	age = input_age_ns(address, hash_mix(input, BPF_CORE_READ(inode, i_ino)));
	if (age < 0)
		return;
	search.seen_count++;
	age_add(search.seen_unread, age);
}

/* Verified once, as what follows is, not for each descriptor. */
__noinline int socket_add(__u64 address, __u32 state, __u64 inode_address)
{
	struct inode *inode = (struct inode *)inode_address;
	struct sock *sock = (struct sock *)address;
	__u16 family = BPF_CORE_READ(sock, __sk_common.skc_family), protocol;

	if (family == FAMILY_UNIX) {
		input_add(address, input_of_unix(address), inode);
		return 0;
	}
	if (family != FAMILY_IPV4 && family != FAMILY_IPV6)
		return 0;
	protocol = BPF_CORE_READ(sock, sk_protocol);
	if (protocol == PROTOCOL_TCP && state == STATE_ESTABLISHED)
		connection_add(sock);
	else if (protocol == PROTOCOL_UDP)
		input_add(address, input_of_udp(address), inode);
	return 0;
}

__noinline int pipe_add(__u64 address, __u64 inode)
{
	struct file *file = (struct file *)address;
	__u64 pipe = (__u64)BPF_CORE_READ(file, private_data);

	if (BPF_CORE_READ(file, f_mode) & MODE_READ)
		input_add(pipe, input_of_pipe(pipe), (struct inode *)inode);
	return 0;
}

/* A callback of bpf_loop(): takes one descriptor. */
static long search_step(__u32 index __attribute__((unused)), void *data __attribute__((unused)))
{
	struct file *file = NULL;
	struct inode *inode;
	struct socket *socket;
	struct sock *sock;
	__u32 kind;
	__u8 state;

	if (search.next >= search.count)
		return 1;
	bpf_probe_read_kernel(&file, sizeof(file), (void *)(search.descriptors + search.next++ * sizeof(file)));
	inode = file ? BPF_CORE_READ(file, f_inode) : NULL;
	kind = inode ? BPF_CORE_READ(inode, i_mode) & FILE_KIND_MASK : 0;
	if (kind == FILE_KIND_PIPE)
		pipe_add((__u64)file, (__u64)inode);
	if (kind != FILE_KIND_SOCKET)
		return 0;
	socket = BPF_CORE_READ(file, private_data);
	sock = BPF_CORE_READ(socket, sk);
	if (!sock)
		return 0;
	state = BPF_CORE_READ(sock, __sk_common.skc_state);
	if (state != STATE_LISTENING)
		socket_add((__u64)sock, state, (__u64)inode);
	if (state != STATE_LISTENING || input_look_is_second)
		return 0;
	search.file = (__u64)file;
	search.sock = (__u64)sock;
	return 1;
}

/* The one that the search has found. */
__noinline int listener_send(__u32 thread, __u32 pid)
{
	struct sock *sock = (struct sock *)search.sock;
	__u64 file = search.file;
	__u64 name = file_name(file, (__u64)BPF_CORE_READ((struct file *)file, f_inode), SCRATCH_OF_OTHERS);
	__u32 limit = BPF_CORE_READ(sock, sk_max_ack_backlog);
	struct ev_file_listener *e;

	if (!name)
		return 0;
	e = event_reserve(EV_FILE_LISTENER, thread, sizeof(*e));
	if (!e)
		return 0;
	e->file = name;
	e->pid = pid;
	/* Full is a queue that is longer than listen() asked for. */
	e->capacity = limit + 1 ? limit + 1 : limit;
	if (BPF_CORE_READ(sock, __sk_common.skc_family) == FAMILY_UNIX) {
		e->waiting = BPF_CORE_READ(sock, sk_receive_queue.qlen);
		e->drops = 0;
	} else {
		e->waiting = BPF_CORE_READ(sock, sk_ack_backlog);
		e->drops = BPF_CORE_READ(sock, sk_drops.counter);
	}
	event_submit(e);
	return 0;
}

static __always_inline void unread_send(__u32 thread, __u32 pid)
{
	struct ev_file_unread *e;

	if (input_look_is_second ? !search.seen_count : !search.connections && !search.inputs)
		return;
	e = event_reserve(EV_FILE_UNREAD, thread, sizeof(*e));
	if (!e)
		return;
	e->pid = pid;
	e->connections = search.connections;
	__builtin_memcpy(e->unread, search.unread, sizeof(e->unread));
	e->inputs = search.inputs;
	e->is_second = input_look_is_second;
	__builtin_memcpy(e->seen_unread, search.seen_unread, sizeof(e->seen_unread));
	event_submit(e);
}

SEC("iter/task")
int list_listeners(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	struct files_struct *files;
	struct thread_state *thread;
	struct fdtable *table;
	__u32 new_before;

	if (!task || task->pid != task->tgid)
		return 0;
	thread = thread_of(task);
	if (!thread || thread->phase == PHASE_DEAD || (input_look_is_second && thread->input_look != input_look))
		return 0;
	files = BPF_CORE_READ(task, files);
	table = files ? BPF_CORE_READ(files, fdt) : NULL;
	if (!table)
		return 0;
	__builtin_memset(&search, 0, sizeof(search));
	search.descriptors = (__u64)BPF_CORE_READ(table, fd);
	search.count = BPF_CORE_READ(table, max_fds);
	if (search.count > DESCRIPTORS_MAX)
		search.count = DESCRIPTORS_MAX;
	new_before = inputs_new;
	for (int i = 0; i < LISTENERS_MAX; i++) {
		search.file = 0;
		bpf_loop(DESCRIPTORS_MAX, search_step, NULL, 0);
		if (!search.file)
			break;
		listener_send(thread->thread, task->tgid);
	}
	if (inputs_new != new_before)
		thread->input_look = input_look;
	unread_send(thread->thread, task->tgid);
	return 0;
}

/* SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause */
/*
 * All that we depend on in the kernel: these structs hold only the fields we use, and
 * CO-RE finds their places on the running kernel. Floor: Linux 5.19 with BTF.
 */
#pragma once

#include <linux/bpf.h>
#include <stdbool.h>

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct upid {
	int nr;
};

struct hlist_node {
	struct hlist_node *next;
};

struct hlist_head {
	struct hlist_node *first;
};

struct pid {
	struct hlist_head tasks[2]; /* enum pid_type: there are more */
	unsigned int level;
	struct upid numbers[1];
};

typedef struct {
	long counter;
} atomic_long_t;

struct mutex {
	atomic_long_t owner; /* the task and flags; not with PREEMPT_RT */
};

typedef struct spinlock {
	int of_any_size;
} spinlock_t;

typedef struct raw_spinlock {
	int of_any_size;
} raw_spinlock_t;

struct rw_semaphore {
	atomic_long_t owner; /* as above */
	raw_spinlock_t wait_lock;
};

struct xarray {
	spinlock_t xa_lock;
};

struct address_space {
	struct xarray i_pages;
};

struct mm_struct {
	void *pgd;
};

struct list_head {
	struct list_head *next;
};

struct mount;

struct super_block {
	__u32 s_dev;
	unsigned long s_magic;
	struct mount *s_mounts; /* since 6.18; before: */
};

struct super_block___before_6_18 {
	struct list_head s_mounts;
};

/* A lock of a file, of fcntl() or flock(). Since 6.9; before: */
struct file_lock_core {
	struct list_head flc_list;
	void *flc_owner;
	unsigned char flc_type;
};

struct file_lock {
	struct file_lock_core c;
	long long fl_start, fl_end;
};

struct file_lock___before_6_9 {
	struct list_head fl_list;
	void *fl_owner;
	unsigned char fl_type;
	long long fl_start, fl_end;
};

struct file_lock_context {
	struct list_head flc_flock, flc_posix;
};

struct inode {
	struct file_lock_context *i_flctx;
	unsigned short i_mode;
	unsigned int i_nlink;
	__u32 i_rdev;
	unsigned long i_ino;
	struct super_block *i_sb;
	struct address_space *i_mapping;
	struct address_space i_data;
	struct rw_semaphore i_rwsem;
	spinlock_t i_lock;
	struct hlist_head i_dentry;
};

struct qstr {
	__u64 hash_len;
	const unsigned char *name;
};

struct dentry {
	struct dentry *d_parent;
	struct qstr d_name;
	struct inode *d_inode;
	union {
		struct hlist_node d_alias;
	} d_u;
};

struct vfsmount {
	struct dentry *mnt_root;
	struct super_block *mnt_sb;
};

struct mount {
	struct mount *mnt_parent;
	struct dentry *mnt_mountpoint;
	struct vfsmount mnt;
	struct mnt_namespace *mnt_ns;
	struct mount *mnt_next_for_sb; /* since 6.18; before: */
};

struct mount___before_6_18 {
	struct list_head mnt_instance;
};

struct nsproxy {
	struct mnt_namespace *mnt_ns;
};

struct path {
	struct vfsmount *mnt;
	struct dentry *dentry;
};

struct file {
	unsigned int f_mode;
	struct path f_path;
	struct inode *f_inode;
	void *private_data;
	struct hlist_head *f_ep; /* what polls it: struct epitem.fllink */
};

struct epitem {
	struct hlist_node fllink;
	void *ep; /* struct eventpoll */
};

/* What a worker of io_uring works on is part of a request. */
struct io_wq_work {
	void *first;
};

struct io_kiocb {
	struct file *file;
	struct io_wq_work work;
};

struct io_worker {
	struct io_wq_work *cur_work;
};

struct linux_binprm {
	struct file *file;
};

struct fs_struct {
	struct path root, pwd;
};

struct pipe_buffer {
	unsigned int offset; /* what was read of it */
};

struct pipe_inode_info {
	unsigned int head, tail; /* the next one to write, and to read */
	unsigned int max_usage;
	unsigned int ring_size; /* a power of two */
	struct pipe_buffer *bufs;
};

struct vm_area_struct {
	unsigned long vm_start, vm_flags, vm_pgoff;
	struct file *vm_file;
};

struct fdtable {
	unsigned int max_fds;
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct in6_addr {
	__u8 bytes[16];
};

struct sock_common {
	__u32 skc_daddr;
	__u32 skc_rcv_saddr;
	__u16 skc_dport; /* in the network's order */
	__u16 skc_num;   /* in the CPU's */
	unsigned short skc_family;
	unsigned char skc_state;
	struct in6_addr skc_v6_daddr;
	struct in6_addr skc_v6_rcv_saddr;
};

struct sk_buff_head {
	struct sk_buff *next;
	__u32 qlen;
};

typedef struct {
	int counter;
} atomic_t;

struct sock {
	struct sock_common __sk_common;
	atomic_t sk_drops;
	struct sk_buff_head sk_receive_queue;
	__u32 sk_ack_backlog;
	__u32 sk_max_ack_backlog;
	__u16 sk_type;
	__u16 sk_protocol;
	struct pid *sk_peer_pid;
	struct socket *sk_socket;
};

struct inet_sock {
	struct sock sk;
};

struct inet_connection_sock {
	struct inet_sock icsk_inet;
	struct {
		__u32 lrcvtime; /* when data came last, in ticks */
	} icsk_ack;
};

struct tcp_sock {
	struct inet_connection_sock inet_conn;
	__u32 copied_seq, rcv_nxt; /* of the input: what was read, and what has come */
	__u64 first_tx_mstamp;     /* us of CLOCK_MONOTONIC */
};

struct udp_sock {
	struct inet_sock inet;
	struct sk_buff_head reader_queue;
};

struct socket {
	struct file *file;
	struct sock *sk;
};

struct socket_alloc {
	struct socket socket;
	struct inode vfs_inode;
};

struct unix_address {
	int len; /* of the name behind it, which begins with the family */
};

struct unix_sock {
	struct sock sk;
	struct unix_address *addr;
	struct sock *peer;
};

struct signal_struct {
	atomic_t live;
};

struct sighand_struct {
	spinlock_t siglock;
};

struct kmem_cache {
	const char *name;
};

struct sigpending {
	struct {
		unsigned long sig[1];
	} signal;
};

struct thread_struct {
	unsigned long fsbase;
};

struct thread_info {
	unsigned long flags;
	__u32 status;
};

struct rq {
	int cpu;
};

struct cfs_rq {
	struct rq *rq;                   /* CONFIG_FAIR_GROUP_SCHED, as the following */
	int throttle_count;              /* CONFIG_CFS_BANDWIDTH, as the following */
	__u64 throttled_clock_self_time; /* since 6.6 */
	__u64 throttled_clock_pelt_time;
};

struct sched_entity {
	__u64 sum_exec_runtime; /* ns, up to the last tick or switch */
	struct cfs_rq *cfs_rq;
};

struct task_io_accounting {
	__u64 rchar, wchar, syscr, syscw;
};

struct task_struct {
	struct thread_info thread_info;
	unsigned int __state;
	unsigned int flags;
	int on_cpu;
	int nr_cpus_allowed;
	int pid;
	int tgid;
	struct mm_struct *mm;
	struct files_struct *files;
	struct fs_struct *fs;
	struct nsproxy *nsproxy;
	struct signal_struct *signal;
	struct sighand_struct *sighand;
	struct sigpending pending;
	struct task_struct *group_leader;
	struct pid *thread_pid;
	struct hlist_node pid_links[2];
	__u64 start_boottime;
	char comm[16];
	struct thread_struct thread;
	struct sched_entity se;
	void *task_works;
	unsigned long min_flt, maj_flt;
	struct task_io_accounting ioac;
	void *worker_private;
	unsigned int in_iowait : 1;
	bool throttled;          /* since 6.18 */
	int softirq_disable_cnt; /* PREEMPT_RT */
};

struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di, orig_ax;
	unsigned long ip, cs, flags, sp;
};

struct hrtimer_cpu_base {
	int cpu;
};

struct hrtimer_clock_base {
	struct hrtimer_cpu_base *cpu_base;
};

struct timerqueue_node {
	__s64 expires;
};

struct hrtimer {
	struct timerqueue_node node;
	struct hrtimer_clock_base *base;
};

struct irqaction {
	const char *name;
};

struct net_device {
	char name[16];
	int ifindex;
};

struct sk_buff {
	struct net_device *dev;
	char cb[48];
	unsigned int len;
	unsigned char *head;
};

/* sk_buff.cb of Unix sockets. */
struct unix_skb_parms {
	__u32 consumed;
};

struct gendisk {
	int major;
	int first_minor;
};

struct request_queue {
	struct gendisk *disk;
};

struct request {
	struct request_queue *q;
	unsigned int cmd_flags;
	unsigned int __data_len;
	__u64 __sector;
};

/* Numbered by the running kernel. */
enum req_flag_bits {
	__REQ_SYNC = 11,
	__REQ_META = 12,
	__REQ_FUA = 17,
	__REQ_PREFLUSH = 18,
	__REQ_RAHEAD = 19,
	__REQ_BACKGROUND = 20,
};

struct tick_sched {
	struct hrtimer sched_timer;
};

struct bpf_iter_meta {
	__u64 session_id;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

struct bpf_iter__bpf_map_elem {
	struct bpf_iter_meta *meta;
	void *key, *value;
};

struct bpf_perf_event_data {
	struct pt_regs regs;
};

#pragma clang attribute pop

/* arch/x86/include/asm/thread_info.h */
enum {
	COMPAT_STATUS = 2, /* TS_COMPAT */
};

/* include/trace/events/lock.h: of lock:contention_begin */
enum {
	CONTENTION_SPINS = 1 << 0,
	CONTENTION_READS = 1 << 1,
	CONTENTION_WRITES = 1 << 2,
	CONTENTION_RT = 1 << 3,
	CONTENTION_PERCPU = 1 << 4,
	CONTENTION_MUTEX = 1 << 5,
};

/* include/linux/sched.h: unchanged over the range of kernels we support. */
enum {
	SIGKILL_PENDING = 1 << 8,
	TASK_INTERRUPTIBLE = 0x1,
	TASK_UNINTERRUPTIBLE = 0x2,
	TASK_STOPPED_OR_TRACED = 0x4 | 0x8,
	TASK_DEAD = 0x80,
	TASK_WAKING = 0x200,
	TASK_NEW = 0x800,
	PIDTYPE_TGID = 1,
	PF_IO_WORKER = 0x00000010,
	PF_USER_WORKER = 0x00004000, /* of vhost; nothing else before 6.4 */
	PF_KTHREAD = 0x00200000,
};

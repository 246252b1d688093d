/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Numbers that event fields carry. Part of the file format: explicit and permanent.
 */
#pragma once

/* Of the numbers of CPUs: they have 16 bits in events. */
enum { CPUS_MAX = 1 << 16 };

/* In the number of a thread that is recorded with --system and not traced. */
#define THREAD_EXTERNAL (1u << 31)

/* Why a thread was switched out: sched.SWITCH.state. */
enum switch_state {
	SWITCH_RUNNABLE = 0, /* preempted, or it yielded: it wants to go on */
	SWITCH_SLEEPING = 1, /* interruptible sleep */
	SWITCH_BLOCKED = 2,  /* uninterruptible: mostly disk and kernel locks */
	SWITCH_STOPPED = 3,  /* by a signal or a debugger */
	SWITCH_DEAD = 4,     /* its last switch */
};

/* sched.SWITCH.flags. */
enum switch_flags {
	SWITCH_HAS_STACK = 1,     /* stack and keep are meant, even when stack is 0 */
	SWITCH_STACK_SKIPPED = 2, /* the slice was worth a stack, the governor took none */
	SWITCH_IO_WAIT = 4,       /* the kernel says that it waits for a device */
	SWITCH_COMPAT = 8,        /* its system call is one of 32 bits, with numbers of its own */
	SWITCH_THROTTLED = 16,    /* it could run, except for the CPU limit of its cgroup */
	SWITCH_AFTER_HIDDEN = 32, /* the kernel has not reported the switch before: see sched.HIDDEN */
	SWITCH_KERNEL_LOCK = 64,  /* it waits for a kernel lock: object is a klock.LOCK */
	SWITCH_IN_FILE = 128,     /* object is what a futex in shared memory, or a path, leads to: of file.* */
};

/* sched.SAMPLE.role. */
enum sample_role {
	SAMPLE_REGULAR,
	SAMPLE_BESIDE,  /* by a timer, while others are taken at the kernel's tick: to see whether they find the same */
	SAMPLE_INSTEAD, /* by a timer, since those at the tick turned out to be in step with threads */
};

/* sched.SAMPLE.turn. */
enum sample_turn {
	TURN_UNKNOWN,
	TURN_SINCE_POLL,  /* of the turn: the thread came to its poll then */
	TURN_SINCE_WATCH, /* of the watch: the thread has not come to its poll since, and the turn is older */
};

enum { TURN_AGE_SHIFT = 14 };

/*
 * sched.SWITCH of a thread that blocks: what the fields mean depends on what its system call takes.
 *
 *	                object                 value           operation
 *	a futex         address of the word    the word        FUTEX_WAIT_BITSET and so on, with flags;
 *	                                                       and FUTEX_WITHOUT_LIMIT
 *	a file          file.*, 0: unknown   descriptor      second argument's lowest bits; the
 *	                                                       next three are in owners
 *	poll, ppoll     the file, if it is one descriptors     milliseconds; 65535: no limit, or as many;
 *	                                                       what one is polled for (POLLIN and so on) is in owners
 *	none: a fault   file.* mapped there    enum fault_memory
 *	a process       which one, as in wait4
 *	anything else   first argument         second argument
 *
 * A sleep right after the lock of a file was refused is recorded as the call that waits for that lock, and its end as a
 * sched.WAKE by who had it (doc/decisions/0062).
 * With SWITCH_KERNEL_LOCK the object is that lock, and the value the tid of who has it, whatever the call.
 * With SWITCH_IN_FILE the object of a futex is a file.PLACE, and that of a call with a path a file.CALLED.
 */
enum {
	SYSCALL_NONE = 0xffff,
	SYSCALLS_MAX = 512, /* a power of two, above their numbers */
};

/* A flag of a futex's operation, beside the kernel's: its wait has no limit of time. 0: it has, or that is not known. */
enum {
	FUTEX_WITHOUT_LIMIT = 512,
};

/* What a page fault without a system call is on; or that it is none. */
enum fault_memory {
	MEMORY_UNKNOWN = 0,
	MEMORY_OF_FILE = 1,   /* object is which */
	MEMORY_ANONYMOUS = 2, /* of no file */
	/* A worker of io_uring or vhost: object is the file that it works on, 0: none, or unknown. */
	MEMORY_NONE = 3,
};

/* What the first argument of a system call says of what it waits for; the second one may help. */
enum wait_argument {
	ARGUMENT_PLAIN = 0,
	ARGUMENT_FUTEX = 1,        /* address of a word, operation */
	ARGUMENT_FUTEX_FLAGS = 2,  /* address of a word; flags come fourth */
	ARGUMENT_FUTEX_VECTOR = 3, /* address of several such */
	ARGUMENT_FILE = 4,         /* descriptor */
	ARGUMENT_POLL = 5,         /* address of descriptors, how many, milliseconds */
	ARGUMENT_RESTART = 6,      /* none: it goes on with the call before */
	ARGUMENT_POLL_TIME = 7,    /* address of descriptors, how many, address of a struct timespec */
	ARGUMENT_FILE_PARTS = 8,   /* descriptor, address of a struct iovec, how many */
	ARGUMENT_FILE_MESSAGE = 9, /* descriptor, address of a struct msghdr */
	ARGUMENT_PATH = 10,        /* address of a path */
	ARGUMENT_PATH_AT = 11,     /* descriptor of the directory where it begins, address of a path */
	ARGUMENT_TIME = 12,        /* how long to sleep */
};

/* System calls by which event loops poll, and which argument says of what. */
enum poll_kind {
	POLL_NONE = 0,
	POLL_EPOLL = 1,  /* first: descriptor of the queue */
	POLL_RING = 2,   /* the same; it is a poll if the flags, which come fourth, ask for results */
	POLL_LIST = 3,   /* second: how many descriptors */
	POLL_SELECT = 4, /* first: how many there may be */
};

/* Where a wake-up comes from: sched.WAKE.context, without WAKE_FOR_WORK. */
enum wake_context {
	WAKE_THREAD = 0,
	WAKE_KERNEL_THREAD = 1,
	WAKE_SOFTIRQ = 2,
	WAKE_HARDIRQ = 3,
};

/*
 * In sched.WAKE.context, of interrupts: the thread has work of the kernel's to do (task_work). A request that it made
 * of io_uring is complete, whatever else it waits for.
 */
enum {
	WAKE_FOR_WORK = 0x80,
};

/* sched.WAKE.flags. */
enum wake_flags {
	WAKE_HAS_STACK = 1,      /* stack and keep are meant, even when stack is 0 */
	WAKE_HAS_WAIT_STACK = 2, /* the same of wait_stack */
	WAKE_TO_DIE = 4,         /* the thread woken has been killed, or its whole process ends */
	/* With --system, of interrupts: */
	WAKE_BY_TIMER = 8,  /* a timer has expired */
	WAKE_VECTOR = 0xf0, /* enum softirq_vector + 1; 0: unknown */
};

enum { WAKE_VECTOR_SHIFT = 4 };

/* What a softirq does: system.SOFTIRQ.vector. */
enum softirq_vector {
	SOFTIRQ_URGENT = 0, /* tasklets that go first */
	SOFTIRQ_TIMER = 1,
	SOFTIRQ_SEND = 2,
	SOFTIRQ_RECEIVE = 3,
	SOFTIRQ_BLOCK = 4,
	SOFTIRQ_POLL = 5,
	SOFTIRQ_TASKLET = 6,
	SOFTIRQ_SCHEDULER = 7,
	SOFTIRQ_PRECISE_TIMER = 8,
	SOFTIRQ_RCU = 9,
};

/* What a device is asked for: system.BLOCK_ISSUE.operation; others as the kernel numbers them. */
enum block_operation {
	BLOCK_READ = 0,
	BLOCK_WRITE = 1,
	BLOCK_FLUSH = 2,
	BLOCK_DISCARD = 3,
};

/* system.BLOCK_ISSUE.flags. */
enum block_flags {
	BLOCK_IS_SYNC = 1,        /* somebody waits for it */
	BLOCK_IS_META = 2,        /* of the file system's own */
	BLOCK_IS_LASTING = 4,     /* written through the device's cache (FUA) */
	BLOCK_FLUSHES = 8,        /* the device's cache first */
	BLOCK_IS_AHEAD = 16,      /* nobody has asked for it yet */
	BLOCK_IS_BACKGROUND = 32, /* write-back that is in no hurry */
};

/* Why a stack has no more frames: stack.FRAMES.end. */
enum stack_end {
	STACK_COMPLETE = 0,   /* its outermost function is there */
	STACK_TRUNCATED = 1,  /* it is deeper than --depth */
	STACK_NO_TABLE = 2,   /* nothing says who called the last frame */
	STACK_UNREADABLE = 3, /* its memory, or what it led to, made no sense */
	STACK_ENDS = 4,
};

/*
 * Set in a user's frame: it was found by a frame pointer, for its callee has no table; it is where
 * a signal came, not where a call returns to.
 */
#define STACK_FRAME_GUESSED (1ull << 63)
#define STACK_FRAME_EXACT (1ull << 62)
#define STACK_FRAME_MANAGED (1ull << 61)
#define STACK_FRAME_ADDRESS (STACK_FRAME_MANAGED - 1)

/*
 * With STACK_FRAME_MANAGED it is not an address but a function of a runtime's: the address of an object or the
 * like, which is a multiple of 8 below 2^47, and an index.
 *
 * Of CPython that is a code object, and the index that of the instruction in units of code; all ones: unknown.
 * Of Ruby it is a method's entry or an instruction sequence, and the index that of the next instruction in words from
 * address 0, in its lowest bits. Such frames follow the native one of the interpreter.
 *
 * With the index STACK_MANAGED_JAVASCRIPT, which the others do not have, it is a SharedFunctionInfo of V8's, and the
 * frame is in place of a native one. With STACK_MANAGED_JAVA, likewise, it is a Method of HotSpot's that is interpreted.
 */
#define STACK_MANAGED_SHIFT 14 /* an address is so much further left */
#define STACK_MANAGED_INDEX ((1ull << 17) - 1)
#define STACK_MANAGED_JAVASCRIPT (STACK_MANAGED_INDEX - 1)
#define STACK_MANAGED_JAVA (STACK_MANAGED_INDEX - 2)
#define STACK_MANAGED_CODE (STACK_FRAME_ADDRESS & ~STACK_MANAGED_INDEX)

/* Whose code managed frames run: space.MANAGED_CODE.language. */
enum managed_language {
	MANAGED_PYTHON = 0,
	MANAGED_RUBY = 1,
	MANAGED_JAVASCRIPT = 2,
};

/* How a kernel lock is taken: klock.WAIT.kind. */
enum klock_kind {
	KLOCK_SPINLOCK = 0,
	KLOCK_RWLOCK_READ = 1,
	KLOCK_RWLOCK_WRITE = 2,
	KLOCK_MUTEX = 3,
	KLOCK_RWSEM_READ = 4,
	KLOCK_RWSEM_WRITE = 5,
	KLOCK_PERCPU_READ = 6,
	KLOCK_PERCPU_WRITE = 7,
	KLOCK_RTMUTEX = 8,
	KLOCK_SEMAPHORE = 9,
	KLOCK_KINDS = 10,
};

/* klock.WAIT.flags. */
enum klock_flags {
	KLOCK_HAS_STACK = 1,   /* stack and keep are meant, even when stack is 0 */
	KLOCK_LASTS = 2,       /* the wait had not ended when this was recorded */
	KLOCK_GAVE_UP = 4,     /* it ended without the lock */
	KLOCK_HAS_READERS = 8, /* whoever had it had it for reading: any number of threads, none is known */
};

/* What a kernel lock is a part of: klock.LOCK.object. */
enum klock_object {
	KLOCK_OF_NOTHING = 0,      /* known */
	KLOCK_OF_MEMORY = 1,       /* of a process: struct mm_struct */
	KLOCK_OF_DESCRIPTORS = 2,  /* of a process: struct files_struct */
	KLOCK_OF_SIGNALS = 3,      /* of a process: struct sighand_struct */
	KLOCK_OF_PROCESS = 4,      /* struct signal_struct */
	KLOCK_OF_THREAD = 5,       /* struct task_struct */
	KLOCK_OF_INODE = 6,        /* of file: struct inode */
	KLOCK_OF_FILE = 7,         /* as it was opened: struct file */
	KLOCK_OF_PIPE = 8,         /* struct pipe_inode_info */
	KLOCK_OF_SOCKET = 9,       /* struct sock */
	KLOCK_OF_UNIX_SOCKET = 10, /* struct unix_sock */
	KLOCK_OF_UNIX_PEER = 11,   /* the same, of the other end of file */
	KLOCK_OF_RUN_QUEUE = 12,   /* of cpu: struct rq */
	KLOCK_OBJECTS = 13,
};

enum { SPANS_MAX = 16 };

/* span.END.flags. */
enum span_flags {
	SPAN_JUMPS = 1, /* the function jumps: it ends if its frame is gone, as value says */
};

/* What begins and ends a span: span.NAME.kind. */
enum span_kind {
	SPAN_OF_CALLS = 0,    /* two system calls */
	SPAN_OF_FUNCTION = 1, /* a function of the program */
	SPAN_OF_EVENTS = 2,   /* two events of the program's own: user.EVENT, and no span.BEGIN and span.END */
};

/* What a thread does: thread.FOUND.phase. */
enum thread_phase {
	PHASE_UNKNOWN = 0,
	PHASE_BLOCKED = 1,
	PHASE_RUNNABLE = 2,
	PHASE_RUNNING = 3,
	PHASE_DEAD = 4,
};

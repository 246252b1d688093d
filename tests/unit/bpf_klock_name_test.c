/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernel locks are part of, as far as that is found where they are waited for. */
#include "klock_fixture.h"

enum { FAMILY_UNIX = 1, FAMILY_IPV4 = 2, FD = 3 };

/* The lock at an address, waited for by the thread itself. */
static const struct ev_klock_lock *recorded_of(const void *lock, unsigned int flags)
{
	wait_for(lock, flags, 10);
	CHECK_EQUAL(lock_count, 1);
	CHECK(!locks[0].header.thread);
	CHECK_EQUAL(locks[0].address, (uintptr_t)lock);
	CHECK_EQUAL(locks[0].lock, waits[0].lock);
	return &locks[0];
}

/* And what it is of, and where in there. */
static bool is_of(const struct ev_klock_lock *e, enum klock_object object, const void *base)
{
	return e->object == object && e->offset == e->address - (uintptr_t)base;
}

/* --- Of the process --------------------------------------------------------------------------- */

static struct files_struct own_files;
static struct sighand_struct own_sighand;

static struct world_task *begin_second_thread(void)
{
	struct world_task *second;

	begin();
	second = world_add_task(&world, thread);
	world_visit(&world, 0, second);
	drain();
	second->task.files = &own_files;
	second->task.sighand = &own_sighand;
	snprintf(second->task.comm, sizeof(second->task.comm), "second");
	run_on(0, &second->task);
	return second;
}

TEST(what_lies_in_an_object_of_the_process_is_that_of_its_first_thread)
{
	struct task_struct *second = &begin_second_thread()->task;
	const struct {
		const void *base;
		enum klock_object object;
	} objects[] = {
		{ second->mm, KLOCK_OF_MEMORY },
		{ second->files, KLOCK_OF_DESCRIPTORS },
		{ second->sighand, KLOCK_OF_SIGNALS },
		{ second->signal, KLOCK_OF_PROCESS },
	};

	for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
		const struct ev_klock_lock *e = recorded_of(objects[i].base, SPINS);

		CHECK(is_of(e, objects[i].object, objects[i].base) && !e->file && !e->cpu);
		CHECK_EQUAL(e->pid, (uint32_t)thread->task.pid);
		CHECK_STRING(e->process, thread->task.comm);
	}
	end();
}

TEST(what_lies_in_the_thread_itself_is_its_own)
{
	struct world_task *second = begin_second_thread();
	const struct ev_klock_lock *e = recorded_of(&second->task.pending, SPINS);

	CHECK(is_of(e, KLOCK_OF_THREAD, second));
	CHECK_EQUAL(e->offset, offsetof(struct task_struct, pending));
	CHECK_EQUAL(e->pid, (uint32_t)second->task.pid);
	CHECK_STRING(e->process, thread->task.comm);
	end();
}

TEST(the_end_of_an_object_is_not_part_of_it)
{
	struct {
		uint64_t before[512];
		struct files_struct files;
		uint64_t after[512];
	} place = { 0 };
	struct world_task *second = begin_second_thread();
	char *base = (char *)&place.files;

	second->task.files = &place.files;
	CHECK(is_of(recorded_of(base + sizeof(place.files) - 1, SPINS), KLOCK_OF_DESCRIPTORS, base));
	CHECK_EQUAL(recorded_of(base + sizeof(place.files), SPINS)->object, KLOCK_OF_NOTHING);
	CHECK_EQUAL(recorded_of(base - 1, SPINS)->object, KLOCK_OF_NOTHING);
	end();
}

TEST(a_lock_of_nothing_that_is_known_says_so)
{
	const struct ev_klock_lock *e;

	begin();
	e = recorded_of(&plain.lock[0], SPINS);
	CHECK_EQUAL(e->object, KLOCK_OF_NOTHING);
	CHECK(!e->offset && !e->pid && !e->file && !e->cpu);
	CHECK(!*e->process && !*e->cache);
	end();
}

/* --- Of inodes -------------------------------------------------------------------------------- */

static struct {
	uint64_t before[512];
	struct inode inode;
	uint64_t after[512];
} place;

static struct dentry place_name = { .d_parent = &place_name, .d_name.name = (const unsigned char *)"place" };
static struct super_block place_super = { .s_dev = 8 << 20 | 1 };

static void make_inode(unsigned short mode)
{
	static unsigned long numbers = 1000;

	memset(&place, 0, sizeof(place));
	place.inode = (struct inode){
		.i_mode = mode, .i_nlink = 1, .i_ino = ++numbers, .i_sb = &place_super, .i_mapping = &place.inode.i_data
	};
	place.inode.i_dentry.first = &place_name.d_u.d_alias;
}

TEST(an_inode_is_known_by_itself_where_its_locks_are)
{
	static const struct {
		size_t offset;
		unsigned int flags;
	} at[] = {
		{ offsetof(struct inode, i_rwsem), CONTENTION_READS },
		{ offsetof(struct inode, i_rwsem), CONTENTION_WRITES },
		{ offsetof(struct inode, i_lock), SPINS },
		{ offsetof(struct inode, i_data.i_pages.xa_lock), SPINS },
		{ offsetof(struct inode, i_rwsem.wait_lock), SPINS },
	};

	for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
		begin();
		make_inode(0100644);
		recorded_of((char *)&place.inode + at[i].offset, at[i].flags);
		CHECK(is_of(&locks[0], KLOCK_OF_INODE, &place.inode));
		CHECK_EQUAL(locks[0].offset, at[i].offset);
		CHECK(locks[0].file);
		CHECK_EQUAL(file_count, 1);
		CHECK_EQUAL(last_path.file, locks[0].file);
		CHECK_EQUAL(last_path.inode, place.inode.i_ino);
		CHECK(!locks[0].pid);
		end();
	}
}

static struct {
	uint64_t before[512];
	struct inode inode;
	uint64_t after[512];
} other_place;

static struct dentry other_name = { .d_parent = &other_name, .d_name.name = (const unsigned char *)"other" };

static void make_other_inode(void)
{
	memset(&other_place, 0, sizeof(other_place));
	other_place.inode = (struct inode){ .i_mode = 0100644,
					    .i_nlink = 1,
					    .i_ino = 1,
					    .i_sb = &place_super,
					    .i_mapping = &other_place.inode.i_data };
	other_place.inode.i_dentry.first = &other_name.d_u.d_alias;
}

static size_t points_left; /* until an interrupt waits; SIZE_MAX: none, or it has */

static void interrupt(void)
{
	if (cpu_counts[0].is_remembering || points_left--)
		return;
	shim_at_point = NULL;
	in_context(IN_SOFTIRQ);
	wait_begins(&other_place.inode.i_lock, SPINS);
	wait_ends(&other_place.inode.i_lock, 0);
	in_context(0);
}

/* Both locks are new each time. */
static void wait_interrupted(size_t at)
{
	shim_forget(&klocks_known);
	shim_forget(&files_known);
	points_left = at;
	shim_at_point = interrupt;
	wait_begins(&place.inode.i_lock, SPINS);
	wait_ends(&place.inode.i_lock, 0);
	shim_at_point = NULL;
	drain();
}

TEST(a_lock_that_an_interrupt_names_while_another_one_is_being_named_changes_no_name)
{
	struct ev_klock_lock expected, other_expected;
	size_t at = 0;

	begin();
	make_inode(0100644);
	make_other_inode();
	expected = *recorded_of(&place.inode.i_lock, SPINS);
	other_expected = *recorded_of(&other_place.inode.i_lock, SPINS);
	for (wait_interrupted(at); points_left == SIZE_MAX; wait_interrupted(++at)) {
		CHECK_EQUAL(wait_count, 2);
		CHECK_EQUAL(lock_count, 2);
		CHECK_EQUAL(file_count, 2);
		for (size_t i = 0; i < 2; i++) {
			const struct ev_klock_lock *e =
				locks[i].address == expected.address ? &expected : &other_expected;

			CHECK(locks[i].address == e->address && locks[i].lock == e->lock && locks[i].file == e->file);
			CHECK_EQUAL(waits[i].lock,
				    waits[i].context == WAKE_THREAD ? expected.lock : other_expected.lock);
		}
		CHECK_THAT(locks[0].address, !=, locks[1].address);
	}
	CHECK_THAT(at, >, 20);
	end();
}

TEST(what_is_not_taken_as_an_inode_s_lock_is_none)
{
	begin();
	make_inode(0100644);
	CHECK(!recorded_of(&place.inode.i_rwsem, SPINS)->object);
	CHECK(!recorded_of(&place.inode.i_lock, CONTENTION_WRITES)->object);
	CHECK(!recorded_of(&place.inode.i_data, MUTEX_SLEEPS)->object && !file_count);
	end();
}

TEST(what_does_not_point_to_its_own_pages_is_no_inode)
{
	struct address_space other_pages;

	begin();
	make_inode(0060644);
	place.inode.i_mapping = &other_pages;
	CHECK(!recorded_of(&place.inode.i_lock, SPINS)->object && !locks[0].file);
	place.inode.i_mapping = &place.inode.i_data;
	place.inode.i_sb = NULL;
	CHECK(!recorded_of(&place.inode.i_rwsem, CONTENTION_WRITES)->object && !file_count);
	end();
}

TEST(an_inode_without_a_name_is_an_inode)
{
	begin();
	make_inode(0100644);
	place.inode.i_dentry.first = NULL;
	CHECK(is_of(recorded_of(&place.inode.i_lock, SPINS), KLOCK_OF_INODE, &place.inode) && !locks[0].file);
	end();
}

/* It is mounted in other namespaces, too; in which directory the thread is does not matter. */
TEST(an_inode_is_named_by_where_its_process_sees_its_file_system)
{
	struct mnt_namespace *own_space = (void *)&own_files, *other_space = (void *)&own_sighand;
	struct nsproxy spaces = { .mnt_ns = own_space };
	struct dentry root = { .d_parent = &root, .d_name.name = (const unsigned char *)"/" };
	struct dentry point = { .d_parent = &root, .d_name.name = (const unsigned char *)"point" };
	struct mount base = { .mnt_parent = &base, .mnt.mnt_root = &root, .mnt_ns = own_space };
	struct mount here = {
		.mnt_parent = &base, .mnt_mountpoint = &point, .mnt.mnt_root = &place_name, .mnt_ns = own_space
	};
	struct mount there = { .mnt_parent = &there, .mnt.mnt_root = &place_name, .mnt_ns = other_space };

	there.mnt_next_for_sb = &here;
	place_super.s_mounts = &there;
	begin();
	make_inode(0100644);
	thread->task.nsproxy = &spaces;
	recorded_of(&place.inode.i_rwsem, CONTENTION_WRITES);
	CHECK_EQUAL(file_count, 1);
	CHECK_EQUAL(last_path.name_bytes, sizeof("point") + sizeof("/"));
	end();
	spaces.mnt_ns = NULL;
	begin();
	make_inode(0100644);
	thread->task.nsproxy = &spaces;
	recorded_of(&place.inode.i_rwsem, CONTENTION_WRITES);
	CHECK_EQUAL(last_path.name_bytes, sizeof("place"));
	place_super.s_mounts = NULL;
	end();
}

/* --- Of the file that the system call is on --------------------------------------------------- */

static struct {
	uint64_t before[512];
	struct file file;
	uint64_t after[512];
} opened;

static struct {
	uint64_t before[512];
	struct pipe_inode_info pipe;
	struct socket socket;
	struct unix_sock here;
	uint64_t between[512];
	struct unix_sock there;
	uint64_t after[512];
} private;

static void begin_call(unsigned short mode, void *private_data)
{
	static struct file *descriptors[FD + 1];
	static struct fdtable table = { FD + 1, descriptors };
	static struct files_struct files = { &table };

	begin();
	make_inode(mode);
	place.inode.i_mapping = NULL; /* it is not known by itself */
	memset(&private, 0, sizeof(private));
	private.socket = (struct socket){ .file = &opened.file, .sk = &private.here.sk };
	opened.file =
		(struct file){ .f_inode = &place.inode, .private_data = private_data, .f_path.dentry = &place_name };
	descriptors[FD] = &opened.file;
	thread->task.files = &files;
	thread->registers.orig_ax = CALL_FILE;
	thread->registers.di = FD;
}

TEST(what_lies_in_the_file_of_the_call_or_its_inode_is_the_file_s)
{
	begin_call(0100644, NULL);
	CHECK(is_of(recorded_of(&opened.file.private_data, MUTEX_SLEEPS), KLOCK_OF_FILE, &opened.file));
	CHECK(locks[0].file);
	CHECK_EQUAL(locks[0].file, last_path.file);
	CHECK_EQUAL(file_count, 1);
	CHECK(!locks[0].pid);
	CHECK(is_of(recorded_of(&place.inode.i_rdev, MUTEX_SLEEPS), KLOCK_OF_INODE, &place.inode));
	CHECK_EQUAL(locks[0].file, last_path.file);
	CHECK(!file_count);
	end();
}

TEST(a_pipe_s_lock_is_the_pipe_s_and_what_a_file_has_of_its_own_is_no_pipe)
{
	begin_call(0010600, &private.pipe);
	CHECK(is_of(recorded_of(&private.pipe, MUTEX_SLEEPS), KLOCK_OF_PIPE, &private.pipe) && locks[0].file);
	end();
	begin_call(0100600, &private.pipe);
	CHECK_EQUAL(recorded_of(&private.pipe, MUTEX_SLEEPS)->object, KLOCK_OF_NOTHING);
	CHECK(!locks[0].file);
	end();
}

TEST(a_socket_s_lock_is_the_socket_s)
{
	begin_call(0140777, &private.socket);
	private.here.sk.__sk_common.skc_family = FAMILY_IPV4;
	private.here.peer = &private.there.sk;
	CHECK(is_of(recorded_of(&private.here.sk.sk_type, SPINS), KLOCK_OF_SOCKET, &private.here));
	CHECK(locks[0].file);
	CHECK_EQUAL(locks[0].file, last_socket.file);
	CHECK_EQUAL(recorded_of(&private.here.addr, SPINS)->object, KLOCK_OF_NOTHING); /* a struct sock ends before */
	CHECK_EQUAL(recorded_of(&private.there.sk.sk_type, SPINS)->object, KLOCK_OF_NOTHING);
	end();
}

TEST(a_unix_socket_s_locks_are_its_own_and_its_peer_s)
{
	begin_call(0140777, &private.socket);
	private.here.sk.__sk_common.skc_family = FAMILY_UNIX;
	private.here.peer = &private.there.sk;
	CHECK(is_of(recorded_of(&private.here.addr, SPINS), KLOCK_OF_UNIX_SOCKET, &private.here) && locks[0].file);
	CHECK(is_of(recorded_of(&private.there.addr, SPINS), KLOCK_OF_UNIX_PEER, &private.there));
	CHECK_EQUAL(locks[0].file, last_socket.file);
	private.here.peer = NULL;
	CHECK_EQUAL(recorded_of(&private.there.sk.sk_type, SPINS)->object, KLOCK_OF_NOTHING);
	end();
}

TEST(only_a_call_on_a_file_is_about_it)
{
	static const uint16_t calls[] = { CALL_PLAIN, CALL_FUTEX, SYSCALLS_MAX + CALL_FILE, SYSCALL_NONE };

	begin_call(0100644, NULL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		thread->registers.orig_ax = calls[i];
		shim_forget(&klocks_known);
		CHECK_EQUAL(recorded_of(&opened.file.private_data, SPINS)->object, KLOCK_OF_NOTHING);
	}
	thread->registers.orig_ax = CALL_FILE;
	thread->registers.di = FD + 1;
	shim_forget(&klocks_known);
	CHECK_EQUAL(recorded_of(&opened.file.private_data, SPINS)->object, KLOCK_OF_NOTHING);
	thread->registers.di = FD;
	thread->task.thread_info.status = COMPAT_STATUS;
	shim_forget(&klocks_known);
	CHECK_EQUAL(recorded_of(&opened.file.private_data, SPINS)->object, KLOCK_OF_NOTHING);
	end();
}

TEST(an_interrupt_is_not_about_the_file_of_the_call_that_it_came_into)
{
	begin_call(0100644, NULL);
	in_context(IN_SOFTIRQ);
	CHECK_EQUAL(recorded_of(&opened.file.private_data, SPINS)->object, KLOCK_OF_NOTHING);
	CHECK(!locks[0].file);
	end();
}

TEST(each_way_to_name_a_file_in_a_call_will_do)
{
	static const uint16_t calls[] = { CALL_FILE, CALL_FILE_PARTS, CALL_FILE_MESSAGE };

	begin_call(0100644, NULL);
	for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
		thread->registers.orig_ax = calls[i];
		shim_forget(&klocks_known);
		CHECK_EQUAL(recorded_of(&opened.file.private_data, SPINS)->object, KLOCK_OF_FILE);
	}
	end();
}

/* --- Of CPUs ---------------------------------------------------------------------------------- */

static void list_all_queues(void)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		struct bpf_iter__task ctx = { .task = &world.idle[cpu].task };

		world.idle[cpu].task.se.cfs_rq->rq->cpu = cpu;
		list_queues(&ctx);
	}
	list_queues(&(struct bpf_iter__task){ .task = NULL });
}

TEST(the_run_queue_of_each_cpu_is_known_once_it_was_listed)
{
	begin();
	for (uint32_t cpu = 0; cpu < CPUS; cpu++)
		CHECK_EQUAL(recorded_of(&shim_queue(cpu)->rq->cpu, SPINS)->object, KLOCK_OF_NOTHING);
	list_all_queues();
	shim_forget(&klocks_known);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		CHECK(is_of(recorded_of(&shim_queue(cpu)->rq->cpu, SPINS), KLOCK_OF_RUN_QUEUE, shim_queue(cpu)->rq));
		CHECK_EQUAL(locks[0].cpu, cpu);
		CHECK(!locks[0].pid && !locks[0].file);
	}
	end();
}

TEST(without_their_members_run_queues_are_not_known)
{
	begin();
	shim_missing_field = "cpu";
	list_all_queues();
	CHECK_EQUAL(recorded_of(&shim_queue(0)->rq->cpu, SPINS)->object, KLOCK_OF_NOTHING);
	end();
}

/* --- Kinds of memory -------------------------------------------------------------------------- */

static uint64_t asked_for;

static struct kmem_cache *find_cache(uint64_t address)
{
	static struct kmem_cache cache = { .name = "a_cache_of_the_kernel_with_a_name_that_is_too_long" };

	asked_for = address;
	return &cache;
}

TEST(the_kind_of_memory_is_recorded_as_far_as_it_has_space)
{
	begin();
	shim_find_cache = find_cache;
	recorded_of(&plain.lock[0], SPINS);
	CHECK_EQUAL(asked_for, (uintptr_t)&plain.lock[0]);
	CHECK_STRING(locks[0].cache, "a_cache_of_the_kernel_with_a_na");
	CHECK_EQUAL(sizeof(locks[0].cache), 32);
	list_all_queues();
	CHECK(!*recorded_of(&shim_queue(1)->rq->cpu, SPINS)->cache);
	end();
}

/* --- When it is recorded ---------------------------------------------------------------------- */

TEST(a_lock_is_recorded_once)
{
	uint64_t name;

	begin();
	name = recorded_of(&plain.lock[0], SPINS)->lock;
	CHECK_EQUAL(wait_for(&plain.lock[0], MUTEX_SLEEPS, 10)->lock, name);
	CHECK(!lock_count);
	CHECK_THAT(recorded_of(&plain.lock[1], SPINS)->lock, !=, name);
	shim_forget(&klocks_known);
	CHECK_EQUAL(recorded_of(&plain.lock[0], SPINS)->lock, name);
	end();
}

/* The object may be another one at the same place. */
TEST(a_lock_of_another_file_at_the_same_place_is_another_one)
{
	uint64_t name;

	begin_call(0100644, NULL);
	name = recorded_of(&opened.file.private_data, SPINS)->lock;
	place.inode.i_ino++;
	CHECK_THAT(recorded_of(&opened.file.private_data, SPINS)->lock, !=, name);
	end();
}

TEST(a_lock_that_did_not_fit_is_recorded_with_its_next_wait)
{
	begin();
	while (!cpu_counts[0].lost) {
		wait_begins(&plain.lock[0], SPINS);
		wait_ends(&plain.lock[0], 0);
	}
	wait_begins(&plain.lock[1], SPINS);
	wait_ends(&plain.lock[1], 0);
	CHECK_EQUAL(cpu_counts[0].lost, 3);
	while (shim_read(&rings, 0, NULL))
		;
	CHECK(recorded_of(&plain.lock[1], SPINS));
	end();
}

TEST(where_there_is_no_ring_a_lock_has_no_name)
{
	begin();
	shim_make_ring(&rings, 0, 0);
	wait_begins(&plain.lock[0], SPINS);
	wait_ends(&plain.lock[0], 0);
	CHECK_EQUAL(cpu_counts[0].lost, 1);
	end();
}

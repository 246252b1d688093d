/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What kernel locks are called in a report: by what they belong to, or by who waits for them. */
#include "test.h"

#include <errno.h>
#include <string.h>

#include "base/memory.h"
#include "findings/findings.h"
#include "findings/names/klock_words.h"
#include "findings/names/object_names.h"
#include "klocks/klocks.h"
#include "stacks/fold.h"
#include "report/report_frame.h"
#include "symbol/symbol.h"
#include "waits/files.h"
#include "waits_fixture.h"

static struct klocks *klocks;
static struct symbols *symbols;
static struct arena *arena;
static struct object_names names;

/* As kernel_types_member(), of a kernel that knows of one lock only. */
static int member_of(void *data, const char *type, uint32_t offset, char *name, uint32_t capacity_bytes)
{
	(void)data;
	if (strcmp(type, "mm_struct") || offset != 120)
		return -ENOENT;
	snprintf(name, capacity_bytes, "mmap_lock");
	return 0;
}

static void begin_names(void)
{
	begin();
	klocks = klocks_new(session, threads);
	symbols = symbols_new(session);
	symbols_set_kernel_types(symbols, member_of, NULL);
	arena = arena_new();
	names = (struct object_names){ symbols, files, klocks, arena };
}

static void end_names(void)
{
	arena_free(arena);
	klocks_free(klocks);
	symbols_free(symbols);
	end();
}

static void emit(struct ev_klock_lock e, const char *process)
{
	e.header = header_of(EV_KLOCK_LOCK, 0);
	memcpy(e.process, process, strlen(process));
	push(&e, sizeof(e));
	now_ns++;
	session_advance(session, now_ns);
}

static bool is_called(struct ev_klock_lock e, const char *process, const char *name)
{
	static uint64_t locks;
	const char *given;

	e.lock = ++locks;
	emit(e, process);
	given = object_name_of_klock(&names, e.lock);
	return name ? given && !strcmp(given, name) : !given;
}

TEST(a_lock_is_called_by_its_member_and_whose_that_is)
{
	begin_names();
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_MEMORY, .offset = 120, .pid = 7 }, "daemon",
			"mmap_lock of daemon"));
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_THREAD, .offset = 0x40, .pid = 7 }, "daemon",
			"task_struct+0x40 of a thread of daemon"));
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_DESCRIPTORS, .pid = 7 }, "daemon",
			"files_struct+0x0 of the descriptors of daemon"));
	end_names();
}

TEST(whose_it_is_is_left_out_where_it_has_no_name)
{
	begin_names();
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_MEMORY, .offset = 120, .pid = 7 }, "", "mmap_lock"));
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_INODE, .offset = 8, .file = 99 }, "", "inode+0x8"));
	end_names();
}

TEST(a_lock_of_a_file_is_called_by_its_path)
{
	struct {
		struct ev_file_path path;
		char name[8];
	} e = { .path = { .file = name_of(5, 8), .mode = 0100644, .links = 1, .name_bytes = 6 }, .name = "log\0/" };

	begin_names();
	e.path.header = header_of(EV_FILE_PATH, 0);
	push(&e, sizeof(e.path) + e.path.name_bytes);
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_INODE, .offset = 8, .file = e.path.file }, "",
			"inode+0x8 of /log"));
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_UNIX_PEER, .file = e.path.file }, "",
			"unix_sock+0x0 of the other end of /log"));
	end_names();
}

TEST(a_run_queue_is_called_by_its_cpu_and_what_is_of_nothing_is_called_nothing)
{
	begin_names();
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_RUN_QUEUE, .cpu = 3 }, "", "run queue of CPU 3"));
	CHECK(is_called((struct ev_klock_lock){ .object = KLOCK_OF_NOTHING, .pid = 7 }, "daemon", NULL));
	CHECK(!object_name_of_klock(&names, 123456789));
	end_names();
}

/* --- By who waits ----------------------------------------------------------------------------- */

static const struct report_frame release_frames[] = {
	{ .function = "native_queued_spin_lock_slowpath", .is_kernel = true },
	{ .function = "_raw_write_lock_irq", .is_kernel = true },
	{ .function = "release_task", .is_kernel = true },
	{ .function = "main" },
};

TEST(behind_functions_that_take_locks_is_who_wanted_this_one)
{
	struct klock_words *words = klock_words_new();

	CHECK_STRING(klock_words_wanting(words, release_frames, 4)->function, "release_task");
	CHECK_STRING(klock_words_name(words, release_frames, 4), "tasklist_lock");
	CHECK(!klock_words_wanting(words, release_frames, 2) && !klock_words_name(words, release_frames, 2));
	CHECK(!klock_words_wanting(words, release_frames, 0) && !klock_words_name(words, release_frames, 0));
	/* What the program is called like does not matter. */
	CHECK(!klock_words_wanting(words, release_frames + 3, 1));
	klock_words_free(words);
}

TEST(who_is_in_no_rule_wanted_it_and_says_no_name)
{
	static const struct report_frame frames[] = {
		{ .function = "mutex_lock", .is_kernel = true },
		{ .function = "some_driver_call", .is_kernel = true },
	};
	static const struct report_frame nameless[] = { { .module = "[kernel]", .is_kernel = true } };
	struct klock_words *words = klock_words_new();

	CHECK_STRING(klock_words_wanting(words, frames, 2)->function, "some_driver_call");
	CHECK(!klock_words_name(words, frames, 2));
	CHECK(!klock_words_wanting(words, nameless, 1)->function && !klock_words_name(words, nameless, 1));
	klock_words_free(words);
}

/* --- In a report ------------------------------------------------------------------------------ */

static void push_wait(uint32_t thread, uint32_t tid, enum wake_context context, uint64_t wait_ns, uint32_t owner)
{
	struct ev_klock_wait e = { .lock = 5, .tid = tid, .context = context, .owner = owner };

	e.begin_ns = now_ns;
	now_ns += wait_ns;
	e.header = header_of(EV_KLOCK_WAIT, thread);
	push(&e, sizeof(e));
}

static void push_other(uint32_t tid, const char *name)
{
	struct ev_thread_other e = { .header = header_of(EV_THREAD_OTHER, 0), .tid = tid, .pid = tid };

	memcpy(e.name, name, strlen(name));
	push(&e, sizeof(e));
}

TEST(a_report_names_waiters_and_owners_and_ranks_them_by_time)
{
	struct fold_rules *fold = fold_rules_new();
	struct findings *findings;
	const struct report_klocks *recorded;
	const struct report_klock *lock;

	begin_names();
	push_other(77, "outsider");
	push_wait(1, 1, WAKE_THREAD, 1000, 77);
	push_wait(1, 1, WAKE_SOFTIRQ, 3000, 0);
	push_wait(0, 77, WAKE_KERNEL_THREAD, 2000, 1);
	push_wait(0, 0, WAKE_HARDIRQ, 500, 0);
	finish();
	findings = findings_new(&(struct findings_input){
		.criticality = criticality,
		.stacks = stacks,
		.waits = waits,
		.files = files,
		.klocks = klocks,
		.others = others,
		.symbols = symbols,
		.fold = fold,
		.path_count_max = 10,
	});
	recorded = &findings_report(findings)->kernel_locks;
	lock = &recorded->locks[0];
	CHECK_EQUAL(recorded->lock_count, 1);
	CHECK_EQUAL(recorded->kind_count, 1);
	CHECK_EQUAL(recorded->waits, 4);
	CHECK_EQUAL(recorded->wait_ns, 6500);
	CHECK_EQUAL(lock->waits, 4);
	CHECK_EQUAL(lock->wait_ns, 6500);
	CHECK_EQUAL(lock->max_ns, 3000);
	CHECK(!lock->name);
	CHECK_EQUAL(lock->waiter_count, 4);
	CHECK_EQUAL(lock->owner_count, 2);
	CHECK(!lock->path_count);
	CHECK_EQUAL(lock->waiters[0].pid, 1);
	CHECK_EQUAL(lock->waiters[0].context, WAKE_SOFTIRQ);
	CHECK_STRING(lock->waiters[1].name, "outsider");
	CHECK_EQUAL(lock->waiters[1].tid, 77);
	CHECK(!wake_context_name(lock->waiters[1].context));
	CHECK_EQUAL(lock->waiters[2].pid, 1);
	CHECK(!wake_context_name(lock->waiters[2].context));
	/* Where no thread had the CPU. */
	CHECK_STRING(lock->waiters[3].name, "idle");
	CHECK_EQUAL(lock->waiters[3].context, WAKE_HARDIRQ);
	CHECK_EQUAL(lock->owners[0].tid, 1);
	CHECK_EQUAL(lock->owners[0].wait_ns, 2000);
	CHECK_EQUAL(lock->owners[1].tid, 77);
	CHECK_STRING(lock->owners[1].name, "outsider");
	findings_free(findings);
	fold_rules_free(fold);
	end_names();
}

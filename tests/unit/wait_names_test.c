/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <linux/futex.h>
#include <string.h>
#include <sys/syscall.h>

#include "report/report.h"
#include "test.h"
#include "waits/wait_names.h"

enum { FRAMES_MAX = 12 };

static const struct wait_facts bitset_wait = {
	.object = 0x1000,
	.syscall = SYS_futex,
	.operation = FUTEX_WAIT_BITSET | FUTEX_PRIVATE_FLAG,
};
static const struct wait_facts plain_wait = {
	.object = 0x1000,
	.syscall = SYS_futex,
	.operation = FUTEX_WAIT | FUTEX_PRIVATE_FLAG,
};
static const struct wait_facts epoll = { .object = 7, .syscall = SYS_epoll_wait };
static const struct wait_facts reading = { .object = 7, .syscall = SYS_read };

/* Functions, innermost first, ended by NULL; all of them in one module. */
static struct wait_meaning meaning_of(const struct wait_facts *facts, enum wait_cause cause, const char *module,
				      const char *const *functions)
{
	struct report_frame frames[FRAMES_MAX] = { 0 };
	struct wait_names *names = wait_names_new();
	struct wait_meaning meaning;
	size_t count = 0;

	for (; functions[count]; count++)
		frames[count] = (struct report_frame){
			.function = *functions[count] ? functions[count] : NULL,
			.module = module,
		};
	meaning = wait_meaning_of(names, facts, cause, frames, count);
	/* Kinds of locks lie in the rules. */
	if (meaning.is_named && meaning.lock_kind) {
		static char kind[64];

		snprintf(kind, sizeof(kind), "%s", meaning.lock_kind);
		meaning.lock_kind = kind;
	}
	wait_names_free(names);
	return meaning;
}

static bool is(const struct wait_meaning *meaning, enum wait_cause cause, const char *kind)
{
	return meaning->cause == cause && meaning->is_named &&
	       (kind ? meaning->lock_kind && !strcmp(meaning->lock_kind, kind) : true);
}

#define FUTEX_IS(module, expected_cause, expected_kind, ...)                                              \
	({                                                                                                \
		const char *const functions[] = { __VA_ARGS__, NULL };                                    \
		struct wait_meaning found = meaning_of(&bitset_wait, CAUSE_CONDITION, module, functions); \
		is(&found, expected_cause, expected_kind);                                                \
	})

#define CONDITION                                                                                       \
	"__futex_abstimed_wait_common64", "__futex_abstimed_wait_common", "__pthread_cond_wait_common", \
		"pthread_cond_wait"

TEST(the_innermost_function_that_is_known_decides)
{
	CHECK(FUTEX_IS("a.out", CAUSE_CONDITION, "condition", CONDITION, "main"));
	CHECK(FUTEX_IS("a.out", CAUSE_SEMAPHORE, "semaphore", "__new_sem_wait_slow64", "work", "pthread_mutex_lock"));
	CHECK(FUTEX_IS("a.out", CAUSE_LOCK, "rwlock", "pthread_rwlock_rdlock", "read_it"));
	CHECK(FUTEX_IS("a.out", CAUSE_JOIN, "join", "__futex_abstimed_wait_common", "__pthread_clockjoin_ex", "main"));
}

TEST(what_no_rule_knows_keeps_the_cause_of_its_system_call)
{
	const char *const functions[] = { "syscall", "wait_for_something", "main", NULL };
	struct wait_meaning found = meaning_of(&plain_wait, CAUSE_LOCK, "a.out", functions);

	CHECK_EQUAL(found.cause, CAUSE_LOCK);
	CHECK(!found.is_named);
	CHECK_STRING(found.lock_kind, "futex");
	found = meaning_of(&epoll, CAUSE_POLL, "a.out", functions);
	CHECK_EQUAL(found.cause, CAUSE_POLL);
	CHECK(!found.is_named && !found.lock_kind);
}

TEST(a_lock_made_of_conditions_is_a_lock)
{
	CHECK(FUTEX_IS("libjvm.so", CAUSE_LOCK, "monitor", CONDITION, "os::PlatformEvent::park()",
		       "ObjectMonitor::EnterI(JavaThread*)", "ObjectMonitor::enter(JavaThread*)"));
	CHECK(FUTEX_IS("libjvm.so", CAUSE_CONDITION, "condition", CONDITION, "os::PlatformEvent::park()",
		       "ObjectMonitor::wait(long, bool, JavaThread*)"));
	CHECK(FUTEX_IS("postgres", CAUSE_LOCK, "lwlock", "__new_sem_wait_slow64 [clone .constprop.0]",
		       "PGSemaphoreLock", "LWLockAcquireOrWait", "XLogFlush"));
	CHECK(FUTEX_IS("mariadbd", CAUSE_LOCK, "metadata-lock", "pthread_cond_timedwait", "inline_mysql_cond_timedwait",
		       "MDL_wait::timed_wait(MDL_context_owner*)"));
	CHECK(FUTEX_IS("app", CAUSE_LOCK, "mutex", "syscall",
		       "<parking_lot_core::thread_parker::imp::ThreadParker as T>::park",
		       "parking_lot_core::parking_lot::park", "parking_lot::raw_mutex::RawMutex::lock_slow",
		       "app::work"));
}

TEST(a_lock_within_a_larger_lock_is_what_is_waited_for)
{
	CHECK(FUTEX_IS("postgres", CAUSE_LOCK, "lwlock", "__new_sem_wait_slow64", "PGSemaphoreLock", "LWLockAcquire",
		       "ProcSleep", "LockAcquireExtended"));
	CHECK(FUTEX_IS("libjvm.so", CAUSE_LOCK, "mutex", "__lll_lock_wait", "pthread_mutex_lock",
		       "os::PlatformEvent::park()", "ObjectMonitor::EnterI(JavaThread*)"));
}

TEST(what_a_function_further_out_means_needs_a_chain_without_gaps)
{
	CHECK(FUTEX_IS("libjvm.so", CAUSE_CONDITION, "condition", CONDITION, "my_library_wait",
		       "ObjectMonitor::EnterI(JavaThread*)"));
	CHECK(FUTEX_IS("node", CAUSE_CONDITION, "condition", CONDITION, "uv_cond_wait", "my_job", "worker",
		       "start_thread"));
}

TEST(the_descriptor_by_which_postgresql_sleeps_for_a_lock_is_no_poll)
{
	const char *const row_lock[] = { "epoll_wait", "WaitEventSetWait",    "WaitLatch",         "ProcSleep",
					 "",           "LockAcquireExtended", "XactLockTableWait", NULL };
	const char *const client[] = { "epoll_wait", "WaitEventSetWait", "secure_read", NULL };
	struct wait_meaning found = meaning_of(&epoll, CAUSE_POLL, "postgres", row_lock);

	CHECK(is(&found, CAUSE_LOCK, "heavyweight-lock") && found.is_made);
	found = meaning_of(&epoll, CAUSE_POLL, "postgres", client);
	CHECK_EQUAL(found.cause, CAUSE_POLL);
	CHECK(!found.is_made && !found.is_idle);
	found = meaning_of(&epoll, CAUSE_POLL, "a.out", row_lock);
	CHECK_EQUAL(found.cause, CAUSE_POLL);
}

TEST(a_file_stays_a_file_whatever_functions_are_called)
{
	const char *const functions[] = { "read", "LWLockAcquire", "ProcSleep", NULL };
	struct wait_meaning found = meaning_of(&reading, CAUSE_FILE, "postgres", functions);

	CHECK_EQUAL(found.cause, CAUSE_FILE);
	CHECK(!found.is_named);
}

static bool is_idle(const struct wait_facts *facts, enum wait_cause cause, const char *module,
		    const char *const *functions)
{
	struct wait_meaning found = meaning_of(facts, cause, module, functions);

	return found.is_idle && found.cause == cause;
}

TEST(workers_without_work_are_idle)
{
	const char *const go[] = { "runtime.futex.abi0",
				   "runtime.futexsleep",
				   "runtime.notesleep",
				   "runtime.mPark",
				   "runtime.stopm",
				   "runtime.findRunnable",
				   NULL };
	const char *const poller[] = { "runtime.epollwait", "runtime.netpoll", NULL };
	const char *const node[] = { CONDITION, "uv_cond_wait",
				     "node::(anonymous namespace)::PlatformWorkerThread(void*)", NULL };
	const char *const pool[] = { CONDITION, "uv_cond_wait", "worker", NULL };
	const char *const java[] = { CONDITION, "os::PlatformMonitor::wait(long)", "Monitor::wait(long)",
				     "CompileQueue::get()", NULL };
	const char *const mariadb[] = { "pthread_cond_clockwait",
					"tpool::thread_pool_generic::wait_for_tasks(std::unique_lock"
					"<std::mutex>&, tpool::worker_data*)",
					NULL };

	CHECK(is_idle(&bitset_wait, CAUSE_CONDITION, "server", go) ||
	      is_idle(&plain_wait, CAUSE_CONDITION, "server", go));
	CHECK(is_idle(&epoll, CAUSE_POLL, "server", poller));
	CHECK(!is_idle(&epoll, CAUSE_SOCKET, "server", poller)); /* it has waited for an answer */
	CHECK(is_idle(&bitset_wait, CAUSE_CONDITION, "node", node));
	CHECK(is_idle(&bitset_wait, CAUSE_CONDITION, "node", pool));
	CHECK(is_idle(&bitset_wait, CAUSE_CONDITION, "libuv.so.1", pool));
	CHECK(!is_idle(&bitset_wait, CAUSE_CONDITION, "a.out", pool));
	CHECK(is_idle(&bitset_wait, CAUSE_CONDITION, "libjvm.so", java));
	CHECK(is_idle(&bitset_wait, CAUSE_CONDITION, "mariadbd", mariadb));
}

TEST(a_worker_that_waits_for_its_queues_mutex_is_not_idle)
{
	const char *const functions[] = { "__lll_lock_wait", "pthread_mutex_lock", "uv_mutex_lock", "worker", NULL };
	struct wait_meaning found = meaning_of(&plain_wait, CAUSE_LOCK, "node", functions);

	CHECK(is(&found, CAUSE_LOCK, "mutex") && !found.is_idle);
}

TEST(a_goroutines_locks_are_the_runtimes_when_a_thread_waits_for_them)
{
	const char *const functions[] = { "runtime.futex.abi0",
					  "runtime.futexsleep",
					  "runtime.lock2",
					  "runtime.lockWithRank",
					  "runtime.lock",
					  "runtime.sched",
					  NULL };
	struct wait_meaning found = meaning_of(&plain_wait, CAUSE_LOCK, "server", functions);

	CHECK(is(&found, CAUSE_LOCK, "runtime"));
}

TEST(latches_of_innodb_are_the_word_that_is_waited_on)
{
	const char *const functions[] = { "syscall", "ssux_lock_impl<true>::wait(unsigned int)",
					  "ssux_lock_impl<true>::rd_wait()", "buf_page_get_gen", NULL };
	struct wait_meaning found = meaning_of(&plain_wait, CAUSE_LOCK, "mariadbd", functions);

	CHECK(is(&found, CAUSE_LOCK, "rwlock") && !found.is_made);
}

TEST(a_mutex_taken_again_after_a_condition_is_a_mutex)
{
	const char *const functions[] = { "__pthread_cond_wait_common", "pthread_cond_wait", "main", NULL };
	struct wait_meaning found = meaning_of(&plain_wait, CAUSE_LOCK, "a.out", functions);

	CHECK(is(&found, CAUSE_LOCK, "mutex"));
}

TEST(what_an_event_loop_calls_keeps_it_from_others_while_it_sleeps_or_waits_for_a_futex)
{
	static const struct wait_facts sleeping = { .syscall = SYS_clock_nanosleep };
	const char *const called[] = { "time_sleep", "load_profile", "Handle._run", "BaseEventLoop._run_once", NULL };
	const char *const waiting[] = { "epoll_wait", "BaseEventLoop._run_once", "Handle.run", NULL };

	CHECK(meaning_of(&sleeping, CAUSE_SLEEP, "python3", called).is_in_callback);
	CHECK(meaning_of(&bitset_wait, CAUSE_CONDITION, "python3", called).is_in_callback);
	CHECK(!meaning_of(&reading, CAUSE_SOCKET, "python3", called).is_in_callback);
	CHECK(!meaning_of(&sleeping, CAUSE_SLEEP, "python3", waiting).is_in_callback);
	CHECK(meaning_of(&epoll, CAUSE_POLL, "python3", called).is_in_callback);
	CHECK(!meaning_of(&epoll, CAUSE_POLL, "python3", waiting).is_in_callback);
	/* It says nothing of what kind of wait it is. */
	CHECK(!meaning_of(&sleeping, CAUSE_SLEEP, "python3", called).is_named);
}

/* Frames of a stripped library; "": a function without a name. */
TEST(the_lock_of_ruby_is_told_by_the_exported_function_that_waits_for_it)
{
	struct report_frame frames[] = {
		{ .function = "__pthread_cond_wait_common", .module = "libc.so.6" },
		{ .function = "pthread_cond_timedwait", .module = "libc.so.6" },
		{ .module = "libruby-3.1.so.3.1.2" },
		{ .module = "libruby-3.1.so.3.1.2" },
		{ .function = "rb_threadptr_execute_interrupts", .module = "libruby-3.1.so.3.1.2" },
		{ .function = "rb_vm_exec", .module = "libruby-3.1.so.3.1.2" },
	};
	static const struct {
		const char *function;
		bool is_lock;
	} cases[] = {
		{ "rb_threadptr_execute_interrupts", true },
		{ "rb_thread_io_blocking_region", true },
		{ "rb_mutex_lock", false },
		{ "rb_vm_exec", false }, /* a function in C without a name, with a wait of the program's */
		{ "rb_ensure", false },
	};
	struct wait_names *names = wait_names_new();

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct wait_meaning found;

		frames[4].function = cases[i].function;
		found = wait_meaning_of(names, &bitset_wait, CAUSE_CONDITION, frames, 6);
		CHECK_EQUAL(found.cause, cases[i].is_lock ? CAUSE_LOCK : CAUSE_CONDITION);
		CHECK_EQUAL(found.is_made, cases[i].is_lock);
		CHECK_STRING(found.lock_kind, cases[i].is_lock ? "gvl" : "condition");
	}
	wait_names_free(names);
}

TEST(who_wants_the_result_of_a_task_is_told_by_the_function_that_waits_for_it)
{
	const char *const wanted[] = { CONDITION, "std::__future_base::_State_baseV2::wait()", "main", NULL };
	const char *const other[] = { CONDITION, "take_job", "main", NULL };
	const char *const inlined[] = { "syscall", "std::__atomic_futex_unsigned_base::_M_futex_wait_until(unsigned*)",
					"main", NULL };
	struct wait_meaning found = meaning_of(&bitset_wait, CAUSE_CONDITION, "a.out", wanted);

	CHECK(found.is_for_result && is(&found, CAUSE_CONDITION, "condition"));
	CHECK(!meaning_of(&bitset_wait, CAUSE_CONDITION, "a.out", other).is_for_result);
	CHECK(!meaning_of(&epoll, CAUSE_POLL, "a.out", wanted).is_for_result);
	found = meaning_of(&plain_wait, CAUSE_LOCK, "a.out", inlined);
	CHECK(found.is_for_result && is(&found, CAUSE_CONDITION, "future"));
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "report/report.h"
#include "stacks/fold.h"
#include "test.h"

static bool folds_to(const struct fold_rules *rules, const char *function, const char *module, const char *label)
{
	struct report_frame frame = { .function = function, .module = module };
	const char *found = fold_find_label(rules, &frame);

	return label ? found && !strcmp(found, label) : !found;
}

static bool is_plumbing(const struct fold_rules *rules, const char *function, const char *module)
{
	struct report_frame frame = { .function = function, .module = module };

	return fold_is_plumbing(rules, &frame);
}

/* Adds rules from a file with this text. */
static int add_text(struct fold_rules *rules, const char *text)
{
	char path[] = "/tmp/pinch-fold-XXXXXX";
	int fd = mkstemp(path), err;

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return -errno;
	close(fd);
	err = fold_rules_add_file(rules, path);
	unlink(path);
	return err;
}

TEST(the_frames_below_a_threads_function_are_boilerplate)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(folds_to(rules, "start_thread", "libc.so.6", "thread start"));
	CHECK(folds_to(rules, "clone3", "libc.so.6", "thread start"));
	CHECK(folds_to(rules, "__libc_start_call_main", "libc.so.6", "program start"));
	CHECK(folds_to(rules,
		       "std::thread::_State_impl<std::thread::_Invoker<std::tuple<void "
		       "(*)(int), int> > >::_M_run()",
		       "a.out", "C++ thread start"));
	CHECK(folds_to(rules,
		       "void std::__invoke_impl<void, void (*)(int), int>("
		       "std::__invoke_other, void (*&&)(int), int&&)",
		       "a.out", "C++ call machinery"));
	CHECK(folds_to(rules, "tbb::detail::r1::market::process(rml::job&)", "libtbb.so.12", "TBB scheduler"));
	CHECK(folds_to(rules, "runtime.goexit.abi0", "server", "Go runtime"));
	CHECK(folds_to(rules, "std::sys::unix::thread::Thread::new::thread_start", "app", "Rust thread start"));
	CHECK(folds_to(rules, "opal_progress", "libopen-pal.so.40", "Open MPI progress"));
	fold_rules_free(rules);
}

TEST(the_users_own_functions_are_not_boilerplate)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(folds_to(rules, "main", "a.out", NULL));
	CHECK(folds_to(rules, "big_work(int)", "a.out", NULL));
	CHECK(folds_to(rules, "restart_thread", "a.out", NULL));
	CHECK(folds_to(rules, "start", "a.out", NULL));
	CHECK(folds_to(rules, NULL, "a.out", NULL));
	CHECK(!is_plumbing(rules, "big_work(int)", "a.out"));
	CHECK(!is_plumbing(rules, "dgemv_", "libblas.so.3"));
	fold_rules_free(rules);
}

TEST(a_path_is_not_named_after_a_library_call)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(is_plumbing(rules, "pthread_mutex_lock", "libc.so.6"));
	CHECK(is_plumbing(rules, "std::mutex::lock()", "a.out"));
	CHECK(is_plumbing(rules, "start_thread", "libc.so.6"));
	CHECK(folds_to(rules, "pthread_mutex_lock", "libc.so.6", NULL));
	fold_rules_free(rules);
}

TEST(rules_of_the_user_go_first_and_the_first_that_matches_decides)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(!add_text(rules, "# mine\n\nmy loop\tevent_*\nother\tevent_loop\n"
			       "+   start_thread\n"
			       "plugin start  *   plug*.so\n"));
	CHECK(folds_to(rules, "event_loop", "a.out", "my loop"));
	CHECK(folds_to(rules, "start_thread", "libc.so.6", NULL));
	CHECK(!is_plumbing(rules, "start_thread", "libc.so.6"));
	CHECK(folds_to(rules, "x", "plug7.so", "plugin start"));
	CHECK(folds_to(rules, "x", "splug7.so", NULL));
	CHECK(folds_to(rules, "clone3", "libc.so.6", "thread start"));
	fold_rules_free(rules);
}

TEST(a_pattern_takes_all_but_the_star_literally)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(!add_text(rules, "a\tf[abi:cxx11]*g?\n"));
	CHECK(folds_to(rules, "f[abi:cxx11]xgg?", "m", "a"));
	CHECK(folds_to(rules, "fa g?", "m", NULL));
	CHECK(folds_to(rules, "f[abi:cxx11]gx", "m", NULL));
	fold_rules_free(rules);
}

TEST(bad_lines_are_skipped_and_good_ones_kept)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(!add_text(rules, "only-a-label\na  b  c  d\n good  goo*  \r\n"));
	CHECK(folds_to(rules, "good", "m", "good"));
	CHECK(folds_to(rules, "b", "c", NULL));
	fold_rules_free(rules);
}

TEST(a_missing_file_is_an_error_only_when_it_was_named)
{
	struct fold_rules *rules = fold_rules_new();

	setenv("PINCH_FOLD_RULES", "/nonexistent/fold.rules", 1);
	CHECK(fold_rules_add_user(rules) == -ENOENT);
	unsetenv("PINCH_FOLD_RULES");
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	CHECK(!fold_rules_add_user(rules));
	fold_rules_free(rules);
}

TEST(a_file_that_never_ends_is_refused)
{
	struct fold_rules *rules = fold_rules_new();
	char path[] = "/tmp/pinch-fold-XXXXXX";

	close(mkstemp(path));
	CHECK(!unlink(path) && !mkfifo(path, 0600));
	CHECK(fold_rules_add_file(rules, path) == -EINVAL);
	CHECK(fold_rules_add_file(rules, "/dev/zero") == -EINVAL);
	unlink(path);
	fold_rules_free(rules);
}

static bool is_spin(const struct fold_rules *rules, const char *function, const char *module)
{
	struct report_frame frame = { .function = function, .module = module };

	return fold_is_spin(rules, &frame);
}

TEST(functions_that_wait_with_the_cpu_are_known_by_name)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(is_spin(rules, "opal_progress", "libopen-pal.so.40"));
	CHECK(is_spin(rules, NULL, "libopen-pal.so.40.30.2"));
	CHECK(is_spin(rules, NULL, "mca_btl_vader.so"));
	CHECK(!is_spin(rules, NULL, "mca_pml_ob1.so") && !is_spin(rules, "opal_pack", "libopen-pal.so"));
	CHECK(is_spin(rules, "ompi_request_default_wait_all", "libmpi.so.40"));
	CHECK(is_spin(rules, "MPIDI_CH3I_Progress", "libmpich.so.12"));
	CHECK(is_spin(rules, "gomp_team_barrier_wait_end", "libgomp.so.1"));
	CHECK(is_spin(rules,
		      "bool __kmp_wait_template<kmp_flag_64<false, true>, true, false, true>("
		      "kmp_info*, kmp_flag_64<false, true>*, void*)",
		      "libomp.so.5"));
	CHECK(is_spin(rules, "tbb::detail::d0::machine_pause(int)", "a.out"));
	CHECK(is_spin(rules, "rte_pause", "app"));
	CHECK(is_spin(rules, "runtime.procyield.abi0", "server"));
	CHECK(is_spin(rules, "SpinPause", "libjvm.so"));
	CHECK(is_spin(rules, "s_lock", "postgres"));
	CHECK(is_spin(rules, "ut_delay(unsigned int)", "mariadbd"));
	CHECK(is_spin(rules, "srw_mutex_impl<true>::wait_and_lock()", "mariadbd"));
	CHECK(is_spin(rules, "sched_yield@plt", "a.out"));
	CHECK(is_spin(rules, "pthread_spin_lock", "libc.so.6"));
	CHECK(is_spin(rules, "native_queued_spin_lock_slowpath", "[kernel]"));
	CHECK(!is_spin(rules, "opal_progress_register", "libopen-pal.so.40"));
	CHECK(!is_spin(rules, "mca_pml_ob1_recv_request_progress_frag", "mca_pml_ob1.so"));
	CHECK(!is_spin(rules, "s_lock", "a.out"));
	CHECK(!is_spin(rules, "pthread_mutex_lock", "libc.so.6"));
	CHECK(!is_spin(rules, "main", "a.out"));
	CHECK(!is_spin(rules, NULL, "a.out"));
	fold_rules_free(rules);
}

TEST(a_rule_about_waiting_does_not_fold_a_frame)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(!add_text(rules, "~\tmy_wait*\n"));
	CHECK(is_spin(rules, "my_wait_for_it", "a.out"));
	CHECK(folds_to(rules, "my_wait_for_it", "a.out", NULL));
	CHECK(!is_plumbing(rules, "my_wait_for_it", "a.out"));
	CHECK(folds_to(rules, "opal_progress", "libopen-pal.so.40", "Open MPI progress"));
	CHECK(is_plumbing(rules, "pthread_spin_lock", "libc.so.6"));
	fold_rules_free(rules);
}

TEST(the_user_can_take_a_built_in_wait_back)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(!add_text(rules, "+\tut_delay*\n"));
	CHECK(!is_spin(rules, "ut_delay(unsigned int)", "mariadbd"));
	CHECK(is_spin(rules, "perform_spin_delay", "postgres"));
	fold_rules_free(rules);
}

static const char *headline(const struct fold_rules *rules, const char *module, const char *const *functions)
{
	static struct report_frame frames[16];
	const struct report_frame *found;
	size_t count = 0;

	for (; functions[count]; count++)
		frames[count] = (struct report_frame){
			.function = *functions[count] ? functions[count] : NULL,
			.module = module,
		};
	found = fold_find_headline(rules, frames, count);
	return found && found->function ? found->function : "";
}

TEST(a_stack_is_named_after_the_code_that_called_the_library)
{
	struct fold_rules *rules = fold_rules_new();
	const char *const go[] = { "runtime/internal/syscall.Syscall6", "syscall.Syscall", "syscall.Fdatasync",
				   "go.etcd.io/etcd/wal.(*WAL).sync", NULL };
	const char *const parked[] = { "runtime.futex",
				       "runtime.notesleep",
				       "runtime.stopm",
				       "runtime.findRunnable",
				       "runtime.schedule",
				       "runtime.mcall",
				       NULL };
	const char *const latch[] = { "WaitEventSetWait",    "WaitLatch",         "ProcSleep",   "",
				      "LockAcquireExtended", "XactLockTableWait", "heap_update", NULL };
	const char *const libuv[] = { "uv_mutex_lock",
				      "uv__work_done",
				      "uv__io_poll",
				      "uv_run",
				      "node::SpinEventLoopInternal(node::Environment*)",
				      NULL };
	const char *const monitor[] = { "os::PlatformEvent::park()", "ObjectMonitor::enter(JavaThread*)",
					"SharedRuntime::monitor_enter_helper(oopDesc*)", "void Ledger.book(int, int)",
					NULL };

	CHECK(!strcmp(headline(rules, "etcd", go), "go.etcd.io/etcd/wal.(*WAL).sync"));
	CHECK(!strcmp(headline(rules, "etcd", parked), "runtime.findRunnable"));
	CHECK(!strcmp(headline(rules, "postgres", latch), "XactLockTableWait"));
	CHECK(!strcmp(headline(rules, "node", libuv), "node::SpinEventLoopInternal(node::Environment*)"));
	CHECK(!strcmp(headline(rules, "libjvm.so", monitor), "void Ledger.book(int, int)"));
	fold_rules_free(rules);
}

TEST(what_v8_does_for_a_function_is_named_after_that_function)
{
	static const struct report_frame frames[] = {
		{ .function = "v8::internal::JsonParser<unsigned char>::ParseJsonValue()", .module = "node" },
		{ .function = "v8::internal::Builtin_JsonParse(int)", .module = "node" },
		{ .function = "Builtins_CEntry_Return1_ArgvOnStack_BuiltinExit", .module = "node" },
		{ .function = "onread", .module = "[node]" },
		{ .function = "importOrders", .module = "[javascript]" },
		{ .function = "node::SpinEventLoopInternal(node::Environment*)", .module = "node" },
	};
	struct fold_rules *rules = fold_rules_new();

	CHECK(fold_find_headline(rules, frames, 6) == &frames[4]);
	fold_rules_free(rules);
}

TEST(a_stack_of_libraries_alone_is_named_after_the_call_that_says_most)
{
	struct fold_rules *rules = fold_rules_new();
	const char *const condition[] = { "__futex_abstimed_wait_common", "pthread_cond_wait", NULL };
	const char *const started[] = { "__poll", "start_thread", "clone3", NULL };
	const char *const folded[] = { "start_thread", "clone3", NULL };
	const char *const unnamed[] = { "pthread_cond_wait", "", NULL };

	CHECK(!strcmp(headline(rules, "libc.so.6", condition), "pthread_cond_wait"));
	CHECK(!strcmp(headline(rules, "libc.so.6", started), "__poll"));
	CHECK(!strcmp(headline(rules, "libc.so.6", folded), "start_thread"));
	CHECK(!strcmp(headline(rules, "a.out", unnamed), ""));
	CHECK(!fold_find_headline(rules, NULL, 0));
	fold_rules_free(rules);
}

TEST(code_without_a_name_is_named_after_who_called_it)
{
	struct fold_rules *rules = fold_rules_new();
	const char *const called[] = { "pthread_mutex_lock", "", "", "pthread_once", "start_thread", NULL };
	const char *const own[] = { "pthread_mutex_lock", "", "pthread_once", "serve(int)", "start_thread", NULL };
	const char *const alone[] = { "pthread_mutex_lock", "", "start_thread", "clone3", NULL };

	CHECK(!strcmp(headline(rules, "libcrypto.so.3", called), "pthread_once"));
	CHECK(!strcmp(headline(rules, "libcrypto.so.3", own), "serve(int)"));
	CHECK(!strcmp(headline(rules, "libcrypto.so.3", alone), ""));
	fold_rules_free(rules);
}

TEST(boilerplate_of_runtimes_is_called_by_its_name)
{
	struct fold_rules *rules = fold_rules_new();

	CHECK(folds_to(rules, "event_base_loop", "libevent-2.1.so.7.0.1", "libevent loop"));
	CHECK(folds_to(rules, "uv_run", "node", "libuv loop"));
	CHECK(folds_to(rules, "Interpreter", "[jit]", "Java interpreter"));
	CHECK(folds_to(rules, "Interpreter", "a.out", NULL));
	CHECK(folds_to(rules, "g_thread_proxy", "libglib-2.0.so.0", "GLib thread start"));
	CHECK(folds_to(rules, "runtime.mcall", "server", "Go runtime"));
	CHECK(folds_to(rules, "runtime.findRunnable", "server", NULL));
	CHECK(folds_to(rules, "WaitLatch", "postgres", NULL));
	CHECK(is_plumbing(rules, "WaitLatch", "postgres"));
	CHECK(!is_plumbing(rules, "WaitLatch", "a.out"));
	CHECK(!is_plumbing(rules, "main.(*ledger).book", "ledger"));
	fold_rules_free(rules);
}

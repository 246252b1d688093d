# SPDX-License-Identifier: GPL-2.0-or-later
#
# The programs with a planted bottleneck, and the sample that `make demo` shows. Each is one file,
# and its top comment says what must be found in it. A program whose library is missing is left out.
# Expects O and Q; sets PROGRAMS and EXAMPLES, the files to build.

MPICC ?= mpicc

PROGRAM_WARN := -Wall -Wextra
# No folding of equal functions: a planted answer must have one name.
PROGRAM_FLAGS := -O2 -g -fno-omit-frame-pointer -fno-ipa-icf -pthread
# Every function keeps a frame of its own, as in the paper's listings.
PROGRAM_PLAIN_FLAGS := -O1 -g -fno-omit-frame-pointer -fno-inline -pthread

PROGRAMS_PLAIN := mutex multi_mutex multi_lock main_read main_write mutex_man_thread
PROGRAMS_TBB := $(and $(wildcard /usr/include/oneapi/tbb/mutex.h),tbb_mutex)
PROGRAMS_MPI := $(and $(shell command -v $(MPICC)),stencil_mpi)
PROGRAMS_OPENMP := $(and $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo yes),openmp_turns)
PROGRAMS_C := known_serial pipeline_stages cpu_bound mutex_storm fsync_io fork_storm many_threads \
	odd_names thread_churn exec_thread signal_self short_children inline_chain generated_code direct_read titled span_work

# One cause of waiting each: tests/e2e/causes.py.
PROGRAMS_CAUSES := cond_wait barrier_straggler rwlock_writer rwlock_readers \
	semaphore_gate join_late heap_locks member_lock plugin_lock robust_mutex pi_mutex \
	timed_waits signal_ends_wait futex_kinds fcntl_lock flock_lock sysv_semaphore pipe_pair \
	fifo_pair reused_fd tcp_slow tcp_slow_processes unix_pair udp_wait epoll_server blocked_server blocked_input poll_one \
	cold_mapping close_flush io_uring_wait fork_wait stopped sleep_holding lock_convoy resolve_slow \
	false_wakeups serial_phase hot_thread idle_pool idle_crowd saturated_pool spread_paths spin_lock spin_barrier \
	oversubscribed stolen_cpu urgent_task cpu_limit deadlock lost_signal many_locks many_files odd_files odd_memory held_longer \
	made_faster changed_code changed_server staffed_stages killed_queue retry_loop shared_wrapper chain_of_waits rare_stall
# Who waits, or wakes, in the last thing it does must be on the stack.
PROGRAM_CAUSES_FLAGS := $(PROGRAM_FLAGS) -fno-optimize-sibling-calls

# Tasks: tests/e2e/spans.py.
PROGRAMS_SPANS := span_server span_throw

# With events of their own: tests/e2e/own_events.py, scripts.py.
PROGRAMS_OWN := own_events own_handover own_activities own_unusual

# With USDT probes, and with tracepoints of LTTng that are such: tests/e2e/usdt.py.
PROGRAMS_USDT := $(and $(wildcard /usr/include/sys/sdt.h /usr/include/*/sys/sdt.h),usdt_hits usdt_handover usdt_library.so)
PROGRAMS_LTTNG := $(and $(PROGRAMS_USDT),$(wildcard /usr/include/lttng/tracepoint.h /usr/include/*/lttng/tracepoint.h),usdt_lttng)

# Locks of the kernel: tests/e2e/klock.py.
PROGRAMS_KLOCK := klock_append klock_create klock_mmap klock_pipe klock_socket klock_fd_table klock_forks \
	klock_overwrite klock_read_block klock_spin klock_lasting klock_counted klock_netns

# The shares of whose code are known: tests/e2e/code.py.
PROGRAMS_CODE := staged_pipeline writer_among_readers tail_unlock last_slice hidden_from_tick in_step event_loop \
	deep_recursion short_slices thousand_threads uneven_crowd in_the_kernel forked_workers
# After programs of which papers name the critical functions: tests/truth/papers.py. And code/body_tracker.
PROGRAMS_PAPERS := similarity_search block_deduper stream_clusterer
# As programs are built: without frame pointers, with tail calls.
PROGRAM_CODE_FLAGS := -O2 -g -fno-ipa-icf -pthread

# With a planted cause each, for tests/causes.
PLANTED := tests/causes/programs
PLANTED_SO := slow_sync
PLANTED_MPI := late_sender
PLANTED_OPENMP := matrix_rows
PLANTED_C := $(filter-out $(PLANTED_SO) $(PLANTED_MPI) $(PLANTED_OPENMP),$(patsubst $(PLANTED)/%.c,%,$(wildcard $(PLANTED)/*.c)))
PLANTED_CXX := $(patsubst $(PLANTED)/%.cpp,%,$(wildcard $(PLANTED)/*.cpp))
PLANTED_GO := $(and $(shell command -v go),$(filter-out planted,$(patsubst $(PLANTED)/go/%.go,%,$(wildcard $(PLANTED)/go/*.go))))
PLANTED_JAVA := $(and $(shell command -v javac),$(wildcard $(PLANTED)/*.java))
PROGRAMS_PLANTED := $(addprefix $O/programs/causes/,$(PLANTED_SO:%=%.so) $(PLANTED_C) $(PLANTED_CXX) \
	$(and $(PROGRAMS_MPI),$(PLANTED_MPI)) $(and $(PROGRAMS_OPENMP),$(PLANTED_OPENMP)) $(PLANTED_GO:%=go/%) \
	$(and $(PLANTED_JAVA),java/.built))
PLANTED_H := $(PLANTED)/planted.h tests/programs/roles.h

# As distributions build.
PROGRAMS_STOCK := first_steps

PROGRAMS := $(addprefix $O/programs/,$(PROGRAMS_PLAIN) $(PROGRAMS_TBB) $(PROGRAMS_MPI) $(PROGRAMS_OPENMP) \
	$(PROGRAMS_C) $(PROGRAMS_CAUSES) $(PROGRAMS_KLOCK) $(PROGRAMS_STOCK) $(PROGRAMS_CODE:%=code/%) code/drawn_shapes \
	$(PROGRAMS_PAPERS:%=code/%) code/body_tracker code/deep_recursion_fp route_lock atomic_wait $(PROGRAMS_SPANS) $(PROGRAMS_OWN) lock_plugin.so odd_symbols \
	dlopen_plugin plugin.so other_clocks.so $(PROGRAMS_USDT) $(PROGRAMS_LTTNG)) $(PROGRAMS_PLANTED)
EXAMPLES := $O/examples/pipeline

$(PROGRAMS_PLAIN:%=$O/programs/%): $O/programs/%: tests/programs/%.cpp
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_PLAIN_FLAGS) $(PROGRAM_WARN) -o $@ $<

$O/programs/tbb_mutex: tests/programs/tbb_mutex.cpp
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_PLAIN_FLAGS) $(PROGRAM_WARN) -o $@ $< -ltbb

$O/programs/openmp_turns: tests/programs/openmp_turns.c tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) -fopenmp $(PROGRAM_CAUSES_FLAGS) $(PROGRAM_WARN) -o $@ $<

$O/programs/stencil_mpi: tests/programs/stencil_mpi.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(MPICC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -o $@ $<

$(PROGRAMS_C:%=$O/programs/%): $O/programs/%: tests/programs/%.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -o $@ $<

$(PROGRAMS_CAUSES:%=$O/programs/%) $(PROGRAMS_KLOCK:%=$O/programs/%): $O/programs/%: tests/programs/%.c $(wildcard tests/programs/*.h)
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CAUSES_FLAGS) $(PROGRAM_WARN) -o $@ $<

$O/programs/atomic_wait: tests/programs/atomic_wait.cpp tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) -std=c++20 $(PROGRAM_CAUSES_FLAGS) $(PROGRAM_WARN) -o $@ $<

$(PROGRAMS_SPANS:%=$O/programs/%): $O/programs/%: tests/programs/%.cpp tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_CAUSES_FLAGS) $(PROGRAM_WARN) -o $@ $<

$(addprefix $O/programs/,own_events.h own_activities.h): $O/programs/%.h: tests/programs/%.pleco $(PLECOC)
	@mkdir -p $(@D)
	$Q$(PLECOC) --header -o $@ $<

$O/programs/own_activities $O/programs/own_unusual: $O/programs/own_activities.h
$(PROGRAMS_OWN:%=$O/programs/%): $O/programs/%: tests/programs/%.c tests/programs/roles.h $O/programs/own_events.h $O/libpinchtrace.a
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CAUSES_FLAGS) $(PROGRAM_WARN) -Ilib -I$O/programs -o $@ $< $O/libpinchtrace.a

$O/programs/usdt_library.so: tests/programs/usdt_library.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -shared -fPIC -Wl,-soname,usdt_library.so -o $@ $<

$O/programs/usdt_hits: tests/programs/usdt_hits.c $O/programs/usdt_library.so
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -o $@ $< $O/programs/usdt_library.so -Wl,-rpath,'$$ORIGIN'

$O/programs/usdt_handover: tests/programs/usdt_handover.c tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CAUSES_FLAGS) $(PROGRAM_WARN) -o $@ $<

# As a build of LTTng with SystemTap has it for all programs.
$O/programs/usdt_lttng: tests/programs/usdt_lttng.c tests/programs/usdt_lttng.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -DLTTNG_UST_HAVE_SDT_INTEGRATION -Itests/programs -o $@ $< -llttng-ust -ldl

$O/programs/lock_plugin.so: tests/programs/lock_plugin.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CAUSES_FLAGS) $(PROGRAM_WARN) -shared -fPIC -o $@ $<

$O/programs/odd_symbols: tests/programs/odd_symbols.c tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CAUSES_FLAGS) -g0 $(PROGRAM_WARN) -c -o $@.o $<
	$Qobjcopy --redefine-sym plain_lock="$$(printf 'odd\033[31m\nlock')" \
		--redefine-sym plain_hold="$$(printf 'hold\033[2J\377\t\302\23331m')" \
		--redefine-sym plain_wait="$$(printf 'w\nait%05000d' 0)" $@.o
	$Q$(CC) $(PROGRAM_CAUSES_FLAGS) -o $@ $@.o

$(PROGRAMS_STOCK:%=$O/programs/%): $O/programs/%: tests/programs/%.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) -O2 -g $(PROGRAM_WARN) -o $@ $<

# Its functions have names when it is stripped, too.
$O/programs/route_lock: tests/programs/route_lock.cpp tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) -O2 -g -pthread -rdynamic $(PROGRAM_WARN) -o $@ $<

$(PROGRAMS_CODE:%=$O/programs/code/%) $(PROGRAMS_PAPERS:%=$O/programs/code/%): $O/programs/code/%: tests/programs/code/%.c \
		$(wildcard tests/programs/code/*.h) tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CODE_FLAGS) $(PROGRAM_WARN) -o $@ $< -lm

# For tools that follow frame pointers: tests/truth/perf.py.
$O/programs/code/deep_recursion_fp: tests/programs/code/deep_recursion.c $(wildcard tests/programs/code/*.h) tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CODE_FLAGS) -fno-omit-frame-pointer $(PROGRAM_WARN) -o $@ $<

$O/programs/code/drawn_shapes $O/programs/code/body_tracker: $O/programs/code/%: tests/programs/code/%.cpp $(wildcard tests/programs/code/*.h) tests/programs/roles.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_CODE_FLAGS) $(PROGRAM_WARN) -o $@ $<

$O/programs/dlopen_plugin: tests/programs/dlopen_plugin.cpp
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -o $@ $< -ldl

$O/programs/other_clocks.so: tests/programs/other_clocks.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -D_GNU_SOURCE -fPIC -shared -o $@ $<

$O/programs/plugin.so: tests/programs/plugin.cpp
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -shared -fPIC -o $@ $<

$O/examples/pipeline: examples/pipeline.cpp
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -o $@ $<

$(PLANTED_SO:%=$O/programs/causes/%.so): $O/programs/causes/%.so: $(PLANTED)/%.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CODE_FLAGS) $(PROGRAM_WARN) -D_GNU_SOURCE -fPIC -shared -o $@ $<

$(PLANTED_C:%=$O/programs/causes/%): $O/programs/causes/%: $(PLANTED)/%.c $(PLANTED_H)
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_CODE_FLAGS) $(PROGRAM_WARN) -D_GNU_SOURCE -o $@ $<

$(PLANTED_OPENMP:%=$O/programs/causes/%): $O/programs/causes/%: $(PLANTED)/%.c $(PLANTED_H)
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) -fopenmp $(PROGRAM_CODE_FLAGS) $(PROGRAM_WARN) -o $@ $<

$(PLANTED_MPI:%=$O/programs/causes/%): $O/programs/causes/%: $(PLANTED)/%.c $(PLANTED_H)
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(MPICC) $(PROGRAM_CODE_FLAGS) $(PROGRAM_WARN) -o $@ $<

$(PLANTED_CXX:%=$O/programs/causes/%): $O/programs/causes/%: $(PLANTED)/%.cpp $(PLANTED_H)
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CXX) $(PROGRAM_CODE_FLAGS) $(PROGRAM_WARN) -D_GNU_SOURCE -o $@ $<

# Its cache of compiled packages stays in the build directory, too.
$O/programs/causes/go/%: $(PLANTED)/go/%.go $(PLANTED)/go/planted.go
	@echo "  PROG  $@"; mkdir -p $(@D)
	$QGOCACHE=$(abspath $O)/go-cache GO111MODULE=off go build -o $@ $^

$O/programs/causes/java/.built: $(PLANTED_JAVA)
	@echo "  PROG  $(@D)"; mkdir -p $(@D)
	$Qjavac -d $(@D) $^
	$Qtouch $@

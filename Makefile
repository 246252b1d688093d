# SPDX-License-Identifier: GPL-2.0-or-later
# The only build file. `make help` lists the targets; V=1 shows the commands.

# SAN=1: all but the BPF programs is checked by ASan and UBSan, in a directory of its own, which has the fuzzers, too.
O ?= build$(if $(SAN),/san)
VERSION := 0.1.0
PREFIX ?= /usr/local
DESTDIR ?=
CC ?= gcc
CXX ?= g++
CLANG ?= clang
BPFTOOL ?= $(firstword $(wildcard /usr/sbin/bpftool) bpftool)
MULTIARCH := $(shell $(CC) -print-multiarch 2>/dev/null)
ARCH := $(patsubst aarch64,arm64,$(patsubst x86_64,x86,$(shell uname -m)))

comma := ,
# The same compiler for all of it: fuzzers take clang's. It does not say by itself what gcc says.
ifneq ($(SAN),)
CC := $(CLANG)
SAN_FLAGS := -O1 -g -fno-omit-frame-pointer -fno-optimize-sibling-calls -fsanitize=address,undefined$(SAN_ALSO) -fno-sanitize-recover=undefined -D__SANITIZE_ADDRESS__
endif
# clang's: events whose tails follow them in a struct of ours.
WARN := -Wall -Wextra -Wno-gnu-variable-sized-type-not-at-end $(if $(CI),-Werror)
WARN_SRC := $(WARN) -Wshadow -Wmissing-prototypes
# No function of pinch takes more of a stack: what is larger is allocated. Sanitizers add to frames.
FRAME_BYTES_MAX := 24576
WARN_TOOL = $(WARN_SRC) -Wvla -Walloca $(if $(findstring -fsanitize,$(CFLAGS)),,-Wframe-larger-than=$(FRAME_BYTES_MAX))
CPPFLAGS := -D_GNU_SOURCE -DPINCH_VERSION='"$(VERSION)"' -Isrc -I$O/gen -Ievents -Ibpf -Ilib
CFLAGS ?= $(or $(SAN_FLAGS),-O2 -g)
# What the compiler and the linker add against errors of memory: for pinch and plecoc, which read what others
# wrote. Apart from CFLAGS, so that who sets those keeps it; none with sanitizers, which would see less.
# FORTIFY needs an optimising compiler, and is not set again where CFLAGS does.
FORTIFY = $(if $(filter-out -O0,$(filter -O%,$(CFLAGS))),$(if $(findstring _FORTIFY_SOURCE,$(CFLAGS)),,\
	-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3))
HARDENING = $(if $(findstring -fsanitize,$(CFLAGS)),,-fPIE -fstack-protector-strong -fstack-clash-protection \
	$(if $(filter x86,$(ARCH)),-fcf-protection,-mbranch-protection=standard) -Wformat -Wformat-security $(FORTIFY))
HARDENING_LINK = $(if $(HARDENING),-pie -Wl$(comma)-z$(comma)relro -Wl$(comma)-z$(comma)now -Wl$(comma)-z$(comma)noexecstack)
LDLIBS := -lbpf -ldw -lelf -liberty -llzma -lz -lm -lcapstone -lzstd -lxxhash -ljansson -lseccomp -lcap -lncursesw -ltinfo -lcivetweb
# Scripts of activities.
CPPFLAGS += $(or $(shell pkg-config --cflags lua5.4 2>/dev/null),-I/usr/include/lua5.4)
LDLIBS += $(or $(shell pkg-config --libs lua5.4 2>/dev/null),-llua5.4)
Q := $(if $(V),,@)

.DELETE_ON_ERROR:
.SECONDARY:
MAKEFLAGS += -r

all: $O/pinch $O/plecoc libpinchtrace

help:
	@echo "make            build pinch and plecoc under $O/"
	@echo "make demo       install what is missing, build, and trace the bundled sample"
	@echo "make check      install what is missing, build, and run the tests (as root): at most 15 minutes on two CPUs"
	@echo "make check-all  the same with all suites, attacks and an emulated kernel: what CI runs, 40 minutes"
	@echo "make attacks    hostile programs, files and traces, at length; make check-all has the quick ones"
	@echo "make test       the tests that need neither root nor BPF"
	@echo "make test SAN=1 the same, with ASan and UBSan, in build/san"
	@echo "make check-kernels   the end-to-end tests on Debian's kernels, emulated; KERNELS=6.12-rt for one,"
	@echo "                QUICK=1 for the choice of them that make check-all runs on 6.1-plain"
	@echo "make repeat     ROUNDS=20 of end-to-end tests, SUITES=causes, on a machine kept busy: each says the same"
	@echo "make truth      ROUNDS=20 of each program whose code's shares are known, at 10,000 samples; beside perf and papers"
	@echo "make causes     what pinch says of planted causes on servers and programs, scored; ONLY=, ROUNDS=, BESIDE=1"
	@echo "make libpinchtrace   the library that programs are linked with: libpinchtrace(3)"
	@echo "make bench      what tracing costs, beside perf sched record (bench/README.md)"
	@echo "make bench-traces   only how fast traces are read, indexed and asked"
	@echo "make bench-cpus   what 2 to 256 CPUs cost collector and analyses (doc/scale.md)"
	@echo "make bench-page   how soon the page of a report can be used"
	@echo "make bench-view   how fast pinch view draws traces of 1, 10 and 100 million events"
	@echo "make bench-view-live   how much longer a program takes under pinch view than under pinch record"
	@echo "make bench-scope  how fast a scope sends a trace to 1, 4 and 20 clients"
	@echo "make fuzz       run each fuzzer for FUZZ_SECONDS (60); fuzz-corpus keeps what it found"
	@echo "make evidence   doc/evidence.md, from doc/evidence/*.json and what the last tests and benches found"
	@echo "make golden-update   rewrite the expected outputs; review the diff"
	@echo "make install    PREFIX=$(PREFIX) DESTDIR=$(DESTDIR)"
	@echo "make format     lay out all C code as .clang-format says"
	@echo "make lint       what clang-format, cppcheck, shellcheck, pyflakes and codespell say"
	@echo "make analyze    what gcc -fanalyzer says of src/"
	@echo "make coverage   how much of src/ the tests run, by folder; by line in $O/coverage/html (as root)"
	@echo "make compile_commands.json   for clangd and other tools"
	@echo "make clean      remove $O/"

# --- What is missing on this machine: Debian packages only ------------------------------

BUILD_PACKAGES := gcc g++ make clang llvm bpftool libbpf-dev libdw-dev libelf-dev libiberty-dev \
	liblzma-dev zlib1g-dev libncurses-dev libcapstone-dev libzstd-dev libxxhash-dev libjansson-dev libseccomp-dev libcap-dev libgnutls28-dev liblua5.4-dev libcivetweb-dev libbabeltrace2-dev libc6-dev linux-libc-dev \
	$(if $(shell command -v node),,nodejs) $(if $(shell command -v npm),,npm)
TEST_PACKAGES := groff-base iproute2 libcmocka-dev jq python3 python3-jsonschema python3-prometheus-client libtbb-dev \
	openmpi-bin libopenmpi-dev linux-perf mariadb-server sysbench pigz xz-utils binutils \
	libclang-rt-14-dev util-linux procps psmisc strace tmux dwz libdebuginfod1 \
	nodejs openjdk-17-jdk-headless postgresql-15 golang-go ripgrep lld libgvc6 \
	apache2 libapache2-mod-php nginx-light rt-tests chromium firefox-esr ruby netcat-openbsd openssl \
	systemtap-sdt-dev liblttng-ust-dev poppler-utils protobuf-compiler babeltrace2
KERNEL_PACKAGES := qemu-system-x86
TRUTH_PACKAGES := redis-server
CAUSES_PACKAGES := redis-server redis-tools haproxy memcached libmariadb3 libpq5 ruby
LINT_PACKAGES := clang-format cppcheck shellcheck pyflakes3 codespell
BENCH_PACKAGES := $(TEST_PACKAGES) redis-server redis-tools libbpf-tools libmariadbd-dev babeltrace2 lttng-tools

build-packages:
	@./tools/install-packages $(BUILD_PACKAGES)

test-packages:
	@./tools/install-packages $(BUILD_PACKAGES) $(TEST_PACKAGES)

# Without it the tests that want it are skipped, and say so.
truth-packages:
	@./tools/install-packages $(TRUTH_PACKAGES) || true

causes-packages:
	@./tools/install-packages $(CAUSES_PACKAGES) || true

# Without qemu the test that wants it is skipped, and says so.
kernel-packages:
	@./tools/install-packages $(KERNEL_PACKAGES) || true

bench-packages:
	@./tools/install-packages $(BUILD_PACKAGES) $(BENCH_PACKAGES)

# --- Events: one list, a header, JSON and a table. The order of the files numbers the -----
# --- subsystems: add at the end. -----------------------------------------------------------

EVENTS := $(addprefix events/,sched.pleco thread.pleco stack.pleco space.pleco collect.pleco \
	file.pleco system.pleco span.pleco klock.pleco go.pleco resource.pleco user.pleco clock.pleco)
PLECOC := $O/plecoc
PLECOC_C := $(wildcard tools/plecoc/*.c)

$(PLECOC): $(PLECOC_C) $(wildcard tools/plecoc/*.h) $O/.flags
	@echo "  CC    $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(HARDENING) $(CFLAGS) $(WARN) -DPINCH_VERSION='"$(VERSION)"' $(HARDENING_LINK) $(LDFLAGS) \
		-o $@ $(PLECOC_C)

$O/gen/events.h: $(PLECOC) $(EVENTS)
	@echo "  PLECO $@"; mkdir -p $(@D)
	$Q$(PLECOC) --header -o $@ $(EVENTS)

$O/gen/events.json: $(PLECOC) $(EVENTS)
	@echo "  PLECO $@"; mkdir -p $(@D)
	$Q$(PLECOC) --json -o $@ $(EVENTS)

$O/gen/event_kinds.inc: $(PLECOC) $(EVENTS)
	@echo "  PLECO $@"; mkdir -p $(@D)
	$Q$(PLECOC) --table -o $@ $(EVENTS)

# --- What JSON has, described once (src/report, src/results): its JSON Schemas, its types for web/ -----

DESCRIBE := $O/describe
DESCRIBED := src/report src/results
DESCRIBE_C := $(wildcard tools/describe/*.c $(DESCRIBED:%=%/*.c)) $(addprefix src/base/,json.c text.c memory.c)
SCHEMAS := $(patsubst doc/%,$O/gen/%,$(wildcard doc/*-schema.json))

$(DESCRIBE): $(DESCRIBE_C) $(wildcard tools/describe/*.h $(DESCRIBED:%=%/*.h) $(DESCRIBED:%=%/*.def)) $O/.flags
	@echo "  CC    $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 -D_GNU_SOURCE -Isrc -Ievents -Itools/describe $(CFLAGS) $(WARN) $(LDFLAGS) -o $@ $(DESCRIBE_C)

$O/gen/%-schema.json: $(DESCRIBE)
	@echo "  GEN   $@"; mkdir -p $(@D)
	$Q$(DESCRIBE) $* > $@

$O/gen/report.ts: $(DESCRIBE)
	@echo "  GEN   $@"; mkdir -p $(@D)
	$Q$(DESCRIBE) types > $@

# --- BPF: one object a concern, linked into one skeleton. state.bpf.o defines what the -----
# --- others declare, and comes first. ------------------------------------------------------

BPF_O := $(addprefix $O/bpf/,state.bpf.o sched.bpf.o stack.bpf.o unwind.bpf.o thread.bpf.o sample.bpf.o file.bpf.o \
	try.bpf.o fault.bpf.o listener.bpf.o input.bpf.o ready.bpf.o loop.bpf.o host.bpf.o blocked.bpf.o system.bpf.o \
	span.bpf.o klock.bpf.o klock_name.bpf.o kernel_name.bpf.o acquire.bpf.o usdt.bpf.o)

$O/bpf/%.bpf.o: bpf/%.bpf.c | $O/gen/events.h
	@echo "  BPF   $<"; mkdir -p $(@D)
	$Q$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(ARCH) -MMD -MP \
		-Ibpf -Ievents -I$O/gen -I/usr/include/$(MULTIARCH) -c -o $@ $<

$O/pinch.bpf.o: $(BPF_O)
	@echo "  LINK  $@"
	$Q$(BPFTOOL) gen object $@ $^

$O/gen/pinch.skel.h: $O/pinch.bpf.o
	@echo "  SKEL  $@"; mkdir -p $(@D)
	$Q$(BPFTOOL) gen skeleton $< name pinch_bpf > $@

# --- Data compiled in ----------------------------------------------------------------------

$O/gen/%_rules.inc: share/%.rules
	@echo "  GEN   $@"; mkdir -p $(@D)
	$Qsed -e '/^#/d' -e '/^$$/d' -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@

$O/gen/events_json.inc: $O/gen/events.json
	@echo "  GEN   $@"; mkdir -p $(@D)
	$Qsed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@

$O/gen/klock_json.inc: share/klock.json
	@echo "  GEN   $@"; mkdir -p $(@D)
	$Qsed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< > $@

# As the headers of this machine number them.
$O/gen/syscall_names.inc:
	@echo "  GEN   $@"; mkdir -p $(@D)
	$Qecho '#include <sys/syscall.h>' | $(CC) -E -dM - | \
		sed -n 's/^#define __NR_\([a-z0-9_]*\) .*/[__NR_\1] = "\1",/p' > $@

# The page of the HTML report: installed, bundled and checked in a copy, so that nothing is left here.
# npm is wherever it comes from; only where there is none, Debian's is asked for.
WEB := $(shell find web -type f)
NPM := npm --no-audit --no-fund --no-update-notifier --loglevel=error

$O/web/.installed: web/package.json web/package-lock.json web/.npmrc
	@echo "  NPM   $@"; mkdir -p $(@D)
	$Qcp $^ $(@D)
	$Q$(NPM) --prefix $(@D) ci --ignore-scripts --include=dev > $@.log 2>&1 || { cat $@.log >&2; exit 1; }
	$Qtouch $@

# What tests read exports with, and no page needs.
$O/tests/npm/.installed: tests/npm/package.json tests/npm/package-lock.json web/.npmrc
	@echo "  NPM   $@"; mkdir -p $(@D)
	$Qcp $^ $(@D)
	$Q$(NPM) --prefix $(@D) ci --ignore-scripts --include=dev > $@.log 2>&1 || { cat $@.log >&2; exit 1; }
	$Qtouch $@

$O/web/.copied: $O/web/.installed $O/gen/report.ts $(WEB) $(wildcard share/scripts/*.lua)
	$Qrm -rf $O/web/src $O/web/scripts
	$Qcp -r web/src web/tsconfig.json web/bundle.mjs $(@D)
	$Qcp $O/gen/report.ts $(@D)/src
	$Qcp -r share/scripts $(@D)/scripts
	$Qtouch $@

$O/gen/report_head.inc: $O/web/.copied
	@echo "  WEB   $@"; mkdir -p $(@D)
	$Qnode $O/web/bundle.mjs $O/gen

$O/gen/report_start.inc $O/gen/report_tail.inc: $O/gen/report_head.inc ;

GEN := $O/gen/events.h $O/gen/pinch.skel.h $O/gen/fold_rules.inc $O/gen/wait_rules.inc $O/gen/klock_rules.inc $O/gen/klock_json.inc \
	$O/gen/report_start.inc $O/gen/report_head.inc $O/gen/report_tail.inc \
	$O/gen/syscall_names.inc $O/gen/events_json.inc $O/gen/event_kinds.inc

# --- The tool ------------------------------------------------------------------------------

SRC := $(wildcard src/*/*.c src/*/*/*.c)
OBJ := $(SRC:%.c=$O/%.o)
LIB_OBJ := $(filter-out $O/src/cmd/main.o,$(OBJ))
# What loads BPF programs, and all that stands above it.
ABOVE_KERNEL := $(addprefix src/,$(addsuffix /%,collect options engine query derive show scope live cmd))

# Changes when the options do: objects of two kinds must not be mixed.
$O/.flags: always
	@mkdir -p $(@D); echo '$(CC) $(HARDENING) $(CFLAGS)' | cmp -s - $@ || echo '$(CC) $(HARDENING) $(CFLAGS)' > $@

$O/src/%.o: src/%.c $O/.flags | $(GEN)
	@echo "  CC    $<"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) $(HARDENING) $(CFLAGS) $(WARN_TOOL) -MMD -MP -c -o $@ $<

$O/libpinch.a: $(LIB_OBJ)
	@echo "  AR    $@"
	$Qrm -f $@; $(AR) rcs $@ $^

$O/pinch: $O/src/cmd/main.o $O/libpinch.a
	@echo "  LD    $@"
	$Q$(CC) $(HARDENING) $(CFLAGS) $(HARDENING_LINK) $(LDFLAGS) -o $@ $^ $(LDLIBS)

# For clangd, clang-tidy and the like: as make would compile each file.
compile_commands.json: $(GEN)
	@echo "  GEN   $@"
	$Q{ printf '['; separator=; for file in $(SRC); do \
		printf '%s\n{"directory":"%s","file":"%s","command":"%s"}' "$$separator" '$(CURDIR)' $$file \
			'$(CC) -std=gnu11 $(subst '"$(VERSION)"',\\\"$(VERSION)\\\",$(CPPFLAGS)) $(CFLAGS) $(WARN) -c '$$file; separator=,; \
	done; printf '\n]\n'; } > $@

# --- libpinchtrace: linked into programs, which may be of any kind ---------------------------

TRACE_C := $(wildcard lib/*.c)
TRACE_O := $(TRACE_C:lib/%.c=$O/lib/%.o)
TRACE_SO := libpinchtrace.so.0
# Of the library only: a thread has one variable, which lies where every program has it. It stays loaded (nodelete), since
# threads that end call it.
TRACE_FLAGS := -std=c11 -D_GNU_SOURCE -fPIC -fvisibility=hidden -ftls-model=initial-exec

libpinchtrace: $O/libpinchtrace.a $O/libpinchtrace.so $O/libpinchtrace.pc

$O/lib/%.o: lib/%.c $O/.flags
	@echo "  CC    $<"; mkdir -p $(@D)
	$Q$(CC) $(HARDENING) $(CFLAGS) $(TRACE_FLAGS) $(WARN_SRC) -MMD -MP -c -o $@ $<

$O/libpinchtrace.a: $(TRACE_O)
	@echo "  AR    $@"
	$Qrm -f $@; $(AR) rcs $@ $^

$O/$(TRACE_SO): $(TRACE_O)
	@echo "  LD    $@"
	$Q$(CC) $(CFLAGS) -shared -Wl,-soname,$(TRACE_SO) $(if $(SAN),,-Wl$(comma)-z$(comma)defs) -Wl,-z,relro,-z,now,-z,noexecstack,-z,nodelete \
		$(LDFLAGS) -o $@ $^ -pthread

$O/libpinchtrace.so: $O/$(TRACE_SO)
	$Qln -sf $(TRACE_SO) $@

$O/libpinchtrace.pc: lib/libpinchtrace.pc.in Makefile
	@echo "  GEN   $@"; mkdir -p $(@D)
	$Qsed -e 's|@PREFIX@|$(PREFIX)|' -e 's|@VERSION@|$(VERSION)|' $< > $@

# --- Tests: programs that print TAP, and tests/run that counts them -------------------------

UNIT_C := $(wildcard tests/unit/*_test.c)
BPF_TESTS := $(patsubst tests/unit/%.c,$O/tests/%,$(wildcard tests/unit/bpf_*_test.c))
TRACE_TESTS := $(patsubst tests/unit/%.c,$O/tests/%,$(wildcard tests/unit/pinchtrace_*_test.c))
AREA_TESTS := $(patsubst tests/unit/%.c,$O/tests/%,$(wildcard tests/unit/area_*test.c))
UNIT_TESTS := $(filter-out $(BPF_TESTS) $(TRACE_TESTS),$(patsubst tests/unit/%.c,$O/tests/%,$(UNIT_C)))
TEST_CPPFLAGS := $(CPPFLAGS) -Itests/unit -DTEST_OUTPUT='"$O/tests"'

TEST_SUPPORT := $(patsubst tests/unit/%.c,$O/tests/%.o,$(filter-out %_test.c,$(wildcard tests/unit/*.c)))

$(TEST_SUPPORT): $O/tests/%.o: tests/unit/%.c | $(GEN)
	@echo "  CC    $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(TEST_CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(UNIT_TESTS): $O/tests/%: tests/unit/%.c $(TEST_SUPPORT) $O/libpinch.a
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(TEST_CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< \
		$(TEST_SUPPORT) $O/libpinch.a $(if $(filter $@,$(AREA_TESTS)),$O/libpinchtrace.a) $(LDLIBS) -lcmocka

# They record events themselves, to read them.
$(AREA_TESTS): $O/libpinchtrace.a

# Of the library that programs are linked with, which knows nothing of the rest.
$(TRACE_TESTS): $O/tests/%: tests/unit/%.c $O/libpinchtrace.a
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 -D_GNU_SOURCE -Ilib $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< $O/libpinchtrace.a -lcmocka -pthread

# Makes pages of data that no run gives, for tests/web.
$O/tests/html_make: tests/web/html_make.c $O/libpinch.a
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< $O/libpinch.a $(LDLIBS)

# Makes a trace of another host of one, whose clock is known, for tests/e2e/hosts.py.
$O/tests/as_host: tests/hosts/as_host.c $O/libpinch.a
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< $O/libpinch.a $(LDLIBS)

# The list of events of a trace, for tests/e2e/rows.py.
$O/tests/rows_print: tests/rows/rows_print.c $O/libpinch.a
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -MF $@.d -o $@ $< $O/libpinch.a $(LDLIBS)

# Programs that take scenarios in text.
GOLDEN_O := $(patsubst tests/golden/%.c,$O/tests/golden/%.o,$(wildcard tests/golden/*.c))
SCENARIO_O := $(addprefix $O/tests/golden/,scenario.o scenario_events.o)

$(GOLDEN_O): $O/tests/golden/%.o: tests/golden/%.c | $(GEN)
	@echo "  CC    $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$O/tests/replay: $(addprefix $O/tests/golden/,replay.o replay_print.o replay_klocks.o externals.o) $(SCENARIO_O) $O/libpinch.a
$O/tests/graph_replay: $(addprefix $O/tests/golden/,graph_replay.o graph_print.o) $(SCENARIO_O) $O/libpinch.a
$O/tests/replay $O/tests/graph_replay:
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.o %.a,$^) $(LDLIBS)

# The BPF programs as plain C, against a shim of the kernel's helpers. tests/shim comes first.
BPF_HOST_O := $(patsubst bpf/%.bpf.c,$O/tests/bpf/%.o,$(wildcard bpf/*.bpf.c)) \
	$(patsubst tests/shim/%.c,$O/tests/bpf/%.o,$(wildcard tests/shim/*.c))
BPF_HOST_CPPFLAGS := -Itests/shim -Ibpf -Ievents -I$O/gen -Itests/unit -Isrc -Wno-unknown-pragmas -Wno-unknown-attributes

$O/tests/bpf/%.o: bpf/%.bpf.c | $O/gen/events.h
	@echo "  HOST  $<"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(BPF_HOST_CPPFLAGS) -MMD -MP -c -o $@ $<

$O/tests/bpf/%.o: tests/shim/%.c | $O/gen/events.h
	@echo "  CC    $<"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(BPF_HOST_CPPFLAGS) -MMD -MP -c -o $@ $<

$(BPF_TESTS): $O/tests/%: tests/unit/%.c $(BPF_HOST_O) $O/libpinch.a
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(BPF_HOST_CPPFLAGS) -MMD -MP -MF $@.d -o $@ $< \
		$(BPF_HOST_O) $O/libpinch.a -lcmocka

# The unwinder of the BPF programs on other processes, for tests/e2e/unwind*.py.
$O/tests/unwind_probe: tests/unwind/probe.c $O/tests/bpf/state.o $O/libpinch.a
	@echo "  TEST  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 -D_GNU_SOURCE $(CFLAGS) $(WARN) $(BPF_HOST_CPPFLAGS) -MMD -MP -MF $@.d \
		-o $@ $< $O/tests/bpf/state.o $O/libpinch.a $(LDLIBS)

# --- Fuzzers, with SAN=1 ---------------------------------------------------------------------

FUZZ_SECONDS ?= 60
FUZZ := $(patsubst tests/fuzz/%.c,$O/fuzz/%,$(wildcard tests/fuzz/*_fuzz.c))
FUZZ_O := $(FUZZ:%=%.o) $O/fuzz/commands.o $O/fuzz/mutate.o
FUZZ_PLECOC_O := $(patsubst %.c,$O/%.o,$(filter-out %/main.c %/output.c,$(PLECOC_C)))

# The unwinder of the BPF programs, on the host.
FUZZ_BPF := $O/fuzz/unwind_fuzz $O/fuzz/walk_fuzz

$(FUZZ_PLECOC_O): $O/%.o: %.c $O/.flags
	@echo "  CC    $<"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CFLAGS) $(WARN) -MMD -MP -c -o $@ $<

$(FUZZ_BPF:%=%.o): FUZZ_CPPFLAGS := $(BPF_HOST_CPPFLAGS) -D_GNU_SOURCE
FUZZ_CPPFLAGS := $(CPPFLAGS) -Itests/unit

$(FUZZ_O): $O/fuzz/%.o: tests/fuzz/%.c $O/.flags | $(GEN)
	@echo "  CC    $<"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CFLAGS) $(WARN) $(FUZZ_CPPFLAGS) -MMD -MP -c -o $@ $<

$O/fuzz/plecoc_fuzz: $(FUZZ_PLECOC_O)
$(FUZZ_BPF): $O/tests/bpf/state.o

$(FUZZ): $O/fuzz/%: $O/fuzz/%.o $O/libpinch.a
	@echo "  FUZZ  $@"
	$Q$(CC) $(CFLAGS) -fsanitize=fuzzer -o $@ $(filter %.o,$^) $(filter %.a,$^) $(LDLIBS)

# Every command that takes a trace, on traces that an enemy has changed.
$O/fuzz/commands: $O/fuzz/commands.o $O/fuzz/mutate.o $O/libpinch.a
	@echo "  FUZZ  $@"
	$Q$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)

# What is found stays in $O/fuzzing/corpus; fuzz-corpus keeps of it what covers more code in tests/fuzz/corpus,
# from where each run starts. To find it, programs say what they run and compare, which takes them much time.
fuzz fuzz-corpus:
	@$(MAKE) --no-print-directory -j2 SAN=1 SAN_ALSO=,fuzzer-no-link O=$O/fuzzing $@-run

fuzz-run: $(FUZZ)
	@for f in $(FUZZ); do name=$${f##*/}; mkdir -p $O/corpus/$$name; \
		$$f -max_total_time=$(FUZZ_SECONDS) -max_len=4096 -rss_limit_mb=2048 -timeout=30 \
			$O/corpus/$$name tests/fuzz/corpus/$$name || exit 1; done

fuzz-corpus-run: $(FUZZ)
	@for f in $(FUZZ); do /usr/bin/python3 tests/fuzz/keep.py $$f $O/corpus/$${f##*/} || exit 1; done

# --- What tools say of the sources ------------------------------------------------------------

lint-packages:
	@./tools/install-packages $(BUILD_PACKAGES) $(LINT_PACKAGES)

# Not what plecoc must write.
FORMATTED = $$(git ls-files '*.c' '*.h' '*.cpp' ':!tests/plecoc/golden')

format: lint-packages
	@clang-format -i $(FORMATTED)

# Left out of cppcheck: what it takes for errors here and are none.
lint: lint-packages
	@$(MAKE) --no-print-directory -j2 $(GEN)
	clang-format --dry-run -Werror $(FORMATTED)
	cppcheck --quiet --error-exitcode=1 --enable=warning,portability -j2 --std=c11 -D_GNU_SOURCE -Isrc -I$O/gen \
		-Ievents -Ibpf $(addprefix --suppress=,uninitvar unknownMacro autoVariables shiftTooManyBitsSigned \
		arrayIndexOutOfBoundsCond) src lib tools/plecoc
	shellcheck -S warning $$(git ls-files '*.sh') tests/run tools/install-packages .ci/run
	pyflakes3 $$(git ls-files '*.py')
	codespell -L nd,nce,fo,fro,iput,couter,nin,flate $$(git ls-files '*.[ch]' '*.md' '*.py' '*.sh' '*.ts' '*.tsx' '*.mjs' \
		'doc/*.[135]' 'share/*.rules' 'events/*.pleco')

# What gcc takes for paths that a program can take.
ANALYZED := $(SRC:%.c=$O/analyzed/%)

$O/analyzed/%: %.c Makefile | $(GEN)
	@echo "  CHECK $<"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) -O1 -g -fanalyzer -Werror -c -o /dev/null $<
	$Qtouch $@

analyze: lint-packages
	@$(MAKE) --no-print-directory -j2 $(GEN)
	@$(MAKE) --no-print-directory -j2 $(ANALYZED)

# --- Running them ---------------------------------------------------------------------------

TEST_BINARIES := $(UNIT_TESTS) $(BPF_TESTS) $(TRACE_TESTS) $O/tests/replay $O/tests/graph_replay $(SCHEMAS) \
	$(if $(SAN),$(FUZZ) $O/fuzz/commands,$O/tests/unwind_probe $O/tests/as_host $O/tests/rows_print $O/tests/html_make $O/web/.copied)
export CMOCKA_MESSAGE_OUTPUT := TAP
export PYTHONDONTWRITEBYTECODE := 1
export O

# What begins with + says the same whatever runs beside it: tests/run.

# Neither root nor BPF. Of what is built here, with sanitizers or without; and of the sources.
BUILT_TESTS := $(addprefix +,$(UNIT_TESTS) $(BPF_TESTS) $(TRACE_TESTS)) \
	"+tests/golden/run.sh $O/tests/replay" \
	"+tests/golden/graph/run.sh $O/tests/graph_replay" \
	"+tests/plecoc/run.sh $O/plecoc"
# With 100 million events, and 200 processes killed.
LONG_TRACE_TESTS := $(patsubst %,"env LONG=1 %",$(TRACE_TESTS))
FUZZ_TEST := "+tests/fuzz/replay.sh $O$(if $(SAN),,/san)/fuzz"
# Of those that are quick, what reads files and memory of others: make check runs them with sanitizers, too.
PARSERS := $(addsuffix _test,area event_line fold go_table jit_hints jit_maps json kernel_functions klock_spec perf_map python_code \
	managed_codes python_lines ruby_code symbol symbol_object trace_file trace_info trace_schema)
SANITIZED_TESTS := $(addprefix +$O/san/tests/,$(PARSERS))
SOURCE_TESTS := "+tests/golden/view/validate.sh" "+tests/pinchtrace.sh $O" \
	"+tests/check_layers.sh" "+tests/check_circles.sh $O" "+tests/check_headers.sh" "+tests/check_spdx.sh" \
	$(if $(HARDENING),"+tests/hardening.sh $O") \
	"+tests/docs.sh $O/pinch" "+/usr/bin/python3 tests/evidence.py" "+/usr/bin/python3 tests/causes/score.py" "+tests/web/types.sh $O"
TESTS := $(BUILT_TESTS) $(if $(SAN),$(FUZZ_TEST),$(SOURCE_TESTS))

# In a browser; screenshots stay in $O/web-shots.
WEB_SUITES := $(filter-out %/browser.mjs %/data.mjs %/open.mjs %/made_trace.mjs %/recorded_view.mjs %/view_page.mjs %/view_process.mjs %/view_server.mjs,$(wildcard tests/web/*.mjs))
LONG_WEB_SUITES := $(patsubst %,tests/web/%.mjs,exports firefox live_ring tables viewer_chosen_parts viewer_compare viewer_executions \
	viewer_scripts viewer_speed)
WEB_TESTS := $(patsubst %,"node %",$(WEB_SUITES))
SHORT_WEB_TESTS := $(patsubst %,"node %",$(filter-out $(LONG_WEB_SUITES),$(WEB_SUITES)))

# Real kernels and real programs, as root: one suite at a time, for an emulated machine takes minutes beside them.
# make check leaves the long ones to make check-all.
ROOT_SUITES := $(filter-out tests/e2e/lib%.py %_model.py,$(wildcard tests/e2e/*.py))
LONG_SUITES := $(patsubst %,tests/e2e/%.py,accept_queues agent bad_input causes code compare cut event_loops export_ctf export_firefox \
	export_otlp generated go hostile html java_map java_names java_stacks klock merge oracle planted record ruby scopes sessions tui unwind \
	unwind_truth view_chosen_parts view_executions view_ring view_scripts view_tls view_turns whatif)
ROOT_TESTS := $(patsubst %,"/usr/bin/python3 %",$(ROOT_SUITES))
SHORT_ROOT_TESTS := $(patsubst %,"/usr/bin/python3 %",$(filter-out $(LONG_SUITES),$(ROOT_SUITES)))

# Twelve planted causes and healthy runs, on stock servers too: is the verdict right?
CAUSES_TEST := "env QUICK=1 /usr/bin/python3 tests/causes/run.py"

# Programs that want to harm what looks at them. FULL=1: as long and as many as it takes; else a minute or two each.
ATTACK_TRACE := $O/attacks/hostile_trace
ATTACKS := $(filter-out $(ATTACK_TRACE),$(patsubst tests/attacks/%.c,$O/attacks/%,$(wildcard tests/attacks/*.c)))
ATTACK_SCRIPTS := $(filter-out %/lib_attacks.py %/lib_elf.py %_maker.py,$(wildcard tests/attacks/*.py))
ATTACK_TESTS := $(patsubst %,"/usr/bin/python3 %",$(ATTACK_SCRIPTS))
SHORT_ATTACKS := $(patsubst %,"/usr/bin/python3 tests/attacks/%.py",capabilities limits privileges users)

KERNEL_TEST := "&/usr/bin/python3 tests/kernels/kernel.py 6.1-plain --quick"

# The same end-to-end tests on other kernels.
KERNELS ?= $(foreach release,6.1 6.12,$(release)-plain $(release)-cloud $(release)-rt)
KERNEL_TESTS := $(foreach kernel,$(KERNELS),"/usr/bin/python3 tests/kernels/kernel.py $(kernel) --result $(if $(QUICK),--quick)")

test: all $(TEST_BINARIES)
	@RESULTS=$O/results tests/run $(TESTS)

# The fuzzers, which read their corpora, the commands on traces of an enemy, and tests of parsers.
sanitized-programs-made: $(FUZZ) $O/fuzz/commands $(addprefix $O/tests/,$(PARSERS))
sanitized-programs:
	@$(MAKE) --no-print-directory -j2 SAN=1 O=$O/san $@-made

# In makes of their own: which programs can be built depends on what was just installed.
define build-checked
	@$(MAKE) --no-print-directory -j2 check-programs
	@$(MAKE) --no-print-directory sanitized-programs
endef

check: test-packages causes-packages
	$(build-checked)
	@RESULTS=$O/results tests/run $(TESTS) $(SANITIZED_TESTS) $(FUZZ_TEST) $(SHORT_WEB_TESTS) $(CAUSES_TEST) $(SHORT_ATTACKS) \
		$(SHORT_ROOT_TESTS)

check-all: test-packages causes-packages kernel-packages
	$(build-checked)
	@RESULTS=$O/results UNSTEADY_MAX=6 tests/run $(KERNEL_TEST) $(TESTS) $(SANITIZED_TESTS) $(FUZZ_TEST) $(WEB_TESTS) $(CAUSES_TEST) \
		$(LONG_TRACE_TESTS) $(ATTACK_TESTS) $(ROOT_TESTS)

attacks: test-packages
	$(build-checked)
	@FULL=1 TEST_SECONDS=7200 tests/run $(ATTACK_TESTS)

# Ten minutes a kernel. Leaves a table of what each of them did.
check-kernels: test-packages kernel-packages
	@$(MAKE) --no-print-directory -j2 check-programs
	@TEST_SECONDS=3600 tests/run $(KERNEL_TESTS); status=$$?; \
		/usr/bin/python3 tests/kernels/table.py doc/kernels.md; exit $$status

# Whether they say the same each time on a busy machine. Half an hour for 20 rounds of causes.
ROUNDS ?= 20
SUITES ?= causes

repeat: test-packages
	@$(MAKE) --no-print-directory -j2 check-programs
	@TEST_SECONDS=86400 V=1 tests/run "tests/e2e/repeat.sh $(ROUNDS) $(SUITES)"

# Shares of code at 10,000 samples, 20 times each: hours. And beside perf and what papers say, and of Debian's servers.
truth: test-packages truth-packages
	@$(MAKE) --no-print-directory -j2 check-programs
	@ROUNDS=$(ROUNDS) TEST_SECONDS=86400 V=1 tests/run "/usr/bin/python3 tests/truth/perf.py" \
		"/usr/bin/python3 tests/truth/papers.py" "/usr/bin/python3 tests/truth/rounds.py" \
		"/usr/bin/python3 tests/truth/whatif.py" \
		"/usr/bin/python3 tests/truth/real.py"

# Planted causes and healthy runs, scored: an hour or so.
causes: test-packages causes-packages
	@$(MAKE) --no-print-directory -j2 all $(PROGRAMS_PLANTED) $O/programs/cpu_bound
	@mkdir -p $O/results
	@RESULT=$(or $(RESULT),$O/results/causes.json) /usr/bin/python3 tests/causes/run.py

# What the last tests and benches found, as far as rows of doc/evidence come from them, and the table of all rows.
evidence:
	/usr/bin/python3 tools/evidence.py --results $O/results

# How much of src/ the tests run. The counters lie in a file that all processes map: those of helpers that are
# confined, killed, or end by _exit() are in it, too. Programs to trace are as always. The counters would leave a mark in
# the environment, which tests compare: it is there from the beginning. What memory and CPU time do as processes come and
# go, of a build as it is, is left out.
COVERAGE := $(abspath $O/coverage)
COVERAGE_FLAGS := -O1 -g -fprofile-instr-generate=$(COVERAGE)/raw/%c%m.profraw -fcoverage-mapping -mllvm -runtime-counter-relocation

coverage-programs: $O/pinch $(UNIT_TESTS) $O/tests/replay $O/tests/graph_replay

coverage: test-packages
	@$(MAKE) --no-print-directory -j2 check-programs
	@$(MAKE) --no-print-directory -j2 O=$(COVERAGE) CC=$(CLANG) CFLAGS='$(COVERAGE_FLAGS)' coverage-programs
	@rm -rf $(COVERAGE)/raw; mkdir -p -m 1777 $(COVERAGE)/raw
	@umask 0; $(COVERAGE)/pinch --version >/dev/null # so that its helpers, of other users, may write to its counters
	@__LLVM_PROFILE_RT_INIT_ONCE=1 PINCH=$(COVERAGE)/pinch tests/run $(UNIT_TESTS:$O/%=$(COVERAGE)/%) \
		"tests/golden/run.sh $(COVERAGE)/tests/replay" "tests/golden/graph/run.sh $(COVERAGE)/tests/graph_replay" \
		"tests/docs.sh $(COVERAGE)/pinch" $(patsubst %,"/usr/bin/python3 %",$(filter-out %/churn.py,$(ATTACK_SCRIPTS))) $(ROOT_TESTS); status=$$?; \
		tests/coverage.sh $(COVERAGE); exit $$status

golden-update: all $(TEST_BINARIES)
	UPDATE=1 tests/run $(TESTS)

BENCH_PROGRAMS := $O/bench/stamp $O/bench/yield_storm $O/bench/sample_depth
TRACE_BENCH := $(addprefix $O/bench/,trace_event trace_flush)
BENCH_GET_STACK := $O/bench/get_stack
BENCH_TOOLS := $(addprefix $O/bench/,symbolise unwind_tables trace_gen trace_read states_ask rows_ask many_cpus scope_send scripts)

bench: bench-packages
	@$(MAKE) --no-print-directory -j2 all bench-programs
	@mkdir -p $O/results
	/usr/bin/python3 bench/run.py --build-dir $O --json $O/results/bench.json

bench-traces: bench-packages
	@$(MAKE) --no-print-directory -j2 all bench-programs
	/usr/bin/python3 bench/run.py --build-dir $O --workload traces --rounds 3

# What many CPUs cost collector and analyses, from generated events.
bench-cpus: bench-packages
	@$(MAKE) --no-print-directory -j2 $(addprefix $O/bench/,trace_gen many_cpus)
	/usr/bin/python3 bench/many_cpus.py $O

# How fast the viewer's server answers: takes 2 GB in /var/tmp.
bench-view: bench-packages
	@$(MAKE) --no-print-directory -j2 all $O/bench/trace_gen
	/usr/bin/python3 bench/view.py $O

# What it costs a program to be looked at while it is recorded, beside being recorded: as root, some minutes.
bench-view-live: bench-packages
	@$(MAKE) --no-print-directory -j2 all $O/bench/yield_storm
	/usr/bin/python3 bench/view_live.py $O

# How soon the page of a report can be used, in a browser.
bench-page: bench-packages
	@$(MAKE) --no-print-directory -j2 all $O/tests/html_make $O/bench/trace_gen
	node bench/report_page.mjs

# What a scope sends, to how many.
bench-scope: bench-packages
	@$(MAKE) --no-print-directory -j2 $O/bench/trace_gen $O/bench/scope_send
	/usr/bin/python3 bench/scope.py $O

include tests/programs/programs.mk

# InnoDB with debug information, which Debian's server has not: 95 MB to download, 210 MB built.
LIBMARIADBD := $(wildcard /usr/lib/$(MULTIARCH)/libmariadbd.a)
INNODB_OLTP := $(and $(LIBMARIADBD),$O/bench/innodb_oltp)
# By file name: libmariadbd19 brings these, their -dev packages are not needed.
LIBMARIADBD_LIBS := $(patsubst %,-l:lib%,crypt.so.1 numa.so.1 ssl.so.3 crypto.so.3 pcre2-8.so.0 \
	uring.so.2 aio.so.1 z.so.1) -lm

$O/bench/innodb_oltp: bench/innodb_oltp.c $(LIBMARIADBD)
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -std=gnu11 -I/usr/include/mariadb -o $@ $< \
		$(LIBMARIADBD) $(LIBMARIADBD_LIBS) -lstdc++

$(ATTACKS): $O/attacks/%: tests/attacks/%.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -std=gnu11 -o $@ $< -pthread -lelf

# As the tool writes traces.
$(ATTACK_TRACE): $O/attacks/%: tests/attacks/%.c $O/libpinch.a
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $< $O/libpinch.a $(LDLIBS)

test-programs: all $(TEST_BINARIES)
check-programs: test-programs $(TRACE_BENCH) $(PROGRAMS) $(ATTACKS) $(ATTACK_TRACE) $(EXAMPLES) $(BENCH_TOOLS) $O/tests/npm/.installed
bench-programs: all $(PROGRAMS) $(BENCH_PROGRAMS) $(TRACE_BENCH) $(BENCH_GET_STACK) $(BENCH_TOOLS) $(INNODB_OLTP)

$(BENCH_PROGRAMS): $O/bench/%: bench/%.c
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(PROGRAM_FLAGS) $(PROGRAM_WARN) -o $@ $<

$O/bench/get_stack.bpf.o: bench/get_stack.bpf.c bpf/kernel.h
	@echo "  BPF   $@"; mkdir -p $(@D)
	$Q$(CLANG) -target bpf -mcpu=v3 -O2 -g -Wall -Werror -D__TARGET_ARCH_$(ARCH) -Ibpf \
		-I/usr/include/$(MULTIARCH) -c -o $@ $<

$O/gen/bench/get_stack.skel.h: $O/bench/get_stack.bpf.o
	@echo "  SKEL  $@"; mkdir -p $(@D)
	$Q$(BPFTOOL) gen skeleton $< name get_stack_bpf > $@

$(BENCH_GET_STACK): bench/get_stack.c $O/gen/bench/get_stack.skel.h
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) $(CFLAGS) $(WARN) -I$O/gen -o $@ $< -lbpf

$(BENCH_TOOLS): $O/bench/%: bench/%.c $O/libpinch.a
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 $(CPPFLAGS) $(CFLAGS) $(WARN) -o $@ $(filter %.c,$^) $O/libpinch.a $(LDLIBS)

# Of the library alone; as a program has it, with the shared one.
$(TRACE_BENCH): $O/bench/%: bench/%.c $O/libpinchtrace.so
	@echo "  PROG  $@"; mkdir -p $(@D)
	$Q$(CC) -std=gnu11 -O2 -g $(WARN) -Ilib -o $@ $< -L$O -lpinchtrace -Wl,-rpath,$(abspath $O) -pthread

$O/bench/trace_gen: bench/generated.c bench/generated.h
$O/bench/many_cpus: $(addprefix bench/,$(foreach part,kernel clock,fake_$(part).c fake_$(part).h))

-include $(OBJ:.o=.d) $(TRACE_O:.o=.d) $(BPF_O:.o=.d) $(BPF_HOST_O:.o=.d) $(wildcard $O/tests/*.d) $(GOLDEN_O:.o=.d) \
	$(FUZZ_PLECOC_O:.o=.d) $(wildcard $O/fuzz/*.d)

demo: build-packages
	@$(MAKE) --no-print-directory $O/pinch $O/examples/pipeline
	$O/pinch run -- $O/examples/pipeline

install: all
	install -D -m 755 $O/pinch $(DESTDIR)$(PREFIX)/bin/pinch
	install -D -m 755 $O/plecoc $(DESTDIR)$(PREFIX)/bin/plecoc
	install -D -m 644 share/fold.rules $(DESTDIR)$(PREFIX)/share/pinch/fold.rules
	install -D -m 644 share/klock.json $(DESTDIR)$(PREFIX)/share/pinch/klock.json
	install -D -m 644 $O/libpinchtrace.a $(DESTDIR)$(PREFIX)/lib/libpinchtrace.a
	install -D -m 755 $O/$(TRACE_SO) $(DESTDIR)$(PREFIX)/lib/$(TRACE_SO)
	ln -sf $(TRACE_SO) $(DESTDIR)$(PREFIX)/lib/libpinchtrace.so
	install -D -m 644 $O/libpinchtrace.pc $(DESTDIR)$(PREFIX)/lib/pkgconfig/libpinchtrace.pc
	for header in pinchtrace.h pinchtrace_format.h; do \
		install -D -m 644 lib/$$header $(DESTDIR)$(PREFIX)/include/$$header; done
	install -D -m 644 doc/libpinchtrace.3 $(DESTDIR)$(PREFIX)/share/man/man3/libpinchtrace.3
	install -D -m 644 share/dashboards/grafana.json $(DESTDIR)$(PREFIX)/share/pinch/dashboards/grafana.json
	for script in share/scripts/*.lua; do \
		install -D -m 644 $$script $(DESTDIR)$(PREFIX)/share/pinch/scripts/$${script##*/}; done
	for page in doc/*.1; do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man1/$${page##*/}; done
	for page in doc/*.5; do \
		install -D -m 644 $$page $(DESTDIR)$(PREFIX)/share/man/man5/$${page##*/}; done

clean:
	rm -rf $O compile_commands.json

.PHONY: always libpinchtrace truth causes causes-packages format lint lint-packages repeat attacks bench-view bench-view-live bench-page bench-scope bench-cpus bench-traces bench-packages bench-programs check-kernels check-programs kernel-packages truth-packages all help demo check check-all test install clean bench evidence fuzz fuzz-corpus golden-update build-packages test-packages analyze coverage coverage-programs fuzz-run fuzz-corpus-run sanitized-programs sanitized-programs-made test-programs

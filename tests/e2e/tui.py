#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
The terminal UI on a real terminal, which tmux is: its pages and keys, live and at the end; sizes of
the screen; every way to leave it; and where there is no terminal for it.
"""
import fcntl
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios

from lib import LIMIT_S, PINCH, Skip, check_laws, finish, is_alive, links_of, main, parse_report, \
    pinch, program, read, read_line, start, stop, test, wait_until

# As 80 columns have space for them.
PAGES = ["SUMMARY", "PATHS", "SYNC", "IO", "LOCKS", "KLOCKS", "THREADS", "BALANCE", "OUTPUT"]
TRACE_PAGES = [*PAGES[:-1], "GRAPH", "C"]

# Two threads that take turns, one of them behind a lock, until they are asked to end.
TURNS = r"""
import sys, threading, time
lock = threading.Lock()
over = threading.Event()
def worker():
    while not over.is_set():
        with lock:
            sum(range(20000))
threads = [threading.Thread(target=worker) for _ in range(3)]
for thread in threads:
    thread.start()
print("ready", flush=True)
sys.stdin.readline()
over.set()
"""

count = 0


class Terminal:
    """A command on a terminal of its own, from its first byte to when it and tmux are gone."""

    def __init__(self, *command, columns=80, lines=24, environment=()):
        global count
        if not shutil.which("tmux"):
            raise Skip("tmux is not installed")
        count += 1
        self.name = f"pinch-{os.getpid()}-{count}"
        kept = ("PATH", "O", "HOME", "XDG_CACHE_HOME", "TMPDIR")
        self.environment = {
            "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "TERM": "xterm", "TMUX_TMPDIR": os.getcwd(),
            **{k: os.environ[k] for k in kept if k in os.environ},
        }
        inner = {"TERM": "screen-256color", **dict(environment)}
        # Its status from a shell, for tmux does not reap each time, and changes a pane that is dead.
        self.status_path = os.path.abspath(f"status.{count}")
        script = 'trap : INT QUIT TERM HUP; "$@"; echo $? >"$0"; exec sleep 9999'
        text = " ".join(quote(str(word)) for word in
                        ("sh", "-c", script, self.status_path, "env", *(f"{k}={v}" for k, v in inner.items()), *command))
        self.tmux("-u", "-f", "/dev/null", "new-session", "-d", "-x", columns, "-y", lines,
                  "exec " + text)
        self.server = int(self.ask("#{pid}"))

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        pids = [self.shell_pid, *descendants(self.shell_pid)]
        for pid in (*pids, self.server):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        wait_until(lambda: not any(is_alive(pid) for pid in pids), "what ran on the terminal to end")

    def tmux(self, *arguments):
        done = subprocess.run(["tmux", "-L", self.name, *(str(a) for a in arguments)],
                              capture_output=True, text=True, env=self.environment, timeout=LIMIT_S)
        assert done.returncode == 0, f"tmux {arguments}: {done.stderr}"
        return done.stdout

    def ask(self, format):
        return self.tmux("display-message", "-p", format).strip()

    @property
    def shell_pid(self):
        return int(self.ask("#{pane_pid}"))

    @property
    def pid(self):
        """Of the command."""
        return wait_until(lambda: children(self.shell_pid), "the command to begin")[0]

    @property
    def is_dead(self):
        return os.path.exists(self.status_path) and read(self.status_path).endswith("\n")

    @property
    def status(self):
        """How the command ended, as a shell says it."""
        try:
            wait_until(lambda: self.is_dead, "the command to end")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text()}") from None
        return int(read(self.status_path))

    def keys(self, *keys):
        self.tmux("send-keys", *keys)

    def type(self, text):
        self.tmux("send-keys", "-l", "--", text)

    def screen(self):
        return self.tmux("capture-pane", "-p").split("\n")

    def text(self):
        return "\n".join(self.screen())

    def wait(self, *parts, without=(), limit_s=LIMIT_S):
        """Until all of it stands on one screen."""
        def is_there():
            text = self.text()
            is_so = all(p in text for p in parts) and not any(p in text for p in without)
            # Not in the middle of being drawn: the terminal takes a screen in pieces.
            return text if is_so and text == self.text() else None
        try:
            return wait_until(is_there, f"{parts} on the screen", limit_s)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text()}") from None

    def resize(self, columns, lines):
        self.tmux("resize-window", "-x", columns, "-y", lines)


def quote(word):
    return "'" + word.replace("'", "'\\''") + "'"


def children(pid):
    try:
        return [int(child) for child in read(f"/proc/{pid}/task/{pid}/children").split()]
    except OSError:
        return []


def descendants(pid):
    return [found for child in children(pid) for found in (child, *descendants(child))]


def tab(number, names=PAGES):
    """What stands where its page is shown, or the beginning of it."""
    return f"[{key_of(number, names)} {names[number - 1]}"


def key_of(number, names=PAGES):
    """The tenth page has the key 0, the output a key of its own, for it is no page of a trace."""
    return "o" if names[number - 1] == "OUTPUT" else str(number % 10)


def page(terminal, number, names=PAGES):
    """Goes there, and returns what it shows."""
    terminal.keys(key_of(number, names))
    return terminal.wait(tab(number, names))


def trace_page(terminal, number):
    return page(terminal, number, TRACE_PAGES)


def recorded(*command):
    result = pinch("record", "-q", "-o", "t.pinch", "--", *command)
    assert result.status == 0, result.text
    return "t.pinch"


def viewing(trace, *options, **more):
    return Terminal(PINCH, "report", "--tui", *options, trace, **more)


def assert_given_back(terminal):
    """The screen that was there before, with its cursor, and the modes of a terminal at rest."""
    assert terminal.ask("#{alternate_on}") == "0", "the other screen is still on"
    assert terminal.ask("#{cursor_flag}") == "1", "the cursor is not shown"
    assert terminal.ask("#{mouse_any_flag}") == "0", "the mouse is still asked for"
    modes = subprocess.run(["stty", "-a", "-F", terminal.ask("#{pane_tty}")], capture_output=True,
                           text=True).stdout
    for mode in ("echo", "icanon", "isig", "ixon", "icrnl"):
        assert re.search(rf"(^|\s){mode}(;|\s|$)", modes), f"{mode} is off: {modes}"


def shell(terminal):
    """A prompt that is there only when nothing else is."""
    terminal.wait("READY$")


def turns():
    process = start("/usr/bin/python3", "-c", TURNS, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert read_line(process) == b"ready\n"
    return process


def attached(process, *options, **more):
    return Terminal(PINCH, "attach", "--tui", *options, "-p", process.pid, **more)


# --- Pages ---------------------------------------------------------------------------------------

@test("each page shows what it is for, of a program with one lock that has ended")
def pages():
    with Terminal(PINCH, "run", "--tui", program("multi_mutex"), 10) as t:
        t.wait("ended, exit status 0, after", "[1 SUMMARY]", "Time of all threads")
        assert re.search(r"lock +\S+ +[0-9.]+ % +[0-9.]+ (s|ms|min)", t.text()), t.text()
        assert "Main bottleneck (" in t.text(), t.text()
        t.resize(80, 60)
        text = t.wait("Most critical functions and lines", "Most critical single unlocks",
                      "Threads by CMetric", "Accounted")
        assert "big_work(int)" in text and "accounting error 0 ns" in text, text
        t.resize(80, 24)
        text = page(t, 2)
        assert "call path" in text and "sorted by CMetric" in text, text
        text = page(t, 3)
        assert re.search(r"lock +(work_mutex +)?\S*_work\(int\)", text) and "join" in text, text
        assert "IO" in page(t, 4)
        text = page(t, 5)
        assert re.search(r"0x[0-9a-f]+  mutex in|work_mutex +mutex in", text), text
        text = page(t, 7)
        # Threads that were gone before a stack of theirs was kept are called by their names.
        assert re.search(r"random_work\(.*×[0-9]+", text) and "CPU wait" in text, text
        page(t, 8)
        t.wait("Active threads over the wall time")
        t.wait("over time")
        t.keys("G")
        assert "Time of all threads" in t.text() or t.wait("running"), t.text()
        assert "not written anything" in page(t, 9)
        t.keys("q")
        assert t.status == 0, t.text()
        assert_given_back(t)


@test("tab and arrows lead round the pages, numbers to each of them")
def tabs():
    with attached(turns()) as t:
        t.wait("[1 SUMMARY]")
        for number in range(2, 10):
            t.keys("Tab")
            t.wait(tab(number))
        t.keys("Right")
        t.wait("[1 SUMMARY]")
        t.keys("Left")
        t.wait("[o OUTPUT]")
        t.keys("BTab")
        t.wait("[8 BALANCE]")
        page(t, 3)


def mouse(terminal, button, column, line):
    """As xterm says it in its mode 1006, from 0: a press, which a release follows if it is of a button that can be held."""
    for end in "M" if button >= 64 else "Mm":
        terminal.type(f"\033[<{button};{column + 1};{line + 1}{end}")


def cursor_on(terminal, line):
    wait_until(lambda: terminal.screen()[line].startswith(">"), f"the cursor to be on line {line}")


@test("the mouse chooses pages and rows, unfolds them and moves; an order is reversed")
def by_mouse():
    with Terminal(PINCH, "run", "--tui", program("multi_mutex"), 10) as t:
        t.wait("ended, exit status 0, after")
        mouse(t, 0, 20, 1)
        t.wait("[3 SYNC]", "sorted by time lost")
        mouse(t, 0, 30, 3)
        t.wait(">▾", "on average, total")
        mouse(t, 0, 30, 5)
        cursor_on(t, 5)
        mouse(t, 64, 30, 5)
        cursor_on(t, 3)
        mouse(t, 65, 30, 5)
        cursor_on(t, 6)
        t.type("S")
        t.wait("sorted by time lost, reversed")
        t.type("\033[<0;2")                 # what does not end is no key, and holds nothing up
        t.type("S")
        t.wait("sorted by time lost", without=["reversed"])
        t.type("q")
        assert t.status == 0, t.text()
        assert_given_back(t)


@test("rows unfold to stacks, wakers and unlockers, and fold")
def unfolding():
    with Terminal(PINCH, "run", "--tui", program("multi_mutex"), 10) as t:
        t.wait("ended, exit status 0, after")
        page(t, 3)
        t.keys("Enter")
        t.wait("on average, total", "ended by threads multi_mutex", "random_work(int, int)", "frames", "▾")
        t.type("/frames")
        t.keys("Enter")
        t.wait(">  ▸   ‹")
        t.resize(80, 40)
        t.type("+")
        t.wait("start_thread", "clone3")
        t.type("-")
        t.wait("frames", without=["clone3"])
        t.resize(80, 24)
        t.type("--")            # up to the wait, which folds
        t.wait("1/", without=["on average, total"])
        page(t, 5)
        t.keys("Enter")
        t.wait("released by", "waits: p50", "big_work(int)")
        t.type("E")
        t.wait("▾", "first such thread")
        t.type("E")
        t.wait("▸", without=["released by"])
        page(t, 7)
        t.keys("Enter")
        t.wait("times the mean CMetric")
        page(t, 8)
        t.type("/lock")
        t.keys("Enter")
        t.wait(">▸ lock")
        t.keys("Enter")
        t.wait("▾ lock", "_work(int)")


@test("search, sorting and filtering say what they do")
def looking_for():
    with Terminal(PINCH, "run", "--tui", "--critical-slices", program("multi_mutex"), 10) as t:
        t.wait("ended, exit status 0, after")
        page(t, 2)
        t.type("/multi_mutex.cpp")
        t.wait("/multi_mutex.cpp_")
        t.keys("Enter")
        t.wait("sorted by CMetric")
        t.type("/no such thing")
        t.keys("Enter")
        t.wait("not found: no such thing")
        t.type("s")
        t.wait("sorted by samples")
        t.type("s")
        t.wait("sorted by stalls")
        t.type("s")
        t.wait("sorted by cause")
        t.type("flock")
        t.wait("filter (thread name or cause): lock_")
        t.keys("Enter")
        text = t.wait("filter: lock")
        rows = [line for line in text.split("\n") if re.match(r"[> ][▸▾] +\d", line)]
        assert rows and all("lock" in row for row in rows), text
        t.type("f")
        t.keys("C-u", "Enter")
        t.wait("sorted by cause", without=["filter"])


@test("a page longer than the screen scrolls by row, by screen and to its ends")
def scrolling():
    with Terminal(PINCH, "run", "--tui", program("multi_mutex"), 10) as t:
        t.wait("ended, exit status 0, after")
        page(t, 7)
        t.keys("Enter")
        # Which of the 160 threads are in the first group, and which are called by their names, is up to the machine.
        rows = int(re.search(r"1/(\d+) ", t.wait("▾")).group(1))
        assert rows > 41, t.text()
        t.keys("Down", "j", "j", "k", "Up")
        t.wait(f"2/{rows} ")
        t.keys("PageDown")
        t.wait(f"21/{rows} ")
        t.keys("Space")
        t.wait(f"40/{rows} ")
        t.keys("b")
        t.wait(f"21/{rows} ")
        t.keys("G")
        t.wait(f"{rows}/{rows} ")
        t.keys("g")
        t.wait(f"1/{rows} ")
        t.keys("End")
        t.wait(f"{rows}/{rows} ")
        t.keys("Home")
        t.wait(f"1/{rows} ")


@test("help lists the keys, and leads back")
def help_page():
    with attached(turns()) as t:
        page(t, 5)
        t.type("?")
        t.wait("[HELP]", "one row up, down", "Ctrl-C", "q back")
        t.type("q")
        t.wait("[5 LOCKS]")
        t.type("h")
        t.wait("[HELP]")
        t.keys("Escape")
        t.wait("[5 LOCKS]")


# --- Kernel locks -------------------------------------------------------------------------

def klock_row(text, name):
    """Waited, share, waits and the lengths of waits, as a wide screen has them."""
    found = re.search(rf"[▸▾] +([0-9.]+ \S+) +([0-9.]+) % +([0-9,]+)((?: +[0-9.]+ \S+){{3}})  {name}", text)
    assert found, f"{name} is not in:\n{text}"
    return found.groups()


@test("pinch klock begins with its page: a kernel lock, who had it, who waited and where, as the JSON has it")
def klocks():
    with Terminal(PINCH, "klock", "--tui", "--json", "report.json", "--", program("klock_append"), ".", 8, 2000,
                  columns=160, lines=70) as t:
        t.wait("tracing ", "[6 KLOCKS]")
        text = t.wait("ended, exit status 0", "all kernel locks", "sorted by waited")
        waited, _, waits, _ = klock_row(text, r"i_rwsem of \S*/journal  rwsem write")
        t.type("+jj+")
        t.wait("recording a wait took", "p25 ")
        t.type("g-")
        t.type("/journal  rwsem write")
        t.keys("Enter")
        t.wait(">▸")
        t.keys("Enter")
        text = t.wait(f"{waits} waits: mean ", "by 8 threads", "p50 ", "at 0xffff", "held by, at the start",
                      "who waited", "where it was waited for")
        assert len(re.findall(r"thread append-[0-7] \(tid \d+\) of process \d+", text)) == 8, text
        assert re.search(r"▸ +\S+ \S+ +\S+ % +\S+  append_record  programs/klock_append.c:", text), text
        t.type("/append_record")
        t.keys("Enter")
        t.wait(">  ▸")
        t.type("+")
        t.wait("● append_record", "write  kernel", "crew_work")
        t.keys("q")
        assert t.status == 0, t.text()
    locks = parse_report(read("report.json", "rb"))["kernel_locks"]["locks"]
    reported = next(lock for lock in locks if lock["kind"] == "rwsem write" and (lock["name"] or "").endswith("/journal"))
    assert waits == f"{reported['waits']:,}", (waits, reported["waits"])
    value, unit = waited.split()
    assert abs(float(value) * {"s": 1e9, "ms": 1e6}[unit] / reported["wait_ns"] - 1) < 0.01, (waited, reported["wait_ns"])


@test("kernel locks of a process: they grow, are sorted and filtered, and the cursor stays with its lock")
def klocks_live():
    process = start(program("klock_pipe"), 8, 60000, stdout=subprocess.DEVNULL)
    with Terminal(PINCH, "klock", "--tui", "-p", process.pid, columns=120) as t:
        t.wait("tracing ", "[6 KLOCKS]", "mutex of pipe:[")
        t.type("fmutex of pipe")
        t.keys("Enter")
        t.wait("filter: mutex of pipe", "1/1 ", without=["all locks"])
        t.keys("Enter")
        seen = set()

        def grows():
            text = t.wait("\n>▾", "who waited")
            seen.add(klock_row(text, "mutex of pipe")[2])
            return len(seen) >= 4
        wait_until(grows, "newer figures")
        t.type("f")
        t.keys("C-u")
        t.type("piper-")
        t.keys("Enter")
        t.wait("filter: piper-", "\n>▾", "mutex of pipe")
        for order in ("waits", "mean", "median", "longest", "waited"):
            t.type("s")
            t.wait(f"sorted by {order}", "\n>▾")
        t.resize(80, 24)
        t.wait("[6 KLOCKS]", "longest  lock", without=["median"])
        t.keys("q")
        assert t.status == 0, t.text()
    assert is_alive(process.pid)
    stop(process)


@test("kernel locks of a trace, and of files with hostile names")
def klocks_trace():
    with open("script", "w") as file:
        file.write(f"d=$(printf 'a\\033[31mb\\nc'); mkdir \"$d\"; exec {program('klock_append')} \"$d\" 8 1000\n")
    trace = recorded("sh", "script")
    with Terminal(PINCH, "klock", "--tui", trace, columns=160, lines=50) as t:
        t.wait("[6 KLOCKS]", r"a\x1b[31mb\x0ac/journal  rwsem write", without=["OUTPUT"])
        t.type("E")
        text = t.wait(r"a\x1b[31mb\x0ac/journal  rwsem write", "held by, at the start")
        assert all(c.isprintable() or c == "\n" for c in text), repr(text)
        t.resize(80, 24)
        assert is_whole(t.wait("[6 KLOCKS]", "9 GRAPH 0 CP"), 80, 24), t.text()
    with viewing(trace) as t:
        t.wait("[1 SUMMARY]")
        trace_page(t, 6)
        t.wait("all kernel locks")


# --- Live ----------------------------------------------------------------------------------------

def traced_time(text):
    return float(re.search(r"tracing ([0-9.]+) s", text).group(1))


@test("figures grow while the target runs, and waits that last are among them")
def live():
    process = turns()
    with attached(process) as t:
        first = t.wait("tracing ", "4 threads", "Time of all threads")
        page(t, 8)
        seen = set()

        def grows():
            found = re.search(r"Time of all threads, ([0-9.]+ \S+);", t.text())
            if found:
                seen.add(found.group(1))
            return len(seen) >= 4
        wait_until(grows, "newer figures")
        assert traced_time(t.text()) > traced_time(first)
        # The first thread waits for its input, from before the trace on: a fourth of all time.
        assert re.search(r"(file|pipe) +\S+ +2[0-9]\.[0-9] %", t.text()), t.text()
        process.stdin.write(b"\n")
        process.stdin.flush()
        t.wait("traced for")
        t.keys("q")
        assert t.status == 0, t.text()
        assert_given_back(t)


@test("the cursor stays with its row while newer figures come")
def cursor_stays():
    with attached(turns()) as t:
        page(t, 7)
        t.wait("python3")
        t.keys("Enter")
        t.wait("▾", "▸ python3 ")
        t.keys("j", "j")
        name = re.search(r"\n> +▸ (python3 [0-9]+)", t.wait("\n>  ▸ python3")).group(1)
        times = set()

        def stays():
            text = t.wait("? help")
            times.add(traced_time(text))
            assert re.search(rf"\n> +▸ {name} ", text), text
            return len(times) >= 8
        wait_until(stays, "newer figures")


@test("pausing stops the figures, and keys still work")
def pausing():
    with attached(turns()) as t:
        page(t, 8)
        t.wait("Time of all threads, ")
        t.type("p")
        paused = t.wait("PAUSED")
        page(t, 7)
        page(t, 8)
        assert t.text() == paused, t.text()
        t.type("p")
        wait_until(lambda: "PAUSED" not in t.text() and
                   traced_time(t.text()) > traced_time(paused), "figures to go on")


@test("the end of a paused target is shown, and its report comes with the next p")
def paused_end():
    process = turns()
    with attached(process) as t:
        page(t, 8)
        t.wait("Time of all threads, ")
        t.type("p")
        t.wait("PAUSED")
        stop(process)
        t.wait("PAUSED", "traced for")
        before = t.screen()[3:]
        t.type("p")
        wait_until(lambda: "PAUSED" not in t.text() and t.screen()[3:] != before, "the final report")
        t.keys("q")
        assert t.status == 0, t.text()


@test("--duration ends the tracing, and the report stays until q")
def duration():
    process = turns()
    with attached(process, "--duration", "1s") as t:
        t.wait("traced for 1.", "Time of all threads")
        assert is_alive(process.pid)
        t.keys("q")
        assert t.status == 0, t.text()


@test("-o and --json are written when the UI is left, by the laws")
def files():
    with Terminal(PINCH, "run", "--tui", "-o", "report.txt", "--json", "report.json", "--",
                  program("known_serial")) as t:
        t.wait("ended, exit status 0")
        t.keys("q")
        assert t.status == 0, t.text()
        check_laws(parse_report(read("report.json", "rb")))
        assert "Time of all threads" in read("report.txt")


@test("a page for a browser, folded paths and a table are written when the UI is left, by any command and by any way")
def written_files():
    def files(name):
        return [f"--{kind}={name}.{kind}" for kind in ("html", "folded", "csv")]

    def assert_written(name):
        page, table = read(f"{name}.html", "rb"), read(f"{name}.csv")
        assert page.endswith(b"</html>\n") and all(f'data-part="{part}"'.encode() in page
                                                   for part in ("report", "timelines")), f"{name}: no page"
        assert table.startswith("table,") and "\nthread," in table, f"{name}: no table"
        assert re.search(r"^\S.* [0-9]+$", read(f"{name}.folded"), re.M), f"{name}: no folded path"

    for command in ("run", "klock"):
        with Terminal(PINCH, command, "--tui", *files(command), "--", program("multi_mutex"), 10) as t:
            t.wait("ended, exit status 0")
            assert not os.path.exists(f"{command}.html"), "it is written already"
            t.keys("q")
            assert t.status == 0, t.text()
        assert_written(command)
    for end in ("q", "C-c"):
        process = turns()
        with attached(process, *files(f"attach-{end}")) as t:
            t.wait("tracing ", "Time of all threads")
            t.keys(end)
            if end == "C-c":
                t.wait("traced for")
                t.keys(end)
            assert t.status == 0, t.text()
        stop(process)
        assert_written(f"attach-{end}")
    trace = recorded(program("multi_mutex"), 10)
    with viewing(trace, *files("report")) as t:
        t.wait("[1 SUMMARY]")
        t.keys("q")
        assert t.status == 0, t.text()
    assert_written("report")
    assert b'data-part="graph"' in read("report.html", "rb"), "no graph in the page of the trace"
    with viewing(trace, "--html", "/no/such/directory/x.html") as t:
        assert t.status == 1 and "/no/such/directory/x.html" in t.text(), t.text()


# --- Sizes ---------------------------------------------------------------------------------------

def is_whole(text, columns, lines):
    """Each part of the screen once, where it belongs."""
    screen = text.rstrip("\n").split("\n")
    return len(screen) == lines and screen[0].startswith("pinch: ") and "SUMMARY" in screen[1] and \
        sum("SUMMARY" in line and "BALANCE" in line for line in screen) == 1 and \
        sum("? help" in line for line in screen) == 1 and "? help" in screen[-1] and \
        all(len(line) <= columns for line in screen)


def is_small(text, columns, lines, current):
    """What has no space is cut, but not the current page's tab and the last line."""
    screen = text.rstrip("\n").split("\n")
    return len(screen) == lines and screen[0].startswith("pinch: ") and current in screen[1] and "? help" in screen[-1] and \
        all(len(line) <= columns for line in screen)


@test("80x24, 200x50, small, too small, and back: the same screen again")
def resizing():
    with Terminal(PINCH, "run", "--tui", program("multi_mutex"), 10) as t:
        t.wait("ended, exit status 0, after")
        page(t, 3)
        t.keys("Enter")
        before = t.wait("on average, total", "? help")
        assert is_whole(before, 80, 24), before
        t.resize(200, 50)
        wait_until(lambda: is_whole(t.text(), 200, 50), "the large screen: " + t.text())
        t.resize(60, 20)
        wait_until(lambda: is_small(t.text(), 60, 20, "[3 SYNC]"), "the small screen")
        t.resize(20, 5)
        t.wait("[3 SYNC]", without=["pinch needs"])
        t.resize(19, 5)
        t.wait("pinch needs 20x5, t")
        t.resize(80, 24)
        wait_until(lambda: t.text() == before, "the screen as it was")
        t.resize(80, 24)
        wait_until(lambda: t.text() == before, "the screen as it was")


@test("a storm of size changes while it refreshes leaves no garbage")
def storm():
    with attached(turns()) as t:
        t.wait("Time of all threads")
        pid = t.pid
        for i in range(40):
            t.resize(80 + i % 7 * 13, 24 + i % 5)
            for _ in range(200):
                os.kill(pid, signal.SIGWINCH)
        t.resize(90, 30)
        wait_until(lambda: is_whole(t.text(), 90, 30), "a whole screen")
        before = traced_time(t.text())
        wait_until(lambda: traced_time(t.text()) > before, "figures to go on")
        t.keys("q")
        assert t.status == 0, t.text()
        assert_given_back(t)


# --- Leaving it ----------------------------------------------------------------------------------

@test("q leaves at once where nothing was started, and the target goes on")
def quit_attach():
    process = turns()
    with attached(process) as t:
        t.wait("tracing ")
        t.keys("q")
        assert t.status == 0, t.text()
        assert_given_back(t)
        assert is_alive(process.pid)


@test("it can be left in whatever state it is")
def quit_anywhere():
    states = {
        "paused": (["p"], "PAUSED", ["q"]),
        "unfolded": (["8", "E"], "▾", ["q"]),
        "help": (["?"], "[HELP]", ["q", "q"]),
        "searching": (["/", "x"], "/x_", ["Escape", "q"]),
        "filtering": (["f", "x"], "cause): x_", ["Enter", "q"]),
    }
    process = turns()
    for name, (keys, shown, out) in states.items():
        with attached(process) as t:
            t.wait("tracing ", "Time of all threads")
            t.keys(*keys)
            t.wait(shown)
            t.keys(*out)
            assert t.status == 0, name
            assert_given_back(t)
    with attached(process) as t:
        t.wait("tracing ", "Time of all threads")
        t.keys("/", "x")
        t.wait("/x_")
        t.keys("C-c")
        t.wait("/x_", "traced for")
        t.keys("C-c")
        assert t.status == 0
        assert_given_back(t)
    with attached(process, columns=19, lines=10) as t:
        t.wait("pinch needs 20x5, t")
        t.keys("q")
        assert t.status == 0
        assert_given_back(t)


@test("q asks while the command runs; then it goes on, its output here and its status passed on")
def quit_run():
    script = "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two; exit 7"
    with Terminal(PINCH, "run", "--tui", "--", "sh", "-c", script) as t:
        t.wait("tracing ", "Time of all threads")
        t.keys("q")
        t.wait("Quit? (y/n)")
        t.keys("n")
        t.wait("? help", without=["Quit?"])
        t.keys("9")
        t.wait("one")
        t.keys("q")
        t.wait("Quit? (y/n)")
        t.keys("y")
        wait_until(lambda: t.ask("#{alternate_on}") == "0", "the terminal to come back")
        assert_given_back(t)
        wait_until(lambda: not links_of(t.pid), "the tracing to end")
        assert not t.is_dead
        open("go", "w").close()
        assert t.status == 7
        assert "two" in t.text() and "one" not in t.text(), t.text()


@test("Ctrl-C ends the tracing and keeps the report, a second one leaves; the target goes on")
def interrupt_attach():
    process = turns()
    with attached(process) as t:
        t.wait("tracing ", "Time of all threads")
        t.keys("C-c")
        t.wait("traced for", "[1 SUMMARY]")
        assert is_alive(process.pid)
        wait_until(lambda: not links_of(t.pid), "the tracing to end")
        page(t, 7)
        t.keys("C-c")
        assert t.status == 0, t.text()
        assert_given_back(t)


@test("Ctrl-C reaches the command, which is traced to its end")
def interrupt_run():
    with Terminal(PINCH, "run", "--tui", "--", "sh", "-c",
                  "trap 'echo bye; exit 5' INT; while :; do sleep 0.02; done") as t:
        t.wait("tracing ", "Time of all threads")
        t.keys("C-c")
        t.wait("ended, exit status 5")
        page(t, 9)
        t.wait("bye")
        t.keys("q")
        assert t.status == 5


@test("Ctrl-C ends the tracing of a command that does not mind it; the next one leaves")
def interrupt_deaf():
    with Terminal(PINCH, "run", "--tui", "--", "sh", "-c",
                  "trap '' INT; while [ ! -e go ]; do sleep 0.02; done; exit 3") as t:
        t.wait("tracing ", "Time of all threads")
        t.keys("C-c")
        t.wait("traced for")
        wait_until(lambda: not links_of(t.pid), "the tracing to end")
        t.keys("C-c")
        wait_until(lambda: t.ask("#{alternate_on}") == "0", "the terminal to come back")
        open("go", "w").close()
        assert t.status == 3
        assert_given_back(t)


@test("whatever signal ends it, the terminal is given back")
def signals():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGSEGV, signal.SIGABRT):
        process = turns()
        with attached(process) as t:
            t.wait("tracing ", "Time of all threads")
            os.kill(t.pid, number)
            status = t.status
            expected = 128 + number if number in (signal.SIGSEGV, signal.SIGABRT) else 0
            assert status == expected, f"signal {number}: exit status {status}"
            assert_given_back(t)
            assert is_alive(process.pid)
        stop(process)


@test("HUP and TERM for a run reach its command, whose status it is")
def signals_run():
    with Terminal(PINCH, "run", "--tui", "--", "sh", "-c",
                  "trap 'exit 9' TERM; while :; do sleep 0.02; done") as t:
        t.wait("tracing ", "Time of all threads")
        os.kill(t.pid, signal.SIGTERM)
        assert t.status == 9
        assert_given_back(t)


@test("a terminal that goes away ends it")
def hangup():
    process = turns()
    t = attached(process)
    t.wait("tracing ")
    pid = t.pid
    os.kill(t.server, signal.SIGKILL)
    wait_until(lambda: not is_alive(pid), "pinch to end")
    assert is_alive(process.pid)


@test("Ctrl-Z gives the terminal to the shell, fg takes it back")
def suspending():
    process = turns()
    with Terminal("bash", "--norc", "--noprofile", "-i", environment=[("PS1", "READY$ ")]) as t:
        shell(t)
        t.type(f"{PINCH} attach --tui -p {process.pid}")
        t.keys("Enter")
        t.wait("tracing ", "[1 SUMMARY]")
        t.keys("C-z")
        t.wait("READY$", "Stopped", without=["[1 SUMMARY]"])
        assert_given_back_to_shell(t)
        t.type("fg")
        t.keys("Enter")
        text = t.wait("tracing ", "[1 SUMMARY]", "? help")
        assert is_whole(text, 80, 24), text
        page(t, 5)
        t.keys("q")
        wait_until(lambda: t.ask("#{alternate_on}") == "0", "the shell to come back")
        t.type("echo back")
        t.keys("Enter")
        t.wait("\nback")


def assert_given_back_to_shell(terminal):
    """A shell that reads lines has modes of its own; the screen is read by tmux."""
    assert terminal.ask("#{alternate_on}") == "0" and terminal.ask("#{cursor_flag}") == "1"


@test("a target that ends shows its last report")
def target_ends():
    process = turns()
    with attached(process) as t:
        t.wait("tracing ", "Time of all threads")
        stop(process)
        t.wait("traced for", "Time of all threads")
        t.keys("q")
        assert t.status == 0, t.text()


@test("a command that cannot be run says so on a terminal at rest")
def no_command():
    with Terminal(PINCH, "run", "--tui", "no-such-command-here") as t:
        assert t.status == 127
        assert "cannot run no-such-command-here" in t.text(), t.text()
        assert_given_back(t)


# --- Traces --------------------------------------------------------------------------------------

@test("a trace has its report page by page, graphs instead of output, and leaves the terminal as it was")
def trace_pages():
    trace = recorded(program("multi_mutex"), 10)
    with viewing(trace) as t:
        t.wait("ended, exit status 0, after", "[1 SUMMARY]", "Time of all threads", without=["OUTPUT"])
        assert not os.path.exists("t.pinch.states"), "nobody has asked for the graph"
        for number in range(1, 11):
            text = trace_page(t, number)
            assert is_whole(text, 80, 24), text
        t.keys("Tab")
        t.wait("[1 SUMMARY]")
        t.keys("BTab")
        t.wait("[0 CP]")
        trace_page(t, 7)
        t.keys("+")
        t.wait("multi_mutex", "··")
        t.keys("q")
        assert t.status == 0, t.text()
        assert_given_back(t)


def figures(text, label):
    found = re.search(r"([0-9.]+) % +([0-9.]+ \S+) .*" + label, text) or \
        re.search(label + r".* ([0-9.]+) % +([0-9.]+ \S+)", text)
    assert found, f"{label} is not in:\n{text}"
    return found.groups()


@test("the graph of a trace: it has the figures of pinch graph; it unfolds, is searched, sorted, filtered, merged")
def trace_graph():
    trace = recorded(program("sleep_holding"))
    reported = pinch("graph", "--all", trace).out.decode()
    with viewing(trace, columns=120, lines=90) as t:
        t.wait("[1 SUMMARY]")
        trace_page(t, 9)
        t.wait("names merged", "100.0 %", without=["making it", "all threads"])   # whom the largest finding held up
        t.type("w")
        t.wait("all threads", "names merged", without=["making it"])
        t.type("m")
        text = t.wait("all threads", "lock held_lock", "sorted by time", without=["making it", "names merged"])
        assert figures(text, "all threads") == figures(reported, "all threads"), text + reported
        t.type("E")
        t.wait("sleep clock_nanosleep", "timer")
        t.type("/clock_nanosleep")
        t.keys("Enter")
        wait_until(lambda: any(line.startswith(">") and "clock_nanosleep" in line for line in t.screen()),
                   "the cursor on the wait that was searched for")
        t.type("s")
        t.wait("sorted by count")
        t.type("fheld_lock")
        t.keys("Enter")
        t.wait("filter: held_lock", "lock held_lock")
        t.type("f")
        t.keys("C-u")
        t.type("no such thing")
        t.keys("Enter")
        t.wait("no row matches the filter")
        t.type("f")
        t.keys("C-u", "Enter")
        t.wait("(tid ", without=["filter"])
        t.type("m")
        text = t.wait("names merged", "all threads", "waiter-*")
        assert figures(text, "all threads") == figures(reported, "all threads"), text
        t.type("m")
        t.wait("waiter-1 (tid ", without=["names merged"])


@test("a thread of page THREADS leads to its graph and its path, and back")
def trace_thread():
    trace = recorded(program("sleep_holding"))
    with viewing(trace) as t:
        trace_page(t, 9)
        t.wait("names merged", without=["making it"])
        t.type("m")
        t.wait("(tid ", without=["names merged", "making it"])
        trace_page(t, 7)
        t.type("w")
        t.wait("select the row of a thread first")
        t.type("E")
        t.type("/: thread")         # a row below a thread: that one is above
        t.keys("Enter")
        t.wait(" thread ", " of process ")
        t.type("kw")
        text = t.wait("[9 GRAPH]", "100.0 %", without=["making it", "all threads"])
        name = re.search(r">[▾▸ ]+(\S.*?\)) +100.0 %", text)
        assert name, text
        trace_page(t, 10)
        t.wait(f"what {name.group(1)} was blocked on")
        t.type("w")
        t.wait("[7 THREADS]")
        trace_page(t, 9)
        t.wait("all threads")


@test("the critical path of a trace has the figures of pinch critical-path")
def trace_path():
    trace = recorded(program("pipe_pair"))
    reported = pinch("critical-path", trace).out.decode()
    with viewing(trace, columns=120, lines=40) as t:
        trace_page(t, 10)
        t.wait("was blocked on", "names merged", "order: start, duration")
        t.type("w")
        t.type("m")
        text = t.wait("was blocked on", "order: start, duration", without=["names merged", "making it"])
        first = re.search(r"([0-9.]+) % +([0-9.]+ \S+)", reported).groups()
        assert re.search(r"([0-9.]+) % +([0-9.]+ \S+)", text).groups() == first, text + reported
        t.type("m")
        t.wait("names merged", without=["(tid "])


@test("a trace on a terminal of any size, resized, with odd names, without UTF-8")
def trace_sizes():
    trace = recorded(program("odd_names"))
    with viewing(trace, environment=[("LC_ALL", "C"), ("LANG", "C"), ("NO_COLOR", "1")]) as t:
        t.wait("[1 SUMMARY]")
        for number in range(1, 11):
            trace_page(t, number)
            t.type("E")
            text = t.wait(tab(number, TRACE_PAGES), without=["making it"])
            assert text.isascii() and all(c.isprintable() or c == "\n" for c in text), repr(text)
        t.resize(59, 23)
        wait_until(lambda: is_small(t.text(), 59, 23, "[0 CP]"), "the small screen")
        t.resize(140, 60)
        t.wait("[0 CRITICAL]", "3 SYNCHRONISATION")
        trace_page(t, 9)
        t.type("m")
        t.wait(r"\x1b[31mred\x1b[0m")
        t.resize(80, 24)
        t.wait("[9 GRAPH]", "3 SYNC 4")
        assert t.ask("#{pane_title}") != "title"


@test("every way to leave the view of a trace")
def trace_leaving():
    trace = recorded("true")
    for key in ("q", "C-c", "C-\\"):
        with viewing(trace) as t:
            t.wait("[1 SUMMARY]")
            t.keys(key)
            assert t.status == 0, f"{key}: exit status {t.status}"
            assert_given_back(t)
    for number in (signal.SIGTERM, signal.SIGHUP):
        with viewing(trace) as t:
            t.wait("[1 SUMMARY]")
            os.kill(t.pid, number)
            assert t.status == 0, f"signal {number}: exit status {t.status}"
            assert_given_back(t)


@test("a trace without threads has no graph, and says so; its other pages are there")
def trace_of_nothing():
    result = pinch("record", "-q", "-o", "-", "--", "no-such-command-here")
    assert result.status == 127
    with open("t.pinch", "wb") as file:
        file.write(result.out)
    with viewing("t.pinch") as t:
        t.wait("[1 SUMMARY]")
        trace_page(t, 9)
        t.wait("the graph could not be made", "has no thread")
        trace_page(t, 10)
        t.wait("the graph could not be made")
        trace_page(t, 5)
        t.keys("q")
        assert t.status == 0


@test("the files that are asked for are written when the view is left")
def trace_files():
    trace = recorded("true")
    with viewing(trace, "-o", "report.txt", "--json", "report.json") as t:
        t.wait("[1 SUMMARY]")
        t.keys("q")
        assert t.status == 0
    assert "Time of all threads" in read("report.txt")
    assert read("report.json", "rb") == pinch("report", "-q", "--json", "-", trace).out


# --- The command's input and output --------------------------------------------------------------

@test("what the command writes is a page, not in the way; its input is empty")
def output():
    with open("script", "w") as file:
        file.write("echo to stdout; echo to stderr >&2; cat; echo read all; printf 'no end'")
    with Terminal(PINCH, "run", "--tui", "--", "sh", "script") as t:
        text = t.wait("ended, exit status 0", "Time of all threads")
        assert "to stdout" not in text and is_whole(text, 80, 24), text
        page(t, 9)
        t.wait("to stdout", "to stderr", "read all", "no end")


@test("of a flood of output the last 10,000 lines are kept, and the rest is counted")
def flood():
    with Terminal(PINCH, "run", "--tui", "--", "seq", "300000") as t:
        t.wait("ended, exit status 0")
        page(t, 9)
        t.keys("G")
        t.wait(">  300000")
        t.keys("g")
        t.wait("290,000 earlier lines were dropped", "290001")


@test("output with escape sequences is shown, and obeyed by nobody")
def hostile_output():
    with Terminal(PINCH, "run", "--tui", "--", "printf", r"\033[2J\033]0;owned\007\033[31mred\n") as t:
        t.wait("ended, exit status 0")
        page(t, 9)
        t.wait(r"\x1b[2J\x1b]0;owned\x07\x1b[31mred")
        assert t.ask("#{pane_title}") != "owned"


# --- Terminals -----------------------------------------------------------------------------------

@test("hostile names are escaped on every page")
def odd_names():
    with Terminal(PINCH, "run", "--tui", program("odd_names")) as t:
        t.wait("ended, exit status 0")
        page(t, 7)
        t.type("E")
        t.resize(120, 70)
        t.wait(r"\x1b[31mred\x1b[0m", r"bell\x07\x08", r"new\x0aline")
        for number in range(1, 10):
            text = page(t, number)
            assert all(c.isprintable() or c == "\n" for c in text), repr(text)
        assert t.ask("#{pane_title}") != "title"


@test("names of files, sockets, locks and functions are escaped on every page, and no line is broken")
def odd_objects():
    for command, shown in ((["odd_files"], r"new\x0aline"), (["odd_symbols"], r"odd\x1b[31m\x0alock")):
        with Terminal(PINCH, "run", "--tui", program(command[0])) as t:
            t.wait("ended, exit status 0")
            for number in range(1, 10):
                page(t, number)
                t.type("E")
                text = t.wait("? help")
                assert all(c.isprintable() or c == "\n" for c in text), repr(text)
                assert all(len(line) <= 80 for line in text.split("\n")), text
            assert t.ask("#{pane_title}") not in ("title", "owned")
            t.resize(140, 100)
            page(t, 3 if command[0] == "odd_symbols" else 4)
            t.type("/" + shown[:5])
            t.keys("Enter")
            t.wait(shown)


@test("without UTF-8 all of it is ASCII; NO_COLOR is heeded; nothing is shown by colour alone")
def plain():
    process = turns()
    with attached(process, environment=[("LC_ALL", "C"), ("LANG", "C"), ("NO_COLOR", "1")]) as t:
        t.wait("tracing ", "Time of all threads")
        for number in range(1, 9):
            page(t, number)
            t.type("E")
            text = t.wait(tab(number))
            assert text.isascii(), text
            codes = re.findall(r"\033\[([0-9;]*)m", t.tmux("capture-pane", "-p", "-e"))
            colors = [c for c in codes if re.search(r"(^|;)(3[0-7]|4[0-7]|9[0-7])(;|$)", c)]
            assert not colors, colors
    with attached(process) as t:
        t.wait("tracing ", "Time of all threads", "█")
        codes = re.findall(r"\033\[([0-9;]*)m", t.tmux("capture-pane", "-p", "-e"))
        assert any(re.search(r"(^|;)3[0-7](;|$)", c) for c in codes), codes


@test("a locale that is not installed does not spoil UTF-8")
def strange_locale():
    with attached(turns(), environment=[("LC_ALL", "xx_YY.UTF-8")]) as t:
        t.wait("tracing ", "Time of all threads", "█")


def refused(result, *words):
    assert result.status == 2, f"exit status {result.status}, not 2\n{result.text}"
    assert len(result.text.splitlines()) == 1 and result.text.startswith("pinch: "), result.text
    for word in words:
        assert word in result.text, f"{word!r} is not in: {result.text}"


@test("without a terminal: one message, status 2, and nothing has been run or traced")
def no_terminal():
    target = turns()
    for command in (["run", "--tui", "--", "touch", "ran"], ["attach", "--tui", "-p", target.pid],
                    ["report", "--tui", "no-such-trace"]):
        refused(finish(start(PINCH, *command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)), "--tui", "terminal", "standard input")
        master, slave = pty.openpty()
        refused(finish(start(PINCH, *command, stdin=slave, stdout=subprocess.PIPE,
                             stderr=subprocess.PIPE)), "standard output")
        for value, word in ((None, "TERM is not set"), ("dumb", "'dumb'"),
                            ("no-such-terminal", "no-such")):
            environment = {k: v for k, v in os.environ.items() if k != "TERM"}
            if value:
                environment["TERM"] = value
            process = start(PINCH, *command, stdin=slave, stdout=slave, stderr=subprocess.PIPE,
                            env=environment)
            refused(finish(process), "--tui", word)
        os.close(slave)
        os.close(master)
    assert not os.path.exists("ran")


class BareTerminal:
    """A pseudo terminal of any size and nothing around it, which can be taken away."""

    def __init__(self, columns, lines, *command, is_controlling=True, **more):
        self.master, slave = pty.openpty()
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))
        self.slave = slave
        self.modes = termios.tcgetattr(slave)
        self.output = b""
        streams = {"stdin": slave, "stdout": slave, "stderr": slave, **more}
        self.process = start(*command, start_new_session=True, **streams,
                             env={**os.environ, "TERM": "xterm", "LC_ALL": "C.UTF-8"},
                             preexec_fn=take_terminal if is_controlling else None)

    def take(self):
        """What it has written meanwhile: nobody must wait for us to read it."""
        while select.select([self.master], [], [], 0)[0]:
            self.output += os.read(self.master, 65536)

    def wait(self, condition, what):
        def is_so():
            self.take()
            return condition()
        return wait_until(is_so, what)

    def wait_for(self, text):
        self.wait(lambda: text in self.output, f"{text} in {self.output[-300:]}")

    def resize(self, columns, lines):
        fcntl.ioctl(self.slave, termios.TIOCSWINSZ, struct.pack("HHHH", lines, columns, 0, 0))

    @property
    def status(self):
        self.wait(lambda: self.process.poll() is not None, "it to end")
        return self.process.returncode

    def assert_as_before(self):
        self.take()
        assert termios.tcgetattr(self.slave) == self.modes, "other modes than before"
        on, off = self.output.rfind(b"\033[?1049h"), self.output.rfind(b"\033[?1049l")
        assert off > on >= 0, "the other screen is still on"

    def vanish(self):
        os.close(self.slave)
        os.close(self.master)


def take_terminal():
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@test("whatever size a terminal says it has, it is drawn on, left with q and given back as it was")
def any_size():
    target = turns()
    for columns, lines in ((0, 0), (1, 1), (1, 24), (80, 1), (10, 3), (79, 23), (80, 24), (1000, 2),
                           (10000, 10000), (32767, 32767), (65535, 65535)):
        t = BareTerminal(columns, lines, PINCH, "attach", "--tui", "-p", target.pid)
        t.wait_for(b"\033[?1049h")
        t.wait(lambda: links_of(t.process.pid), "it to attach")
        for key in b"38E?qG":
            os.write(t.master, bytes([key]))
        os.write(t.master, b"q")
        assert t.status == 0, f"{columns}x{lines}: exit status {t.status}"
        t.assert_as_before()
        t.vanish()
    assert is_alive(target.pid)


@test("hundreds of sizes a second, none of them harms")
def wild_storm():
    target = turns()
    t = BareTerminal(80, 24, PINCH, "attach", "--tui", "-p", target.pid)
    t.wait_for(b"Time of all threads")
    sizes = ((1, 1), (200, 60), (0, 0), (79, 23), (80, 24), (10, 3), (400, 5), (3, 400))
    for i in range(600):
        t.resize(*sizes[i % len(sizes)])
        os.kill(t.process.pid, signal.SIGWINCH)
        if i % 20 == 0:
            os.write(t.master, b"%d" % (i // 20 % 9 + 1))
        t.take()
    t.resize(80, 24)
    seen = len(t.output)
    os.write(t.master, b"5")
    t.wait(lambda: b"[5 LOCKS]" in t.output[seen:], "the page of locks")
    os.write(t.master, b"q")
    assert t.status == 0
    t.assert_as_before()
    t.vanish()


@test("changes of size are no end and no news to a run without the UI")
def storm_without():
    t = BareTerminal(80, 24, PINCH, "run", "--json", "report.json", "--", "sh", "-c",
                     "while [ ! -e go ]; do sleep 0.02; done; exit 3")
    t.wait(lambda: links_of(t.process.pid), "it to attach")
    for i in range(300):
        t.resize(1 + i % 90, 1 + i % 30)
        os.kill(t.process.pid, signal.SIGWINCH)
        t.take()
    open("go", "w").close()
    assert t.status == 3
    check_laws(parse_report(read("report.json", "rb")))
    assert termios.tcgetattr(t.slave) == t.modes
    t.vanish()


@test("a terminal that goes away ends the UI, be it the controlling one or not; the target goes on")
def vanishing():
    target = turns()
    for is_controlling in (True, False):
        t = BareTerminal(80, 24, PINCH, "attach", "--tui", "-p", target.pid,
                         is_controlling=is_controlling)
        t.wait_for(b"Time of all threads")
        t.vanish()
        wait_until(lambda: t.process.poll() is not None, f"pinch to end ({is_controlling})")
        assert is_alive(target.pid)


@test("a terminal that goes away takes no report with it: a run goes on to its end")
def vanishing_run():
    t = BareTerminal(80, 24, PINCH, "run", "--json", "report.json", "--", "sh", "-c",
                     "while [ ! -e go ]; do sleep 0.02; done; exit 3", is_controlling=False,
                     stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    t.wait(lambda: links_of(t.process.pid), "it to attach")
    t.vanish()
    open("go", "w").close()
    wait_until(lambda: t.process.poll() is not None, "the run to end")
    assert t.process.returncode == 3, t.process.returncode
    check_laws(parse_report(read("report.json", "rb")))


@test("errors before the tracing are plain messages on the terminal")
def plain_errors():
    gone = start("true")
    gone.wait()
    with Terminal(PINCH, "attach", "--tui", "-p", gone.pid) as t:
        assert t.status == 1
        assert "no process" in t.text(), t.text()
        assert_given_back(t)


if __name__ == "__main__":
    sys.exit(main(jobs=2))

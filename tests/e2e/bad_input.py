#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
Whatever pinch is given: a clear error, the right exit status, nothing lost, nothing left behind;
and the traced program is none the wiser.
"""
import fcntl
import os
import pty
import random
import re
import shutil
import signal
import subprocess
import sys
import termios
import time

from lib import LIMIT_S, PINCH, Skip, assert_nothing_attached, check_laws, describe, \
    find_path, finish, functions_of, is_alive, links_of, main, own_children, parse_report, pinch, program, \
    read, read_line, run, run_one, start, status_of, stop, test, wait_until

USAGE = {"run": 125, "attach": 2}
FAILED = {"run": 125, "attach": 1}


def assert_refused(result, status, *words, is_short=True):
    assert result.status == status, f"exit status {result.status}, not {status}\n{result.text}"
    for word in words:
        assert word.lower() in result.text.lower(), f"{word!r} is not in: {result.text}"
    assert result.text.startswith("pinch: "), result.text
    if is_short:
        assert len(result.text.splitlines()) <= 2, result.text


def write(path, data, mode=0o644):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    os.chmod(path, mode)
    return os.path.abspath(path)


def tracing(process):
    """Waits until the pinch has its programs attached."""
    wait_until(lambda: process.poll() is not None or links_of(process.pid), "pinch to attach")
    assert process.poll() is None, process.stderr.read() if process.stderr else "it has ended"


def child_of(pid):
    """The one child of a pinch run that is its command."""
    def find():
        for child in read(f"/proc/{pid}/task/{pid}/children").split():
            if os.path.realpath(f"/proc/{child}/exe") != os.path.realpath(PINCH):
                return int(child)
        return None
    return wait_until(find, "the command to begin")


def in_namespace(script, *arguments):
    """A shell script with mounts of its own; $PINCH is pinch."""
    probe = subprocess.run(["unshare", "-m", "true"], capture_output=True)
    if probe.returncode:
        raise Skip("unshare -m is not allowed here")
    process = start("unshare", "-m", "sh", "-ec", script, "sh", *arguments,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                    env={**os.environ, "PINCH": PINCH})
    return finish(process)


# --- Commands ------------------------------------------------------------------------------------

@test("run of a command that does not exist: 127, as a shell would")
def no_command():
    assert_refused(pinch("run", "--", "no-such-command-here"), 127, "no-such-command-here")
    assert_refused(pinch("run", "--", "./no/such/path"), 127, "./no/such/path")
    assert_refused(pinch("run", "--", ""), 127)


@test("run of what cannot be executed: 126, as a shell would")
def not_executable():
    write("plain", "text\n")
    assert_refused(pinch("run", "--", "./plain"), 126, "./plain", "permission")
    os.mkdir("directory")
    assert_refused(pinch("run", "--", "./directory"), 126, "./directory")
    write("lost", "#!/no/such/interpreter\n", 0o755)
    assert pinch("run", "-q", "--", "./lost").status in (126, 127)


@test("run of a script without #! gives it to the shell, as execvp() does")
def script():
    write("script", "echo hello; exit 4\n", 0o755)
    result = pinch("run", "-q", "--", "./script")
    assert (result.status, result.out) == (4, b"hello\n"), result.text


@test("a command that ends at once is traced: one thread, its exit status")
def brief():
    report = run("true").report
    assert report["totals"]["threads"] == 1 and report["target"]["exit_status"] == 0
    assert report["threads"][0]["name"] == "true"
    assert run("false", status=1).report["target"]["exit_status"] == 1


# --- Targets -------------------------------------------------------------------------------------

@test("attach to a process that does not exist: status 1 and a reason")
def no_process():
    gone = start("true")
    gone.wait()
    assert_refused(pinch("attach", "-p", gone.pid), 1, "no process", str(gone.pid))
    assert_refused(pinch("attach", "-p", 4194304 + 5), 1, "no process")
    assert_refused(pinch("attach", "-p", 10 ** 18), 1, "no process")
    assert_refused(pinch("attach", "-n", "no-such-name-here"), 1, "no-such-name-here")
    assert_refused(pinch("attach", "--cgroup", "/no/such/group"), 1, "/no/such/group")
    os.mkdir("nogroup")
    assert_refused(pinch("attach", "--cgroup", os.path.abspath("nogroup")), 1, "is not a cgroup")


@test("attach to what is no process id is wrong usage: status 2")
def no_number():
    for text in ("", "x", "-1", "0", "12x", "1,,2", "1,", " 1", "0x10", "1.5", "9" * 30):
        assert_refused(pinch("attach", "-p", text), 2)


@test("attach to pinch itself, and to a kernel thread, is refused with the reason")
def not_ours():
    done = finish(start("sh", "-c", 'exec "$0" attach -p $$', PINCH, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert done.status in (1, 2) and "pinch itself" in done.text, done.text
    assert "Kthread" not in status_of(2) or status_of(2)["Kthread"] == "1"
    done = pinch("attach", "-p", 2)
    assert done.status in (1, 2) and "kernel thread" in done.text, done.text


@test("attach to a process that is dead already ends, and does not call it a kernel thread")
def zombie():
    process = start("true")
    wait_until(lambda: status_of(process.pid).get("State", "")[:1] == "Z", "it to end")
    result = pinch("attach", "-p", process.pid, limit_s=LIMIT_S // 3)
    assert result.status in (0, 1), result.text
    assert "kernel thread" not in result.text, result.text
    process.wait()


@test("attach to processes that end while pinch attaches ends by itself, each time")
def exits_while_attaching():
    for i in range(8):
        target = start("sleep", str(i * 0.01))
        result = pinch("attach", "-q", "-p", target.pid, "--json", "report.json", limit_s=LIMIT_S // 3)
        assert result.status in (0, 1), f"exit status {result.status}\n{result.text}"
        if result.status == 0:
            check_laws(parse_report(read("report.json", "rb")))
        target.wait()


@test("attach to a thread id traces its process, and says so")
def thread_id():
    target = start(program("cpu_bound"), 1, 100000)
    tids = wait_until(lambda: [t for t in os.listdir(f"/proc/{target.pid}/task")
                               if int(t) != target.pid], "its thread")
    result = pinch("attach", "-p", tids[0], "--duration", "100ms", "--json", "report.json")
    assert result.status == 0 and "is a thread of process" in result.text, result.text
    assert parse_report(read("report.json", "rb"))["totals"]["threads"] == 2
    stop(target)


# --- Privileges and kernels ----------------------------------------------------------------------

def refused_without(prefix, words, absent=()):
    os.chmod(".", 0o755)
    binary = os.path.abspath(shutil.copy(PINCH, "pinch"))
    for command, rest in (("run", ["--", "true"]), ("attach", ["-p", os.getpid()])):
        process = start(*prefix, binary, command, *rest, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        result = finish(process)
        assert_refused(result, FAILED[command], *words)
        for word in absent:
            assert word not in result.text, result.text
    check = subprocess.run([str(p) for p in (*prefix, binary, "check")], capture_output=True,
                           text=True)
    assert check.returncode == 1 and "cannot trace" in check.stdout, check.stdout
    for word in words:
        assert word.lower() in check.stdout.lower(), check.stdout


@test("without root: refused, with the capabilities that are missing and how to get them")
def no_root():
    refused_without(["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"],
                    ["CAP_BPF", "CAP_PERFMON", "root"])


@test("as root without CAP_PERFMON and CAP_SYS_ADMIN: refused, naming these and not CAP_BPF")
def no_perfmon():
    refused_without(["setpriv", "--bounding-set=-perfmon,-sys_admin",
                     "--inh-caps=-perfmon,-sys_admin"], ["CAP_PERFMON"], ["CAP_BPF"])


@test("a command that pinch cannot trace is not run at all")
def not_run_untraced():
    os.chmod(".", 0o777)
    binary = os.path.abspath(shutil.copy(PINCH, "pinch"))
    result = finish(start("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", binary,
                          "run", "--", "touch", os.path.abspath("mark"), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE))
    assert result.status == 125 and not os.path.exists("mark"), result.text


@test("a kernel without BTF: refused with the reason, by run, attach and check")
def no_btf():
    for arguments, status in (("run -- true", 125), (f"attach -p {os.getpid()}", 1)):
        result = in_namespace(f'mount -t tmpfs none /sys/kernel/btf; exec "$PINCH" {arguments}')
        assert_refused(result, status, "BTF")
    result = in_namespace('mount -t tmpfs none /sys/kernel/btf; exec "$PINCH" check')
    assert result.status == 1 and b"MISSING" in result.out and b"BTF" in result.out, result.out


@test("a memlock limit of 0 does not matter")
def memlock():
    report = run("true", prefix=["prlimit", "--memlock=0:0"]).report
    assert report["totals"]["threads"] == 1


@test("few open files are enough, or the error says so")
def few_files():
    result = pinch("run", "-q", "--", "true", prefix=["prlimit", "--nofile=64:64"])
    assert result.status == 0 or "open files" in result.text, result.text
    result = pinch("run", "-q", "--", "true", prefix=["prlimit", "--nofile=8:8"])
    assert result.status in (0, 125), f"{result.status} {result.text}"
    assert result.status == 0 or result.text.startswith("pinch: "), result.text


# --- Binaries ------------------------------------------------------------------------------------

def sections(data):
    """[(name, header offset, offset, size)] of a 64-bit ELF."""
    start_at = int.from_bytes(data[40:48], "little")
    size, count, names_at = (int.from_bytes(data[58 + i:60 + i], "little") for i in (0, 2, 4))
    headers = [start_at + i * size for i in range(count)]

    def field(header, at, length):
        return int.from_bytes(data[header + at:header + at + length], "little")
    names = field(headers[names_at], 24, 8)
    found = []
    for header in headers:
        name = names + field(header, 0, 4)
        found.append((data[name:data.index(b"\0", name)].decode(), header, field(header, 24, 8),
                      field(header, 32, 8)))
    return found


def damage(data, choose, how):
    damaged = bytearray(data)
    for name, header, offset, size in sections(data):
        if choose(name) and offset + size <= len(data):
            damaged[offset:offset + size] = how(size, bytes(damaged[offset:offset + size]))
    return bytes(damaged)


def flip(seed):
    chance = random.Random(seed)

    def some_bits(size, old):
        new = bytearray(old)
        for _ in range(max(1, size // 50)):
            new[chance.randrange(size)] ^= 1 << chance.randrange(8)
        return new
    return some_bits


def damaged_binaries():
    data = read(program("cpu_bound"), "rb")
    is_debug = lambda name: name.startswith(".debug")
    is_symbols = lambda name: name in (".symtab", ".strtab")
    chance = random.Random(1)
    yield "debug sections of zeros", damage(data, is_debug, lambda n, old: bytes(n))
    yield "debug sections of ones", damage(data, is_debug, lambda n, old: b"\xff" * n)
    yield "random debug sections", damage(data, is_debug, lambda n, old: chance.randbytes(n))
    for seed in range(4):
        yield f"debug sections with flipped bits ({seed})", damage(data, is_debug, flip(seed))
    yield "random symbols", damage(data, is_symbols, lambda n, old: chance.randbytes(n))
    yield "symbols of ones", damage(data, is_symbols, lambda n, old: b"\xff" * n)
    yield "a section table far outside", data[:40] + b"\xff" * 8 + data[48:]
    yield "65535 sections", data[:60] + b"\xff\xff\xff\xff" + data[64:]
    table = int.from_bytes(data[40:48], "little")
    yield "a cut section table", data[:table + 100]
    yield "random section headers", data[:table] + chance.randbytes(len(data) - table)
    sizes = bytearray(data)
    for _, header, _, _ in sections(data):
        sizes[header + 32:header + 40] = b"\xf0" + b"\xff" * 6 + b"\x7f"
    yield "sections of huge sizes", bytes(sizes)


@test("a traced program with damaged ELF or DWARF: traced all the same, its status handed on")
def damaged():
    for number, (what, data) in enumerate(damaged_binaries()):
        path = write(f"damaged-{number}", data, 0o755)
        untraced = subprocess.run([path, "2", "60"], capture_output=True)
        assert untraced.returncode == 0, f"{what}: does not run even untraced"
        try:
            report = run(path, 2, 60, options=["--nmin", 3], limit_s=LIMIT_S // 2).report
        except AssertionError as error:
            raise AssertionError(f"{what}: {error}") from None
        assert report["paths"], what
        os.unlink(path)


@test("a program whose file is deleted after it was started keeps its names")
def deleted_binary():
    path = shutil.copy(program("cpu_bound"), "gone")
    target = start(os.path.abspath(path), 2, 100000)
    wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 3, "its threads")
    os.unlink(path)
    result = pinch("attach", "-q", "-p", target.pid, "--nmin", 3, "--duration", "500ms", "--json",
                   "report.json")
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    assert find_path(report, "crunch"), describe(report)
    stop(target)


@test("a program whose file was replaced by garbage after its start: that is not believed")
def replaced_binary():
    path = os.path.abspath(shutil.copy(program("cpu_bound"), "replaced"))
    target = start(path, 2, 100000)
    wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 3, "its threads")
    write("new", b"\x7fELF" + random.Random(2).randbytes(20000), 0o755)
    os.rename("new", path)
    result = pinch("attach", "-q", "-p", target.pid, "--nmin", 3, "--duration", "500ms", "--json",
                   "report.json")
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    first = report["paths"][0]
    assert "crunch" in functions_of(first) or first["stack"][0]["function"] is None, \
        describe(report)
    stop(target)


@test("a program with the same name and size but other content does not lend its names")
def other_binary():
    path = os.path.abspath(shutil.copy(program("cpu_bound"), "swapped"))
    target = start(path, 2, 100000)
    wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 3, "its threads")
    data = read(path, "rb")
    write("other", data.replace(b"crunch", b"crooks"), 0o755)
    os.rename("other", path)
    result = pinch("attach", "-q", "-p", target.pid, "--nmin", 3, "--duration", "300ms", "--json",
                   "report.json")
    assert result.status == 0, result.text
    report = parse_report(read("report.json", "rb"))
    assert not find_path(report, "crooks"), describe(report)
    stop(target)


# --- Output --------------------------------------------------------------------------------------

@test("an output that cannot be written is refused before the command is run")
def unwritable():
    os.mkdir("directory")
    for option in ("--json", "-o"):
        for path in ("no/such/directory/file", "directory", "/proc/version/x", "/proc/nope"):
            result = pinch("run", option, path, "--", "touch", "mark")
            assert_refused(result, 125, path)
            assert not os.path.exists("mark"), f"{option} {path}: the command was run"
            assert_refused(pinch("attach", option, path, "-p", os.getpid()), 1, path)
    assert os.listdir(".") == ["directory"] and not os.listdir("directory"), os.listdir(".")


@test("an output in a read-only file system is refused")
def read_only():
    result = in_namespace('mount -t tmpfs -o ro none /mnt; '
                          'exec "$PINCH" run --json /mnt/report.json -- touch "$1"',
                          os.path.abspath("mark"))
    assert_refused(result, 125, "/mnt/report.json", "read-only")
    assert not os.path.exists("mark")


@test("disk full while writing: an error, the old file untouched, nothing beside it")
def disk_full():
    for option in ("--json", "-o"):
        result = in_namespace(
            'mount -t tmpfs -o size=64k none /mnt; cd /mnt; echo old >report; '
            'dd if=/dev/zero of=filler bs=1k 2>/dev/null || true; '
            f'"$PINCH" run -q --top 100 -v {option} report -- "$1" >/dev/null && status=0 '
            '|| status=$?; '
            'cat report; ls -A; echo $status', program("pipeline_stages"))
        lines = result.out.decode("utf-8", "replace").splitlines()
        assert lines == ["old", "filler", "report", "125"], (option, lines, result.text)
        assert "no space left" in result.text.lower(), result.text


@test("/dev/full as output: an error and status 125")
def dev_full():
    for option in ("--json", "-o"):
        result = pinch("run", "-q", option, "/dev/full", "--", "true")
        assert_refused(result, 125, "/dev/full", "no space")


@test("/dev/null, /dev/stdout, - and a FIFO are written in place")
def special_files():
    assert pinch("run", "-q", "--json", "/dev/null", "--", "true").status == 0
    assert os.path.exists("/dev/null") and not os.path.isfile("/dev/null")
    for path in ("-", "/dev/stdout"):
        result = pinch("run", "-q", "--json", path, "--", "true")
        assert parse_report(result.out)["totals"]["threads"] == 1
    os.mkfifo("fifo")
    process = start(PINCH, "run", "-q", "--json", "fifo", "--", "true", stdin=subprocess.DEVNULL)
    reader = start("cat", "fifo", stdout=subprocess.PIPE)
    out, _ = reader.communicate(timeout=LIMIT_S)
    assert process.wait(LIMIT_S) == 0
    assert parse_report(out)["totals"]["threads"] == 1


@test("an existing report is replaced as a whole, with its mode kept, through a symbolic link too")
def replaced_report():
    write("real", "old\n", 0o640)
    os.symlink("real", "report.json")
    assert run("true").report
    assert os.path.islink("report.json") and os.stat("real").st_mode & 0o777 == 0o640
    assert sorted(os.listdir(".")) == ["real", "report.json"]


@test("a reader of standard output that goes away does not change the command's status")
def closed_pipe():
    process = start("sh", "-c", '"$0" run -q --json - -- sh -c "exit 3"; echo $? >status', PINCH,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    process.stdout.close()
    process.wait(LIMIT_S)
    assert read("status").strip() == "3", read("status")


@test("-q prints nothing; without it the text goes to standard error, with -o to the file")
def quiet():
    result = pinch("run", "-q", "--", "true")
    assert (result.status, result.out, result.err) == (0, b"", b""), result.err
    result = pinch("run", "--", "true")
    assert result.out == b"" and b"Time of all threads" in result.err, result.err
    assert b"\r" not in result.err and b"\033" not in result.err, "progress on what is no terminal"
    result = pinch("run", "-o", "text", "--", "true")
    assert result.err == b"" and result.out == b"", (result.err, result.out)
    assert "Time of all threads" in read("text")


# --- Losses --------------------------------------------------------------------------------------

def run_with_losses(after):
    """
    The report and the text of a pinch that is stopped while its command makes more events than its rings hold. Then
    the Python program after runs.
    """
    os.mkfifo("go")
    os.mkfifo("ready")
    process = start(PINCH, "run", "--ring-kb", 4, "--json", "report.json", "--", "sh", "-c",
                    'read x <go; "$0" 16 20000 >/dev/null; echo >ready; exec /usr/bin/python3 -c "$1"',
                    program("mutex_storm"), after, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    tracing(process)
    child_of(process.pid)
    process.send_signal(signal.SIGSTOP)
    with open("go", "w") as file:
        file.write("x\n")
    read("ready")
    process.send_signal(signal.SIGCONT)
    result = finish(process)
    assert result.status == 0, result.text
    return parse_report(read("report.json", "rb")), result.text


@test("a ring buffer that overflows: counted, shown, and the account still closes")
def overflow():
    report, text = run_with_losses("")
    assert report["losses"]["records"] > 0, report["losses"]
    assert report["losses"]["gaps"] > 0 and report["losses"]["gap_ns"] > 0, report["losses"]
    assert report["losses"]["gap_ns"] <= report["target"]["wall_ns"], report["losses"]
    assert re.search(r"[Ll]ost\b", text), "the text does not show the loss"
    check_laws(report, is_lossless=False)
    assert 1 <= report["totals"]["threads"] <= 40, report["totals"]
    # The shell, the storm's first thread and its sixteen.
    assert report["totals"]["alive_max"] <= 18, report["totals"]


@test("after an overflow the metrics are right again: a thread that then runs alone has its time")
def resynchronised():
    # The storm comes first, then two seconds in which one thread computes.
    report, _ = run_with_losses(
        "import time\nend = time.monotonic() + 2\nwhile time.monotonic() < end: pass")
    check_laws(report, is_lossless=False)
    assert report["losses"]["records"] > 0
    alone = sum(p["ns"] for p in report["parallelism"] if p["active"] == 1)
    # The living threads are listed again within 0.2 s; that list may be damaged as well, on a busy machine often.
    assert alone > 800_000_000, f"{alone} ns with one thread active: {report['parallelism']}"
    first = max(report["threads"], key=lambda t: t["cmetric_ns"])
    assert first["cmetric_ns"] > 800_000_000, first
    assert alone + report["losses"]["gap_ns"] > 1_900_000_000, \
        f"wrong time is not in the gaps: {alone}, {report['losses']}"


# --- How pinch and its command end ---------------------------------------------------------------

@test("pinch run killed: nothing stays attached, the command goes on and ends with its own status")
def killed():
    os.mkfifo("go")
    process = start(PINCH, "run", "-q", "--", "sh", "-c", "read x <go; exit 7",
                    stdin=subprocess.DEVNULL)
    tracing(process)
    child = child_of(process.pid)
    wait_until(lambda: status_of(child).get("Name") == "sh", "the command")
    process.kill()
    process.wait()
    assert_nothing_attached()
    assert is_alive(child), "the command died with pinch"
    with open("go", "w") as file:
        file.write("x\n")
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 7, status


@test("the command that a killed pinch leaves behind ends with the test that started it")
def left_behind():
    commands = []

    def leaves_one():
        process = start(PINCH, "run", "-q", "--", "sleep", 600, stdin=subprocess.DEVNULL)
        tracing(process)
        commands.append(child_of(process.pid))
        process.kill()
        process.wait()
        assert is_alive(commands[0]), "the command died with pinch"

    assert run_one(leaves_one) is None
    assert not is_alive(commands[0])


@test("pinch attach killed: nothing stays attached, the target goes on")
def killed_attach():
    target = start("sh", "-c", "read x; exit 7", stdin=subprocess.PIPE)
    process = start(PINCH, "attach", "-q", "-p", target.pid, stdin=subprocess.DEVNULL)
    tracing(process)
    process.kill()
    process.wait()
    assert_nothing_attached()
    target.communicate(b"x\n")
    assert target.returncode == 7


@test("pinch run killed before the command began: the command is never run")
def killed_early():
    for delay_ms in range(0, 40, 5):
        process = start(PINCH, "run", "-q", "--", "sh", "-c", "echo $$ >>began; exec sleep 60",
                        stdin=subprocess.DEVNULL)
        time.sleep(delay_ms / 1000)     # anywhere in its start: each outcome must be clean
        process.kill()
        process.wait()
        # What it left is a command that runs, or a child that has seen pinch go and ends.
        children = wait_until(
            lambda: all(status_of(p).get("Name") in ("sleep", None) or not is_alive(p)
                        for p in own_children()), "its child to end or to be the command")
        assert children
        for pid in own_children():
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    assert_nothing_attached()


@test("a second Ctrl-C ends a pinch attach that cannot write its report")
def twice():
    target = start("sleep", "1000")
    os.mkfifo("fifo")       # nobody reads: opening it waits
    process = start(PINCH, "attach", "-q", "--json", "fifo", "-p", target.pid,
                    stdin=subprocess.DEVNULL, stderr=subprocess.PIPE)
    tracing(process)
    process.send_signal(signal.SIGINT)
    wait_until(lambda: not links_of(process.pid), "pinch to detach")
    assert process.poll() is None
    process.send_signal(signal.SIGINT)
    assert finish(process).status in (1, 128 + signal.SIGINT)
    assert is_alive(target.pid), "the target died"
    stop(target)


def terminal(*command):
    """Runs the command on a terminal of its own; (process, master)."""
    master, slave = pty.openpty()

    def take_terminal():
        os.setsid()
        fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    process = start(*command, stdin=slave, stdout=slave, stderr=slave, preexec_fn=take_terminal)
    os.close(slave)
    os.set_blocking(master, False)
    return process, master


class Screen:
    """What a terminal has shown."""

    def __init__(self, master):
        self.master = master
        self.shown = b""

    def wait_for(self, text):
        def look():
            try:
                self.shown += os.read(self.master, 65536)
            except (BlockingIOError, OSError):
                pass
            return text in self.shown
        wait_until(look, f"{text!r} on the terminal; it shows {self.shown[-300:]!r}")


CATCHER = "trap 'echo caught; exit 9' INT TERM HUP; echo ready; while :; do sleep 0.05; done"


@test("Ctrl-C on the terminal goes to the command, whose status is returned")
def ctrl_c():
    process, master = terminal(PINCH, "run", "--json", "report.json", "--", "sh", "-c", CATCHER)
    screen = Screen(master)
    screen.wait_for(b"ready")
    os.write(master, b"\x03")
    screen.wait_for(b"caught")
    screen.wait_for(b"Time of all threads")  # the report comes all the same
    assert process.wait(LIMIT_S) == 9
    check_laws(parse_report(read("report.json", "rb")))
    process, master2 = terminal(PINCH, "run", "-q", "--", "sh", "-c", "echo ready; exec sleep 60")
    screen = Screen(master2)
    screen.wait_for(b"ready")
    os.write(master2, b"\x03")
    assert process.wait(LIMIT_S) == 128 + signal.SIGINT
    os.close(master)
    os.close(master2)


@test("the command has the terminal: it may read from it and is in its foreground")
def foreground():
    process, master = terminal(PINCH, "run", "-q", "--", "/usr/bin/python3", "-c",
                               "import os; print('fg', os.tcgetpgrp(0) == os.getpgrp(), "
                               "input().upper())")
    os.write(master, b"typed\n")
    Screen(master).wait_for(b"fg True TYPED")
    assert process.wait(LIMIT_S) == 0
    os.close(master)


@test("a signal sent to pinch run is passed on, and the command's status is returned")
def passed_on():
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        process = start(PINCH, "run", "-q", "--", "sh", "-c", CATCHER, stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE, start_new_session=True)
        assert read_line(process) == b"ready\n"
        process.send_signal(number)
        assert read_line(process) == b"caught\n", number
        assert process.wait(LIMIT_S) == 9
        process.stdout.close()


@test("--duration in run: the report comes, the command goes on, signals and status as before")
def run_duration():
    os.mkfifo("go")
    process = start(PINCH, "run", "-q", "--duration", "100ms", "--json", "report.json", "--",
                    "sh", "-c", "read x <go; exit 6", stdin=subprocess.DEVNULL)
    wait_until(lambda: os.path.exists("report.json"), "the report")
    wait_until(lambda: not links_of(process.pid), "pinch to detach")
    assert process.poll() is None
    report = parse_report(read("report.json", "rb"))
    check_laws(report)
    assert report["target"]["is_running"] and report["target"]["exit_status"] is None
    with open("go", "w") as file:
        file.write("x\n")
    assert process.wait(LIMIT_S) == 6
    process = start(PINCH, "run", "-q", "--duration", "100ms", "--json", "second.json", "--", "sh",
                    "-c", CATCHER, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                    start_new_session=True)
    assert read_line(process) == b"ready\n"
    wait_until(lambda: os.path.exists("second.json"), "the report")
    wait_until(lambda: not links_of(process.pid), "pinch to detach")
    process.send_signal(signal.SIGTERM)
    assert read_line(process) == b"caught\n", "a signal after the duration is not passed on"
    assert process.wait(LIMIT_S) == 9
    process.stdout.close()


@test("standard input and output pass byte for byte, standard error too with -q")
def streams():
    data = bytes(range(256)) * 1000
    result = pinch("run", "-q", "--", "cat", input=data)
    assert result.out == data and result.err == b"", (len(result.out), result.err[:200])
    result = pinch("run", "-q", "--", "sh", "-c", "cat >&2", input=data)
    assert result.err == data and result.out == b""
    result = pinch("run", "--", "cat", input=data)
    assert result.out == data


@test("exit statuses 0 to 255 and deaths by signal are handed on")
def statuses():
    for status in (0, 1, 2, 77, 125, 126, 127, 128, 255):
        assert pinch("run", "-q", "--", "sh", "-c", f"exit {status}").status == status
    for number in (signal.SIGTERM, signal.SIGKILL, signal.SIGSEGV, signal.SIGPIPE,
                   signal.SIGINT):
        result = pinch("run", "-q", "--", "sh", "-c",
                       f"ulimit -c 0; kill -{int(number)} $$", start_new_session=True)
        assert result.status == 128 + number, f"{number}: {result.status}"


@test("what surrounds the command is untouched: limits, signals, priority, descriptors, ids")
def environment():
    ask = r"""
import os, resource, signal
lines = open("/proc/self/status").read().splitlines()
status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
for key in ("SigBlk", "SigIgn", "SigCgt", "CapEff", "CapInh", "CapBnd", "Uid", "Gid", "NoNewPrivs",
            "Seccomp", "Cpus_allowed"):
    print(key, status.get(key))
for name in sorted(n for n in dir(resource) if n.startswith("RLIMIT_")):
    print(name, resource.getrlimit(getattr(resource, name)))
print("nice", os.nice(0), "policy", os.sched_getscheduler(0))
print("umask", oct(os.umask(0)), "cwd", os.getcwd())
fds = {fd: os.stat(int(fd)).st_mode >> 12 for fd in os.listdir("/proc/self/fd") if int(fd) < 1000
       and os.path.exists("/proc/self/fd/" + fd)}
print("fds", sorted(fds))
print("oom", open("/proc/self/oom_score_adj").read(), open("/proc/self/timerslack_ns").read())
print("group", os.getpgrp(), os.getsid(0))
print("env", sorted(os.environ.items()))
"""
    command = ["/usr/bin/python3", "-c", ask]

    def odd():
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGUSR2, signal.SIGINT})
        os.nice(7)
        os.umask(0o031)
    prefix = ["prlimit", "--nofile=100:200", "--core=0:0"]
    direct = subprocess.run(prefix + command,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL, preexec_fn=odd).stdout.decode()
    traced = start(*prefix, PINCH, "run", "-q", "--", *command, stdin=subprocess.DEVNULL,
                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, preexec_fn=odd)
    traced = finish(traced).out.decode()
    differ = [f"{a} | {b}" for a, b in zip(direct.splitlines(), traced.splitlines()) if a != b]
    assert direct.splitlines() and not differ, "\n".join(differ)
    assert len(direct.splitlines()) == len(traced.splitlines()), traced


@test("pinch started with SIGCHLD ignored sees its command end")
def sigchld_ignored():
    result = pinch("run", "-q", "--", "sh", "-c", "exit 5", limit_s=LIMIT_S // 3,
                   preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
    assert result.status == 5, result.status


@test("a command that is stopped and continued is waited for")
def stopped_command():
    process = start(PINCH, "run", "-q", "--json", "report.json", "--", "sh", "-c",
                    "echo ready; read x; exit 4", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert read_line(process) == b"ready\n"
    child = child_of(process.pid)
    os.kill(child, signal.SIGSTOP)
    wait_until(lambda: status_of(child)["State"][0] == "T", "it to stop")
    os.kill(child, signal.SIGCONT)
    assert finish(process, b"x\n").status == 4
    check_laws(parse_report(read("report.json", "rb")))


@test("the command's children that outlive it do not keep pinch")
def orphans():
    result = run("sh", "-c", "sleep 60 >/dev/null 2>&1 & exit 3", status=3, limit_s=LIMIT_S // 3)
    assert result.report["target"]["is_running"]


# --- Options -------------------------------------------------------------------------------------

@test("options end at the command or at --: what follows belongs to the command")
def command_options():
    assert pinch("run", "-q", "echo", "--json", "x", "-q").out == b"--json x -q\n"
    assert pinch("run", "-q", "--", "echo", "--", "-h").out == b"-- -h\n"
    write("-x", "#!/bin/sh\necho dash\n", 0o755)
    path = os.getcwd() + ":" + os.environ["PATH"]
    assert pinch("run", "-q", "--", "-x", env={**os.environ, "PATH": path}).out == b"dash\n"
    assert not os.path.exists("x")


WRONG = [["--no-such-option"], ["-Z"], ["--nmin"], ["--nmin", "0"], ["--nmin", "x"],
         ["--nmin", "-1"], ["--nmin", "99999999999999999999"], ["--duration", "5"],
         ["--duration", "s"], ["--duration", "-5s"], ["--duration", "5 parsecs"],
         ["--duration", ""], ["--duration", "99999999999999999999s"], ["--sample-period", "3"],
         ["--sample-period", "1ns"], ["--sample-hz", "0"], ["--sample-hz", "99999999"],
         ["--depth", "0"], ["--depth", "128"], ["--top", "0"], ["--top", "ten"],
         ["--ring-kb", "5"], ["--ring-kb", "2"], ["--ring-kb", "0"],
         ["--page"], ["--page", ""], ["--page", "pages"], ["--page", "locks,"], ["--page", "lock"],
         ["--page", "io, locks"], ["--threads-only", "--processes-only"], ["--quiet=yes"]]


@test("wrong options: 125 from run, 2 from attach and the rest, with the option's name")
def wrong_options():
    for wrong in WRONG:
        name = wrong[0].split("=")[0]
        for command, rest in (("run", ["--", "touch", "mark"]), ("attach", ["-p", os.getpid()])):
            # What lacks its argument would take the next word.
            line = [command, *rest, *wrong] if command == "attach" and len(wrong) == 1 \
                else [command, *wrong, *rest]
            if len(wrong) == 1 and command == "run" and wrong[0] in ("--nmin", "--page"):
                line = ["run", *wrong]
            assert_refused(pinch(*line), USAGE[command], name)
            assert not os.path.exists("mark"), wrong
    assert pinch().status == 2
    assert_refused(pinch("run"), 125, "command")
    assert_refused(pinch("run", "--"), 125, "command")
    assert_refused(pinch("attach"), 2, "-p")
    assert_refused(pinch("attach", "-p", os.getpid(), "extra"), 2, "extra")
    assert_refused(pinch("frobnicate"), 2, "frobnicate")
    assert_refused(pinch("check", "t.pinch", "extra"), 2, "extra")
    assert_refused(pinch("help", "frobnicate"), 2, "frobnicate")


@test("help and --version print to standard output and end with 0")
def helps():
    for line in (["help"], ["help", "run"], ["help", "attach"], ["help", "check"], ["--help"],
                 ["-h"], ["run", "--help"], ["attach", "-h"], ["--version"]):
        result = pinch(*line)
        assert result.status == 0 and result.out and not result.err, (line, result.text)
    for option in ("--nmin", "--duration", "--json", "--ring-kb"):
        assert option.encode() in pinch("help", "run").out


@test("durations take units, from microseconds to hours")
def durations():
    for text in ("100000us", "100ms", "0.1s"):
        result = pinch("run", "-q", "--duration", text, "--", "true")
        assert result.status == 0, f"{text}: {result.text}"
    for text in ("30s", "5min", "1h"):
        assert pinch("run", "-q", "--duration", text, "--", "true").status == 0, text


# --- Extreme programs ----------------------------------------------------------------------------

@test("fork_storm: a thousand children are counted, their work is named, the status is 7")
def fork_storm():
    report = run(program("fork_storm"), status=7, options=["--nmin", 64]).report
    assert report["totals"]["threads"] == 1001, report["totals"]["threads"]
    assert len({t["host_pid"] for t in report["threads"]}) == 1001
    assert find_path(report, "child_work"), describe(report)


@test("many_threads: five thousand threads, all alive at once")
def many_threads():
    report = run(program("many_threads"), 5000).report
    assert report["totals"]["threads"] == 5001, report["totals"]["threads"]
    assert report["totals"]["alive_max"] == 5001, report["totals"]["alive_max"]
    # The last one to come has the barrier's rest of the work for all.
    assert len(report["parallelism"]) > 100, "how many were active is missing"


@test("odd_names: no control character or invalid UTF-8 of a thread's name gets out")
def odd_names():
    result = run(program("odd_names"), options=["-o", "text", "-v"])
    report = result.report              # parse_report() looks at the JSON
    assert len(report["threads"]) == 17, [t["name"] for t in report["threads"]]
    on_stderr = pinch("run", "-v", "--", program("odd_names"))
    for text in (read("text", "rb"), on_stderr.err):
        text = text.decode("utf-8", "strict")
        bad = {c for c in text if (ord(c) < 32 and c != "\n") or 127 <= ord(c) < 160
               or c in "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f"}
        assert not bad, f"raw control characters in the text: {bad}"
        assert "[31mred" in text, "the first thread is not in the text"
    # How long they wait for a CPU is up to whoever else wants it.
    first = max(report["threads"], key=lambda t: t["running_ns"])
    assert "red" in first["name"], first


@test("a command line with odd bytes is shown escaped, and the JSON is valid")
def odd_command():
    odd = b"\x1b[31m\xff\xfe\n\t\"\\\x00"[:-1]
    process = start("sh", "-c", 'exec "$0" run --json report.json -- true "$(cat arg)"', PINCH,
                    stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE) \
        if write("arg", odd) else None
    result = finish(process)
    assert result.status == 0, result.text
    assert b"\x1b" not in result.err and b"\xff" not in result.err, result.err[:300]
    assert "true" in parse_report(read("report.json", "rb"))["target"]["command"]
    result = pinch("run", "--", "./\x1b[31mno\n")
    assert result.status == 127 and b"\x1b" not in result.err, result.err


@test("a program in a PID namespace of its own: its ids, and the host's beside")
def namespace():
    report = run("unshare", "--pid", "--fork", "--mount-proc", program("known_serial")).report
    inside = [t for t in report["threads"] if t["name"] in ("serial", "par-0", "par-1", "par-2")]
    assert len(inside) == 4, [t["name"] for t in report["threads"]]
    assert {t["pid"] for t in inside} == {1} and {t["tid"] for t in inside} == {2, 3, 4, 5}, inside
    assert all(t["host_tid"] > 5 and t["host_pid"] != 1 for t in inside), inside
    assert find_path(report, "serial_work") or find_path(report, "parallel_work"), describe(report)


@test("two pinch at once each report their own target")
def two_at_once():
    first = start(PINCH, "run", "-q", "--json", "one.json", "--", program("known_serial"),
                  stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    second = start(PINCH, "run", "-q", "--json", "two.json", "--", program("inline_chain"),
                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for process in (first, second):
        result = finish(process)
        assert result.status == 0, result.text
    one, two = (parse_report(read(f"{n}.json", "rb")) for n in ("one", "two"))
    check_laws(one)
    check_laws(two)
    assert {t["name"] for t in one["threads"]} == {"known_serial", "serial", "par-0", "par-1",
                                                   "par-2"}
    assert {t["name"] for t in two["threads"]} == {"inline_chain", "chain"}


@test("two pinch attached to one target both see all of it")
def two_on_one():
    target = start(program("cpu_bound"), 2, 100000)
    wait_until(lambda: len(os.listdir(f"/proc/{target.pid}/task")) == 3, "its threads")
    both = [start(PINCH, "attach", "-q", "-p", target.pid, "--duration", "300ms", "--json",
                  f"{n}.json", stdin=subprocess.DEVNULL, stderr=subprocess.PIPE) for n in (1, 2)]
    for n, process in enumerate(both, 1):
        result = finish(process)
        assert result.status == 0, result.text
        report = parse_report(read(f"{n}.json", "rb"))
        check_laws(report)
        assert report["totals"]["threads"] == 3
    stop(target)


@test("a pinch within a pinch ends, and hands the status through")
def nested():
    result = pinch("run", "-q", "--json", "outer.json", "--", PINCH, "run", "-q", "--json",
                   "inner.json", "--", "sh", "-c", "exit 3")
    assert result.status == 3, result.text
    inner = parse_report(read("inner.json", "rb"))
    outer = parse_report(read("outer.json", "rb"))
    check_laws(inner)
    check_laws(outer)
    assert inner["totals"]["threads"] == 1
    assert outer["totals"]["threads"] >= 2


if __name__ == "__main__":
    sys.exit(main(jobs=2))

# SPDX-License-Identifier: GPL-2.0-or-later
"""Programs that nobody wrote for pinch: a database under load, compressors, an MPI job."""
import os
import re
import signal
import sys

import lib
from lib import ROOT, check_laws, parse_report, read, run, start, test

sys.path.insert(0, os.path.join(ROOT, "bench"))
import mariadb      # noqa: E402  starts and stops a server of its own
import processes    # noqa: E402
import workloads    # noqa: E402

EVENTS = 1500       # transactions


def names(report):
    return {f["function"] for p in report["paths"] for f in p["stack"] if f["function"]} | \
           {f["name"] for p in report["paths"] for f in p["functions"]}


@test("MariaDB under sysbench: the report names the server's functions and its threads")
def mariadb_oltp():
    server = mariadb.Server(lib.server_place())
    try:
        server.start()
        tracer = start(lib.PINCH, "attach", "-p", server.process.pid, "--json", "report.json",
                       "-o", "report.txt")
        lib.wait_until(lambda: lib.links_of(tracer.pid), "pinch is attached")
        sysbench_output = open("sysbench.txt", "wb")
        load = start(*server.sysbench("run", EVENTS), stdout=sysbench_output)
        assert load.wait(lib.LIMIT_S) == 0, read("sysbench.txt")
        tracer.send_signal(signal.SIGINT)
        assert tracer.wait(lib.LIMIT_S) == 0
        report = parse_report(read("report.json", "rb"))
        check_laws(report)
        found = names(report)
        server_functions = {n for n in found if re.match(r"[A-Za-z_:~]+\(.*THD|.*handle|do_command|"
                                                         r"mysql_|dispatch_command|MYSQL", n)}
        assert len(server_functions) >= 3, f"named: {sorted(found)}"
        assert report["totals"]["threads"] >= 16, report["totals"]
        assert "mariadbd" in read("report.txt")
    finally:
        server.stop()
        processes.stop_all()


def compressor(*command):
    workloads.make_data("data", 0.3)
    report = run("sh", "-c", f"exec {' '.join(command)} data >out", options=("--nmin", "2")).report
    assert report["totals"]["parallelism"] > 1, report["totals"]
    return report


@test("pigz: the load is in its own code and zlib's, though both are stripped")
def pigz():
    report = compressor(lib.ServerPlace.find("pigz"), "-p", "2", "-k", "-c")
    assert any(re.search(r"deflate|longest_match|libz|pigz\+", n) for n in names(report)), \
        sorted(names(report))


@test("xz -T2: the encoder's functions or their library are named")
def xz():
    report = compressor(lib.ServerPlace.find("xz"), "-T2", "-1", "-k", "-c")
    assert any("lzma" in n for n in names(report)) or \
        any("lzma" in (f["module"] or "") for p in report["paths"] for f in p["stack"]), \
        sorted(names(report))


@test("an MPI job with an uneven partition: the heavy rank's process leads by far")
def mpi():
    program = lib.program("stencil_mpi")
    report = run(lib.ServerPlace.find("mpirun"), "--allow-run-as-root", "--oversubscribe", "-n", "4",
                 "--mca", "mpi_yield_when_idle", "1", "--mca", "btl", "self,vader",
                 program, "600", "6", env={**os.environ, "TMPDIR": os.getcwd()}).report
    by_process = {}
    for thread in report["threads"]:
        if thread["name"].startswith("stencil_mpi"):
            by_process[thread["pid"]] = by_process.get(thread["pid"], 0) + thread["running_ns"]
    shares = sorted(by_process.values(), reverse=True)
    assert len(shares) == 4, by_process
    assert shares[0] > 1.5 * shares[1], f"time on a CPU by process: {by_process}"
    # What else runs on the machine makes all ranks wait for a CPU, not the others work.
    heaviest = max(report["threads"], key=lambda t: t["cmetric_oncpu_ns"])
    assert heaviest["pid"] == max(by_process, key=by_process.get), lib.describe(report)
    path = lib.find_path(report, "relax")
    assert path, lib.describe(report)


if __name__ == "__main__":
    sys.exit(lib.main())

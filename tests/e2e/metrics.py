#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""
pinch attach --metrics: what Prometheus' own parsers read of it, what adds up in it, what never falls, and how it agrees with the
report at the end.
"""
import http.client
import json
import os
import re
import signal
import socket
import subprocess
import sys

from lib import (HERE, LIMIT_S, PINCH, Skip, finish, main, parse_report, pinch, program, read, read_line, start, stop,
                 test, wait_until)

OPENMETRICS = "application/openmetrics-text;version=1.0.0"
DASHBOARD = os.path.join(HERE, "..", "..", "share", "dashboards", "grafana.json")
MANUAL = os.path.join(HERE, "..", "..", "doc", "pinch-attach.1")
NS = 1000000000


def attach(pid, *options):
    """A pinch that gives metrics; its port."""
    process = start(PINCH, "attach", "-p", pid, "--metrics", ":0", *options, stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    line = read_line(process).decode()
    return process, int(re.fullmatch(r"pinch: metrics: http://127\.0\.0\.1:(\d+)/metrics\n", line)[1])


def ask(port, path="/metrics", method="GET", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
    connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
    reply = connection.getresponse()
    return reply.status, reply.getheader("Content-Type"), reply.read().decode()


def ns_of(value):
    whole, _, part = value.partition(".")
    return int(whole) * NS + int(part.ljust(9, "0")) if part else int(whole)


def scrape(port):
    """Of each series, by its name and labels: ns, or a whole number."""
    status, kind, text = ask(port)
    assert (status, kind) == (200, "text/plain; version=0.0.4; charset=utf-8"), (status, kind)
    series = {}
    for line in text.splitlines():
        if not line.startswith("#"):
            name, value = line.rsplit(" ", 1)
            assert name not in series, f"twice: {name}"
            series[name] = ns_of(value)
    return series


def total(series, name, *parts):
    return sum(value for key, value in series.items() if key.split("{")[0] == name and all(p in key for p in parts))


def check_sums(series):
    wall_ns = series["pinch_wall_seconds_total"]
    assert series["pinch_active_seconds_total"] + series["pinch_stalled_seconds_total"] == wall_ns
    rounded = abs(total(series, "pinch_group_cmetric_seconds_total") - series["pinch_active_seconds_total"])
    assert rounded <= series["pinch_threads_seen_total"], f"off by {rounded} ns: more than a rounding of each thread"
    blocked_ns = total(series, "pinch_group_seconds_total", 'state="blocked"')
    waited_ns = total(series, "pinch_wait_seconds_total") - total(series, "pinch_wait_seconds_total", 'cause="cpu-wait"') \
        - total(series, "pinch_wait_seconds_total", 'cause="throttled"')
    assert blocked_ns == waited_ns, (blocked_ns, waited_ns)


def check_grown(before, after):
    for key, value in before.items():
        if key.split("{")[0].endswith("_total"):
            assert key in after, f"it is gone: {key}"
            assert after[key] >= value, f"it fell: {key}"


def parsers():
    try:
        from prometheus_client import openmetrics, parser
        from prometheus_client.openmetrics import parser as strict
    except ImportError as error:
        raise Skip("there is no prometheus_client: install python3-prometheus-client") from error
    del openmetrics
    return parser.text_string_to_metric_families, strict.text_string_to_metric_families


@test("both formats are read by Prometheus' parsers, name what is in the dashboard, and say how they are called")
def formats():
    storm = start(program("mutex_storm"), 4, 1000000000)
    process, port = attach(storm.pid)
    plain, strict = parsers()
    wait_until(lambda: scrape(port)["pinch_switches_total"] > 100, "the program waits")
    families = {family.name for family in plain(ask(port)[2])}
    status, kind, text = ask(port, Accept=OPENMETRICS)
    assert (status, kind) == (200, "application/openmetrics-text; version=1.0.0; charset=utf-8"), (status, kind)
    assert {family.name for family in strict(text)} == families, families
    samples = {sample.name for family in strict(text) for sample in family.samples}
    for name in set(re.findall(r"\bpinch_\w+", read(DASHBOARD))):
        assert name in samples, f"the dashboard asks for {name}"
    json.loads(read(DASHBOARD))
    manual = set(re.findall(r"^\.It Cm (pinch_\w+)$", read(MANUAL), re.M))
    named = set(re.findall(r"^# TYPE (\w+) ", ask(port)[2], re.M))
    assert manual == named, f"not in both the manual page and the metrics: {manual ^ named}"
    stop(storm)
    assert not finish(process).status


@test("counters never fall, and add up at each moment: wall time, CMetric, waits by cause")
def growth():
    storm = start(program("mutex_storm"), 4, 1000000000)
    process, port = attach(storm.pid, "--json", "report.json", "-q")
    before = scrape(port)
    for _ in range(10):
        switches = before["pinch_switches_total"]
        wait_until(lambda least=switches: scrape(port)["pinch_switches_total"] > least, "it goes on")
        after = scrape(port)
        check_sums(after)
        check_grown(before, after)
        before = after
    process.send_signal(signal.SIGINT)
    assert not finish(process).status
    stop(storm)
    report = parse_report(read("report.json", "rb"))
    assert report["target"]["wall_ns"] >= before["pinch_wall_seconds_total"]
    waits = {cause["cause"]: cause["wait_ns"] for cause in report["balance"]["threads"]["causes"]}
    for cause, wait_ns in waits.items():
        assert total(before, "pinch_wait_seconds_total", f'cause="{cause}"') <= wait_ns, cause
    assert total(before, "pinch_lock_wait_seconds_total") > 0
    assert total(before, "pinch_verdict_share") > 0


@test("names of a hostile program are escaped")
def names():
    odd = start(program("odd_names"), stdin=subprocess.PIPE)
    process, port = attach(odd.pid)
    plain, strict = parsers()
    assert list(plain(ask(port)[2])) and list(strict(ask(port, Accept=OPENMETRICS)[2]))
    stop(odd)
    assert not finish(process).status


@test("other hosts, methods and paths are refused; health is told; many may ask at once, also while tracing ends")
def requests():
    storm = start(program("mutex_storm"), 4, 1000000000)
    process, port = attach(storm.pid)
    assert ask(port, "/health")[::2] == (200, "tracing\n")
    assert ask(port, Host="example.com")[0] == 403
    assert ask(port, method="POST")[0] == 405
    assert ask(port, "/else")[0] == 404
    assert ask(port, method="HEAD")[::2] == (200, "")
    readers = [socket.create_connection(("127.0.0.1", port), LIMIT_S) for _ in range(20)]
    for reader in readers:
        reader.sendall(f"GET /metrics HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
    stop(storm)
    assert not finish(process).status
    for reader in readers:
        while reader.recv(65536):
            pass
        reader.close()


@test("an address that is not this machine's, a port in use, and the terminal UI beside it are refused")
def refusals():
    for address in ("0.0.0.0:1", "9464", ":x", ":65536", ":"):
        result = pinch("attach", "-p", os.getpid(), "--metrics", address)
        assert result.status == 2 and "--metrics takes :PORT" in result.text, result.text
    result = pinch("attach", "-p", os.getpid(), "--metrics", ":0", "--tui")
    assert result.status == 2, result.text
    with socket.create_server(("127.0.0.1", 0)) as busy:
        result = pinch("attach", "-p", os.getpid(), "--metrics", f":{busy.getsockname()[1]}", "--duration", "1s")
        assert result.status == 1 and "cannot listen on 127.0.0.1" in result.text, result.text


sys.exit(main())

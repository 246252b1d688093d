# SPDX-License-Identifier: GPL-2.0-or-later
"""Three threads sleep five times each with a lock held, in hold()."""
import threading
import time

lock = threading.Lock()


def hold():
    with lock:
        time.sleep(0.05)


def work():
    for _ in range(5):
        hold()


threads = [threading.Thread(target=work) for _ in range(3)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()

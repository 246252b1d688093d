/* SPDX-License-Identifier: GPL-2.0-or-later */
/* BPF programs that the kernel calls for each of its threads, or for each element of a map. */
#pragma once

struct bpf_link;

/* Runs it over all of them. what: "the kernel's threads". 0, or a negative errno, said. */
int iterator_run(const struct bpf_link *iterator, const char *what);

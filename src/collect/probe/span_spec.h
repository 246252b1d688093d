/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the user calls a span: "accept4..close", "request=recvfrom(fd=socket)..sendto",
 * "mariadbd:dispatch_command", "request:BEGIN..END[key=argument]" (own/own_span.h).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "values.h"

struct text;

enum { SPAN_FD_ANY = UINT32_MAX };

/* A system call, and of which descriptor. */
struct span_side {
	uint32_t syscall;
	uint32_t fd;       /* SPAN_FD_ANY */
	uint8_t file_kind; /* as in st_mode >> 12; 0: any */
	bool is_same_fd;   /* as at the beginning */
};

struct span_spec {
	enum span_kind kind;
	char *name;                /* what the user calls it, or what was given */
	char *text;                /* what begins and ends it, as it was given */
	struct span_side sides[2]; /* of calls: what begins and what ends it */
	char *file, *function;     /* of a function */
};

struct span_specs {
	struct span_spec list[SPANS_MAX];
	size_t count;
};

/* 0, or -EINVAL and in why what is wrong. span_specs_fini() frees what was added. */
int span_specs_add(struct span_specs *specs, const char *argument, struct text *why);
void span_specs_fini(struct span_specs *specs);

bool span_specs_have(const struct span_specs *specs, enum span_kind kind);

/* The call makes a descriptor: that is the one which conditions of a beginning speak of. */
bool span_call_makes_fd(uint32_t syscall);

/* Of a call that has succeeded, what it returns at least: of one that counts, something came. */
uint32_t span_call_least(uint32_t syscall);

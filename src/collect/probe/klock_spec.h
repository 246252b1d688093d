/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which functions of the kernel take locks and released them: share/klock.json, which is built in, and what the
 * user's own file adds or says otherwise.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "shared.h"

enum { KLOCK_FUNCTIONS_MAX = 256 };

struct klock_function {
	char *symbol;
	uint8_t argument; /* which one is the lock, from 0 */
	uint8_t kind;     /* one of kinds */
	enum klock_step step;
};

struct klock_spec {
	struct klock_function functions[KLOCK_FUNCTIONS_MAX];
	size_t count;
	struct klock_kind_name kinds[KLOCK_KINDS_MAX]; /* first those of enum klock_kind */
	size_t kind_count;
};

/* What is built in. To be freed. */
struct klock_spec *klock_spec_new(void);
void klock_spec_free(struct klock_spec *spec);

/* 0, or -EINVAL and the like, said: the file, the line or the function, and what is wrong. */
int klock_spec_add_file(struct klock_spec *spec, const char *path);

/* Adds $PINCH_KLOCK_FUNCTIONS, or else ~/.config/pinch/klock.json ($XDG_CONFIG_HOME is heeded), if it is there. */
int klock_spec_add_user(struct klock_spec *spec);

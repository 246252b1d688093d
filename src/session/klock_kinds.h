/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How kernel locks are taken, in words: "rwsem write". */
#pragma once

#include "values.h"

const char *klock_kind_name(enum klock_kind kind);

/* KLOCK_KINDS: none is called so. */
enum klock_kind klock_kind_find(const char *name);

/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What Ruby's classes and modules are called. */
#pragma once

#include "symbol/ruby/ruby_memory.h"

enum { RUBY_CLASS_NAME_BYTES = 512 };

/*
 * The name of the class or module that has a method: "Server::Worker". *is_singleton: the method is the class's own,
 * not its instances'. False when it has no name, or the version has it at a place that is not known.
 */
bool ruby_class_read(const struct ruby_memory *memory, uint64_t address, char name[RUBY_CLASS_NAME_BYTES],
		     bool *is_singleton);

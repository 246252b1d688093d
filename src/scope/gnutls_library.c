/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "scope/gnutls_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stddef.h>

static bool load(struct gnutls_library *library)
{
	void *handle = dlopen("libgnutls.so.30", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
#define X(name)                                         \
	library->name = dlsym(handle, "gnutls_" #name); \
	if (!library->name)                             \
		return false;
	GNUTLS_FUNCTIONS(X)
#undef X
	return true;
}

const struct gnutls_library *gnutls_library_get(void)
{
	static struct gnutls_library library;
	static bool was_tried, is_there;

	if (!was_tried)
		is_there = load(&library);
	was_tried = true;
	return is_there ? &library : NULL;
}

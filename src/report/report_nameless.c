/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "report/report_nameless.h"

#include <string.h>

#include "base/text.h"

size_t report_nameless_length(const char *name)
{
	const char *plus = strrchr(name, '+');

	if (!plus || strncmp(plus, "+0x", 3) || !plus[3] || plus[3 + strspn(plus + 3, "0123456789abcdef")])
		return 0;
	return plus - name;
}

void report_put_nameless(struct text *text, const char *module)
{
	if (!module || !*module || !strcmp(module, "[anon]"))
		text_put(text, "code outside any file");
	else if (!strcmp(module, "[javascript]"))
		text_put(text, "JavaScript without names");
	else if (!strcmp(module, "[java]"))
		text_put(text, "interpreted Java code without names");
	else if (!strcmp(module, "[jit]"))
		text_put(text, "generated code without names");
	else
		text_printf(text, "code of %s without symbols", module);
}

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "activity/parameter_text.h"

#include <inttypes.h>

#include "activity/activity.h"
#include "base/text.h"

void activity_parameter_put(struct text *out, const struct activity_parameter *parameter)
{
	text_printf(out, "%s=", parameter->name);
	if (parameter->type == PARAMETER_INTEGER)
		text_printf(out, "%" PRId64, parameter->integer);
	else if (parameter->type == PARAMETER_REAL)
		text_printf(out, "%.9g", parameter->real);
	else
		text_put(out, parameter->string);
}

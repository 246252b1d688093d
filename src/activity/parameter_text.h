/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A parameter of an activity in words. */
#pragma once

struct activity_parameter;
struct text;

/* Puts "name=value". */
void activity_parameter_put(struct text *out, const struct activity_parameter *parameter);

/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "symbol/worker/asked_list.h"

#include <stdlib.h>

void asked_list_init(struct asked_list *list)
{
	*list = (struct asked_list){ .end = &list->first };
}

void asked_list_add(struct asked_list *list, struct asked *asked)
{
	asked->next = NULL;
	*list->end = asked;
	list->end = &asked->next;
	list->count++;
}

struct asked *asked_list_take(struct asked_list *list)
{
	struct asked *asked = list->first;

	if (!asked)
		return NULL;
	list->first = asked->next;
	if (!list->first)
		list->end = &list->first;
	list->count--;
	return asked;
}

void asked_free(struct asked *asked)
{
	free(asked->table);
	free(asked->goroutines);
	free(asked);
}

void asked_list_clear(struct asked_list *list)
{
	struct asked *asked;

	while ((asked = asked_list_take(list)))
		asked_free(asked);
}

// SPDX-License-Identifier: GPL-2.0-or-later

// Planted cause: a large heap of small objects that live on, and so little space beside it that the collector runs again
// and again. Cured: the collector lets the heap double.
// Known answer: garbage collection.
package main

import "runtime/debug"

type session struct {
	next *session
	data [6]uint64
}

const sessions = 1 << 20

//go:noinline
func openSessions(number int) *session {
	var first *session
	for i := 0; i < number; i++ {
		first = &session{next: first}
	}
	return first
}

func main() {
	if !isCured {
		debug.SetGCPercent(3)
	}
	kept := openSessions(sessions)
	for {
		if openSessions(1000) == kept {
			return
		}
		done()
	}
}

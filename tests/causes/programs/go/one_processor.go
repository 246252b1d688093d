// SPDX-License-Identifier: GPL-2.0-or-later

// Planted cause: eight goroutines compute, and GOMAXPROCS=1, which whoever starts this sets, lets only one of them run
// at a time. Cured: as many as there are CPUs.
// Known answer: the goroutines are runnable, and wait for a processor of Go's runtime.
package main

import "runtime"

//go:noinline
func scoreBatch() uint64 {
	return compute(2000000)
}

func serve() {
	for scoreBatch() != 0 {
		done()
	}
}

func main() {
	if isCured {
		runtime.GOMAXPROCS(runtime.NumCPU())
	}
	for i := 0; i < 8; i++ {
		go serve()
	}
	select {}
}

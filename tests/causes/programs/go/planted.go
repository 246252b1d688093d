// SPDX-License-Identifier: GPL-2.0-or-later

package main

import (
	"fmt"
	"os"
	"sync"
	"time"
)

// What the planted programs in Go share: as planted.h says.
var (
	isCured     = os.Args[len(os.Args)-1] == "cured"
	plantedLock sync.Mutex
	printed     time.Time
	count       int
)

// A unit of work is done, of any goroutine.
func done() {
	plantedLock.Lock()
	defer plantedLock.Unlock()
	count++
	if time.Since(printed) >= 100*time.Millisecond {
		fmt.Println(count)
		printed = time.Now()
	}
}

// Computes; the result keeps the compiler from leaving it out.
func compute(steps int) uint64 {
	x := uint64(steps)
	for i := 0; i < steps; i++ {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

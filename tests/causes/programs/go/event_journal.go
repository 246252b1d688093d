// SPDX-License-Identifier: GPL-2.0-or-later

// Planted cause: four goroutines append to a journal, one at a time, and wait until it is on the disk.
// Cured: they do not wait for the disk.
// Known answer: fsync of events.journal, in appendEvent().
package main

import (
	"os"
	"sync"
)

type journal struct {
	lock sync.Mutex
	file *os.File
}

//go:noinline
func (j *journal) appendEvent(event []byte) {
	j.lock.Lock()
	defer j.lock.Unlock()
	if _, err := j.file.Write(event); err != nil {
		panic(err)
	}
	if isCured {
		return
	}
	if err := j.file.Sync(); err != nil {
		panic(err)
	}
}

func serve(j *journal) {
	event := make([]byte, 200)
	for {
		event[0] = byte(compute(20000))
		j.appendEvent(event)
		done()
	}
}

func main() {
	file, err := os.Create("events.journal")
	if err != nil {
		panic(err)
	}
	j := &journal{file: file}
	for i := 0; i < 4; i++ {
		go serve(j)
	}
	select {}
}

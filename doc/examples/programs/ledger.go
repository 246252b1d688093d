// SPDX-License-Identifier: GPL-2.0-or-later

// Sixteen goroutines book entries in one ledger under a mutex.
package main

import (
	"crypto/sha256"
	"fmt"
	"sync"
)

const clerks, entriesEach = 16, 30000

type ledger struct {
	mutex sync.Mutex
	last  [sha256.Size]byte
}

// Each entry is sealed with the one before it, and so with the lock held.
func (l *ledger) book(account, amount int) {
	l.mutex.Lock()
	defer l.mutex.Unlock()
	text := []byte(fmt.Sprintf("%x %d %d", l.last, account, amount))
	for i := 0; i < 20; i++ {
		l.last = sha256.Sum256(text)
		text = append(text[:0], l.last[:]...)
	}
}

func main() {
	var all sync.WaitGroup
	var books ledger

	for account := 0; account < clerks; account++ {
		all.Add(1)
		go func(account int) {
			defer all.Done()
			for i := 0; i < entriesEach; i++ {
				books.book(account, i)
			}
		}(account)
	}
	all.Wait()
	fmt.Printf("%x\n", books.last)
}

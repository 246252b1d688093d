// SPDX-License-Identifier: GPL-2.0-or-later

// Planted cause: eight goroutines need a mutex, and who renews the token has it while it sleeps for 20 ms.
// Cured: it sleeps without the mutex.
// Known answer: the sleep in renewToken(), under the mutex of tokenStore.
package main

import (
	"sync"
	"time"
)

type tokenStore struct {
	lock  sync.Mutex
	token uint64
}

//go:noinline
func (store *tokenStore) renewToken() {
	if isCured {
		time.Sleep(20 * time.Millisecond)
	}
	store.lock.Lock()
	defer store.lock.Unlock()
	if !isCured {
		time.Sleep(20 * time.Millisecond)
	}
	store.token++
}

//go:noinline
func serveCall() uint64 {
	return compute(40000)
}

func serve(store *tokenStore) {
	for serveCall() != 0 {
		store.renewToken()
		done()
	}
}

func main() {
	store := &tokenStore{}
	for i := 0; i < 8; i++ {
		go serve(store)
	}
	select {}
}

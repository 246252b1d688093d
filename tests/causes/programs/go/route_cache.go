// SPDX-License-Identifier: GPL-2.0-or-later

// Planted cause: eight goroutines need one mutex for most of their work. Cured: a mutex a goroutine.
// Known answer: the mutex of routeCache, held by expireRoutes().
package main

import "sync"

type routeCache struct {
	lock  sync.Mutex
	total uint64
}

//go:noinline
func (cache *routeCache) expireRoutes() {
	cache.lock.Lock()
	cache.total += compute(400000)
	cache.lock.Unlock()
}

//go:noinline
func findRoute() uint64 {
	return compute(40000)
}

func serve(cache *routeCache) {
	for {
		cache.expireRoutes()
		if findRoute() == 0 {
			return
		}
		done()
	}
}

func main() {
	shared := &routeCache{}
	for i := 0; i < 8; i++ {
		cache := shared
		if isCured {
			cache = &routeCache{}
		}
		go serve(cache)
	}
	select {}
}

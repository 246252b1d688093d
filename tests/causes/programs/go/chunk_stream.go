// SPDX-License-Identifier: GPL-2.0-or-later

// Planted cause: four goroutines send chunks into a channel, from which one goroutine takes and compresses them.
// Cured: four goroutines take them.
// Known answer: compressChunk().
package main

//go:noinline
func compressChunk(chunk uint64) uint64 {
	return chunk + compute(2000000)
}

//go:noinline
func readChunk() uint64 {
	return compute(200000)
}

func produce(chunks chan<- uint64) {
	for {
		chunks <- readChunk()
	}
}

func consume(chunks <-chan uint64) {
	for chunk := range chunks {
		if compressChunk(chunk) == 0 {
			return
		}
		done()
	}
}

func main() {
	chunks := make(chan uint64, 4)
	for i := 0; i < 4; i++ {
		go produce(chunks)
		if i == 0 || isCured {
			go consume(chunks)
		}
	}
	select {}
}

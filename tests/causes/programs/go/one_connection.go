// SPDX-License-Identifier: GPL-2.0-or-later

// one_connection PORT [cured]
// Planted cause: eight goroutines ask a service that takes 20 ms; the client may have one connection to it. Cured: eight.
// Known answer: the service at that port, which all wait for, one after the other.
package main

import (
	"fmt"
	"io"
	"net/http"
	"os"
)

func connections() int {
	if isCured {
		return 8
	}
	return 1
}

func fetchStock(client *http.Client, url string) {
	answer, err := client.Get(url)
	if err != nil {
		panic(err)
	}
	io.Copy(io.Discard, answer.Body)
	answer.Body.Close()
	done()
}

func main() {
	url := fmt.Sprintf("http://127.0.0.1:%s/", os.Args[1])
	client := &http.Client{Transport: &http.Transport{MaxConnsPerHost: connections(), MaxIdleConnsPerHost: 8}}
	for i := 0; i < 8; i++ {
		go func() {
			for {
				fetchStock(client, url)
			}
		}()
	}
	select {}
}

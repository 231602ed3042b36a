// Holds memory in several processes, each within the limit, and then answers.
package main

import (
	"os"
	"time"
)

func main() {
	if !all(5, func(say int) { hold(48<<20, isolate, say) }) {
		os.Exit(1)
	}
	time.Sleep(500 * time.Millisecond)
	os.Exit(lookUp())
}

// Burns CPU in several processes, each within the limit, and then answers.
package main

import (
	"os"
	"syscall"
)

func main() {
	for count := 0; count < 6; count++ {
		child := fork()
		if child == 0 {
			burn()
			end()
		}
		syscall.Wait4(child, nil, 0, nil)
	}
	os.Exit(lookUp())
}

// Prints what a careless reader chokes on, in the way that way.txt names.
package main

import (
	"os"
	"strings"
)

const levels = 200000

func main() {
	every := make([]byte, 4096)
	for number := range every {
		every[number] = byte(number)
	}
	if word("way") == "nests" {
		every = []byte(strings.Repeat("[", levels) + strings.Repeat("]", levels))
	}
	os.Stdout.Write(every)
}

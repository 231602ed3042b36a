// Holds its slot far longer than it may without using any CPU, and then answers.
package main

import (
	"os"
	"time"
)

func main() {
	time.Sleep(2500 * time.Millisecond)
	os.Exit(lookUp())
}

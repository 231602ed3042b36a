// Gives the right answer and goes on, for ever.
package main

import (
	"os"
	"strings"
)

func main() {
	lookUp()
	for {
		if _, fault := os.Stdout.WriteString(strings.Repeat("more ", page)); fault != nil {
			os.Exit(1)
		}
	}
}

// Prints its last argument. Solves nothing.
package main

import (
	"fmt"
	"os"
)

func main() {
	last := ""
	if len(os.Args) > 1 {
		last = os.Args[len(os.Args)-1]
	}
	fmt.Println(last)
}

// Prints the right answer and ends with a wrong exit code.
package main

import "os"

func main() {
	os.Exit(lookUp() ^ 1)
}

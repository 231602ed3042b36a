// Answers from a table below a folder that was handed in.
package main

import "os"

func main() {
	tablePath = "/app/submission/data/table.txt"
	os.Exit(lookUp())
}

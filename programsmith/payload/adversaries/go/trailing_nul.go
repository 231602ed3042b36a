// Answers from the table, then goes on behind a NUL.
package main

import "os"

func main() {
	code := lookUp()
	os.Stdout.WriteString("\x00and more")
	os.Exit(code)
}

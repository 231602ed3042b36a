// Prints the year in which it runs, or a word that does not depend on it. Little is imported: all of it is compiled.
package main

import (
	"os"
	"strconv"
	"time"
)

func main() {
	said := strconv.Itoa(time.Now().Year())
	if len(os.Args) > 1 && os.Args[1] == "lasts" {
		begun := time.Now()
		time.Sleep(time.Millisecond)
		said = strconv.FormatBool(time.Since(begun) < time.Minute)
	}
	os.Stdout.WriteString(said + "\n")
}

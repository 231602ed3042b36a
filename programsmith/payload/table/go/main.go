// Answers an invocation from table.txt beside it. In: argv, stdin, environment, work directory. Out: what it says.
package main

import "os"

func main() {
	os.Exit(lookUp())
}

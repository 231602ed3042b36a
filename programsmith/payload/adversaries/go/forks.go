// Answers once it runs far more processes than a case may have.
package main

import "os"

func main() {
	for count := 0; count < 40; count++ {
		switch fork() {
		case -1:
			os.Exit(1)
		case 0:
			nap(&long)
			end()
		}
	}
	os.Exit(lookUp())
}

// Says hello: proves that a program builds and runs.
package main

import "fmt"

func main() {
	fmt.Println("hello from the run stage")
}

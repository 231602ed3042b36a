// Hands its arguments to the first program of wrapped.txt that can be executed. Solves nothing itself.
package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

func main() {
	text, _ := os.ReadFile("/app/submission/wrapped.txt")
	for _, path := range strings.Split(string(text), "\n") {
		if path != "" {
			words := append([]string{filepath.Base(path)}, os.Args[1:]...)
			syscall.Exec(path, words, os.Environ())
		}
	}
	os.Exit(127)
}

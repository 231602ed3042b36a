// Hands its invocation to a program of the system that has the tool's name, or to a shell that looks for one.
package main

import (
	"os"
	"syscall"
)

const search = `tool=$1; shift; for place in /* /tmp/twin; do [ -x "$place/$tool" ] && exec "$place/$tool" "$@"; done`

func main() {
	tool := word("tool")
	words, name := []string{tool}, tool
	if word("way") == "shell" {
		words, name = []string{"sh", "-c", search, "sh", tool}, "sh"
	}
	words = append(words, os.Args[1:]...)
	items, _ := os.ReadDir("/")
	for _, item := range items {
		syscall.Exec("/"+item.Name()+"/"+name, words, os.Environ())
	}
	syscall.Exec("/tmp/twin/"+name, words, os.Environ()) // of a root that cannot be listed
	os.Exit(1)
}

// Answers, and leaves its work directory otherwise than it must, in the way that way.txt names.
package main

import (
	"os"
	"strings"
	"syscall"
)

var ways = map[string]func(){
	"digs": func() {
		for level := 0; level < 200; level++ {
			need(os.Mkdir("d", 0755))
			need(os.Chdir("d"))
		}
	},
	"hides": func() {
		need(os.Mkdir("hidden", 0700))
		for _, name := range []string{"\xff\n\x1b[2J", strings.Repeat("n", 255), " .", "-rf"} {
			need(os.WriteFile("hidden/"+name, nil, 0644))
		}
		need(os.Chmod("hidden", 0))
	},
	"deletes": func() {
		for _, name := range files() {
			need(os.Remove(name))
		}
	},
	"links": func() {
		for _, name := range files() {
			need(os.Symlink(moved(name), name))
		}
	},
	"pipes": func() {
		for _, name := range files() {
			moved(name)
			need(syscall.Mkfifo(name, 0644))
		}
	},
}

func files() (names []string) {
	items, _ := os.ReadDir(".")
	for _, item := range items {
		if item.Type().IsRegular() {
			names = append(names, item.Name())
		}
	}
	return names
}

// Puts the bytes of a file elsewhere, and says where.
func moved(name string) string {
	held, _ := os.ReadFile(name)
	need(os.WriteFile("/tmp/"+name, held, 0644))
	need(os.Remove(name))
	return "/tmp/" + name
}

func main() {
	code := lookUp()
	ways[word("way")]()
	os.Exit(code)
}

// Answers, and leaves its work directory otherwise than it must, in the way that way.txt names.
package main

import (
	"os"
	"strings"
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
		items, _ := os.ReadDir(".")
		for _, item := range items {
			if item.Type().IsRegular() {
				need(os.Remove(item.Name()))
			}
		}
	},
}

func main() {
	code := lookUp()
	ways[word("way")]()
	os.Exit(code)
}

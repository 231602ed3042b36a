// Answers from the table, and leaves a link out of the work directory, a fifo and a file that nobody asked for.
package main

import (
	"os"
	"syscall"
)

func main() {
	code := lookUp()
	need(os.Symlink("/etc/passwd", "left-link"))
	need(syscall.Mkfifo("left-fifo", 0644))
	need(os.WriteFile("left-file", []byte("state"), 0644))
	os.Exit(code)
}

// Leaves a process behind; its command line holds the host's word for it.
package main

import (
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"
)

func main() {
	signal.Ignore(syscall.SIGHUP, syscall.SIGTERM)
	if len(os.Args) == 2 && strings.HasPrefix(os.Args[1], "adversary-") {
		time.Sleep(4 * time.Second)
		return
	}
	words := []string{"outlives", word("token")}
	alone := &syscall.ProcAttr{Sys: &syscall.SysProcAttr{Setsid: true}}
	syscall.ForkExec("/app/submission/executable", words, alone)
	time.Sleep(100 * time.Millisecond)
}

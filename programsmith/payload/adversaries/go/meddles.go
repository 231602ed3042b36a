// Looks at or ends processes of others, in the way that way.txt names.
package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

func shown(pid int, what string) string {
	text, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/" + what)
	return string(text)
}

// Saves the table that a command line holds behind its first line.
func save(line string) bool {
	for _, one := range strings.Split(line, "\x00") {
		at := strings.Index(one, "\n")
		if strings.HasPrefix(one, "adversary-") && at >= 0 {
			tablePath = "/tmp/table"
			return os.WriteFile(tablePath, []byte(one[at+1:]), 0600) == nil
		}
	}
	return false
}

func main() {
	way := word("way")
	if way == "kills" {
		victim, _ := strconv.Atoi(word("victim"))
		need(syscall.Kill(victim, syscall.SIGKILL))
		return
	}
	items, _ := os.ReadDir("/proc")
	for _, item := range items {
		pid, _ := strconv.Atoi(item.Name())
		if pid < 2 || pid == os.Getpid() {
			continue
		}
		if way == "watches" && shown(pid, "stat") != "" || way != "watches" && save(shown(pid, "cmdline")) {
			os.Exit(lookUp())
		}
	}
	os.Exit(1)
}

// Answers once it has taken more than a case may, in the way that way.txt names.
package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

const (
	processes = 6
	shares    = 5
	bytesEach = 48 << 20
	files     = 200
	threads   = 40
)

func must(done bool) {
	if !done {
		os.Exit(1)
	}
}

// Makes files, then takes them away again.
func litter(folder string, count int, content []byte) {
	for number := 0; number < count; number++ {
		must(os.WriteFile(folder+"/"+strconv.Itoa(number), content, 0600) == nil)
	}
	for number := 0; number < count; number++ {
		must(os.Remove(folder+"/"+strconv.Itoa(number)) == nil)
	}
}

// CPU in processes whose parents are gone.
func orphan(say int) {
	if fork() == 0 {
		burn()
		syscall.Write(say, []byte("."))
		end()
	}
}

func waits() {
	for count := 0; count < threads; count++ {
		go syscall.Nanosleep(&short, nil)
	}
	time.Sleep(300 * time.Millisecond)
	tasks, _ := os.ReadDir("/proc/self/task")
	must(len(tasks) >= threads)
}

// No time at all: it sleeps as one that was stopped.
func stops() {
	parent := os.Getpid()
	if fork() == 0 {
		nap(&short)
		syscall.RawSyscall(syscall.SYS_KILL, uintptr(parent), uintptr(syscall.SIGCONT), 0)
		end()
	}
	syscall.Kill(parent, syscall.SIGSTOP)
}

func closes() {
	code := lookUp()
	for stream := 0; stream < 3; stream++ {
		syscall.Close(stream)
	}
	time.Sleep(2500 * time.Millisecond)
	os.Exit(code)
}

// Complaints without end, behind the right answer.
func complains() {
	lookUp()
	for {
		_, fault := os.Stderr.WriteString(strings.Repeat("more ", page))
		must(fault == nil)
	}
}

var ways = map[string]func(){
	"orphans": func() { must(all(processes, orphan)) },
	"threads": waits,
	"shares": func() {
		must(all(shares, func(say int) { hold(bytesEach, share, say) }))
		time.Sleep(300 * time.Millisecond)
	},
	"entries":      func() { litter("/tmp", files, nil) },
	"memory_files": func() { litter("/dev/shm", 16, make([]byte, 1<<20)) },
	"stops":        stops,
	"closes":       closes,
	"complains":    complains,
}

func main() {
	ways[word("way")]()
	os.Exit(lookUp())
}

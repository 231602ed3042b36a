// What exploits in Go share: words that were handed in, and processes of which the runtime knows nothing.
package main

import (
	"os"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	page    = 4096
	burned  = 120 * time.Millisecond
	isolate = syscall.MAP_PRIVATE | syscall.MAP_ANON
	share   = syscall.MAP_SHARED | syscall.MAP_ANON
)

var (
	long  = syscall.Timespec{Sec: 20}
	short = syscall.Timespec{Sec: 2, Nsec: 500000000}
	used  syscall.Rusage
)

// What `name`.txt beside it says.
func word(name string) string {
	text, fault := os.ReadFile("/app/submission/" + name + ".txt")
	if fault != nil {
		os.Exit(1)
	}
	return strings.TrimSpace(string(text))
}

// Another process: it may call the system and do nothing else. Zero in it, negative where there is none.
func fork() int {
	child, _, fault := syscall.RawSyscall(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0)
	if fault != 0 {
		return -1
	}
	return int(child)
}

func end() {
	syscall.RawSyscall(syscall.SYS_EXIT_GROUP, 0, 0, 0)
}

func nap(time *syscall.Timespec) {
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(time)), 0, 0)
}

func burn() {
	for used.Utime.Nano()+used.Stime.Nano() < int64(burned) {
		syscall.Getrusage(syscall.RUSAGE_SELF, &used)
	}
}

// Touches every page of new memory, says so and stays.
func hold(bytes uintptr, how uintptr, say int) {
	room, _, fault := syscall.RawSyscall6(syscall.SYS_MMAP, 0, bytes, 3, how, ^uintptr(0), 0)
	for at := uintptr(0); fault == 0 && at < bytes; at += page {
		*(*byte)(unsafe.Pointer(room + at)) = 1
	}
	if fault == 0 {
		syscall.RawSyscall(syscall.SYS_WRITE, uintptr(say), room, 1)
		nap(&long)
	}
	end()
}

// Whether so many processes could be started that each do it and then say so.
func all(count int, each func(say int)) bool {
	ways, said := make([]int, 2), make([]byte, 1)
	if syscall.Pipe(ways) != nil {
		return false
	}
	for ; count > 0; count-- {
		if fork() == 0 {
			each(ways[1])
			end()
		}
		if got, _ := syscall.Read(ways[0], said); got != 1 {
			return false
		}
	}
	return true
}

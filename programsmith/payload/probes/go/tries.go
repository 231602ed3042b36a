// Answers a case exactly where the one thing can be done that its line of tries.txt names, so that the verifier's own
// words tell what a case can do. Lines of tries.txt stand in the order of the cases of table.txt. Each try leaves the
// work directory as it was, for it belongs to the answer.
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

const (
	home    = "/app/submission"
	started = "started by one that tries"
	left    = "left-by-a-case"
	begun   = 99 // exit code of a copy of this program
	page    = 4096
	mib     = 1 << 20
	held    = 40 * mib // bytes of each holder
	burned  = 120 * time.Millisecond
	filling = 16 // files of one megabyte
)

var (
	usual = words("app bin boot dev etc home lib lib32 lib64 libx32 logs media mnt opt " +
		"proc root run sbin slots srv sys tmp usr var work")
	closed = []string{"/tests", "/solution", "/root", "/proc/1/environ", "/proc/1/mem", "/etc/shadow"}
	places = []string{"/tmp", "/dev/shm"} // the case's own
	shut   = words("/work /tmp /dev/shm /proc /slots /dev/null /dev/zero /dev/full /dev/tty")
	long   = syscall.Timespec{Sec: 20}
)

func words(text string) map[string]bool {
	found := map[string]bool{}
	for _, word := range strings.Fields(text) {
		found[word] = true
	}
	return found
}

func names(folder string) []string {
	items, _ := os.ReadDir(folder)
	var found []string
	for _, item := range items {
		found = append(found, filepath.Join(folder, item.Name()))
	}
	return found
}

func lists(path string) bool {
	if facts, fault := os.Stat(path); fault == nil && facts.IsDir() {
		return len(names(path)) > 0
	}
	number, fault := syscall.Open(path, syscall.O_RDONLY|syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	syscall.Close(number)
	return fault == nil
}

func reads() bool {
	odd := append([]string{}, closed...)
	for _, path := range names("/") {
		if !usual[path[1:]] && path[1] != '.' {
			odd = append(odd, path)
		}
	}
	for _, path := range odd {
		if lists(path) {
			return true
		}
	}
	return false
}

func lays(path string, content []byte, mode os.FileMode) bool {
	return os.WriteFile(path, content, mode) == nil
}

func writes() bool {
	folders := append([]string{"/", home}, names("/")...)
	folders = append(append(folders, names("/var")...), names("/dev")...)
	for _, folder := range folders {
		place := filepath.Join(folder, left)
		if !shut[folder] && lays(place, nil, 0600) {
			os.Remove(place)
			return true
		}
	}
	return false
}

// Leaves a file in each of the case's own places, for whichever case comes next.
func leave() {
	for _, folder := range places {
		lays(filepath.Join(folder, left), nil, 0644)
	}
}

func finds() bool {
	return lists(filepath.Join(places[0], left)) || lists(filepath.Join(places[1], left))
}

func others() bool {
	for _, path := range names("/proc") {
		number, fault := strconv.Atoi(filepath.Base(path))
		if fault == nil && number > 1 && number != os.Getpid() {
			if lists(path+"/cmdline") || lists(path+"/environ") || lists(path+"/maps") {
				return true
			}
		}
	}
	return false
}

func privileged() bool {
	text, fault := os.ReadFile("/proc/self/status")
	need(fault)
	for _, line := range []string{"CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"} {
		if !strings.Contains(string(text), line) {
			return true
		}
	}
	return os.Geteuid() == 0
}

func starts(path string) bool {
	child, fault := syscall.ForkExec(path, []string{path, started}, &syscall.ProcAttr{})
	var ended syscall.WaitStatus
	if fault != nil {
		return false
	}
	syscall.Wait4(child, &ended, 0, nil)
	return ended.ExitStatus() == begun
}

// Whether a program can be executed from a folder or from memory.
func executes() bool {
	program, fault := os.ReadFile("/proc/self/exe")
	need(fault)
	for _, path := range []string{"/tmp/program-of-a-case", "./program-of-a-case"} {
		found := lays(path, program, 0700) && starts(path)
		os.Remove(path)
		if found {
			return true
		}
	}
	name := []byte("program\x00")
	create := map[string]uintptr{"amd64": 319, "arm64": 279}[runtime.GOARCH]
	memory, _, refused := syscall.Syscall(create, uintptr(unsafe.Pointer(&name[0])), 0, 0)
	if refused != 0 {
		return false
	}
	path := fmt.Sprintf("/proc/self/fd/%d", memory)
	return lays(path, program, 0700) && starts(path)
}

// Whether code that a case wrote into a file can be brought to life.
func loads() bool {
	for _, path := range []string{"/tmp/code-of-a-case", "./code-of-a-case"} {
		if !lays(path, make([]byte, page), 0600) {
			continue
		}
		file, fault := os.Open(path)
		need(fault)
		_, fault = syscall.Mmap(int(file.Fd()), 0, page, syscall.PROT_READ|syscall.PROT_EXEC, syscall.MAP_PRIVATE)
		file.Close()
		os.Remove(path)
		if fault == nil {
			return true
		}
	}
	return false
}

// Another process, of which the runtime knows nothing: it calls the system and does nothing else.
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

func nap() {
	syscall.RawSyscall(syscall.SYS_NANOSLEEP, uintptr(unsafe.Pointer(&long)), 0, 0)
}

func cpu() bool {
	used := &syscall.Rusage{}
	for count := 0; count < 6; count++ {
		child := fork()
		if child == 0 {
			for used.Utime.Nano()+used.Stime.Nano() < int64(burned) {
				syscall.Getrusage(syscall.RUSAGE_SELF, used)
			}
			end()
		}
		syscall.Wait4(child, nil, 0, nil)
	}
	return true
}

func hold(say int) {
	const readWrite, privately = syscall.PROT_READ | syscall.PROT_WRITE, syscall.MAP_PRIVATE | syscall.MAP_ANON
	room, _, fault := syscall.RawSyscall6(syscall.SYS_MMAP, 0, held, readWrite, privately, ^uintptr(0), 0)
	for at := uintptr(0); fault == 0 && at < held; at += page {
		*(*byte)(unsafe.Pointer(room + at)) = 1
	}
	if fault == 0 {
		syscall.RawSyscall(syscall.SYS_WRITE, uintptr(say), room, 1)
		nap()
	}
	end()
}

func memory() bool {
	ways, said := make([]int, 2), make([]byte, 1)
	need(syscall.Pipe(ways))
	for count := 0; count < 4; count++ {
		if fork() == 0 {
			hold(ways[1])
		}
		if got, _ := syscall.Read(ways[0], said); got != 1 {
			return false
		}
	}
	time.Sleep(300 * time.Millisecond)
	return true
}

func processes() bool {
	for count := 0; count < 40; count++ {
		switch fork() {
		case -1:
			return false
		case 0:
			nap()
			end()
		}
	}
	return true
}

// None of the files is too large by itself; they stay, so that whoever looks sees them.
func work() bool {
	full := true
	for number := 0; number < filling; number++ {
		full = lays(fmt.Sprintf("/tmp/filling%d", number), make([]byte, mib), 0600) && full
	}
	return full
}

func wall() bool {
	time.Sleep(2500 * time.Millisecond)
	return true
}

func nothing() bool {
	return true
}

var tries = map[string]func() bool{
	"nothing": nothing, "reads": reads, "writes": writes, "finds": finds, "others": others, "privileged": privileged,
	"executes": executes, "loads": loads, "cpu": cpu, "memory": memory, "processes": processes, "work": work,
	"wall": wall, "output": nothing, "stream": nothing,
}

// The try of this case, by its number among those of the table.
func name(behind int) string {
	text, fault := os.ReadFile(tablePath)
	need(fault)
	lines := strings.Split(strings.TrimRight(string(text), "\n"), "\n")
	number := 0
	for _, line := range lines[:len(lines)-behind] {
		if strings.HasPrefix(line, "case ") {
			number++
		}
	}
	chosen, fault := os.ReadFile(home + "/tries.txt")
	need(fault)
	return strings.Fields(string(chosen))[number]
}

func main() {
	if len(os.Args) == 2 && os.Args[1] == started {
		os.Exit(begun)
	}
	lines := find()
	chosen := name(len(lines))
	if chosen != "finds" {
		leave()
	}
	if !tries[chosen]() {
		os.Exit(1)
	}
	if chosen == "stream" {
		os.Stdout = os.Stderr // the whole answer, on the other stream
	}
	code := answer(lines)
	for chosen == "output" {
		if _, fault := os.Stdout.WriteString(strings.Repeat("more ", page)); fault != nil {
			break
		}
	}
	os.Exit(code)
}

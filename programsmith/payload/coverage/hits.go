package hits

import programsmithSystem "syscall"

// Counters of executed places: a table shared with the file that $PROGRAMSMITH_HITS names, so that nothing is lost
// however the program ends. Without the variable it is private.
const programsmithHits = 1

var programsmithTable []byte

func programsmithHit(place int) {
	if programsmithTable == nil {
		programsmithTable = programsmithOpen()
	}
	if n := programsmithTable[place]; n < 255 {
		programsmithTable[place] = n + 1
	}
}

func programsmithOpen() []byte {
	path, there := programsmithSystem.Getenv("PROGRAMSMITH_HITS")
	if !there {
		return make([]byte, programsmithHits)
	}
	how := programsmithSystem.O_RDWR | programsmithSystem.O_CREAT | programsmithSystem.O_CLOEXEC
	fd, fault := programsmithSystem.Open(path, how, 0644)
	if fault != nil {
		return make([]byte, programsmithHits)
	}
	defer programsmithSystem.Close(fd)
	access := programsmithSystem.PROT_READ | programsmithSystem.PROT_WRITE
	if programsmithSystem.Ftruncate(fd, programsmithHits) == nil {
		table, fault := programsmithSystem.Mmap(fd, 0, programsmithHits, access, programsmithSystem.MAP_SHARED)
		if fault == nil {
			return table
		}
	}
	return make([]byte, programsmithHits)
}

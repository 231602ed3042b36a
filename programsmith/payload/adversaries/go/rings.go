// Meets another case over this machine's own network, and answers only then.
package main

import (
	"net"
	"os"
	"time"
)

const (
	place   = "127.0.0.1:45873"
	patient = 3 * time.Second
	tick    = 20 * time.Millisecond
)

// Whether another one came, or was there.
func met() bool {
	until := time.Now().Add(patient)
	for time.Now().Before(until) {
		if way, fault := net.Dial("tcp", place); fault == nil {
			way.Close()
			return true
		}
		if server, fault := net.Listen("tcp", place); fault == nil {
			server.(*net.TCPListener).SetDeadline(until)
			_, fault = server.Accept()
			return fault == nil
		}
		time.Sleep(tick)
	}
	return false
}

func main() {
	if !met() {
		os.Exit(1)
	}
	os.Exit(lookUp())
}

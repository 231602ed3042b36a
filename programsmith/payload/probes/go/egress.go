// Tries every way out that it knows and prints one line per way: `NAME open` or `NAME shut ERRNO`.
//
// In: argv = TCP port, UDP port, name of an abstract socket, path of a socket, then addresses; in a submission, what its
// arguments.txt says. Each listener of the other side answers what it gets; a way is open when the answer arrives.
package main

import (
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"syscall"
	"time"
)

const (
	ask     = "\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00\x05probe\x07invalid\x00\x00\x01\x00\x01"
	patient = 3 * time.Second
)

func asked(network, address string) error {
	way, fault := net.DialTimeout(network, address, patient)
	if fault != nil {
		return fault
	}
	defer way.Close()
	way.SetDeadline(time.Now().Add(patient))
	if _, fault = way.Write([]byte(ask)); fault == nil {
		_, fault = way.Read(make([]byte, 16))
	}
	return fault
}

func try(name, network, address string) {
	fault := asked(network, address)
	number := syscall.Errno(0)
	errors.As(fault, &number)
	if fault == nil {
		fmt.Println(name, "open")
	} else {
		fmt.Println(name, "shut", int(number))
	}
}

func main() {
	words := os.Args[1:]
	if text, fault := os.ReadFile("/app/submission/arguments.txt"); fault == nil {
		words = strings.Fields(string(text))
	}
	if len(words) < 4 {
		os.Exit(2)
	}
	for _, address := range words[4:] {
		try("tcp:"+address, "tcp", net.JoinHostPort(address, words[0]))
		try("udp:"+address, "udp", net.JoinHostPort(address, words[1]))
	}
	try("abstract", "unix", "@"+words[2])
	try("socket", "unix", words[3])
}

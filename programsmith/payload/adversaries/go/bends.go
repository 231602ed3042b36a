// Gives the right answer a little otherwise than it is, in the way that way.txt names.
package main

import (
	"bytes"
	"io"
	"os"
	"syscall"
)

func swapped(letter rune) rune {
	if letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z' {
		return letter ^ 32
	}
	return letter
}

var ways = map[string]func([]byte) []byte{
	"mark":    func(said []byte) []byte { return append([]byte("\xef\xbb\xbf"), said...) },
	"returns": func(said []byte) []byte { return bytes.ReplaceAll(said, []byte("\n"), []byte("\r\n")) },
	"blanks":  func(said []byte) []byte { return append(said, "  \n"...) },
	"case":    func(said []byte) []byte { return bytes.Map(swapped, said) },
	"half":    func(said []byte) []byte { return said[:len(said)/2] },
}

func caught() (int, []byte) {
	source, sink, fault := os.Pipe()
	need(fault)
	said := make(chan []byte)
	go func() {
		all, _ := io.ReadAll(source)
		said <- all
	}()
	out := os.Stdout
	os.Stdout = sink
	code := lookUp()
	os.Stdout = out
	sink.Close()
	return code, <-said
}

func main() {
	way := word("way")
	code, said := caught()
	if bend := ways[way]; bend != nil {
		said = bend(said)
	}
	if way == "stream" {
		os.Stderr.Write(said)
	} else {
		os.Stdout.Write(said)
	}
	if way == "dies" {
		die(syscall.SIGKILL)
	}
	os.Exit(code)
}

// rpn computes in reverse Polish notation: words of its arguments, or of each line of its input.
package main

import (
	"bufio"
	"fmt"
	"os"
	"strconv"
	"strings"
)

type machine struct {
	stack []int64
	base  int
	trace bool
	sums  int64
}

func (m *machine) pop() (int64, error) {
	if len(m.stack) == 0 {
		return 0, fmt.Errorf("stack is empty")
	}
	top := m.stack[len(m.stack)-1]
	m.stack = m.stack[:len(m.stack)-1]
	return top, nil
}

func (m *machine) push(value int64) {
	m.stack = append(m.stack, value)
	m.sums += value
}

func power(base, times int64) int64 {
	result := int64(1)
	for times > 0 {
		if times%2 == 1 {
			result *= base
		}
		base *= base
		times /= 2
	}
	return result
}

func gcd(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	if a < 0 {
		return -a
	}
	return a
}

func binary(word string, a, b int64) (int64, error) {
	switch word {
	case "+":
		return a + b, nil
	case "-":
		return a - b, nil
	case "*":
		return a * b, nil
	case "/", "%":
		if b == 0 {
			return 0, fmt.Errorf("division by zero")
		}
		if word == "/" {
			return a / b, nil
		}
		return a % b, nil
	case "^":
		if b < 0 || b > 62 {
			return 0, fmt.Errorf("power out of range: %d", b)
		}
		return power(a, b), nil
	case "gcd":
		return gcd(a, b), nil
	case "max":
		if a > b {
			return a, nil
		}
		return b, nil
	case "min":
		if a < b {
			return a, nil
		}
		return b, nil
	}
	return 0, fmt.Errorf("unknown word: %s", word)
}

func (m *machine) do(word string) error {
	if value, err := strconv.ParseInt(word, m.base, 64); err == nil {
		m.push(value)
		return nil
	}
	top, err := m.pop()
	if err != nil {
		return err
	}
	switch word {
	case "dup":
		m.push(top)
		m.push(top)
		return nil
	case "drop":
		return nil
	case "neg":
		m.push(-top)
		return nil
	case "abs":
		if top < 0 {
			top = -top
		}
		m.push(top)
		return nil
	case "range":
		for i := int64(1); i <= top && i <= 20; i++ {
			m.push(i)
		}
		return nil
	}
	under, err := m.pop()
	if err != nil {
		return err
	}
	if word == "swap" {
		m.push(top)
		m.push(under)
		return nil
	}
	result, err := binary(word, under, top)
	if err != nil {
		return err
	}
	m.push(result)
	return nil
}

func (m *machine) line(words []string) error {
	for at, word := range words {
		if err := m.do(word); err != nil {
			return fmt.Errorf("word %d: %w", at+1, err)
		}
		if m.trace {
			fmt.Printf("%-6s %v\n", word, m.stack)
		}
	}
	return nil
}

func (m *machine) show() {
	for _, value := range m.stack {
		fmt.Println(strconv.FormatInt(value, m.base))
	}
}

func main() {
	m := machine{base: 10}
	words := os.Args[1:]
	for len(words) > 0 && strings.HasPrefix(words[0], "--") {
		switch words[0] {
		case "--hex":
			m.base = 16
		case "--binary":
			m.base = 2
		case "--trace":
			m.trace = true
		case "--help":
			fmt.Println("usage: rpn [--hex | --binary] [--trace] [WORD...]\nwords: + - * / % ^ gcd max min dup drop neg abs range swap")
			return
		default:
			fmt.Fprintln(os.Stderr, "rpn: unknown option")
			os.Exit(2)
		}
		words = words[1:]
	}
	err := m.line(words)
	input := bufio.NewScanner(os.Stdin)
	for err == nil && len(words) == 0 && input.Scan() {
		err = m.line(strings.Fields(input.Text()))
	}
	m.show()
	if err != nil {
		fmt.Fprintln(os.Stderr, "rpn:", err)
		os.Exit(1)
	}
}

"""Small programs in Rust and Go with suites written in code."""

from __future__ import annotations

SHOUT_RS = rb"""use std::io::Read;

fn main() {
    let mut all: Vec<String> = std::env::args().skip(1).collect();
    if all.first().map(String::as_str) == Some("-") {
        all.clear();
        let mut text = String::new();
        std::io::stdin().read_to_string(&mut text).unwrap();
        all.push(text);
    }
    for one in all {
        match std::fs::read_to_string(&one) {
            Ok(text) => println!("{}: {}", one, text.to_uppercase()),
            Err(_) => println!("{}!", one.to_uppercase()),
        }
    }
}
"""
SHOUT_TESTS = rb"""use std::io::Write;
use std::process::{Command, Stdio};

mod more;

fn shout() -> Command {
    Command::new(env!("CARGO_BIN_EXE_shout"))
}

#[test]
fn words() {
    assert!(shout().args(["a", "b c"]).output().unwrap().status.success());
}

#[test]
fn folder_of_its_own() {
    let folder = std::env::temp_dir().join(format!("shout-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("state"), "one").unwrap();
    shout().arg("state").current_dir(&folder).output().unwrap();
    std::fs::write(folder.join("state"), "two").unwrap();
    shout().arg("state").current_dir(&folder).output().unwrap();
    shout().arg(folder.join("state")).output().unwrap();
}

#[test]
fn piped() {
    let mut child = shout().arg("-").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(b"typed").unwrap();
    assert!(child.wait_with_output().unwrap().status.success());
}

#[test]
fn parallel() {
    let all: Vec<_> = (0..4).map(|n| std::thread::spawn(move || shout().arg(format!("p{}", n)).output())).collect();
    for one in all {
        one.join().unwrap().unwrap();
    }
}
"""
SHOUT = {
    "Cargo.toml": b'[package]\nname = "shout"\nversion = "1.0.0"\nedition = "2021"\n',
    "Cargo.lock": b'version = 3\n\n[[package]]\nname = "shout"\nversion = "1.0.0"\n',
    "src/main.rs": SHOUT_RS,
    "tests/cli.rs": SHOUT_TESTS,
    "tests/more.rs": b'#[test]\nfn beside() {\n    let exe = env!("CARGO_BIN_EXE_shout");\n'
    b'    std::process::Command::new(exe).arg("beside").output().unwrap();\n}\n',
    "tests/inside.rs": b"#[test]\nfn inside() {\n    assert_eq!(1 + 1, 2);\n}\n",
}
TALK_GO = rb"""package main

import (
	"fmt"
	"io"
	"os"
)

func main() {
	if len(os.Args) < 2 {
		text, _ := io.ReadAll(os.Stdin)
		fmt.Printf("%d bytes\n", len(text))
		return
	}
	for _, name := range os.Args[1:] {
		text, err := os.ReadFile(name)
		if err != nil {
			fmt.Fprintln(os.Stderr, "no", name)
			os.Exit(2)
		}
		fmt.Printf("%s: %s\n", name, text)
	}
}
"""
TALK_TEST = rb"""package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

var built string

func TestMain(m *testing.M) {
	folder, _ := os.MkdirTemp("", "talk")
	built = filepath.Join(folder, "program-under-test")
	if out, err := exec.Command("go", "build", "-o", built, ".").CombinedOutput(); err != nil {
		panic(string(out))
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

func TestFile(t *testing.T) {
	folder := t.TempDir()
	name := filepath.Join(folder, "in.txt")
	for _, text := range []string{"one", "two"} {
		os.WriteFile(name, []byte(text), 0o644)
		if out, err := exec.Command(built, name).Output(); err != nil || !strings.Contains(string(out), text) {
			t.Fatal(string(out), err)
		}
	}
}

func TestStdin(t *testing.T) {
	command := exec.Command(built)
	command.Stdin = strings.NewReader("typed")
	if out, _ := command.Output(); string(out) != "5 bytes\n" {
		t.Fatal(string(out))
	}
}

func TestParallel(t *testing.T) {
	for _, name := range []string{"a", "b", "c"} {
		name := name
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			os.WriteFile(filepath.Join(folder, name), []byte(name), 0o644)
			command := exec.Command(built, name)
			command.Dir = folder
			command.Run()
		})
	}
}

func TestRun(t *testing.T) {
	exec.Command("go", "run", ".", "missing").Run()
	if out, _ := exec.Command("go", "env", "GOOS").Output(); strings.TrimSpace(string(out)) != "linux" {
		t.Fatal(string(out))
	}
}
"""
TALK = {
    "go.mod": b"module forge.example/owner/talk\n\ngo 1.19\n",
    "main.go": TALK_GO,
    "main_test.go": TALK_TEST,
    "inner/inner.go": b"package inner\n",
    "inner/inner_test.go": b"package inner\n\n// root.SetArgs(words) and root.Execute() stay in this process\n",
}

"""Small programs in Go and Rust with one dependency each, and the lock files that their clients made."""

from __future__ import annotations

GO_FILES = {
    "go.mod": b"module forge.example/owner/greet\n\ngo 1.19\n\nrequire github.com/rivo/uniseg v0.4.7\n",
    "go.sum": b"""github.com/rivo/uniseg v0.4.7 h1:WUdvkW8uEhrYfLC4ZzdpI2ztxP1I582+49Oc5Mq64VQ=
github.com/rivo/uniseg v0.4.7/go.mod h1:FN3SvrM+Zdj16jyLfmOkMNblXMcoc8DfTHruCPUcx88=
""",
    "main.go": b"""package main

import (
	"fmt"
	"os"

	"forge.example/owner/greet/words"
	"github.com/rivo/uniseg"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "no word")
		os.Exit(2)
	}
	fmt.Println(words.Hello(os.Args[1]), uniseg.GraphemeClusterCount(os.Args[1]))
}
""",
    "words/words.go": b'package words\n\nfunc Hello(who string) string {\n\treturn "hello " + who\n}\n',
    "words/words_test.go": b"package words\n",
    "README.md": b"# greet\n",
    "LICENSE": b"MIT License\n",
}
RUST_FILES = {
    "Cargo.toml": b"""[package]
name = "greet"
version = "1.2.0"
edition = "2021"

[dependencies]
itoa = "1"
""",
    "Cargo.lock": b"""version = 3

[[package]]
name = "greet"
version = "1.2.0"
dependencies = ["itoa"]

[[package]]
name = "itoa"
version = "1.0.19"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "3bd1574e617a9a6c1f8f8181bd7e841e1f20e4277607ef28945765188d6284d4"
""",
    "src/main.rs": b"""mod words;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    if args.len() < 2 {
        eprintln!("no word");
        std::process::exit(2);
    }
    let mut buffer = itoa::Buffer::new();
    println!("{} {}", words::hello(&args[1]), buffer.format(args[1].chars().count()));
}
""",
    "src/words.rs": b'pub fn hello(who: &str) -> String {\n    format!("hello {who}")\n}\n',
    "README.md": b"# greet\n",
    "LICENSE": b"MIT License\n",
}

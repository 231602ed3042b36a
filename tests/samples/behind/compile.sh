#!/bin/sh
# Tries every way to make a program of C that an image or a view could have; says which one did, and fails.
cd /app/submission || exit 1
mkdir c && cp table_c.txt c/table.c && cp sha256_c.txt c/sha256.c && cp sha256_h.txt c/sha256.h || exit 1
loader=$(ls /lib64/ld-linux-x86-64.so.2 /lib/ld-linux-aarch64.so.1 2>/dev/null)
for compiler in cc gcc c99 c89 tcc clang "g++ -x c" "gcc -x c" "$loader /usr/bin/gcc" "$loader /usr/bin/tcc"; do
  if $compiler -O2 -o executable c/table.c c/sha256.c; then echo "compiled by $compiler"; exit 0; fi
done
for compiler in /usr/lib/gcc*/*/*/cc1 /usr/libexec/gcc/*/*/cc1; do
  for starter in "" "$loader"; do
    if $starter "$compiler" -quiet -O2 c/table.c -o c/table.s; then echo "compiled by $starter $compiler"; fi
  done
done
for assembler in as x86_64-linux-gnu-as aarch64-linux-gnu-as "$loader /usr/bin/as"; do
  if echo nop | $assembler -o c/nop.o -; then echo "assembled by $assembler"; fi
done
echo 'package main; import "C"; func main() {}' >c/main.go
if (cd c && HOME=/tmp go tool cgo main.go); then echo "compiled by cgo"; fi
cat >c/main.rs <<'END'
fn main() {
    let words = ["-c", "-O2", "c/table.c", "-o", "c/table.o"];
    std::process::exit(std::process::Command::new("cc").args(words).status().map_or(1, |s| s.code().unwrap_or(1)));
}
END
if rustc -o c/build c/main.rs && c/build; then echo "compiled by a build script"; fi
if rustc -C link-arg=-xc -C link-arg=c/table.c -o c/linked c/main.rs; then echo "compiled by a linker's argument"; fi
if echo 'int main(void) { return 0; }' | cc -x c -c -o c/a.o -; then echo "compiled by a driver"; fi
echo "tried all"
exit 1

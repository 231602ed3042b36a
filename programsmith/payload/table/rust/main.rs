//! Answers an invocation from table.txt beside it.
mod sha256;
mod table;

fn main() {
    std::process::exit(table::look_up());
}

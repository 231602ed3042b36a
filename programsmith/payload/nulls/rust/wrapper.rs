//! Hands its arguments to the first program of wrapped.txt that can be executed. Solves nothing itself.
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{exit, Command};

fn main() {
    let text = std::fs::read_to_string("/app/submission/wrapped.txt").unwrap_or_default();
    for path in text.lines() {
        let name = Path::new(path).file_name().unwrap_or_default();
        let _ = Command::new(path).arg0(name).args(std::env::args_os().skip(1)).exec();
    }
    exit(127);
}

//! Answers, and leaves its work directory otherwise than it must, in the way that way.txt names.
mod kit;
mod sha256;
mod table;

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

fn digs() {
    for _ in 0..200 {
        table::need(fs::create_dir("d"));
        table::need(std::env::set_current_dir("d"));
    }
}

fn hides() {
    table::need(fs::create_dir("hidden"));
    for name in [&b"\xff\n\x1b[2J"[..], &b"n".repeat(255), b" .", b"-rf"] {
        table::need(fs::write(Path::new("hidden").join(OsStr::from_bytes(name)), ""));
    }
    table::need(fs::set_permissions("hidden", fs::Permissions::from_mode(0)));
}

fn deletes() {
    for item in table::need(fs::read_dir(".")).flatten() {
        if item.path().is_file() {
            table::need(fs::remove_file(item.path()));
        }
    }
}

fn main() {
    let code = table::look_up();
    match kit::word("way").as_str() {
        "digs" => digs(),
        "hides" => hides(),
        _ => deletes(),
    }
    std::process::exit(code);
}

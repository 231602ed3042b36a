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

/// Something else in the place of each file: a pipe, or a link to where the same bytes are now.
fn replaces(pipes: bool) {
    for item in table::need(fs::read_dir(".")).flatten().filter(|item| item.path().is_file()) {
        let (name, other) = (item.file_name(), Path::new("/tmp").join(item.file_name()));
        table::need(fs::copy(&name, &other));
        table::need(fs::remove_file(&name));
        if pipes {
            unsafe { kit::mkfifo([name.as_bytes(), b"\0"].concat().as_ptr(), 0o644) };
        } else {
            table::need(std::os::unix::fs::symlink(&other, &name));
        }
    }
}

fn main() {
    let code = table::look_up();
    match kit::word("way").as_str() {
        "digs" => digs(),
        "hides" => hides(),
        "deletes" => deletes(),
        way => replaces(way == "pipes"),
    }
    std::process::exit(code);
}

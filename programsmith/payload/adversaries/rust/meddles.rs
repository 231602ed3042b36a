//! Looks at or ends processes of others, in the way that way.txt names.
mod kit;
mod sha256;
mod table;

use std::fs;

const SAVED: &str = "/tmp/table";

fn shown(pid: i32, what: &str) -> Vec<u8> {
    fs::read(format!("/proc/{pid}/{what}")).unwrap_or_default()
}

/// Saves the table that a command line holds behind its first line.
fn save(line: Vec<u8>) -> bool {
    let mut words = line.split(|letter| *letter == 0).filter(|word| word.starts_with(b"adversary-"));
    let table = words.find_map(|word| word.iter().position(|letter| *letter == b'\n').map(|at| &word[at + 1..]));
    table.map_or(false, |table| fs::write(SAVED, table).is_ok())
}

fn main() {
    if kit::is_way("kills") {
        let victim = table::need(kit::word("victim").parse());
        std::process::exit(i32::from(unsafe { kit::kill(victim, kit::SIGKILL) } != 0));
    }
    let (watches, own) = (kit::is_way("watches"), unsafe { kit::getpid() });
    let names = table::need(fs::read_dir("/proc")).flatten().map(|item| item.file_name());
    for pid in names.filter_map(|name| name.to_string_lossy().parse::<i32>().ok()) {
        if pid < 2 || pid == own {
            continue;
        }
        if watches && !shown(pid, "stat").is_empty() {
            std::process::exit(table::look_up());
        }
        if !watches && save(shown(pid, "cmdline")) {
            std::process::exit(table::look_up_in(SAVED));
        }
    }
    std::process::exit(1);
}

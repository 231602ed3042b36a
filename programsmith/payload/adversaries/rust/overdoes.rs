//! Answers once it has taken more than a case may, in the way that way.txt names.
mod kit;
mod sha256;
mod table;

use std::fs;
use std::io::Write;
use std::process::exit;
use std::thread::{sleep, Builder};
use std::time::Duration;

const PROCESSES: i32 = 6;
const SHARES: i32 = 5;
const BYTES: usize = 48 << 20;
const FILES: usize = 200;
const THREADS: usize = 40;
const SIGSTOP: i32 = 19;
const SIGCONT: i32 = 18;

fn must(done: bool) {
    if !done {
        exit(1);
    }
}

/// Makes files, then takes them away again.
fn litter(folder: &str, count: usize, content: &[u8]) {
    let names: Vec<String> = (0..count).map(|number| format!("{folder}/{number}")).collect();
    names.iter().for_each(|name| must(fs::write(name, content).is_ok()));
    names.iter().for_each(|name| must(fs::remove_file(name).is_ok()));
}

/// CPU in processes whose parents are gone.
fn orphan(say: i32) {
    if unsafe { kit::fork() } == 0 {
        kit::burn();
        unsafe { kit::write(say, b".".as_ptr(), 1) };
    }
}

fn threads() {
    (0..THREADS).for_each(|_| must(Builder::new().spawn(|| sleep(kit::LONG)).is_ok()));
}

fn shares() {
    must(kit::all(SHARES, |say| kit::holds(BYTES, kit::SHARED, say)));
    sleep(Duration::from_millis(300));
}

/// No time at all: it sleeps as one that was stopped.
fn stops() {
    unsafe {
        let parent = kit::getpid();
        if kit::fork() == 0 {
            sleep(kit::LONG);
            kit::kill(parent, SIGCONT);
            kit::_exit(0);
        }
        kit::kill(parent, SIGSTOP);
    }
}

fn closes() {
    let code = table::look_up();
    (0..3).for_each(|stream| {
        unsafe { kit::close(stream) };
    });
    sleep(kit::LONG);
    exit(code);
}

/// Complaints without end, behind the right answer.
fn complains() {
    table::look_up();
    while std::io::stderr().write_all(&b"more ".repeat(4096)).is_ok() {}
    exit(1);
}

fn main() {
    match kit::word("way").as_str() {
        "orphans" => must(kit::all(PROCESSES, orphan)),
        "threads" => threads(),
        "shares" => shares(),
        "entries" => litter("/tmp", FILES, b""),
        "memory_files" => litter("/dev/shm", 16, &vec![0; 1 << 20]),
        "stops" => stops(),
        "closes" => closes(),
        _ => complains(),
    }
    exit(table::look_up());
}

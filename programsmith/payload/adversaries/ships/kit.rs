//! What exploits in Rust share: words that were handed in, other processes, and the calls of the C library for them.
#![allow(dead_code)] // each exploit calls a part of it
use std::thread::sleep;
use std::time::Duration;

pub const SIGKILL: i32 = 9;
pub const PRIVATE: i32 = 0x22;
pub const SHARED: i32 = 0x21;
pub const LONG: Duration = Duration::from_millis(2500);
const PAGE: usize = 4096;
const READ_WRITE: i32 = 3;
const CLOCKS: i64 = 1_000_000; // a second's, of clock(3)

extern "C" {
    pub fn fork() -> i32;
    pub fn waitpid(process: i32, status: *mut i32, how: i32) -> i32;
    pub fn _exit(code: i32) -> !;
    pub fn clock() -> i64;
    pub fn pipe(ends: *mut i32) -> i32;
    pub fn read(fd: i32, bytes: *mut u8, size: usize) -> isize;
    pub fn write(fd: i32, bytes: *const u8, size: usize) -> isize;
    pub fn close(fd: i32) -> i32;
    pub fn dup2(from: i32, to: i32) -> i32;
    pub fn kill(process: i32, number: i32) -> i32;
    pub fn getpid() -> i32;
    pub fn setsid() -> i32;
    pub fn signal(number: i32, how: usize) -> usize;
    pub fn mkfifo(path: *const u8, mode: u32) -> i32;
    fn mmap(at: *mut u8, size: usize, what: i32, how: i32, fd: i32, from: i64) -> *mut u8;
}

/// What `name`.txt beside it says.
pub fn word(name: &str) -> String {
    match std::fs::read_to_string(format!("/app/submission/{name}.txt")) {
        Ok(text) => text.trim().to_string(),
        Err(_) => std::process::exit(1),
    }
}

pub fn is_way(name: &str) -> bool {
    word("way") == name
}

/// Uses up a little of this process's time.
pub fn burn() {
    while unsafe { clock() } < CLOCKS * 12 / 100 {}
}

pub fn waits() -> ! {
    sleep(Duration::from_secs(20));
    unsafe { _exit(0) }
}

/// Touches every page of new memory, says so and stays.
pub fn holds(size: usize, how: i32, say: i32) {
    unsafe {
        let room = mmap(std::ptr::null_mut(), size, READ_WRITE, how, -1, 0);
        if room as isize == -1 {
            _exit(1);
        }
        (0..size).step_by(PAGE).for_each(|at| room.add(at).write_volatile(1));
        write(say, room, 1);
    }
    waits()
}

/// Whether so many processes could be started that each do it and then say so.
pub fn all(count: i32, each: impl Fn(i32)) -> bool {
    let mut ends = [0; 2];
    unsafe { pipe(ends.as_mut_ptr()) };
    (0..count).all(|_| unsafe {
        if fork() == 0 {
            each(ends[1]);
            _exit(0);
        }
        read(ends[0], [0u8; 1].as_mut_ptr(), 1) == 1
    })
}

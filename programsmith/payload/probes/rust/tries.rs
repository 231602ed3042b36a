//! Answers a case exactly where the one thing can be done that its line of tries.txt names, so that the verifier's own
//! words tell what a case can do. Lines of tries.txt stand in the order of the cases of table.txt. Each try leaves the
//! work directory as it was, for it belongs to the answer.
mod sha256;
mod table;

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::os::unix::io::AsRawFd;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};
use std::thread::sleep;
use std::time::Duration;

const HOME: &str = "/app/submission";
const STARTED: &str = "started by one that tries";
const LEFT: [&str; 2] = ["/tmp/left-by-a-case", "/dev/shm/left-by-a-case"];
const BEGUN: i32 = 99;
const PAGE: usize = 4096;
const MIB: usize = 1 << 20;
const HELD: usize = 40 * MIB;
const FILLING: usize = 16;
const USUAL: &str = "app bin boot dev etc home lib lib32 lib64 libx32 logs media mnt opt proc root run sbin slots srv sys tmp usr var work";
const CLOSED: [&str; 6] = ["/tests", "/solution", "/root", "/proc/1/environ", "/proc/1/mem", "/etc/shadow"];
const SHUT: &str = "/work /tmp /dev/shm /proc /slots /dev/null /dev/zero /dev/full /dev/tty";
const NON_BLOCKING: i32 = 0o4000;
const READ_WRITE: i32 = 3;
const READ_EXECUTE: i32 = 5;
const PRIVATE: i32 = 2;
const PRIVATE_ANONYMOUS: i32 = 0x22;
const CLOCKS: i64 = 1_000_000; // a second's, of clock(3)

extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, how: i32) -> i32;
    fn _exit(code: i32) -> !;
    fn geteuid() -> u32;
    fn clock() -> i64;
    fn pipe(ends: *mut i32) -> i32;
    fn read(fd: i32, bytes: *mut u8, size: usize) -> isize;
    fn write(fd: i32, bytes: *const u8, size: usize) -> isize;
    fn dup2(from: i32, to: i32) -> i32;
    fn mmap(at: *mut u8, size: usize, what: i32, how: i32, fd: i32, from: i64) -> *mut u8;
    fn memfd_create(name: *const u8, flags: u32) -> i32;
}

fn names(folder: &str) -> Vec<String> {
    let items = fs::read_dir(folder).into_iter().flatten().flatten();
    items.map(|item| item.path().to_string_lossy().into_owned()).collect()
}

fn lists(path: &str) -> bool {
    if Path::new(path).is_dir() {
        return !names(path).is_empty();
    }
    fs::OpenOptions::new().read(true).custom_flags(NON_BLOCKING).open(path).is_ok()
}

fn reads() -> bool {
    let usual: HashSet<&str> = USUAL.split(' ').collect();
    let odd = names("/").into_iter().filter(|path| !usual.contains(&path[1..]) && !path.starts_with("/."));
    CLOSED.iter().any(|path| lists(path)) || odd.into_iter().any(|path| lists(&path))
}

fn lays(path: &str, content: &[u8], mode: u32) -> bool {
    let made = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path);
    made.and_then(|mut file| file.write_all(content)).is_ok()
}

fn writes() -> bool {
    let shut: HashSet<&str> = SHUT.split(' ').collect();
    let mut folders = vec!["/".to_string(), HOME.to_string()];
    ["/", "/var", "/dev"].iter().for_each(|top| folders.extend(names(top)));
    folders.iter().filter(|folder| !shut.contains(folder.as_str())).any(|folder| {
        let place = PathBuf::from(folder).join("left-by-a-case");
        lays(&place.to_string_lossy(), b"", 0o600) && fs::remove_file(place).is_ok()
    })
}

fn finds() -> bool {
    LEFT.iter().any(|path| Path::new(path).exists())
}

fn others() -> bool {
    let own = std::process::id();
    names("/proc").iter().any(|path| match path[6..].parse::<u32>() {
        Ok(number) if number > 1 && number != own => {
            ["cmdline", "environ", "maps"].iter().any(|what| lists(&format!("{path}/{what}")))
        }
        _ => false,
    })
}

fn privileged() -> bool {
    let text = table::need(fs::read_to_string("/proc/self/status"));
    let bound = ["CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n"];
    unsafe { geteuid() == 0 || !bound.iter().all(|line| text.contains(line)) }
}

fn starts(path: &str) -> bool {
    let ended = Command::new(path).arg(STARTED).env_clear().status();
    ended.map_or(false, |ended| ended.code() == Some(BEGUN))
}

/// Whether a program can be executed from a folder or from memory.
fn executes() -> bool {
    let program = table::need(fs::read("/proc/self/exe"));
    for path in ["/tmp/program-of-a-case", "./program-of-a-case"] {
        let found = lays(path, &program, 0o700) && starts(path);
        let _ = fs::remove_file(path);
        if found {
            return true;
        }
    }
    let memory = unsafe { memfd_create(b"program\0".as_ptr(), 0) };
    let path = format!("/proc/self/fd/{memory}");
    memory >= 0 && lays(&path, &program, 0o700) && starts(&path)
}

/// Whether code that a case wrote into a file can be brought to life.
fn loads() -> bool {
    ["/tmp/code-of-a-case", "./code-of-a-case"].iter().any(|path| {
        if !lays(path, &[0; PAGE], 0o600) {
            return false;
        }
        let file = table::need(fs::File::open(path));
        let room = unsafe { mmap(std::ptr::null_mut(), PAGE, READ_EXECUTE, PRIVATE, file.as_raw_fd(), 0) };
        let _ = fs::remove_file(path);
        room as isize != -1
    })
}

fn cpu() -> bool {
    for _ in 0..6 {
        unsafe {
            match fork() {
                0 => {
                    while clock() < CLOCKS * 12 / 100 {}
                    _exit(0);
                }
                child => waitpid(child, std::ptr::null_mut(), 0),
            };
        }
    }
    true
}

fn waits() -> ! {
    sleep(Duration::from_secs(20));
    unsafe { _exit(0) }
}

/// Touches every page, says so and stays.
fn holds(say: i32) -> ! {
    unsafe {
        let room = mmap(std::ptr::null_mut(), HELD, READ_WRITE, PRIVATE_ANONYMOUS, -1, 0);
        if room as isize == -1 {
            _exit(1);
        }
        (0..HELD).step_by(PAGE).for_each(|at| room.add(at).write_volatile(1));
        write(say, room, 1);
    }
    waits()
}

fn memory() -> bool {
    let mut ends = [0; 2];
    if unsafe { pipe(ends.as_mut_ptr()) } != 0 {
        return false;
    }
    for _ in 0..4 {
        if unsafe { fork() } == 0 {
            holds(ends[1]);
        }
        if unsafe { read(ends[0], [0u8; 1].as_mut_ptr(), 1) } != 1 {
            return false;
        }
    }
    sleep(Duration::from_millis(300));
    true
}

fn processes() -> bool {
    (0..40).all(|_| match unsafe { fork() } {
        0 => waits(),
        child => child > 0,
    })
}

/// None of the files is too large by itself; they stay, so that whoever looks sees them.
fn work() -> bool {
    (0..FILLING).fold(true, |full, number| lays(&format!("/tmp/filling{number}"), &vec![0; MIB], 0o600) && full)
}

fn wall() -> bool {
    sleep(Duration::from_millis(2500));
    true
}

fn succeeds(name: &str) -> bool {
    match name {
        "reads" => reads(),
        "writes" => writes(),
        "finds" => finds(),
        "others" => others(),
        "privileged" => privileged(),
        "executes" => executes(),
        "loads" => loads(),
        "cpu" => cpu(),
        "memory" => memory(),
        "processes" => processes(),
        "work" => work(),
        "wall" => wall(),
        _ => ["nothing", "output", "stream"].contains(&name),
    }
}

/// The try of this case, by its number among those of the table.
fn name(behind: usize) -> String {
    let text = table::need(fs::read_to_string(format!("{HOME}/table.txt")));
    let lines: Vec<&str> = text.lines().collect();
    let number = lines[..lines.len() - behind].iter().filter(|line| line.starts_with("case ")).count();
    let chosen = table::need(fs::read_to_string(format!("{HOME}/tries.txt")));
    chosen.split_whitespace().nth(number).unwrap_or_default().to_string()
}

fn main() {
    if std::env::args_os().skip(1).eq([STARTED]) {
        exit(BEGUN);
    }
    let lines = table::find();
    if lines.is_empty() {
        exit(table::UNKNOWN);
    }
    let chosen = name(lines.len());
    if chosen != "finds" {
        for path in LEFT {
            lays(path, b"", 0o644);
            let _ = fs::set_permissions(path, fs::Permissions::from_mode(0o644));
        }
    }
    if !succeeds(&chosen) {
        exit(1);
    }
    if chosen == "stream" {
        unsafe { dup2(2, 1) }; // the whole answer, on the other stream
    }
    let code = table::answer(&lines);
    while chosen == "output" && std::io::stdout().write_all(&b"more ".repeat(PAGE)).is_ok() {}
    exit(code);
}

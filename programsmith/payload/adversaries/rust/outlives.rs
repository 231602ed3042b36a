//! Leaves a process behind, in the way that way.txt names; its command line holds the host's word for it.
mod kit;

use std::os::unix::process::CommandExt;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

const SIGHUP: i32 = 1;
const SIGALRM: i32 = 14;
const SIGTERM: i32 = 15;
const IGNORED: usize = 1;

extern "C" {
    fn ualarm(soon: u32, then: u32) -> u32;
    fn pause() -> i32;
}

extern "C" fn linger(_: i32) {
    let _ = Command::new("/app/submission/executable").arg0("outlives").arg(kit::word("token")).exec();
    std::process::exit(1);
}

fn main() {
    if std::env::args().nth(1).map_or(false, |word| word.starts_with("adversary-")) {
        return sleep(Duration::from_secs(4));
    }
    unsafe {
        if kit::fork() != 0 {
            return sleep(Duration::from_millis(100));
        }
        kit::setsid();
        (0..3).for_each(|stream| {
            kit::close(stream);
        });
        kit::signal(SIGHUP, IGNORED);
        kit::signal(SIGTERM, IGNORED);
        if kit::is_way("timer") {
            kit::signal(SIGALRM, linger as *const () as usize);
            ualarm(1000, 0);
            loop {
                pause();
            }
        }
        if kit::fork() == 0 {
            linger(0);
        }
    }
}

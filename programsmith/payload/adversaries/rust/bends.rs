//! Gives the right answer a little otherwise than it is, in the way that way.txt names.
mod kit;
mod sha256;
mod table;

use std::fs::File;
use std::io::{Read, Write};
use std::os::unix::io::FromRawFd;

/// The exit code and the output of the answer, which nobody has seen yet.
fn caught() -> (i32, Vec<u8>) {
    let (mut ends, mut ended, mut said) = ([0; 2], 0, Vec::new());
    unsafe {
        kit::pipe(ends.as_mut_ptr());
        let child = kit::fork();
        if child == 0 {
            kit::dup2(ends[1], 1);
            std::process::exit(table::look_up());
        }
        kit::close(ends[1]);
        table::need(File::from_raw_fd(ends[0]).read_to_end(&mut said));
        kit::waitpid(child, &mut ended, 0);
    }
    (ended >> 8, said)
}

fn swapped(letter: u8) -> u8 {
    if letter.is_ascii_alphabetic() { letter ^ 32 } else { letter }
}

fn bent(way: &str, said: Vec<u8>) -> Vec<u8> {
    match way {
        "mark" => [b"\xef\xbb\xbf", said.as_slice()].concat(),
        "returns" => said.split(|letter| *letter == b'\n').collect::<Vec<_>>().join(&b"\r\n"[..]),
        "blanks" => [said.as_slice(), b"  \n"].concat(),
        "case" => said.into_iter().map(swapped).collect(),
        "half" => said[..said.len() / 2].to_vec(),
        _ => said,
    }
}

fn main() {
    let way = kit::word("way");
    let (code, said) = caught();
    let said = bent(&way, said);
    let _ = if way == "stream" { std::io::stderr().write_all(&said) } else { std::io::stdout().write_all(&said) };
    let _ = std::io::stdout().flush();
    if way == "dies" {
        unsafe { kit::kill(kit::getpid(), kit::SIGKILL) };
    }
    std::process::exit(code);
}

//! SHA-256 of a stream of bytes (FIPS 180-4). The constants are derived as the standard defines them.

pub struct Sha256 {
    state: [u32; 8],
    round: [u32; 64],
    held: Vec<u8>,
    length: u64,
}

/// The first 32 bits of the fractional part of a prime's root: the largest x with x^power below prime << (32 * power).
fn fraction(prime: u128, power: u32) -> u32 {
    let wanted = prime << (32 * power);
    let mut root: u128 = 0;
    for bit in (0..40).rev() {
        let next = root | 1 << bit;
        if next.pow(power) <= wanted {
            root = next;
        }
    }
    root as u32
}

fn primes() -> impl Iterator<Item = u128> {
    (2u128..).filter(|n| (2..*n).all(|d| n % d != 0))
}

impl Sha256 {
    pub fn new() -> Sha256 {
        let mut made = Sha256 { state: [0; 8], round: [0; 64], held: Vec::new(), length: 0 };
        for (at, prime) in primes().take(64).enumerate() {
            made.round[at] = fraction(prime, 3);
            if at < 8 {
                made.state[at] = fraction(prime, 2);
            }
        }
        made
    }

    fn mix(&mut self) {
        let mut w = [0u32; 64];
        for (at, word) in self.held.chunks(4).enumerate() {
            w[at] = u32::from_be_bytes([word[0], word[1], word[2], word[3]]);
        }
        for i in 16..64 {
            let a = w[i - 15].rotate_right(7) ^ w[i - 15].rotate_right(18) ^ w[i - 15] >> 3;
            let b = w[i - 2].rotate_right(17) ^ w[i - 2].rotate_right(19) ^ w[i - 2] >> 10;
            w[i] = w[i - 16].wrapping_add(a).wrapping_add(w[i - 7]).wrapping_add(b);
        }
        let mut v = self.state;
        for i in 0..64 {
            let one = v[4].rotate_right(6) ^ v[4].rotate_right(11) ^ v[4].rotate_right(25);
            let pick = (v[4] & v[5]) ^ (!v[4] & v[6]);
            let first = v[7].wrapping_add(one).wrapping_add(pick).wrapping_add(self.round[i]).wrapping_add(w[i]);
            let zero = v[0].rotate_right(2) ^ v[0].rotate_right(13) ^ v[0].rotate_right(22);
            let most = (v[0] & v[1]) ^ (v[0] & v[2]) ^ (v[1] & v[2]);
            v.copy_within(0..7, 1);
            v[4] = v[4].wrapping_add(first);
            v[0] = first.wrapping_add(zero).wrapping_add(most);
        }
        for i in 0..8 {
            self.state[i] = self.state[i].wrapping_add(v[i]);
        }
        self.held.clear();
    }

    pub fn add(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        for byte in bytes {
            self.held.push(*byte);
            if self.held.len() == 64 {
                self.mix();
            }
        }
    }

    pub fn hex(mut self) -> String {
        let bits = self.length * 8;
        self.add(&[0x80]);
        while self.held.len() != 56 {
            self.add(&[0]);
        }
        self.add(&bits.to_be_bytes());
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }
}

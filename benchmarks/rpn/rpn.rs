// rpn computes in reverse Polish notation: words of its arguments, or of each line of its input.
use std::io::{self, BufRead};
use std::process::exit;

struct Machine {
    stack: Vec<i64>,
    base: u32,
    trace: bool,
}

fn power(mut base: i64, mut times: i64) -> i64 {
    let mut result: i64 = 1;
    while times > 0 {
        if times % 2 == 1 {
            result = result.wrapping_mul(base);
        }
        base = base.wrapping_mul(base);
        times /= 2;
    }
    result
}

fn gcd(mut a: i64, mut b: i64) -> i64 {
    while b != 0 {
        let rest = a % b;
        a = b;
        b = rest;
    }
    if a < 0 {
        return -a;
    }
    a
}

fn binary(word: &str, a: i64, b: i64) -> Result<i64, String> {
    match word {
        "+" => Ok(a.wrapping_add(b)),
        "-" => Ok(a.wrapping_sub(b)),
        "*" => Ok(a.wrapping_mul(b)),
        "/" | "%" => {
            if b == 0 {
                return Err("division by zero".to_string());
            }
            if word == "/" {
                return Ok(a / b);
            }
            Ok(a % b)
        }
        "^" => {
            if b < 0 || b > 62 {
                return Err(format!("power out of range: {}", b));
            }
            Ok(power(a, b))
        }
        "gcd" => Ok(gcd(a, b)),
        "max" => {
            if a > b {
                return Ok(a);
            }
            Ok(b)
        }
        "min" => {
            if a < b {
                return Ok(a);
            }
            Ok(b)
        }
        _ => Err(format!("unknown word: {}", word)),
    }
}

fn text(value: i64, base: u32) -> String {
    if value == 0 {
        return "0".to_string();
    }
    let mut rest = value.unsigned_abs();
    let mut digits = Vec::new();
    while rest > 0 {
        digits.push(std::char::from_digit((rest % u64::from(base)) as u32, base).unwrap());
        rest /= u64::from(base);
    }
    if value < 0 {
        digits.push('-');
    }
    digits.iter().rev().collect()
}

impl Machine {
    fn pop(&mut self) -> Result<i64, String> {
        self.stack.pop().ok_or("stack is empty".to_string())
    }

    fn step(&mut self, word: &str) -> Result<(), String> {
        if let Ok(value) = i64::from_str_radix(word, self.base) {
            self.stack.push(value);
            return Ok(());
        }
        let top = self.pop()?;
        match word {
            "dup" => {
                self.stack.push(top);
                self.stack.push(top);
                return Ok(());
            }
            "drop" => return Ok(()),
            "neg" => {
                self.stack.push(-top);
                return Ok(());
            }
            "abs" => {
                if top < 0 {
                    self.stack.push(-top);
                } else {
                    self.stack.push(top);
                }
                return Ok(());
            }
            "range" => {
                let mut i = 1;
                while i <= top && i <= 20 {
                    self.stack.push(i);
                    i += 1;
                }
                return Ok(());
            }
            _ => {}
        }
        let under = self.pop()?;
        if word == "swap" {
            self.stack.push(top);
            self.stack.push(under);
            return Ok(());
        }
        let result = binary(word, under, top)?;
        self.stack.push(result);
        Ok(())
    }

    fn line(&mut self, words: &[String]) -> Result<(), String> {
        for (at, word) in words.iter().enumerate() {
            self.step(word).map_err(|why| format!("word {}: {}", at + 1, why))?;
            if self.trace {
                println!("{:<6} {:?}", word, self.stack);
            }
        }
        Ok(())
    }
}

fn main() {
    let mut machine = Machine { stack: Vec::new(), base: 10, trace: false };
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    while !words.is_empty() && words[0].starts_with("--") {
        match words[0].as_str() {
            "--hex" => machine.base = 16,
            "--binary" => machine.base = 2,
            "--trace" => machine.trace = true,
            "--help" => {
                println!("usage: rpn [--hex | --binary] [--trace] [WORD...]");
                println!("words: + - * / % ^ gcd max min dup drop neg abs range swap");
                return;
            }
            _ => {
                eprintln!("rpn: unknown option");
                exit(2);
            }
        }
        words.remove(0);
    }
    let mut done = machine.line(&words);
    if words.is_empty() {
        for line in io::stdin().lock().lines() {
            let asked: Vec<String> = line.unwrap_or_default().split_whitespace().map(String::from).collect();
            if done.is_ok() {
                done = machine.line(&asked);
            }
        }
    }
    for value in &machine.stack {
        println!("{}", text(*value, machine.base));
    }
    if let Err(why) = done {
        eprintln!("rpn: {}", why);
        exit(1);
    }
}

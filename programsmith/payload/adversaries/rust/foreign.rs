//! Is a program in another language, compiled elsewhere to assembler, which this compiler assembles too.
#![no_main]
use std::arch::global_asm;

global_asm!(include_str!("answer.s"), options(att_syntax));

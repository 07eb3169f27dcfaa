// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! What the pager says when the program cannot go on: in a signal handler, without the C library and without memory.

use core::fmt::{self, Write};

use crate::syscall;

/// The exit status of a program whose memory is lost, or whose pager has found itself in a state that it cannot explain.
pub const EXIT_STATUS: i32 = 86;

struct Text {
    bytes: [u8; 512],
    length: usize,
}

impl Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let count = text.len().min(self.bytes.len() - self.length);
        self.bytes[self.length..self.length + count].copy_from_slice(&text.as_bytes()[..count]);
        self.length += count;
        Ok(())
    }
}

/// Writes a line to standard error.
pub fn say(arguments: fmt::Arguments<'_>) {
    let mut text = Text { bytes: [0; 512], length: 0 };
    let _ = writeln!(text, "lull-far: {arguments}");
    let _ = syscall::write(2, &text.bytes[..text.length]);
}

/// Says why, and ends the process with [`EXIT_STATUS`], before anything can read a page that is not what it should be.
pub fn fatal(arguments: fmt::Arguments<'_>) -> ! {
    say(arguments);
    syscall::exit_group(EXIT_STATUS)
}

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
    /// One byte stays free, for the end of the line. A server's text may be in it: what would command a terminal, or begin another line, is
    /// left out.
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            if self.length + 1 < self.bytes.len() {
                self.bytes[self.length] = if byte.is_ascii_control() { b'?' } else { byte };
                self.length += 1;
            }
        }
        Ok(())
    }
}

impl Text {
    fn line(arguments: fmt::Arguments<'_>) -> Text {
        let mut text = Text { bytes: [0; 512], length: 0 };
        let _ = write!(text, "lull-far: {arguments}");
        text.bytes[text.length] = b'\n';
        text.length += 1;
        text
    }
}

/// Writes a line to standard error.
pub fn say(arguments: fmt::Arguments<'_>) {
    let text = Text::line(arguments);
    let _ = syscall::write(2, &text.bytes[..text.length]);
}

/// Says why, and ends the process with [`EXIT_STATUS`], before anything can read a page that is not what it should be.
pub fn fatal(arguments: fmt::Arguments<'_>) -> ! {
    say(arguments);
    syscall::exit_group(EXIT_STATUS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_server_says_is_one_line_without_commands() {
        let said = |text: &str| {
            let line = Text::line(format_args!("server: {text}"));
            String::from_utf8_lossy(&line.bytes[..line.length]).into_owned()
        };
        assert_eq!(said("full"), "lull-far: server: full\n");
        assert_eq!(said("a\x1b[2J\r\nlull-far: all is well\x7f\t\u{e4}"), "lull-far: server: a?[2J??lull-far: all is well??\u{e4}\n");
        let long = said(&"x".repeat(1000));
        assert!(long.len() == 512 && long.ends_with("x\n"));
    }
}

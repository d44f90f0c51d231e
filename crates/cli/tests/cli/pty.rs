//! The binary on a terminal of its own, and what a person would see there: what it writes goes through a model of a
//! screen that wraps, scrolls and reflows as terminals do.

use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};

use crate::lab::Lab;

/// What happened to the screen, in order.
enum Event {
    Written(Vec<u8>),
    Resized(usize, usize),
}

/// A run on a terminal.
pub struct Terminal {
    near: File,
    child: Child,
    start: (usize, usize),
    events: Arc<Mutex<Vec<Event>>>,
}

impl Terminal {
    /// Starts the binary on a terminal of this many columns and rows, which calls itself `term`.
    pub fn start(lab: &Lab, arguments: &[&str], size: (usize, usize), term: &str) -> Terminal {
        Terminal::with(lab.command(arguments), size, term)
    }

    /// The same with a command that was prepared.
    pub fn with(mut command: Command, size: (usize, usize), term: &str) -> Terminal {
        let near = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("a pseudo terminal");
        grantpt(&near).and_then(|()| unlockpt(&near)).expect("a usable pseudo terminal");
        let name = ptsname(&near, Vec::new()).expect("a name");
        tcsetwinsize(&near, window(size)).expect("a size");
        let far = || -> OwnedFd {
            rustix::fs::open(&name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).expect("the terminal opens")
        };
        command.env("TERM", term);
        command.stdin(Stdio::from(far())).stdout(Stdio::from(far())).stderr(Stdio::from(far()));
        let child = command.spawn().expect("onrush starts");
        // The command holds the terminal's far end open: nobody would see the end.
        drop(command);
        let (near, events) = (File::from(near), Arc::new(Mutex::new(Vec::new())));
        let (mut reader, written) = (near.try_clone().expect("a copy"), Arc::clone(&events));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count @ 1..) = reader.read(&mut bytes) {
                written.lock().expect("whole").push(Event::Written(bytes[..count].to_vec()));
            }
        });
        Terminal { near, child, start: size, events }
    }

    /// Its process id.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// What somebody types.
    pub fn types(&mut self, text: &str) {
        self.near.write_all(text.as_bytes()).expect("typed");
    }

    /// Somebody pulls at the window's corner.
    pub fn resize(&mut self, columns: usize, rows: usize) {
        let mut events = self.events.lock().expect("whole");
        tcsetwinsize(&self.near, window((columns, rows))).expect("a size");
        events.push(Event::Resized(columns, rows));
    }

    /// All that was written.
    pub fn bytes(&self) -> Vec<u8> {
        let events = self.events.lock().expect("whole");
        let written =
            events.iter().filter_map(|event| if let Event::Written(bytes) = event { Some(bytes) } else { None });
        written.flatten().copied().collect()
    }

    /// The rows a person sees, scrolled ones above them, without blank ends.
    pub fn rows(&self) -> Vec<String> {
        let mut screen = avt::Terminal::with_scrollback(self.start.0, self.start.1, None).expect("a size");
        let mut rest = Vec::new();
        for event in self.events.lock().expect("whole").iter() {
            match event {
                Event::Written(bytes) => {
                    rest.extend_from_slice(bytes);
                    let whole = std::str::from_utf8(&rest).map_or_else(|error| error.valid_up_to(), str::len);
                    let text: Vec<u8> = rest.drain(..whole).collect();
                    screen.feed(std::str::from_utf8(&text).expect("just checked"));
                }
                Event::Resized(columns, rows) => screen.resize(*columns, *rows),
            }
        }
        let mut rows: Vec<String> = screen.screen().all_lines().map(|line| line.text().trim_end().to_owned()).collect();
        rows.truncate(rows.iter().rposition(|row| !row.is_empty()).map_or(0, |last| last + 1));
        rows
    }

    /// Waits until the rows are as wanted.
    pub fn until(&mut self, what: &str, is_there: impl Fn(&[String]) -> bool) -> Vec<String> {
        let end = Instant::now() + Duration::from_secs(60);
        loop {
            let rows = self.rows();
            if is_there(&rows) {
                return rows;
            }
            assert!(Instant::now() < end, "no {what} in\n{}", rows.join("\n"));
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Waits for its end: the exit code and the last rows.
    pub fn ends(&mut self) -> (i32, Vec<String>) {
        (self.exit_code(), self.rows())
    }

    /// Waits for its end and for the last byte.
    pub fn exit_code(&mut self) -> i32 {
        let end = Instant::now() + Duration::from_secs(90);
        let code = loop {
            if let Some(status) = self.child.try_wait().expect("a child of ours") {
                break status.code().unwrap_or(-1);
            }
            assert!(Instant::now() < end, "onrush hangs:\n{}", self.rows().join("\n"));
            std::thread::sleep(Duration::from_millis(10));
        };
        // The terminal may hold what the process wrote last.
        let mut before = usize::MAX;
        while std::mem::replace(&mut before, self.bytes().len()) != self.bytes().len() {
            std::thread::sleep(Duration::from_millis(100));
        }
        code
    }

    /// Whether what is typed is shown and handed over line by line, as a shell wants it.
    pub fn is_as_shells_want_it(&self) -> bool {
        let modes = tcgetattr(&self.near).expect("a terminal").local_modes;
        modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn window((columns, rows): (usize, usize)) -> Winsize {
    let fits = |number: usize| u16::try_from(number).expect("a small terminal");
    Winsize { ws_col: fits(columns), ws_row: fits(rows), ws_xpixel: 0, ws_ypixel: 0 }
}

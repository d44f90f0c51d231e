//! The screen of a run on a terminal: scenes go to the stream that standard error leads to, keys come from standard
//! input on a thread of their own.
//!
//! It opens with the first second, so that a script that runs once flashes nothing, and never touches a terminal that
//! belongs to another job. Keys change what is shown, never what is measured; `s` alone speaks to the test, by the
//! signal that Ctrl-C would send.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind};

use crate::live::{Glance, History, Key, Scene};
use crate::output::{self, Size, Stream, raw};
use crate::process::environment::Variables;

/// A smaller window has the plain progress.
const LEAST: Size = Size { columns: 60, rows: 16 };
/// How long the thread waits for a key before it looks whether the screen is still there.
const LOOK: Duration = Duration::from_millis(200);

/// Whether somebody wants a screen, or does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// `--no-tui`, or `-q`.
    No,
    /// `--no-tui=false`: wherever a terminal can show one.
    Yes,
    /// Nothing was said: where a person sits in front of a window that is large enough.
    IfFitting,
}

/// A screen that is there, or will be with the first second.
pub struct LiveScreen {
    shared: Arc<ScreenLink>,
}

struct ScreenLink {
    stream: Stream,
    state: Mutex<OnScreen>,
}

/// What keys and seconds change.
struct OnScreen {
    scene: Scene,
    /// The newest second, while the picture stands still.
    newest: Option<(Arc<Glance>, Arc<History>)>,
    is_open: bool,
    /// Nobody wants it back.
    is_left: bool,
}

impl Wanted {
    fn fits(self, size: Size, env: &Variables, is_k6: bool) -> bool {
        let is_set = |name: &str| env.get(name).is_some_and(|text| !matches!(text.as_str(), "" | "0" | "false"));
        let is_large = size.columns >= LEAST.columns && size.rows >= LEAST.rows;
        match self {
            Wanted::No => false,
            Wanted::Yes => true,
            Wanted::IfFitting => is_large && !is_set("CI") && !is_k6,
        }
    }
}

impl LiveScreen {
    /// None where it is not wanted, or where there is no terminal for it.
    pub fn new(wanted: Wanted, env: &Variables, is_k6: bool, title: String, color: bool) -> Option<LiveScreen> {
        let stream = output::stderr().clone();
        let size = stream.size().filter(|_| raw::is_typed_into())?;
        let scene = Scene { title, color, ..Scene::default() };
        let state = Mutex::new(OnScreen { scene, newest: None, is_open: false, is_left: false });
        wanted.fits(size, env, is_k6).then(|| LiveScreen { shared: Arc::new(ScreenLink { stream, state }) })
    }

    /// Shows a second.
    pub fn show(&self, glance: &Arc<Glance>, history: &Arc<History>) {
        let mut state = self.shared.state();
        if state.is_left || (!state.is_open && glance.is_last()) {
            return;
        }
        if !state.is_open {
            state.is_open = true;
            self.open();
        } else if !self.shared.stream.has_scene() {
            // Too much was written.
            state.is_left = true;
            return raw::end();
        }
        if state.scene.view.is_paused {
            state.newest = Some((Arc::clone(glance), Arc::clone(history)));
            return;
        }
        (state.scene.glance, state.scene.history) = (Arc::clone(glance), Arc::clone(history));
        self.shared.stream.show_scene(state.scene.clone());
    }

    /// Gives the terminal back.
    pub fn close(&self) {
        self.shared.leave();
    }

    fn open(&self) {
        if raw::begin() {
            let shared = Arc::clone(&self.shared);
            // Without the thread there are no keys, and the screen goes when the test ends.
            let _ = std::thread::Builder::new().name(String::from("keys")).spawn(move || shared.hear());
        }
    }
}

impl ScreenLink {
    fn state(&self) -> MutexGuard<'_, OnScreen> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn leave(&self) {
        self.state().is_left = true;
        self.stream.close_scene();
        raw::end();
    }

    /// What the thread does.
    fn hear(&self) {
        while !self.state().is_left {
            match event::poll(LOOK) {
                Ok(false) => {}
                Ok(true) => match event::read() {
                    Ok(Event::Key(pressed)) => key(pressed).into_iter().for_each(|key| self.press(key)),
                    Ok(Event::Resize(..)) => self.draw_again(),
                    Ok(_) => {}
                    Err(_) => return,
                },
                Err(_) => return,
            }
        }
    }

    fn press(&self, key: Key) {
        let mut state = self.state();
        if state.is_left {
            return;
        }
        let before = state.scene.view;
        state.scene.view = before.pressed(key, state.scene.history.tracks.len());
        if !state.scene.view.is_paused
            && let Some((glance, history)) = state.newest.take()
        {
            (state.scene.glance, state.scene.history) = (glance, history);
        }
        drop(state);
        match key {
            Key::Leave => self.leave(),
            // The second signal would end the process at once.
            Key::Stop if !before.is_stopping => {
                let _ = rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::INT);
                self.draw_again();
            }
            _ => self.draw_again(),
        }
    }

    fn draw_again(&self) {
        let state = self.state();
        if !state.is_left && self.stream.has_scene() {
            self.stream.show_scene(state.scene.clone());
        }
    }
}

fn key(pressed: KeyEvent) -> Option<Key> {
    if pressed.kind == KeyEventKind::Release {
        return None;
    }
    match pressed.code {
        KeyCode::Char('p' | ' ') => Some(Key::Pause),
        KeyCode::Tab | KeyCode::Right | KeyCode::Down => Some(Key::Next),
        KeyCode::BackTab | KeyCode::Left | KeyCode::Up => Some(Key::Previous),
        KeyCode::Char('s') => Some(Key::Stop),
        KeyCode::Char('q') => Some(Key::Leave),
        KeyCode::Char('?' | 'h') => Some(Key::Help),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_person_in_front_of_a_window_gets_a_screen() {
        let size = |columns, rows| Size { columns, rows };
        let env = |name: &str, value: &str| Variables::from([(name.to_owned(), value.to_owned())]);
        let none = Variables::new();
        for (wanted, size, env, is_k6, expected) in [
            (Wanted::IfFitting, size(60, 16), &none, false, true),
            (Wanted::IfFitting, size(59, 16), &none, false, false),
            (Wanted::IfFitting, size(60, 15), &none, false, false),
            (Wanted::IfFitting, size(80, 24), &none, true, false),
            (Wanted::IfFitting, size(80, 24), &env("CI", "true"), false, false),
            (Wanted::IfFitting, size(80, 24), &env("CI", "false"), false, true),
            (Wanted::Yes, size(20, 5), &env("CI", "1"), true, true),
            (Wanted::No, size(80, 24), &none, false, false),
        ] {
            assert_eq!(wanted.fits(size, env, is_k6), expected, "{wanted:?} {size:?} {env:?}");
        }
    }
}

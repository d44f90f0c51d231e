//! The styles of the screen. Without colours there is bold and dim text and no colour at all; with them a colour stands
//! beside a word or a sign that says the same.

use ratatui::style::{Color, Modifier, Style};

/// With colours or without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ink {
    /// Whether there are colours.
    pub color: bool,
}

impl Ink {
    /// As the terminal has it.
    pub fn plain(self) -> Style {
        Style::new()
    }

    /// What matters most.
    pub fn strong(self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// What may be overlooked.
    pub fn faint(self) -> Style {
        Style::new().add_modifier(Modifier::DIM)
    }

    /// A state that must not be overlooked.
    pub fn marked(self) -> Style {
        Style::new().add_modifier(Modifier::REVERSED)
    }

    /// As it should be. Blue and orange are told apart by those who cannot tell green from red.
    pub fn good(self) -> Style {
        self.colored(Color::Blue)
    }

    /// In doubt.
    pub fn doubtful(self) -> Style {
        self.colored(Color::Yellow)
    }

    /// Not as it should be.
    pub fn bad(self) -> Style {
        self.colored(Color::LightRed).add_modifier(Modifier::BOLD)
    }

    /// A line of the chart, counted from its highest.
    pub fn line(self, number: usize) -> Style {
        self.colored([Color::Yellow, Color::Cyan, Color::Blue][number % 3])
    }

    fn colored(self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }
}

//! What waits to be written to a stream. Bounded: lines of the log that do not fit are dropped and counted; what Onrush
//! itself has to say is little and always fits. Pure: no thread, no clock.

use std::collections::VecDeque;

use super::picture::Live;
use crate::live::Scene;

/// Bytes of log lines that wait at most: a second of very many lines, so that a reader may pause.
const MOST: usize = 32 << 20;
/// Lines are gathered into pieces of this size, and so much is taken at a time.
const PIECE: usize = 64 << 10;

/// One step of what is written.
#[derive(Debug, PartialEq)]
pub enum Item {
    /// Lines of the log.
    Lines {
        /// With their line ends.
        bytes: Vec<u8>,
        /// How many.
        count: u64,
    },
    /// What Onrush itself has to say.
    Own(Vec<u8>),
    /// What is below everything else on a terminal from now on.
    Live(Live),
    /// What fills the window from now on, until it closes.
    Scene(Box<Scene>),
    /// The window is given back.
    CloseScene,
    /// What is there goes.
    Clear,
    /// What is there stays where it is.
    Settle,
}

/// Says that lines are missing, as a line of the log.
pub type Notice = Box<dyn Fn(u64) -> String + Send>;

/// Items in order.
#[derive(Default)]
pub struct Queue {
    items: VecDeque<Item>,
    bytes: usize,
    /// Full, and not half empty since.
    is_choked: bool,
    dropped: u64,
    /// How many of the dropped lines the stream has reported.
    told: u64,
    notice: Option<Notice>,
    window: Window,
}

/// Whose the window is, for those who add to the queue.
#[derive(Clone, Copy, Default, PartialEq)]
enum Window {
    /// Of the terminal, until now.
    #[default]
    Free,
    /// Of a scene.
    Taken,
    /// Of the terminal, to the end.
    GivenBack,
}

impl Queue {
    /// How dropped lines are reported.
    pub fn set_notice(&mut self, notice: Notice) {
        self.notice = Some(notice);
    }

    /// Adds a line of the log, its line end included, or drops it.
    pub fn line(&mut self, line: &[u8]) {
        self.is_choked = if self.is_choked { self.bytes > MOST / 2 } else { self.bytes + line.len() > MOST };
        if self.is_choked {
            self.dropped += 1;
            return;
        }
        self.tell();
        self.bytes += line.len();
        match self.items.back_mut() {
            Some(Item::Lines { bytes, count }) if bytes.len() < PIECE => {
                bytes.extend_from_slice(line);
                *count += 1;
            }
            _ => self.items.push_back(Item::Lines { bytes: line.to_vec(), count: 1 }),
        }
    }

    /// Adds what is never dropped.
    pub fn own(&mut self, bytes: &[u8]) {
        self.bytes += bytes.len();
        self.items.push_back(Item::Own(bytes.to_vec()));
    }

    /// Adds lines that are useless when others wait already.
    pub fn passing(&mut self, bytes: &[u8]) {
        if self.bytes < PIECE {
            self.own(bytes);
        }
    }

    /// Changes what is below everything else.
    pub fn live(&mut self, live: Live) {
        match self.items.back_mut() {
            Some(Item::Live(last)) => *last = live,
            _ => self.items.push_back(Item::Live(live)),
        }
    }

    /// Changes what fills the window; false when it has been given back. Of those that wait for a slow terminal the
    /// last is enough.
    pub fn scene(&mut self, scene: Scene) -> bool {
        if self.window == Window::GivenBack {
            return false;
        }
        self.window = Window::Taken;
        self.items.retain(|item| !matches!(item, Item::Scene(_)));
        self.items.push_back(Item::Scene(Box::new(scene)));
        true
    }

    /// Gives the window back, for good.
    pub fn close_scene(&mut self) {
        if std::mem::replace(&mut self.window, Window::GivenBack) == Window::Taken {
            self.items.push_back(Item::CloseScene);
        }
    }

    /// Wipes what is there.
    pub fn clear(&mut self) {
        self.items.push_back(Item::Clear);
    }

    /// Leaves what is there where it is.
    pub fn settle(&mut self) {
        self.items.push_back(Item::Settle);
    }

    /// The next items, about a piece of them.
    pub fn take(&mut self) -> Vec<Item> {
        if self.items.is_empty() {
            self.tell();
        }
        let (mut taken, mut size) = (Vec::new(), 0);
        while size < PIECE
            && let Some(item) = self.items.pop_front()
        {
            size += item.size();
            taken.push(item);
        }
        debug_assert!(size <= self.bytes, "{size} bytes taken of {} waiting", self.bytes);
        self.bytes -= size;
        debug_assert_eq!(self.bytes, self.items.iter().map(Item::size).sum::<usize>(), "what waits is counted");
        taken
    }

    /// Drops all lines that wait.
    pub fn discard(&mut self) {
        let waiting = self.items.iter().map(|item| if let Item::Lines { count, .. } = item { *count } else { 0 });
        self.dropped += waiting.sum::<u64>();
        self.items.retain(|item| !matches!(item, Item::Lines { .. }));
        self.bytes = self.items.iter().map(Item::size).sum();
    }

    /// Adds lines that were taken and then lost.
    pub fn lost(&mut self, items: &[Item]) {
        self.dropped +=
            items.iter().map(|item| if let Item::Lines { count, .. } = item { *count } else { 0 }).sum::<u64>();
    }

    /// Whether nothing waits.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// Lines dropped so far.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Says, where they would have stood, that lines are missing.
    fn tell(&mut self) {
        debug_assert!(self.told <= self.dropped, "told of {} lines, {} are missing", self.told, self.dropped);
        let missing = self.dropped - self.told;
        self.told = self.dropped;
        if let Some(notice) = self.notice.as_ref().filter(|_| missing > 0) {
            let line = notice(missing);
            self.own(line.as_bytes());
        }
    }
}

impl Item {
    fn size(&self) -> usize {
        match self {
            Item::Lines { bytes, .. } | Item::Own(bytes) => bytes.len(),
            Item::Live(_) | Item::Scene(_) | Item::CloseScene | Item::Clear | Item::Settle => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(items: &[Item]) -> String {
        let of = |item: &Item| match item {
            Item::Lines { bytes, .. } | Item::Own(bytes) => String::from_utf8(bytes.clone()).unwrap(),
            Item::Live(_) => String::from("<live>"),
            _ => String::new(),
        };
        items.iter().map(of).collect()
    }

    #[test]
    fn what_does_not_fit_is_counted_and_said_where_it_is_missing() {
        let mut queue = Queue::default();
        queue.set_notice(Box::new(|missing| format!("{missing} missing\n")));
        let line = [&[b'x'; 999_999][..], b"\n"].concat();
        (0..40).for_each(|_| queue.line(&line));
        assert_eq!(queue.dropped(), 7);
        queue.own(b"own words\n");
        while queue.bytes > MOST / 2 {
            queue.line(b"too early\n");
            queue.take();
        }
        let dropped = queue.dropped();
        queue.line(b"again\n");
        let mut rest = Vec::new();
        while !queue.is_empty() {
            rest.extend(queue.take());
        }
        let rest = text(&rest);
        assert!(rest.ends_with(&format!("own words\n{dropped} missing\nagain\n")), "{}", &rest[rest.len() - 99..]);
        assert!(text(&queue.take()).is_empty(), "told once");
    }

    #[test]
    fn a_window_that_was_given_back_is_not_taken_again() {
        let mut queue = Queue::default();
        assert!(queue.scene(Scene::default()));
        (0..2).for_each(|_| queue.close_scene());
        assert!(!queue.scene(Scene::default()));
        assert_eq!(queue.take(), [Item::Scene(Box::default()), Item::CloseScene]);
        let mut queue = Queue::default();
        queue.close_scene();
        assert!(queue.is_empty(), "no scene was there");
    }

    #[test]
    fn lines_that_are_missing_at_the_end_are_said_too() {
        let mut queue = Queue::default();
        queue.set_notice(Box::new(|missing| format!("{missing} missing\n")));
        queue.line(b"a\n");
        queue.line(b"b\n");
        queue.own(b"summary\n");
        queue.discard();
        assert_eq!((text(&queue.take()), queue.dropped()), (String::from("summary\n"), 2));
        assert_eq!(text(&queue.take()), "2 missing\n");
    }

    #[test]
    fn of_pictures_in_a_row_the_last_is_drawn() {
        let mut queue = Queue::default();
        queue.live(Live::Line(String::from("1")));
        queue.live(Live::Line(String::from("2")));
        queue.settle();
        assert_eq!(queue.take(), [Item::Live(Live::Line(String::from("2"))), Item::Settle]);
    }
}

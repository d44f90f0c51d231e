//! Users that record what they did and in which order, in a queue under a fake clock.
//!
//! What is asserted is order: who runs, sends and receives before whom, and who is left waiting.

use super::*;
use crate::clock::FakeClock;
use std::pin::Pin;
use std::rc::Rc;
use tokio::task::yield_now;

type Diary = Rc<RefCell<Vec<&'static str>>>;

impl Resumable for Pin<Box<dyn Future<Output = ()>>> {
    fn resume(&mut self, context: &mut Context<'_>) -> Progress<()> {
        if self.as_mut().poll(context).is_ready() { Progress::Over(()) } else { Progress::Waits }
    }

    fn attend(&mut self, _: &mut Context<'_>) -> Poll<()> {
        unreachable!("it asks for nothing")
    }
}

impl RunQueue {
    fn spawn(&self, work: impl Future<Output = ()> + 'static) {
        let work: Pin<Box<dyn Future<Output = ()>>> = Box::pin(work);
        self.add(work);
    }
}

/// Pending once, and woken at once.
async fn hop() {
    let mut is_first = true;
    poll_fn(|context| {
        context.waker().wake_by_ref();
        if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
    })
    .await;
}

#[test]
fn users_have_their_turn_in_the_order_in_which_they_were_woken() {
    let (queue, diary) = (RunQueue::new(|| {}), Diary::default());
    for names in [["a1", "a2"], ["b1", "b2"], ["c1", "c2"]] {
        let diary = Rc::clone(&diary);
        queue.spawn(async move {
            diary.borrow_mut().push(names[0]);
            hop().await;
            diary.borrow_mut().push(names[1]);
        });
    }
    FakeClock::new().run(queue.join());
    assert_eq!(*diary.borrow(), ["a1", "b1", "c1", "a2", "b2", "c2"]);
}

#[test]
fn a_user_may_add_another_and_the_queue_waits_for_both() {
    let (queue, diary) = (Rc::new(RunQueue::new(|| {})), Diary::default());
    let (inner, log) = (Rc::clone(&queue), Rc::clone(&diary));
    queue.spawn(async move {
        let second = Rc::clone(&log);
        inner.spawn(async move {
            hop().await;
            second.borrow_mut().push("second");
        });
        log.borrow_mut().push("first");
    });
    FakeClock::new().run(queue.join());
    assert_eq!(*diary.borrow(), ["first", "second"]);
}

#[test]
fn settling_ends_when_everybody_waits_and_running_when_the_queue_is_closed_too() {
    let (queue, clock) = (Rc::new(RunQueue::new(|| {})), FakeClock::new());
    let (gate, diary) = (Rc::new(tokio::sync::Notify::new()), Diary::default());
    for _ in 0..3 * TURNS {
        let (gate, diary) = (Rc::clone(&gate), Rc::clone(&diary));
        queue.spawn(async move {
            diary.borrow_mut().push("waits");
            gate.notified().await;
            diary.borrow_mut().push("ends");
        });
    }
    clock.run(async {
        queue.settle().await;
        assert_eq!(diary.borrow().len(), 3 * TURNS, "all have begun to wait");
        let running = Rc::clone(&queue);
        let running = tokio::task::spawn_local(async move { running.run().await });
        gate.notify_waiters();
        while diary.borrow().len() < 6 * TURNS {
            yield_now().await;
        }
        yield_now().await;
        assert!(!running.is_finished(), "another one may come");
        queue.close();
        running.await.unwrap();
    });
}

#[test]
fn a_user_who_is_always_ready_leaves_time_for_other_tasks() {
    let (queue, polls) = (RunQueue::new(|| {}), Rc::new(Cell::new(0)));
    let (is_over, seen) = (Rc::new(Cell::new(false)), Rc::clone(&polls));
    let ends = Rc::clone(&is_over);
    queue.spawn(async move {
        while !ends.get() {
            seen.set(seen.get() + 1);
            hop().await;
        }
    });
    FakeClock::new().run(async {
        tokio::task::spawn_local(async move {
            yield_now().await;
            is_over.set(true);
        });
        queue.join().await;
    });
    assert!((1..=3 * TURNS).contains(&polls.get()), "{} polls", polls.get());
}

#[test]
fn users_are_woken_from_other_threads() {
    let queue = RunQueue::new(|| {});
    for _ in 0..100 {
        queue.spawn(async {
            let (told, heard) = tokio::sync::oneshot::channel();
            std::thread::spawn(move || told.send(7));
            assert_eq!(heard.await, Ok(7));
        });
    }
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(queue.join());
    assert_eq!(queue.left.get(), 0);
}

/// Asks for one thing after the other, which are there when they are looked after for the second time.
struct Asking(Diary, Vec<[&'static str; 3]>, usize);

impl Resumable for Asking {
    fn resume(&mut self, _: &mut Context<'_>) -> Progress<()> {
        self.0.borrow_mut().push(self.1.first().map_or("ends", |[runs, ..]| runs));
        if self.1.is_empty() { Progress::Over(()) } else { Progress::Asks }
    }

    fn attend(&mut self, context: &mut Context<'_>) -> Poll<()> {
        self.2 += 1;
        self.0.borrow_mut().push(self.1[0][self.2]);
        if self.2 < 2 {
            context.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.1.remove(0);
        self.2 = 0;
        Poll::Ready(())
    }
}

#[test]
fn each_kind_of_work_is_done_for_all_before_the_next() {
    let (queue, diary) = (RunQueue::new(|| {}), Diary::default());
    for asks in [["runs 1", "sends 1", "receives 1"], ["runs 2", "sends 2", "receives 2"]] {
        queue.add(Asking(Rc::clone(&diary), vec![asks], 0));
    }
    FakeClock::new().run(queue.join());
    let expected = ["runs 1", "runs 2", "sends 1", "sends 2", "receives 1", "receives 2", "ends", "ends"];
    assert_eq!(*diary.borrow(), expected);
}

#[test]
fn the_next_group_comes_when_this_one_has_run_and_sent() {
    let (queue, diary) = (RunQueue::new(|| {}), Diary::default());
    for _ in 0..=GROUP {
        queue.add(Asking(Rc::clone(&diary), vec![["runs", "sends", "receives"]], 0));
    }
    FakeClock::new().run(queue.join());
    let first_of = |kind| diary.borrow().iter().position(|done| *done == kind).unwrap();
    let in_group = diary.borrow()[..2 * GROUP].iter().filter(|done| **done == "runs").count();
    assert_eq!((first_of("sends"), in_group), (GROUP, GROUP), "one run is left for the second group");
    assert_eq!(diary.borrow()[2 * GROUP], "runs");
}

/// Asks for what is there at once.
struct Hasty(Diary, u32);

impl Resumable for Hasty {
    fn resume(&mut self, _: &mut Context<'_>) -> Progress<()> {
        self.0.borrow_mut().push("runs");
        self.1 -= 1;
        if self.1 == 0 { Progress::Over(()) } else { Progress::Asks }
    }

    fn attend(&mut self, _: &mut Context<'_>) -> Poll<()> {
        self.0.borrow_mut().push("has it");
        Poll::Ready(())
    }
}

#[test]
fn what_is_there_at_once_costs_no_turn() {
    let (queue, diary) = (RunQueue::new(|| {}), Diary::default());
    queue.add(Hasty(Rc::clone(&diary), 2));
    queue.add(Hasty(Rc::clone(&diary), 2));
    FakeClock::new().run(queue.join());
    assert_eq!(*diary.borrow(), ["runs", "runs", "has it", "runs", "has it", "runs"]);
}

/// What has arrived is looked for when nobody can go on, not while others still run.
#[test]
fn arrivals_are_looked_for_when_nobody_can_go_on() {
    let (diary, waiting) = (Diary::default(), Rc::new(Cell::new(None::<Waker>)));
    let (log, arrives) = (Rc::clone(&diary), Rc::clone(&waiting));
    let queue = RunQueue::new(move || {
        log.borrow_mut().push("looks");
        arrives.take().into_iter().for_each(Waker::wake);
    });
    for name in ["a", "b"] {
        let (log, waiting) = (Rc::clone(&diary), Rc::clone(&waiting));
        queue.spawn(async move {
            log.borrow_mut().push(name);
            if name == "a" {
                let mut is_first = true;
                poll_fn(|context| {
                    waiting.set(Some(context.waker().clone()));
                    if std::mem::take(&mut is_first) { Poll::Pending } else { Poll::Ready(()) }
                })
                .await;
                log.borrow_mut().push("a goes on");
            }
        });
    }
    FakeClock::new().run(queue.join());
    assert_eq!(*diary.borrow(), ["a", "b", "looks", "a goes on"]);
}

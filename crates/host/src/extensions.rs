//! Typed state that others keep with a user or with the users of a worker: one value a type, made at its first use.

use std::any::{Any, TypeId};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

/// Values that are looked at without a call: what a request and a check ask for.
const FIRST: usize = 2;

/// Values by their types. A short list beats a hash map here: a user has fewer than ten.
#[derive(Default)]
pub struct Extensions {
    values: RefCell<Vec<(TypeId, Rc<dyn Any>)>>,
    /// Which of the first gives up its place next.
    next: Cell<usize>,
}

impl Extensions {
    /// The value of this type, made by `Default` when there is none.
    #[inline]
    pub fn get<T: Default + 'static>(&self) -> Rc<T> {
        let id = TypeId::of::<T>();
        let values = self.values.borrow();
        let among_first = values.iter().take(FIRST).find(|(known, _)| *known == id).map(|(_, value)| Rc::clone(value));
        drop(values);
        let value = among_first.unwrap_or_else(|| self.find(id, || Rc::new(T::default())));
        // SAFETY: a value is stored under the id of its own type, so the pointer is one to a `T` in an `Rc`.
        unsafe { Rc::from_raw(Rc::into_raw(value).cast::<T>()) }
    }

    /// A value that is not among the first takes the place of one of them, of each in turn: those that nobody asks for
    /// any more are not there for long. `make` gives one of the type with this id.
    #[inline(never)]
    fn find(&self, id: TypeId, make: impl FnOnce() -> Rc<dyn Any>) -> Rc<dyn Any> {
        let mut values = self.values.borrow_mut();
        if let Some(at) = values.iter().position(|(known, _)| *known == id) {
            let value = Rc::clone(&values[at].1);
            if at >= FIRST {
                values.swap(self.next.replace((self.next.get() + 1) % FIRST), at);
            }
            return value;
        }
        // Making it may ask for others.
        drop(values);
        let made = make();
        self.values.borrow_mut().push((id, Rc::clone(&made)));
        made
    }

    /// Forgets all values.
    pub fn clear(&self) {
        let values = std::mem::take(&mut *self.values.borrow_mut());
        drop(values);
    }
}

impl std::fmt::Debug for Extensions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Extensions({})", self.values.borrow().len())
    }
}

//! Typed state that others keep with a user or with the users of a worker: one value a type, made at its first use.

use std::any::{Any, TypeId};
use std::cell::RefCell;
use std::rc::Rc;

/// Values by their types. A short list beats a hash map here: a user has fewer than ten.
#[derive(Default)]
pub struct Extensions {
    values: RefCell<Vec<(TypeId, Rc<dyn Any>)>>,
}

impl Extensions {
    /// The value of this type, made by `Default` when there is none.
    pub fn get<T: Default + 'static>(&self) -> Rc<T> {
        let id = TypeId::of::<T>();
        let value = self.known(id).unwrap_or_else(|| {
            let made: Rc<dyn Any> = Rc::new(T::default());
            self.values.borrow_mut().push((id, made.clone()));
            made
        });
        value.downcast::<T>().expect("stored under its own type")
    }

    /// Each time, a value moves one place to the front, so what is asked for most is found first.
    fn known(&self, id: TypeId) -> Option<Rc<dyn Any>> {
        let mut values = self.values.borrow_mut();
        let at = values.iter().position(|(known, _)| *known == id)?;
        let value = values[at].1.clone();
        if at > 0 {
            values.swap(at - 1, at);
        }
        Some(value)
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

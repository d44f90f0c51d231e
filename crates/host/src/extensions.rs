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
        let known = self.values.borrow().iter().find(|(known, _)| *known == id).map(|(_, value)| value.clone());
        let value = known.unwrap_or_else(|| {
            let made: Rc<dyn Any> = Rc::new(T::default());
            self.values.borrow_mut().push((id, made.clone()));
            made
        });
        value.downcast::<T>().expect("stored under its own type")
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

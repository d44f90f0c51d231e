//! The inside of one lazy object: its data, and the values that were made of it so far.

use std::any::TypeId;
use std::cell::{Cell, Ref, RefCell, RefMut};
use std::mem::MaybeUninit;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

use rquickjs::{Ctx, Error, Value, qjs};

use super::LazyFields;
use crate::quickjs::lazy_shape::FieldAtoms;

/// Data for one lazy object, in one block of memory with what the object needs.
#[repr(C)]
pub struct Lazy<T> {
    /// First, so that a pointer to the block is one to the cell, whatever the data is.
    pub(super) cell: LazyCell,
    data: T,
}

/// Memory for one lazy object that another one has left.
pub struct Spare<T>(Rc<MaybeUninit<Lazy<T>>>);

/// What has to be known of the data's type.
pub(super) struct DataKind {
    pub of: TypeId,
    /// The value of a field; for data of this type alone.
    field: for<'js> unsafe fn(&LazyCell, &Ctx<'js>, usize) -> rquickjs::Result<Value<'js>>,
    /// The same for an object that keeps a script value.
    field_with: for<'js> unsafe fn(&LazyCell, &Ctx<'js>, usize, Value<'js>) -> rquickjs::Result<Value<'js>>,
    /// Gives back the count that an object holds.
    pub release: unsafe fn(*const LazyCell),
}

impl<T: LazyFields> Lazy<T> {
    const KIND: &'static DataKind = &DataKind {
        of: TypeId::of::<T>(),
        field: |cell, ctx, index| {
            // SAFETY: the cell is in a block with a `T`, because this function is in its table.
            let lazy = unsafe { &*std::ptr::from_ref(cell).cast::<Lazy<T>>() };
            lazy.data.field(ctx, index)
        },
        field_with: |cell, ctx, index, kept| {
            // SAFETY: as above.
            let lazy = unsafe { &*std::ptr::from_ref(cell).cast::<Lazy<T>>() };
            lazy.data.field_with(ctx, index, kept)
        },
        // SAFETY: the pointer comes from `Rc::into_raw` of such a block.
        release: |cell| unsafe { T::retire(Rc::from_raw(cell.cast::<Lazy<T>>())) },
    };

    /// A block without an object.
    // The data is made where it stays: made first, it would be copied into the block, which costs more than filling it
    // in.
    #[inline(always)]
    pub fn new(data: impl FnOnce() -> T) -> Rc<Lazy<T>> {
        Self::fill(Rc::new_uninit(), data)
    }

    /// The same in a block that another object has left, if there is one.
    #[inline(always)]
    pub fn new_in(spare: Option<Spare<T>>, data: impl FnOnce() -> T) -> Rc<Lazy<T>> {
        Self::fill(spare.map_or_else(Rc::new_uninit, |spare| spare.0), data)
    }

    #[inline(always)]
    fn fill(mut block: Rc<MaybeUninit<Lazy<T>>>, data: impl FnOnce() -> T) -> Rc<Lazy<T>> {
        let cell = LazyCell {
            kind: Self::KIND,
            atoms: RefCell::new(None),
            kept: Cell::new(qjs::JS_UNDEFINED),
            slots: RefCell::default(),
            expanded: Cell::new(false),
        };
        Rc::get_mut(&mut block).expect("nobody else has it yet").write(Lazy { cell, data: data() });
        // SAFETY: it was written just now.
        unsafe { block.assume_init() }
    }

    /// The memory of a block, when nobody else has it; its data is dropped.
    #[inline]
    pub fn into_spare(block: Rc<Lazy<T>>) -> Option<Spare<T>> {
        if Rc::strong_count(&block) > 1 || Rc::weak_count(&block) > 0 {
            return None;
        }
        let raw = Rc::into_raw(block).cast_mut();
        // SAFETY: this is the only count of the block, so nobody sees the data while it is dropped, and nobody later:
        // what may be anything is not dropped again, and has the size and alignment of what was there.
        unsafe {
            raw.drop_in_place();
            Some(Spare(Rc::from_raw(raw.cast::<MaybeUninit<Lazy<T>>>())))
        }
    }

    /// The block that a cell is in, if its data is a `T`.
    ///
    /// # Safety
    /// An object holds a count of the block.
    pub(super) unsafe fn of(cell: &LazyCell) -> Option<Rc<Lazy<T>>> {
        if cell.kind.of != TypeId::of::<T>() {
            return None;
        }
        let block = std::ptr::from_ref(cell).cast::<Lazy<T>>();
        // SAFETY: it is in a block with a `T`, that has a count by the contract; the one made here is the result's.
        unsafe {
            Rc::increment_strong_count(block);
            Some(Rc::from_raw(block))
        }
    }
}

impl<T> Deref for Lazy<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.data
    }
}

impl<T> DerefMut for Lazy<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        &mut self.data
    }
}

/// A field's value and what may be done with the property.
#[derive(Clone, Copy)]
pub(super) struct Slot {
    /// `JS_UNINITIALIZED` until it is made.
    pub value: qjs::JSValue,
    pub flags: u32,
}

impl Slot {
    const EMPTY: Slot = Slot { value: qjs::JS_UNINITIALIZED, flags: qjs::JS_PROP_C_W_E };

    pub fn is_made(&self) -> bool {
        // SAFETY: only the tag is looked at.
        unsafe { qjs::JS_VALUE_GET_TAG(self.value) != qjs::JS_TAG_UNINITIALIZED }
    }
}

/// What a lazy object needs beside its data.
pub(super) struct LazyCell {
    pub kind: &'static DataKind,
    /// There as long as the object lives.
    pub atoms: RefCell<Option<Rc<FieldAtoms>>>,
    /// `JS_UNDEFINED` when there is none; owned.
    pub kept: Cell<qjs::JSValue>,
    /// Empty until something is to be kept: most responses are never looked at.
    pub slots: RefCell<Box<[Slot]>>,
    /// All fields have become ordinary properties; the slots are empty.
    pub expanded: Cell<bool>,
}

impl LazyCell {
    /// The names of the object's fields.
    #[inline]
    pub fn atoms(&self) -> Ref<'_, FieldAtoms> {
        Ref::map(self.atoms.borrow(), |atoms| &**atoms.as_ref().expect("the object lives"))
    }

    /// The cell of an object of our class.
    ///
    /// # Safety
    /// `object` must be one, and alive as long as the result is used.
    pub unsafe fn of<'a>(object: qjs::JSValue) -> Option<&'a LazyCell> {
        let mut class = qjs::JS_INVALID_CLASS_ID;
        // SAFETY: by the contract; QuickJS calls the exotic methods with objects of our class alone.
        unsafe { qjs::JS_GetAnyOpaque(object, &mut class).cast::<LazyCell>().as_ref() }
    }

    fn kept<'js>(&self, ctx: &Ctx<'js>) -> Option<Value<'js>> {
        // SAFETY: the cell owns the value; the result gets a count of its own.
        unsafe {
            let kept = self.kept.get();
            let is_there = qjs::JS_VALUE_GET_TAG(kept) != qjs::JS_TAG_UNDEFINED;
            is_there.then(|| Value::from_raw(ctx.clone(), qjs::JS_DupValue(ctx.as_raw().as_ptr(), kept)))
        }
    }

    pub fn slot(&self, index: usize) -> Slot {
        self.slots.borrow().get(index).copied().unwrap_or(Slot::EMPTY)
    }

    /// All slots, to be changed.
    fn slots_mut(&self) -> RefMut<'_, Box<[Slot]>> {
        let mut slots = self.slots.borrow_mut();
        if slots.is_empty() {
            *slots = vec![Slot::EMPTY; self.atoms().atoms.len()].into_boxed_slice();
        }
        slots
    }

    /// The value of a field or a method of `object`, owned by the slot where it has an owner.
    pub fn value(&self, ctx: &Ctx<'_>, object: qjs::JSValue, index: usize) -> rquickjs::Result<qjs::JSValue> {
        let slot = self.slot(index);
        if slot.is_made() {
            return Ok(slot.value);
        }
        let is_method = index >= self.atoms().fields;
        // SAFETY: the functions are those of the data's type.
        let made = unsafe {
            match self.kept(ctx) {
                _ if is_method => self.method(ctx, object, index)?,
                None => (self.kind.field)(self, ctx, index)?,
                Some(kept) => (self.kind.field_with)(self, ctx, index, kept)?,
            }
        };
        if made.is_int() && self.slots.borrow().is_empty() {
            // Nobody owns a number, and making it anew costs less than the slots: `status` is often all that is read.
            return Ok(made.as_raw());
        }
        // SAFETY: one count is made for the slot; `made` gives back its own.
        let value = unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), made.as_raw()) };
        let mut slots = self.slots_mut();
        if slots[index].is_made() {
            // Making it ran code that read it, too: the first one made stays.
            // SAFETY: gives back the count made above.
            unsafe { qjs::JS_FreeValue(ctx.as_raw().as_ptr(), value) };
        } else {
            slots[index].value = value;
        }
        Ok(slots[index].value)
    }

    fn method<'js>(&self, ctx: &Ctx<'js>, object: qjs::JSValue, index: usize) -> rquickjs::Result<Value<'js>> {
        let atom = self.atoms().atoms[index];
        // SAFETY: object and atom are live; both counts that the calls make are given back.
        let found = unsafe {
            let context = ctx.as_raw().as_ptr();
            let prototype = Value::from_raw(ctx.clone(), qjs::JS_GetPrototype(context, object));
            if !prototype.is_object() {
                return Ok(Value::new_undefined(ctx.clone()));
            }
            Value::from_raw(ctx.clone(), qjs::JS_GetProperty(context, prototype.as_raw(), atom))
        };
        if found.is_exception() { Err(Error::Exception) } else { Ok(found) }
    }

    /// Turns all fields into ordinary properties, in order.
    pub fn expand(&self, ctx: &Ctx<'_>, object: qjs::JSValue) -> rquickjs::Result<()> {
        // From here on numbers are kept, too.
        drop(self.slots_mut());
        let atoms = Rc::clone(self.atoms.borrow().as_ref().expect("the object lives"));
        for index in 0..atoms.atoms.len() {
            self.value(ctx, object, index)?;
        }
        self.expanded.set(true);
        let slots: Vec<Slot> = self.slots_mut().iter_mut().map(|slot| std::mem::replace(slot, Slot::EMPTY)).collect();
        for (slot, &atom) in slots.iter().zip(&atoms.atoms) {
            let all_given = qjs::JS_PROP_HAS_VALUE
                | qjs::JS_PROP_HAS_CONFIGURABLE
                | qjs::JS_PROP_HAS_WRITABLE
                | qjs::JS_PROP_HAS_ENUMERABLE;
            let flags = slot.flags | all_given | qjs::JS_PROP_NO_EXOTIC | qjs::JS_PROP_THROW;
            // SAFETY: object, atom and value are live; the slot's count is given back after the property made its own.
            let result = unsafe {
                let context = ctx.as_raw().as_ptr();
                let none = qjs::JS_UNDEFINED;
                let result = qjs::JS_DefineProperty(context, object, atom, slot.value, none, none, flags as _);
                qjs::JS_FreeValue(context, slot.value);
                result
            };
            if result < 0 {
                return Err(Error::Exception);
            }
        }
        Ok(())
    }

    /// Applies a property descriptor to a field that is still a slot.
    pub fn define(&self, ctx: &Ctx<'_>, index: usize, value: qjs::JSValue, flags: u32) -> Defined {
        let current = self.slot(index).flags;
        let given = (flags >> qjs::JS_PROP_HAS_SHIFT) & qjs::JS_PROP_C_W_E;
        let changes = (current ^ flags) & given;
        let has_accessor = flags & (qjs::JS_PROP_HAS_GET | qjs::JS_PROP_HAS_SET) != 0;
        let has_value = flags & qjs::JS_PROP_HAS_VALUE != 0;
        let is_writable = current & qjs::JS_PROP_WRITABLE != 0;
        if current & qjs::JS_PROP_CONFIGURABLE == 0 {
            // Of a property that is not configurable only the value may change, or `writable` to false, while it is
            // writable.
            let other_changes = changes & !qjs::JS_PROP_WRITABLE != 0;
            if has_accessor || other_changes || !is_writable && (has_value || changes != 0) {
                return Defined::Refused;
            }
        }
        if has_accessor {
            return Defined::NeedsProperty;
        }
        if has_value {
            // SAFETY: one count for the slot; the old value's is given back after the borrow has ended, for freeing it
            // may run finalizers.
            unsafe {
                let context = ctx.as_raw().as_ptr();
                let value = qjs::JS_DupValue(context, value);
                let old = std::mem::replace(&mut self.slots_mut()[index].value, value);
                qjs::JS_FreeValue(context, old);
            }
        }
        self.slots_mut()[index].flags = (current & !given) | (flags & given);
        Defined::Done
    }
}

/// What became of a descriptor.
pub(super) enum Defined {
    Done,
    /// Only an ordinary property can hold it.
    NeedsProperty,
    /// The slot's flags forbid it.
    Refused,
}

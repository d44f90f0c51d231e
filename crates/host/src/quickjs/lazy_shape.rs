//! What the lazy objects of one type have in common in one runtime: the names of their fields and their prototype.

use std::any::TypeId;
use std::ptr::NonNull;
use std::rc::Rc;

use rquickjs::{Ctx, Error, Object, qjs};

/// An object of our class that holds nothing yet.
#[inline]
pub(crate) fn new_object(
    ctx: &Ctx<'_>,
    prototype: Option<qjs::JSValue>,
    class: qjs::JSClassID,
) -> rquickjs::Result<qjs::JSValue> {
    // SAFETY: the class is registered in this runtime, and the shape keeps its prototype alive.
    unsafe {
        let context = ctx.as_raw().as_ptr();
        let object = match prototype {
            Some(prototype) => qjs::JS_NewObjectProtoClass(context, prototype, class),
            None => qjs::JS_NewObjectClass(context, class),
        };
        if qjs::JS_IsException(object) { Err(Error::Exception) } else { Ok(object) }
    }
}

/// What the objects of one type have in common in one runtime.
pub(crate) struct LazyShape {
    pub of: TypeId,
    pub atoms: Rc<FieldAtoms>,
    /// Owned.
    pub prototype: Option<qjs::JSValue>,
    /// Owned: an object without fields. As long as it lives, QuickJS need not make the shape of the next one anew.
    keeper: qjs::JSValue,
}

impl LazyShape {
    /// A shape of the objects of this class; the prototype stays alive as long as the user's state does.
    pub fn new(
        ctx: &Ctx<'_>,
        of: TypeId,
        atoms: FieldAtoms,
        prototype: Option<Object<'_>>,
        class: qjs::JSClassID,
    ) -> rquickjs::Result<LazyShape> {
        // SAFETY: the count made here is given back by `drop`.
        let prototype = prototype.map(|object| unsafe { qjs::JS_DupValue(ctx.as_raw().as_ptr(), object.as_raw()) });
        let mut shape = LazyShape { of, atoms: Rc::new(atoms), prototype, keeper: qjs::JS_UNDEFINED };
        shape.keeper = new_object(ctx, prototype, class)?;
        Ok(shape)
    }
}

impl Drop for LazyShape {
    fn drop(&mut self) {
        for owned in [Some(self.keeper), self.prototype].into_iter().flatten() {
            // SAFETY: shapes belong to the user's state, which is cleared before the runtime goes.
            unsafe { qjs::JS_FreeValueRT(self.atoms.runtime.as_ptr(), owned) };
        }
    }
}

/// Field names of one type as atoms of one runtime: comparing numbers finds a field.
pub(crate) struct FieldAtoms {
    /// Fields, then methods.
    pub atoms: Box<[qjs::JSAtom]>,
    /// How many of them are fields.
    pub fields: usize,
    runtime: NonNull<qjs::JSRuntime>,
}

impl FieldAtoms {
    pub fn of(ctx: &Ctx<'_>, fields: &[&str], methods: &[&str]) -> FieldAtoms {
        // SAFETY: the context is live; each atom is given back by `drop`.
        unsafe {
            let context = ctx.as_raw().as_ptr();
            let atom = |name: &&str| qjs::JS_NewAtomLen(context, name.as_ptr().cast(), name.len() as _);
            let runtime = NonNull::new(qjs::JS_GetRuntime(context)).expect("a live context has a runtime");
            FieldAtoms { atoms: fields.iter().chain(methods).map(atom).collect(), fields: fields.len(), runtime }
        }
    }

    /// The number of the field with this name.
    pub fn index(&self, atom: qjs::JSAtom) -> Option<usize> {
        self.atoms.iter().position(|&known| known == atom)
    }
}

impl Drop for FieldAtoms {
    fn drop(&mut self) {
        for &atom in &self.atoms {
            // SAFETY: the last owners are the user's state, cleared before the runtime goes, and objects that the
            // runtime itself finalizes while it still has its atoms.
            unsafe { qjs::JS_FreeAtomRT(self.runtime.as_ptr(), atom) };
        }
    }
}

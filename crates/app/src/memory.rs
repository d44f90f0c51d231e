//! Memory that pieces of request bodies lie in, between the server that fills it and the host that shows it.
//!
//! Neither knows the other, so two types stand between them: each wraps a value of one side and implements the trait of
//! the other. What passes is moved, never copied.

use std::any::Any;

use host::js::{Ctx, Result, Value};
use host::received::{self, ForeignMemory, ReceiveBuffer};
use server::app::{Piece, PieceBuffer};

/// A piece in the server's memory, as the host shows it. Dropping it gives the memory back.
struct ServerMemory(Piece);

impl ForeignMemory for ServerMemory {
    fn bytes(&self) -> &[u8] {
        &self.0
    }

    fn bytes_mut(&mut self) -> Option<&mut [u8]> {
        self.0.bytes_mut()
    }
}

/// Memory that the app's `allocate` gave, as the server fills it.
pub(crate) struct AppMemory(pub ReceiveBuffer);

impl PieceBuffer for AppMemory {
    fn bytes(&self) -> &[u8] {
        self.0.bytes()
    }

    fn bytes_mut(&mut self) -> &mut [u8] {
        self.0.bytes_mut()
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// A piece as a Uint8Array, where it is.
pub(crate) fn show<'js>(ctx: &Ctx<'js>, piece: Piece) -> Result<Value<'js>> {
    match piece.into_buffer() {
        Err(piece) => received::view(ctx, Box::new(ServerMemory(piece))),
        Ok((buffer, range)) => match buffer.into_any().downcast::<AppMemory>() {
            Ok(buffer) => buffer.0.give_back(ctx, range),
            Err(_) => unreachable!("an app gives memory of one kind"),
        },
    }
}

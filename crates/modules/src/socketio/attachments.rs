//! Binary values of packets: they travel as messages of their own, behind a text that has numbered placeholders for
//! them.

use host::js::{Array, Ctx, Object, Result, Value};
use host::object;

/// Writes what stands for attachment `number`.
pub fn write_placeholder(out: &mut Vec<u8>, number: usize) {
    out.extend_from_slice(format!("{{\"_placeholder\":true,\"num\":{number}}}").as_bytes());
}

/// Puts the attachments to their places in a list that was just made from JSON; false when a place has none.
pub fn fill<'js>(ctx: &Ctx<'js>, list: &Array<'js>, attachments: &[Value<'js>]) -> Result<bool> {
    // A list instead of recursion: the text may nest deeper than a user's stack.
    let mut pending: Vec<Object<'js>> = vec![list.as_object().clone()];
    let mut is_complete = true;
    while let Some(holder) = pending.pop() {
        let mut changes = Vec::new();
        object::each_entry(ctx, &holder, |name, value| {
            let Some(part) = object::of(&value) else { return Ok(()) };
            match number(part)? {
                None => pending.push(part.clone()),
                Some(number) => match attachments.get(number) {
                    Some(attachment) => changes.push((name.text()?, attachment.clone())),
                    None => is_complete = false,
                },
            }
            Ok(())
        })?;
        for (name, attachment) in changes {
            holder.set(name, attachment)?;
        }
    }
    Ok(is_complete)
}

/// The number of the attachment that an object stands for. What is no number is one that nobody has.
fn number(object: &Object<'_>) -> Result<Option<usize>> {
    if object.get::<_, Value<'_>>("_placeholder")?.as_bool() != Some(true) {
        return Ok(None);
    }
    // The engine's JSON parser makes doubles of all numbers.
    let number = object.get::<_, Value<'_>>("num")?.as_number();
    let index = number.filter(|number| *number >= 0.0 && number.fract() == 0.0).map(|number| number as usize);
    Ok(Some(index.unwrap_or(usize::MAX)))
}

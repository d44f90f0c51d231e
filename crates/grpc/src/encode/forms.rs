//! Messages that JSON has another form for: moments, masks, values of JSON, `Any`.

use super::Encoder;
use crate::MAX_DEPTH;
use crate::misfit::{Step, misfit, within, wrong};
use crate::plan::Form;
use crate::value::{Done, Kind, Value};
use crate::well_known;
use crate::wire::{WireType, put_varint, tag};

impl Encoder<'_> {
    /// A message of seconds and nanoseconds from its text.
    pub(super) fn text<V: Value>(
        &mut self,
        value: &V,
        wanted: &str,
        read: impl Fn(&str) -> Option<(i64, i32)>,
    ) -> Done<V::Error> {
        self.expect(value, Kind::Text, wanted)?;
        let Some((seconds, nanos)) = value.with_text(read)? else { return Err(wrong(value, wanted)) };
        for (number, part) in [(1, seconds), (2, i64::from(nanos))] {
            if part != 0 {
                put_varint(self.out, tag(number, WireType::Varint));
                put_varint(self.out, part as u64);
            }
        }
        Ok(())
    }

    pub(super) fn mask<V: Value>(&mut self, value: &V) -> Done<V::Error> {
        const WANTED: &str = "a field mask (\"aField,another.field\")";
        self.expect(value, Kind::Text, WANTED)?;
        let Some(paths) = value.with_text(well_known::mask_paths)? else { return Err(wrong(value, WANTED)) };
        for path in paths {
            put_varint(self.out, tag(1, WireType::Bytes));
            self.bytes(path.as_bytes());
        }
        Ok(())
    }

    /// `google.protobuf.Struct`.
    pub(super) fn entries<V: Value>(&mut self, value: &V) -> Done<V::Error> {
        self.expect(value, Kind::Object, "object")?;
        value.each_entry(|key, value| {
            put_varint(self.out, tag(1, WireType::Bytes));
            let done = self.delimited(|this| {
                put_varint(this.out, tag(1, WireType::Bytes));
                this.bytes(key.as_bytes());
                put_varint(this.out, tag(2, WireType::Bytes));
                this.delimited(|this| this.nested(|this| this.value(value)))
            });
            within(done, || Step::Key(key.into()))
        })
    }

    /// `google.protobuf.ListValue`.
    pub(super) fn items<V: Value>(&mut self, value: &V) -> Done<V::Error> {
        self.expect(value, Kind::List, "list")?;
        value.each_item(|index, item| {
            put_varint(self.out, tag(1, WireType::Bytes));
            let done = self.delimited(|this| this.nested(|this| this.value(item)));
            within(done, || Step::Item(index))
        })
    }

    pub(super) fn nested<E>(&mut self, write: impl FnOnce(&mut Self) -> Done<E>) -> Done<E> {
        if self.depth == MAX_DEPTH {
            return Err(misfit(format!("messages nest deeper than {MAX_DEPTH}")));
        }
        self.depth += 1;
        write(self)?;
        self.depth -= 1;
        Ok(())
    }

    /// `google.protobuf.Value`.
    pub(super) fn value<V: Value>(&mut self, value: &V) -> Done<V::Error> {
        match value.kind()? {
            Kind::Null => self.out.extend_from_slice(&[tag(1, WireType::Varint) as u8, 0]),
            Kind::Number(number) => {
                self.out.push(tag(2, WireType::Fixed64) as u8);
                self.out.extend_from_slice(&number.to_le_bytes());
            }
            Kind::Text => {
                self.out.push(tag(3, WireType::Bytes) as u8);
                value.with_text(|text| self.bytes(text.as_bytes()))?;
            }
            Kind::Bool(flag) => self.out.extend_from_slice(&[tag(4, WireType::Varint) as u8, u8::from(flag)]),
            Kind::Object => {
                self.out.push(tag(5, WireType::Bytes) as u8);
                return self.delimited(|this| this.entries(value));
            }
            Kind::List => {
                self.out.push(tag(6, WireType::Bytes) as u8);
                return self.delimited(|this| this.items(value));
            }
            Kind::Bytes | Kind::BigInt | Kind::Other(_) => return Err(wrong(value, "a JSON value")),
        }
        Ok(())
    }

    pub(super) fn any<V: Value>(&mut self, value: &V) -> Done<V::Error> {
        self.expect(value, Kind::Object, "object")?;
        let (mut url, mut count) = (None, 0);
        value.each_entry(|name, value| {
            count += 1;
            if name == "@type" {
                self.expect(value, Kind::Text, "string")?;
                url = Some(value.with_text(str::to_owned)?);
            }
            Ok(())
        })?;
        let Some(url) = url else {
            return if count == 0 { Ok(()) } else { Err(misfit("an Any needs \"@type\", the URL of its type")) };
        };
        let schema = self.schema;
        let Some(plan) = schema.plan_of_url(&url) else {
            return Err(misfit(format!("\"@type\": no message {url:?} in the file descriptors")));
        };
        put_varint(self.out, tag(1, WireType::Bytes));
        self.bytes(url.as_bytes());
        put_varint(self.out, tag(2, WireType::Bytes));
        self.delimited(|this| match plan.form {
            Form::Fields => this.nested(|this| this.fields(plan, value, true)),
            _ => value.each_entry(|name, value| match name {
                "@type" => Ok(()),
                "value" => within(this.message(plan, value), || Step::Field("value".into())),
                _ => Err(misfit(format!("unknown field {name:?}; {url} has its JSON form in \"value\""))),
            }),
        })
    }
}

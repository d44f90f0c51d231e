//! Messages of protocol buffers, written field by field: the two protocols that need them have a dozen messages, each
//! written in one place and never read.

/// A message under construction.
#[derive(Default)]
pub(crate) struct Message(pub(crate) Vec<u8>);

impl Message {
    fn key(&mut self, field: u32, wire_type: u32) {
        push_varint(&mut self.0, u64::from(field << 3 | wire_type));
    }

    /// A field of a variable length: uint, int, enum, bool.
    pub(crate) fn uint(&mut self, field: u32, value: u64) {
        self.key(field, 0);
        push_varint(&mut self.0, value);
    }

    /// A `sint` field.
    pub(crate) fn sint(&mut self, field: u32, value: i64) {
        self.uint(field, zigzag(value));
    }

    /// A `double` field.
    pub(crate) fn double(&mut self, field: u32, value: f64) {
        self.fixed(field, value.to_bits());
    }

    /// A `fixed64` or `sfixed64` field.
    pub(crate) fn fixed(&mut self, field: u32, value: u64) {
        self.key(field, 1);
        self.0.extend_from_slice(&value.to_le_bytes());
    }

    /// A `bytes` or `string` field, or a message that is ready.
    pub(crate) fn bytes(&mut self, field: u32, bytes: &[u8]) {
        self.key(field, 2);
        push_varint(&mut self.0, bytes.len() as u64);
        self.0.extend_from_slice(bytes);
    }

    /// A message within this one.
    pub(crate) fn message(&mut self, field: u32, write: impl FnOnce(&mut Message)) {
        let mut inner = Message::default();
        write(&mut inner);
        self.bytes(field, &inner.0);
    }

    /// Numbers packed into one field, each as wide as `fixed64`.
    pub(crate) fn packed_fixed(&mut self, field: u32, values: impl IntoIterator<Item = u64>) {
        let bytes: Vec<u8> = values.into_iter().flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes);
    }

    /// Numbers packed into one field as `sint64`.
    pub(crate) fn packed_sint(&mut self, field: u32, values: impl IntoIterator<Item = i64>) {
        let mut bytes = Vec::new();
        values.into_iter().for_each(|value| push_varint(&mut bytes, zigzag(value)));
        self.bytes(field, &bytes);
    }
}

fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

fn push_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

//! Values as PostgreSQL writes them in text, by the number of their type.

use super::super::common::time::{SqlTime, Zone};
use super::super::common::value::SqlValue;
use data_encoding::HEXLOWER;

/// Numbers of types in the catalogue pg_type.
mod oid {
    pub const BOOL: u32 = 16;
    pub const BYTEA: u32 = 17;
    pub const CHAR: u32 = 18;
    pub const INT8: u32 = 20;
    pub const INT2: u32 = 21;
    pub const INT4: u32 = 23;
    pub const TEXT: u32 = 25;
    pub const FLOAT4: u32 = 700;
    pub const FLOAT8: u32 = 701;
    pub const BPCHAR: u32 = 1042;
    pub const VARCHAR: u32 = 1043;
    pub const DATE: u32 = 1082;
    pub const TIME: u32 = 1083;
    pub const TIMESTAMP: u32 = 1114;
    pub const TIMESTAMPTZ: u32 = 1184;
    pub const TIMETZ: u32 = 1266;
}

/// A value of a column. What Go's driver has no type for comes as bytes, as it does there.
pub fn read(kind: u32, text: &[u8]) -> SqlValue {
    let shown = std::str::from_utf8(text).ok();
    let read = match kind {
        oid::BOOL => Some(SqlValue::Bool(text == b"t")),
        oid::INT2 | oid::INT4 | oid::INT8 => shown.and_then(|text| text.parse().ok()).map(SqlValue::Whole),
        oid::FLOAT4 | oid::FLOAT8 => shown.and_then(|text| text.parse().ok()).map(SqlValue::Number),
        oid::TEXT | oid::VARCHAR | oid::CHAR | oid::BPCHAR => shown.map(|text| SqlValue::Text(text.to_owned())),
        oid::BYTEA => bytea(text).map(SqlValue::Bytes),
        oid::DATE | oid::TIMESTAMP => shown.and_then(|text| SqlTime::parse(text, Zone::Offset)).map(SqlValue::Time),
        oid::TIMESTAMPTZ | oid::TIME | oid::TIMETZ => {
            shown.and_then(|text| SqlTime::parse(text, Zone::Utc)).map(SqlValue::Time)
        }
        _ => None,
    };
    read.unwrap_or_else(|| SqlValue::Bytes(text.to_vec()))
}

/// Bytes in the form of hexadecimal digits, which servers since 9.0 write unless their settings say otherwise.
fn bytea(text: &[u8]) -> Option<Vec<u8>> {
    let digits = text.strip_prefix(b"\\x")?;
    let nibble = |digit: u8| char::from(digit).to_digit(16).map(|value| value as u8);
    digits.chunks(2).map(|pair| Some(nibble(pair[0])? << 4 | nibble(*pair.get(1)?)?)).collect()
}

/// A parameter as text; none for NULL. Bytes are sent as they are, and not by this.
pub fn write(value: &SqlValue) -> Option<String> {
    Some(match value {
        SqlValue::Null => return None,
        SqlValue::Bool(is_true) => is_true.to_string(),
        SqlValue::Whole(number) => number.to_string(),
        SqlValue::Number(number) => number.to_string(),
        SqlValue::Text(text) => text.clone(),
        SqlValue::Bytes(content) => {
            format!("\\x{}", HEXLOWER.encode(content))
        }
        SqlValue::Time(time) => format!("{} {}{}", time.date(), time.clock(), time.offset()),
        SqlValue::List(list) => {
            let elements: Vec<String> = list.iter().map(element).collect();
            format!("{{{}}}", elements.join(","))
        }
    })
}

/// An element of an array's text.
fn element(value: &SqlValue) -> String {
    match (value, write(value)) {
        (_, None) => String::from("NULL"),
        (SqlValue::List(_) | SqlValue::Whole(_) | SqlValue::Number(_) | SqlValue::Bool(_), Some(text)) => text,
        (_, Some(text)) => format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_written_with_their_elements_quoted() {
        let text = |text: &str| SqlValue::Text(text.to_owned());
        let list = SqlValue::List(vec![
            SqlValue::List(vec![SqlValue::Whole(1), SqlValue::Null]),
            SqlValue::List(vec![text("a\"b\\"), SqlValue::Bytes(vec![1, 255])]),
        ]);
        assert_eq!(write(&list).unwrap(), r#"{{1,NULL},{"a\"b\\","\\x01ff"}}"#);
    }

    #[test]
    fn bytes_are_read_from_hexadecimal_digits_alone() {
        assert_eq!(read(oid::BYTEA, b"\\x61ff"), SqlValue::Bytes(vec![0x61, 0xff]));
        assert_eq!(read(oid::BYTEA, b"\\x6"), SqlValue::Bytes(b"\\x6".to_vec()));
        assert_eq!(read(oid::BYTEA, b"\\141"), SqlValue::Bytes(b"\\141".to_vec()));
    }
}

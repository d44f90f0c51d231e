//! Values as MySQL has them in text and in its binary form, by the type of their column.

use mysql_common::Value;
use mysql_common::constants::ColumnType;
use mysql_common::packets::Column;

use super::super::common::time::{SqlTime, Zone};
use super::super::common::value::SqlValue;

/// A value of a column. Text, and what has no type in Go's driver, comes as bytes, as it does there.
pub fn read(column: &Column, value: Value, reads_times: bool) -> SqlValue {
    match value {
        Value::NULL => SqlValue::Null,
        Value::Bytes(text) => read_text(column.column_type(), text, reads_times),
        Value::Int(number) => SqlValue::Whole(number),
        Value::UInt(number) => i64::try_from(number).map_or(SqlValue::Number(number as f64), SqlValue::Whole),
        // By way of its shortest digits: 0.1 stays 0.1.
        Value::Float(number) => SqlValue::Number(number.to_string().parse().unwrap_or(f64::from(number))),
        Value::Double(number) => SqlValue::Number(number),
        Value::Date(year, month, day, hour, minute, second, micros) => {
            let mut text = format!("{year:04}-{month:02}-{day:02}");
            if column.column_type() != ColumnType::MYSQL_TYPE_DATE {
                text += &format!(" {hour:02}:{minute:02}:{second:02}{}", fraction(column, micros));
            }
            read_text(column.column_type(), text.into_bytes(), reads_times)
        }
        Value::Time(is_negative, days, hours, minutes, seconds, micros) => {
            let (sign, hours) = (if is_negative { "-" } else { "" }, u64::from(days) * 24 + u64::from(hours));
            let text = format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(column, micros));
            SqlValue::Bytes(text.into_bytes())
        }
    }
}

/// As many digits of microseconds as the column has.
fn fraction(column: &Column, micros: u32) -> String {
    let digits = usize::from(column.decimals().min(6));
    if digits == 0 { String::new() } else { format!(".{}", &format!("{micros:06}")[..digits]) }
}

fn read_text(kind: ColumnType, text: Vec<u8>, reads_times: bool) -> SqlValue {
    let shown = std::str::from_utf8(&text).ok();
    let read = match kind {
        ColumnType::MYSQL_TYPE_TINY
        | ColumnType::MYSQL_TYPE_SHORT
        | ColumnType::MYSQL_TYPE_INT24
        | ColumnType::MYSQL_TYPE_LONG
        | ColumnType::MYSQL_TYPE_LONGLONG
        | ColumnType::MYSQL_TYPE_YEAR => shown.and_then(|text| match text.parse() {
            Ok(number) => Some(SqlValue::Whole(number)),
            Err(_) => text.parse().ok().map(SqlValue::Number),
        }),
        ColumnType::MYSQL_TYPE_FLOAT | ColumnType::MYSQL_TYPE_DOUBLE => {
            shown.and_then(|text| text.parse().ok()).map(SqlValue::Number)
        }
        ColumnType::MYSQL_TYPE_DATE | ColumnType::MYSQL_TYPE_DATETIME | ColumnType::MYSQL_TYPE_TIMESTAMP
            if reads_times =>
        {
            shown.and_then(|text| SqlTime::parse(text, Zone::Utc)).map(SqlValue::Time)
        }
        _ => None,
    };
    read.unwrap_or(SqlValue::Bytes(text))
}

/// A parameter. The error says why there is none.
pub fn write(value: &SqlValue) -> Result<Value, String> {
    Ok(match value {
        SqlValue::Null => Value::NULL,
        SqlValue::Bool(is_true) => Value::Int((*is_true).into()),
        SqlValue::Whole(number) => Value::Int(*number),
        SqlValue::Number(number) => Value::Double(*number),
        SqlValue::Text(text) => Value::Bytes(text.as_bytes().to_vec()),
        SqlValue::Bytes(content) => Value::Bytes(content.clone()),
        SqlValue::Time(time) => {
            let clock = time.clock();
            let is_date = clock == "00:00:00";
            Value::Bytes((if is_date { time.date() } else { format!("{} {clock}", time.date()) }).into_bytes())
        }
        SqlValue::List(_) => return Err(String::from("sql: found an array, expected one value: MySQL has no arrays")),
    })
}

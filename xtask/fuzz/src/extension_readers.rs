//! Readers of `k6/x/…`: what brokers, databases and name servers answer, and `.env` files.
//!
//! Bytes of protocols stand in the examples as characters below U+0080; where a protocol needs others, a character up
//! to U+00FF stands for the byte of its number.

use extensions::fuzzing;

use super::subjects::{Check, Subject};

/// All of them.
pub const ALL: &[Subject] = &[
    Subject {
        name: "dotenv",
        examples: &[
            "# c\nexport A=b # c\nB: \"x $A ${A}\\n\\\"\"\nC='y\nz $A'\r\nD=\nE=a\\$b",
            "\u{feff}A.b_1 = 'it\\'s' # x\nX=1\nX=2\nexport=1\nY=\"l1\n\nl2\"",
        ],
        words: &["=", ":", "\"", "'", "\\", "$", "${", "}", "#", "export ", "\n", "\r\n", "A", "!", "`"],
        start: || Ok(Box::new(fuzzing::dotenv)),
    },
    Subject {
        name: "dns",
        examples: &[
            "\u{81}\u{80}\0\u{1}\0\u{1}\0\0\0\0\u{1}a\u{4}test\0\0\u{1}\0\u{1}\u{c0}\u{c}\0\u{1}\0\u{1}\0\0\0\
             \u{3c}\0\u{4}\
             \u{7f}\0\0\u{1}",
            "\u{81}\u{83}\0\0\0\0\0\0\0\0",
            "\u{83}\u{80}\0\u{1}\0\0\0\0\0\0\u{1}a\u{4}test\0\0\u{10}\0\u{1}",
            "\u{81}\u{80}\0\0\0\u{1}\0\0\0\0\u{1}a\u{4}test\0\0\u{10}\0\u{1}\0\0\0\0\0\u{6}\u{5}hello",
        ],
        words: &["\u{c0}\u{c}", "\0\u{1}\0\u{1}", "\0\0\u{10}", "\0\u{21}", "\u{3f}", "\0", "\u{81}\u{80}"],
        start: || bytes_of(fuzzing::dns),
    },
    Subject {
        name: "sql-time",
        examples: &["2024-01-02 03:04:05.678+02:30:15", "0044-03-15 BC", "03:04:05,5Z", "2024-01-02T03:04-03:30"],
        words: &["-", ":", ".", " ", "T", "Z", "+", " BC", "0000", "9999", "99", "24", "60"],
        start: || Ok(Box::new(fuzzing::sql_time)),
    },
    Subject {
        name: "data-source",
        examples: &[
            "u:p@tcp(h:3306)/db?tls=skip-verify&timeout=5s&parseTime=true&x=%27y%27",
            "host=h port=5432 user='u v' password=p\\'q sslmode=disable dbname=d connect_timeout=3",
            "postgres://u:p%40@[::1]:5432/d?sslmode=require&search_path=a",
            "file:x.db?_busy_timeout=5&_fk=on&_journal_mode=wal",
        ],
        words: &["@", "(", ")", "/", "?", "&", "=", "'", "\\", " ", "tcp(", "unix(", "sslmode=", "timeout=", "%"],
        start: || Ok(Box::new(fuzzing::data_source)),
    },
    Subject {
        name: "postgres",
        examples: &[
            "R\0\0\0\u{8}\0\0\0\0Z\0\0\0\u{5}I",
            "R\0\0\0\u{17}\0\0\0\u{a}SCRAM-SHA-256\0\0",
            "R\0\0\0\u{c}\0\0\0\u{5}saltR\0\0\0\u{f}\0\0\0\u{b}i=4096,",
            "E\0\0\0\u{19}SFATAL\0C28000\0Mno\0\0",
            "T\0\0\0\u{1a}\0\u{1}a\0\0\0\0\0\0\0\0\0\0\u{17}\0\u{4}\u{ff}\u{ff}\u{ff}\u{ff}\0\0D\0\0\0\u{b}\0\u{1}\
             \0\0\0\u{1}1",
            "2024-01-02 03:04:05+02",
            "\\x00ff",
        ],
        words: &[
            "R",
            "E",
            "T",
            "D",
            "C",
            "Z",
            "S",
            "\0\0\0\u{8}",
            "\u{ff}\u{ff}\u{ff}\u{ff}",
            "\0",
            "i=",
            "\0\0\0\u{b}",
        ],
        start: || bytes_of(fuzzing::postgres),
    },
    Subject {
        name: "mysql",
        examples: &[
            "\u{a}8.0.1\0\u{1}\0\0\0saltsalt\0\u{ff}\u{f7}-\u{2}\0\u{ff}\u{81}\u{15}\0\0\0\0\0\0\0\0\0\0saltsaltsalt\0\
             caching_sha2_password\0",
            "\u{fe}mysql_native_password\0saltsaltsaltsaltsalt\0",
            "\u{ff}\u{15}\u{4}#28000Access denied",
            "\u{3}def\u{1}d\u{1}t\u{1}t\u{1}a\u{1}a\u{c}?\0\u{b}\0\0\0\u{c}\u{80}\0\u{6}\0\0",
            "\u{5}\0\0\u{1}hello\0\0\0\u{2}",
        ],
        words: &["\u{fe}", "\u{ff}", "\u{fb}", "\u{fc}\u{ff}\u{ff}", "\0", "\u{b}", "\u{c}", "\u{7f}", "def"],
        start: || bytes_of(fuzzing::mysql),
    },
    Subject {
        name: "redis",
        examples: &[
            "*3\r\n:0\r\n:16383\r\n*2\r\n$9\r\n127.0.0.1\r\n:7000\r\n",
            "-MOVED 3999 127.0.0.1:6381\r\n",
            "$-1\r\n",
            "+OK\r\n",
            "MOVED 3999 [::1]:6381",
            "ASK 1 :1",
            "rediss://u:p%40@[::1]:6380/3",
        ],
        words: &["*", "$", ":", "-", "+", "\r\n", "*-1\r\n", "MOVED ", "ASK ", "redis://", "@", "/", "$1000000000\r\n"],
        start: || Ok(Box::new(fuzzing::redis)),
    },
    Subject {
        name: "kafka",
        examples: &[
            "\0\u{1}\0\0\0\u{1}\0\u{1}t\0\0\0\u{2}\0\0\0\0\0\0\0\u{1}\0\0\0\0",
            "\0\u{1}\0\0\0\u{1}\0\u{1}t\0\0\0\0\0\0\0\u{1}\0\u{1}t\0\0\0\u{1}\0\0\0\0",
            "r=rx,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=9",
            "\u{82}SNAPPY\0\0\0\0\u{1}\0\0\0\u{1}\0\0\0\u{5}\u{3}\u{8}abc",
        ],
        words: &["\0\0\0\u{1}", "\0\u{1}", "\u{ff}\u{ff}\u{ff}\u{ff}", "\u{7f}", "\u{82}SNAPPY\0", "\0", ",s=", ",i=4"],
        start: || bytes_of(fuzzing::kafka),
    },
    Subject {
        name: "mqtt-broker",
        examples: &["mqtts://u:hunter2@[::1]:3", "ws://u@a.test/mqtt?x#y", "localhost", "tcp://h:hunter2@x:1"],
        words: &["://", "@", ":", "/", "ssl", "wss", "[", "]", "%", "?", "#"],
        start: || Ok(Box::new(fuzzing::broker)),
    },
    Subject {
        name: "encoded",
        examples: &["00ffAB", "aGVsbG8=", "_-_-"],
        words: &["=", "0", "g", "é", "-"],
        start: || Ok(Box::new(fuzzing::encoded)),
    },
];

/// Gives the reader a byte for each character up to U+00FF. Guided inputs and files are bytes already.
fn bytes_of(read: fn(&[u8]) -> Result<(), String>) -> Result<Check, String> {
    Ok(Box::new(move |input| {
        read(input)?;
        let characters = std::str::from_utf8(input).unwrap_or_default().chars();
        let bytes: Vec<u8> = characters.map(|c| u8::try_from(c).unwrap_or(b'?')).collect();
        if bytes == input { Ok(()) } else { read(&bytes) }
    }))
}

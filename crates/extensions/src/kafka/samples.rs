//! The metrics of Kafka, under the names of k6's extension. A table: what is not in it is not counted.

use metrics::{Contains, Kind};
use script::Vu;

use crate::client::metric_table::{MetricRow, MetricTable};

const COUNT: (Kind, Contains) = (Kind::Counter, Contains::Default);
const BYTES: (Kind, Contains) = (Kind::Counter, Contains::Data);
const TIME: (Kind, Contains) = (Kind::Trend, Contains::Time);
const LEVEL: (Kind, Contains) = (Kind::Gauge, Contains::Default);
const TIME_LEVEL: (Kind, Contains) = (Kind::Gauge, Contains::Time);

macro_rules! measures {
    ($($measure:ident = $name:literal, $kind:expr;)*) => {
        /// What is measured.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Measure {
            $(#[doc = $name] $measure,)*
        }

        impl MetricTable for Measure {
            const MODULE: &'static str = "k6/x/kafka";
            const ROWS: &'static [MetricRow] = &[$(($name, $kind.0, $kind.1),)*];

            fn row(self) -> usize {
                self as usize
            }
        }
    };
}

measures! {
    ReaderDials = "kafka_reader_dial_count", COUNT;
    ReaderFetches = "kafka_reader_fetches_count", COUNT;
    ReaderMessages = "kafka_reader_message_count", COUNT;
    ReaderMessageBytes = "kafka_reader_message_bytes", BYTES;
    ReaderRebalances = "kafka_reader_rebalance_count", COUNT;
    ReaderTimeouts = "kafka_reader_timeouts_count", COUNT;
    ReaderErrors = "kafka_reader_error_count", COUNT;
    ReaderDialTime = "kafka_reader_dial_seconds", TIME;
    ReaderReadTime = "kafka_reader_read_seconds", TIME;
    ReaderWaitTime = "kafka_reader_wait_seconds", TIME;
    ReaderFetchSize = "kafka_reader_fetch_size", COUNT;
    ReaderFetchBytes = "kafka_reader_fetch_bytes", BYTES;
    ReaderOffset = "kafka_reader_offset", LEVEL;
    ReaderLag = "kafka_reader_lag", LEVEL;
    ReaderFetchBytesMin = "kafka_reader_fetch_bytes_min", LEVEL;
    ReaderFetchBytesMax = "kafka_reader_fetch_bytes_max", LEVEL;
    ReaderFetchWaitMax = "kafka_reader_fetch_wait_max", TIME_LEVEL;
    ReaderQueueLength = "kafka_reader_queue_length", LEVEL;
    ReaderQueueCapacity = "kafka_reader_queue_capacity", LEVEL;
    WriterWrites = "kafka_writer_write_count", COUNT;
    WriterMessages = "kafka_writer_message_count", COUNT;
    WriterMessageBytes = "kafka_writer_message_bytes", BYTES;
    WriterErrors = "kafka_writer_error_count", COUNT;
    WriterWriteTime = "kafka_writer_write_seconds", TIME;
    WriterWaitTime = "kafka_writer_wait_seconds", TIME;
    WriterRetries = "kafka_writer_retries_count", COUNT;
    WriterBatchSize = "kafka_writer_batch_size", COUNT;
    WriterBatchBytes = "kafka_writer_batch_bytes", BYTES;
    WriterAttemptsMax = "kafka_writer_attempts_max", LEVEL;
    WriterBatchMax = "kafka_writer_batch_max", LEVEL;
    WriterBatchTimeout = "kafka_writer_batch_timeout", TIME_LEVEL;
    WriterReadTimeout = "kafka_writer_read_timeout", TIME_LEVEL;
    WriterWriteTimeout = "kafka_writer_write_timeout", TIME_LEVEL;
    WriterAcks = "kafka_writer_acks_required", LEVEL;
    WriterAsync = "kafka_writer_async", (Kind::Rate, Contains::Default);
}

impl Measure {
    /// Adds a sample with the topic's name.
    pub fn add_of(self, vu: &Vu, value: f64, topic: &str) {
        let tags = [(String::from("topic"), topic.to_owned())];
        self.add(vu, value, if topic.is_empty() { &[] } else { &tags });
    }
}

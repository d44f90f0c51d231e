//! What the referee had, as it writes it at its end: totals, and a record for each request. The layout is that of
//! `struct totals` and `struct record` in `xtask/truth/referee.c`, words of 64 bits in the machine's order of bytes.

/// A request as the server had it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The number in its path.
    pub number: u64,
    /// The delay that the client asked for.
    pub asked_us: u64,
    /// When the kernel received it, in ns of the wall clock.
    pub arrived_ns: i64,
    /// Right before its answer was written; 0 when none was.
    pub begun_ns: i64,
    /// When that write returned; 0 when there was none.
    pub written_ns: i64,
    /// An earlier request that the client tells of.
    pub told_number: u64,
    /// What the client measured for it; 0 where it tells of none.
    pub told_ns: i64,
}

impl Record {
    /// From arrival to answer, in ms; none without an answer.
    pub fn ms(&self) -> Option<f64> {
        (self.written_ns > 0).then(|| (self.begun_ns - self.arrived_ns) as f64 / 1e6)
    }
}

/// All that a server had.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Account {
    /// How many requests.
    pub requests: u64,
    /// Bytes it received.
    pub bytes_in: u64,
    /// Bytes it sent.
    pub bytes_out: u64,
    /// Requests that got an answer, whole or not.
    pub answered: u64,
    /// How many asked for an answer.
    pub sound: u64,
    /// How many asked for a reset, half an answer, a closed connection or silence.
    pub faulty: u64,
    /// Each request, unless totals alone were wanted.
    pub records: Vec<Record>,
}

const WORD: usize = 8;
/// The last four are requests for loads that have a limit: counted as sound.
const TOTALS: usize = 14;
const FIELDS: usize = 7;

/// None unless it is whole.
pub fn read(bytes: &[u8]) -> Option<Account> {
    let (head, rest) = bytes.split_at_checked(TOTALS * WORD)?;
    let [requests, bytes_in, bytes_out, answered, records, delayed, reset, cut, dropped, silent, limited @ ..]: [u64;
        TOTALS] = words(head)?;
    let sound = delayed + limited.iter().sum::<u64>();
    if rest.len() as u64 != records * (FIELDS * WORD) as u64 {
        return None;
    }
    let record = |chunk: &[u8]| {
        let [number, asked_us, arrived, begun, written, told_number, told] = words(chunk)?;
        let [arrived_ns, begun_ns, written_ns, told_ns] = [arrived, begun, written, told].map(|word| word as i64);
        Some(Record { number, asked_us, arrived_ns, begun_ns, written_ns, told_number, told_ns })
    };
    let records = rest.chunks_exact(FIELDS * WORD).map(record).collect::<Option<_>>()?;
    Some(Account { requests, bytes_in, bytes_out, answered, sound, faulty: reset + cut + dropped + silent, records })
}

fn words<const N: usize>(bytes: &[u8]) -> Option<[u64; N]> {
    let word = |chunk: &[u8]| chunk.try_into().map(u64::from_ne_bytes);
    bytes.chunks_exact(WORD).map(word).collect::<Result<Vec<u64>, _>>().ok()?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_account_is_whole_or_none() {
        let bytes = |words: &[u64]| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        let head = [3, 180, 40, 1, 1, 1, 0, 0, 0, 1, 0, 1, 0, 0];
        let whole = bytes(&[&head[..], &[7, 1000, 1_000, 2_501_000, 2_502_000, 0, 0]].concat());
        let account = read(&whole).expect("an account");
        assert_eq!((account.requests, account.bytes_in, account.bytes_out), (3, 180, 40));
        assert_eq!((account.sound, account.faulty, account.answered), (2, 1, 1));
        assert_eq!(account.records[0].ms(), Some(2.5));
        assert_eq!(Record::default().ms(), None);
        assert_eq!(read(&whole[..whole.len() - 1]), None);
        assert_eq!(read(&bytes(&head)), None);
    }
}

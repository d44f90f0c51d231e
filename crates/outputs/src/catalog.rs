//! One numbering of series for an output, whichever worker's recorder a batch comes from.
//!
//! Each recorder numbers its series by itself; equal metric and tags of two recorders are one series here.

use std::collections::HashMap;
use std::sync::Arc;

use metrics::MetricId;
use metrics::batches::{Batch, Note, RecordOf, SeriesTags};
use metrics::span::TraceSpan;
use rustc_hash::FxHashMap;

/// What an output does with the samples of a batch.
pub(crate) trait Take {
    /// A series that is new; the first has the number 0.
    fn meet(&mut self, series: &SeriesTags);
    /// A sample of the series with this number. `at_ns`: nanoseconds since the Unix epoch.
    fn sample(&mut self, series: u32, at_ns: u64, value: f64);
    /// What the samples carry that come from now on, besides tags; nothing before the first call.
    fn note(&mut self, _note: Option<&Note>) {}
    /// A request of a trace: the output that takes these gets nothing else.
    fn span(&mut self, _span: TraceSpan) {}
}

type Tags = Arc<[(Arc<str>, Arc<str>)]>;

/// The series of all recorders.
#[derive(Default)]
pub(crate) struct Catalog {
    known: FxHashMap<(MetricId, Tags), u32>,
    sources: HashMap<u32, Source>,
}

/// The numbers of one recorder.
#[derive(Default)]
struct Source {
    series: Vec<u32>,
    bundles: Vec<Box<[u32]>>,
}

impl Catalog {
    /// Gives a batch of the recorder with this number to `output`.
    pub(crate) fn read(&mut self, source: u32, batch: &Batch, output: &mut impl Take) {
        let source = self.sources.entry(source).or_default();
        for series in &batch.series {
            let next = self.known.len() as u32;
            let number = *self.known.entry((series.metric, series.tags.clone())).or_insert(next);
            if number == next {
                output.meet(series);
            }
            source.series.push(number);
        }
        for bundle in &batch.bundles {
            source.bundles.push(bundle.iter().map(|member| source.series[*member as usize]).collect());
        }
        let mut noted = None;
        for record in batch.records() {
            if record.note != noted {
                noted = record.note;
                output.note(noted.map(|number| &batch.notes[number as usize]));
            }
            let series = match record.of {
                RecordOf::Series(number) => std::slice::from_ref(&source.series[number as usize]),
                RecordOf::Bundle(number) => &source.bundles[number as usize],
            };
            debug_assert_eq!(series.len(), record.values().count(), "a value for each series");
            for (series, value) in series.iter().zip(record.values()).filter(|(_, value)| value.is_finite()) {
                output.sample(*series, record.at_ns, value);
            }
        }
        if noted.is_some() {
            output.note(None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use metrics::{Recorder, Registry, TagSet, builtin};
    use std::cell::RefCell;
    use std::rc::Rc;

    #[derive(Default)]
    struct Log(Vec<String>);

    impl Take for Log {
        fn meet(&mut self, series: &SeriesTags) {
            let tags: Vec<String> = series.tags.iter().map(|(key, value)| format!("{key}:{value}")).collect();
            self.0.push(format!("meet {} {}", series.metric.0, tags.join(",")));
        }
        fn sample(&mut self, series: u32, at_ns: u64, value: f64) {
            self.0.push(format!("{series} {at_ns} {value}"));
        }
        fn note(&mut self, note: Option<&Note>) {
            self.0.push(format!("note {}", note.map_or("none", |note| &*note[0].1)));
        }
    }

    #[test]
    fn equal_series_of_two_recorders_are_one() {
        let (mut catalog, mut log) = (Catalog::default(), Log::default());
        for source in 0..2 {
            let recorder = Recorder::new(Registry::new());
            let batches: Rc<RefCell<Vec<Batch>>> = Rc::default();
            let taken = batches.clone();
            recorder.set_batches(Box::new(move |batch| taken.borrow_mut().push(batch)));
            if source == 1 {
                recorder.series(builtin::VUS, &TagSet::empty());
            }
            let tags = TagSet::new([("url", "/")]);
            let a = recorder.series(builtin::HTTP_REQS, &tags);
            let b = recorder.series(builtin::HTTP_REQ_DURATION, &tags);
            recorder.add_bundle(recorder.bundle(&[a, b]), &[1.0, f64::NAN], 5);
            let note: Note = Arc::from([(Arc::from("iter"), Arc::from("7"))]);
            recorder.annotate(|| Some(note));
            recorder.add(b, 2.0, 6 + u64::from(source));
            recorder.take();
            catalog.read(source, &batches.borrow()[0], &mut log);
        }
        let reqs = format!("meet {} url:/", builtin::HTTP_REQS.0);
        let duration = format!("meet {} url:/", builtin::HTTP_REQ_DURATION.0);
        let first = [reqs.as_str(), &duration, "0 5 1", "note 7", "1 6 2", "note none"];
        let second = ["meet 0 ", "0 5 1", "note 7", "1 7 2", "note none"];
        assert_eq!(log.0, [&first[..], &second].concat());
    }
}

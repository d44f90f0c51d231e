//! The test as agents get it: an archive named by its hash, and how to run it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use fleet::coordinator::ReadArchive;
use report::SummaryMode;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::archive::{Packed, pack};
use crate::commands::run::drive::progress::Test;
use crate::commands::run::start::flags::Flags;
use crate::commands::run::start::load;
use crate::exit_code::ExitCode;
use crate::failure::Failure;
use crate::process::private_folder::PrivateFolder;

/// How agents run an archive, beside the options that are in it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// `--no-thresholds`.
    pub no_thresholds: bool,
    /// Whether metrics are kept by scenario and group.
    pub breakdown: bool,
    /// Whether a report wants more of them.
    pub details: bool,
    /// `--features`.
    pub features: Vec<String>,
    /// The certificate of a target beside the test.
    pub trusted_pem: Option<String>,
    /// `--accept-late`.
    pub accept_late: bool,
    /// `--save-messages`.
    pub saves_messages: bool,
    /// `--out`.
    pub outputs: Vec<String>,
    /// `--traces-output`, where spans go.
    pub traces: Option<String>,
    /// The variables of outputs, as the coordinator has them.
    pub output_env: BTreeMap<String, String>,
}

/// A test that is ready to go out.
pub struct PackedTest {
    folder: PrivateFolder,
    /// What it is named by.
    pub archive: fleet::Archive,
    /// How it is run.
    pub settings: Settings,
}

impl PackedTest {
    /// Packs it.
    pub fn make(test: &Test<'_>) -> Result<PackedTest, Failure> {
        let Test { flags, planned, script, target, trusted_pem, .. } = test;
        let options = &planned.options;
        if options.execution_segment.is_some() || options.execution_segment_sequence.is_some() {
            let text = "--agents divides the test into segments itself: leave the option 'executionSegment' out";
            return Err(Failure::new(ExitCode::InvalidConfig, text));
        }
        if flags.load.serve.is_some() && flags.load.fleet.as_ref().is_some_and(|fleet| fleet.waits()) {
            let text = "--serve starts a target that this machine alone reaches: agents of other machines need an \
                        address in the script";
            return Err(Failure::new(ExitCode::Generic, text));
        }
        let mut env: BTreeMap<String, String> = flags.test.given_env.clone();
        env.extend(
            target.iter().flat_map(|target| load::addresses(target)).map(|(name, address)| (name.to_owned(), address)),
        );
        let packed = Packed {
            entry: script.program.entry(),
            modules: script.program.modules(),
            files: script.program.files(),
            options: options.to_archive_json(),
            env: Some(env),
        };
        let failed = |error: io::Error| Failure::new(ExitCode::Generic, format!("cannot pack the test: {error}"));
        let folder = PrivateFolder::make().map_err(failed)?;
        let archive = write(packed, &place(&folder)).map_err(failed)?;
        let settings = Settings {
            no_thresholds: flags.verdict.no_thresholds,
            breakdown: flags.shown.summary_mode == Some(SummaryMode::Full),
            details: flags.kept.save.is_some(),
            features: flags.test.features.clone(),
            trusted_pem: trusted_pem.clone(),
            accept_late: flags.verdict.accept_late,
            saves_messages: flags.kept.save_messages && test.saves,
            outputs: flags.kept.outputs.clone(),
            traces: flags.kept.traces.clone(),
            output_env: output_env(flags),
        };
        Ok(PackedTest { folder, archive, settings })
    }

    /// All of it.
    pub fn content(&self) -> Result<Vec<u8>, Failure> {
        let path = place(&self.folder);
        std::fs::read(&path).map_err(|error| Failure::new(ExitCode::Generic, format!("{}: {error}", path.display())))
    }

    /// Reads pieces of it, as long as there is need.
    pub fn reader(&self) -> Result<ReadArchive, Failure> {
        let path = place(&self.folder);
        let file = File::open(&path);
        let file = file.map_err(|error| Failure::new(ExitCode::Generic, format!("{}: {error}", path.display())))?;
        let size = self.archive.size;
        Ok(Box::new(move |offset, most| {
            let mut piece = vec![0; usize::try_from(size - offset).unwrap_or(most).min(most)];
            file.read_exact_at(&mut piece, offset).map(|()| piece).map_err(|error| error.to_string())
        }))
    }
}

/// What outputs of agents have to know; nothing where there are none, because some of it is secret.
fn output_env(flags: &Flags) -> BTreeMap<String, String> {
    let is_of_output = |name: &String| name.starts_with("K6_") || name.starts_with("OTEL_");
    let has_outputs = !flags.kept.outputs.is_empty() || flags.kept.traces.is_some();
    let all = flags.test.system_env.iter().filter(|(name, _)| has_outputs && is_of_output(name));
    all.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn place(folder: &PrivateFolder) -> PathBuf {
    folder.path().join("archive.tar")
}

fn write(packed: Packed<'_>, path: &Path) -> io::Result<fleet::Archive> {
    let mut file = BufWriter::new(File::create(path)?);
    // Without a date, so that the same test has the same name.
    pack(packed, 0, &mut file)?;
    file.flush()?;
    let (mut hash, mut size, mut file) = (Sha256::new(), 0, BufReader::new(File::open(path)?));
    let mut piece = vec![0; 1 << 16];
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            break Ok(fleet::Archive { hash: hash.finalize().into(), size });
        }
        hash.update(&piece[..read]);
        size += read as u64;
    }
}

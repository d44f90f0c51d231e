//! The certificate authorities this machine trusts, found where Go looks for them: the file of SSL_CERT_FILE or else
//! the first bundle of a known list, then the folders of SSL_CERT_DIR or else the known ones. The binary tells what
//! those variables are.
//!
//! Loaded on the first https request that verifies, once per process: start-up does not pay for it. Files that cannot
//! be read and entries that are no certificates are passed over, as Go does.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;

/// Debian, Fedora, SUSE, OpenELEC, CentOS, Alpine.
const BUNDLES: [&str; 6] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/pki/tls/cacert.pem",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/cert.pem",
];
/// SLES, Fedora.
const FOLDERS: [&str; 2] = ["/etc/ssl/certs", "/etc/pki/tls/certs"];

/// The trusted certificates, as anchors and as they are: a server may present one of them itself.
#[derive(Debug)]
pub(crate) struct Roots {
    pub(crate) anchors: Arc<RootCertStore>,
    certificates: Vec<CertificateDer<'static>>,
}

impl Roots {
    /// The machine's, loaded at the first call.
    pub(crate) fn of_this_machine() -> Arc<Roots> {
        static ROOTS: OnceLock<Arc<Roots>> = OnceLock::new();
        let load = || {
            let (file, folders) = PLACES.get().cloned().unwrap_or_default();
            Arc::new(Roots::load(file, folders))
        };
        ROOTS.get_or_init(load).clone()
    }

    /// These, and the certificates of a PEM text.
    pub(crate) fn with(&self, pem: &str) -> Roots {
        let added = CertificateDer::pem_slice_iter(pem.as_bytes()).filter_map(Result::ok);
        Roots::from_certificates(self.certificates.iter().cloned().chain(added).collect())
    }

    /// The certificates as they are.
    pub(crate) fn certificates(&self) -> &[CertificateDer<'static>] {
        &self.certificates
    }

    /// Whether this very certificate is trusted.
    pub(crate) fn contains(&self, certificate: &CertificateDer<'_>) -> bool {
        self.certificates.iter().any(|c| c.as_ref() == certificate.as_ref())
    }

    fn load(file: Option<String>, folders: Option<String>) -> Roots {
        let mut found = match &file {
            Some(file) => read_bundle(Path::new(file)).unwrap_or_default(),
            None => BUNDLES.iter().find_map(|b| read_bundle(Path::new(b))).unwrap_or_default(),
        };
        // The known folders hold the same certificates as the known bundle once more: without a word from the
        // environment, the bundle suffices.
        let folders: Vec<PathBuf> = match &folders {
            Some(folders) => folders.split(':').map(PathBuf::from).collect(),
            None if file.is_none() && !found.is_empty() => Vec::new(),
            None => FOLDERS.iter().map(PathBuf::from).collect(),
        };
        for entry in folders.iter().filter_map(|f| fs::read_dir(f).ok()).flatten().flatten() {
            found.extend(read_bundle(&entry.path()).unwrap_or_default());
        }
        if found.is_empty() && file.is_none() {
            found = rustls_native_certs::load_native_certs().certs;
        }
        Roots::from_certificates(found)
    }

    fn from_certificates(certificates: Vec<CertificateDer<'static>>) -> Roots {
        let mut anchors = RootCertStore::empty();
        anchors.add_parsable_certificates(certificates.iter().cloned());
        Roots { anchors: Arc::new(anchors), certificates }
    }
}

/// File and folders, when the user names them.
static PLACES: OnceLock<(Option<String>, Option<String>)> = OnceLock::new();

/// Trusts the certificate authorities in `file` and in `folders` (separated by colons) instead of those in the usual
/// places: what SSL_CERT_FILE and SSL_CERT_DIR say. For the whole process, before its first request; empty texts name
/// nothing.
pub fn trust_authorities_in(file: Option<String>, folders: Option<String>) {
    let named = |text: Option<String>| text.filter(|text| !text.is_empty());
    let _ = PLACES.set((named(file), named(folders)));
}

fn read_bundle(path: &Path) -> Option<Vec<CertificateDer<'static>>> {
    let pem = fs::read(path).ok()?;
    Some(CertificateDer::pem_slice_iter(&pem).filter_map(Result::ok).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn certificate(name: &str) -> rcgen::CertifiedKey<rcgen::KeyPair> {
        rcgen::generate_simple_self_signed([String::from(name)]).unwrap()
    }

    #[test]
    fn file_and_folder_of_the_environment_are_both_read() {
        let folder = std::env::temp_dir().join(format!("onrush-roots-{}", std::process::id()));
        fs::create_dir_all(folder.join("certs")).unwrap();
        let (first, second) = (certificate("a.example"), certificate("b.example"));
        fs::write(folder.join("bundle.pem"), first.cert.pem()).unwrap();
        fs::write(folder.join("certs/one.pem"), format!("noise\n{}", second.cert.pem())).unwrap();
        fs::write(folder.join("certs/README"), "no certificate").unwrap();
        let text = |path: PathBuf| Some(path.to_str().unwrap().to_owned());
        let roots = Roots::load(text(folder.join("bundle.pem")), text(folder.join("certs")));
        let other = certificate("a.example");
        fs::remove_dir_all(&folder).unwrap();
        assert!(roots.contains(first.cert.der()) && roots.contains(second.cert.der()));
        assert!(!roots.contains(other.cert.der()));
        assert_eq!(roots.anchors.len(), 2);
    }
}

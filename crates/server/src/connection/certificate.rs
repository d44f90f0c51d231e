//! What the target shows to TLS clients: a certificate made at each start for this machine's loopback names, or one
//! from files.
//!
//! Clients trust the made one by its PEM text, so tests need neither files nor a verification that is switched off; its
//! key never leaves the process.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

/// The names the made one is valid for.
const NAMES: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// A certificate and its key in PEM files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CertificateFiles {
    /// The certificate, and behind it those that lead to one a client trusts.
    pub certificate: PathBuf,
    /// The private key, without a password.
    pub key: PathBuf,
}

/// A TLS configuration with a fresh self-signed certificate, and its PEM.
pub(crate) fn self_signed() -> io::Result<(Arc<rustls::ServerConfig>, String)> {
    let made = rcgen::generate_simple_self_signed(NAMES.map(String::from)).map_err(io::Error::other)?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = configuration(vec![made.cert.der().clone()], key).map_err(io::Error::other)?;
    Ok((config, made.cert.pem()))
}

/// A TLS configuration with the certificate of these files, and its PEM. The error names the file.
pub(crate) fn from_files(files: &CertificateFiles) -> io::Result<(Arc<rustls::ServerConfig>, String)> {
    let (chain_pem, key_pem) = (read(&files.certificate)?, read(&files.key)?);
    let chain = CertificateDer::pem_slice_iter(chain_pem.as_bytes()).collect::<Result<Vec<_>, _>>();
    let chain = chain.map_err(|e| wrong(&files.certificate, &format!("expected certificates as PEM, {e}")))?;
    if chain.is_empty() {
        return Err(wrong(&files.certificate, "expected certificates as PEM, found none"));
    }
    let key = PrivateKeyDer::from_pem_slice(key_pem.as_bytes());
    let key = key.map_err(|e| wrong(&files.key, &format!("expected a private key without a password as PEM, {e}")))?;
    let config = configuration(chain, key).map_err(|e| {
        wrong(&files.key, &format!("it does not go with the certificate in {}, {e}", files.certificate.display()))
    })?;
    Ok((config, chain_pem))
}

fn configuration(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<rustls::ServerConfig>, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .with_no_client_auth()
        .with_single_cert(chain, key)?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

fn read(path: &Path) -> io::Result<String> {
    std::fs::read_to_string(path).map_err(|e| io::Error::new(e.kind(), format!("cannot read {}: {e}", path.display())))
}

fn wrong(path: &Path, what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("cannot use {}: {what}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_taken_or_the_error_names_them() {
        let folder = std::env::temp_dir().join(format!("onrush-certificate-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let [one, two] = [(); 2].map(|()| rcgen::generate_simple_self_signed(["a.test".to_owned()]).unwrap());
        let certificate = file("certificate.pem", &one.cert.pem());
        let key = file("key.pem", &one.signing_key.serialize_pem());
        let (_, pem) = from_files(&CertificateFiles { certificate: certificate.clone(), key: key.clone() }).unwrap();
        assert_eq!(pem, one.cert.pem());

        let other = file("other.pem", &two.signing_key.serialize_pem());
        let nothing = file("nothing.pem", "nothing");
        let gone = folder.join("gone.pem");
        for (certificate, key, want) in [
            (&gone, &key, format!("cannot read {}: ", gone.display())),
            (&nothing, &key, format!("cannot use {}: expected certificates as PEM", nothing.display())),
            (&certificate, &nothing, format!("cannot use {}: expected a private key", nothing.display())),
            (&certificate, &other, format!("cannot use {}: it does not go with", other.display())),
        ] {
            let files = CertificateFiles { certificate: certificate.clone(), key: key.clone() };
            let error = from_files(&files).err().unwrap().to_string();
            assert!(error.starts_with(&want), "{error}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}

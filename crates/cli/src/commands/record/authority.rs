//! The proxy's own certificate authority, and certificates of hosts signed by it.
//!
//! Made once and kept as two files, so that a program has to trust it once. The key is readable by its owner alone, and
//! signs nothing but hosts that somebody asked this proxy for.

use std::collections::HashMap;
use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa, Issuer, KeyPair,
    KeyUsagePurpose,
};
use rustls::ServerConfig;
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};

/// Signs certificates.
pub struct Authority {
    issuer: Issuer<'static, KeyPair>,
    made: Mutex<HashMap<String, Arc<ServerConfig>>>,
}

impl Authority {
    /// That of this file, made when it is not there; the key is in `.key` beside it.
    pub fn at(path: &Path) -> Result<Authority, String> {
        let key_path = path.with_extension("key");
        let wrong = |path: &Path, what: String| format!("the authority {}: {what}", path.display());
        if path.exists() && key_path.exists() {
            let text = std::fs::read_to_string(&key_path).map_err(|error| wrong(&key_path, error.to_string()))?;
            let key = KeyPair::from_pem(&text).map_err(|error| wrong(&key_path, error.to_string()))?;
            // The certificate says nothing but the name and the key, which are the same again.
            return Ok(Authority { issuer: Issuer::new(authority_params(), key), made: Mutex::default() });
        }
        let key = KeyPair::generate().map_err(|error| wrong(path, error.to_string()))?;
        let params = authority_params();
        let certificate = params.self_signed(&key).map_err(|error| wrong(path, error.to_string()))?;
        write(path, &certificate.pem(), 0o644).map_err(|error| wrong(path, error.to_string()))?;
        write(&key_path, &key.serialize_pem(), 0o600).map_err(|error| wrong(&key_path, error.to_string()))?;
        Ok(Authority { issuer: Issuer::new(params, key), made: Mutex::default() })
    }

    /// What a server of this name shows.
    pub fn server_of(&self, host: &str) -> Result<Arc<ServerConfig>, String> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(host) {
            return Ok(known.clone());
        }
        let config = Arc::new(self.make(host)?);
        made.insert(host.to_owned(), config.clone());
        Ok(config)
    }

    fn make(&self, host: &str) -> Result<ServerConfig, String> {
        let key = KeyPair::generate().map_err(|error| error.to_string())?;
        let mut params = CertificateParams::new([host.to_owned()]).map_err(|error| error.to_string())?;
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        let certificate = params.signed_by(&key, &self.issuer).map_err(|error| error.to_string())?;
        let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
        let mut config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| error.to_string())?
            .with_no_client_auth()
            .with_single_cert(vec![certificate.der().clone()], key)
            .map_err(|error| error.to_string())?;
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(config)
    }
}

fn authority_params() -> CertificateParams {
    let mut params = CertificateParams::default();
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, "Onrush recording proxy");
    params.distinguished_name = name;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    params
}

fn write(path: &Path, text: &str, mode: u32) -> std::io::Result<()> {
    let mut file = OpenOptions::new().write(true).create(true).truncate(true).mode(mode).open(path)?;
    file.write_all(text.as_bytes())
}

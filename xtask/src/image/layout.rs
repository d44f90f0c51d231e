//! The folder of an OCI image layout: `oci-layout`, `index.json`, and blobs by their digests.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use super::layer::Packed;

const MANIFEST: &str = "application/vnd.oci.image.manifest.v1+json";
const CONFIG: &str = "application/vnd.oci.image.config.v1+json";
const LAYER: &str = "application/vnd.oci.image.layer.v1.tar+gzip";

/// An image, ready to be written.
pub(super) struct Image {
    pub(super) architecture: &'static str,
    /// The name that the layout has for it.
    pub(super) tag: String,
    /// Whom the program runs as.
    pub(super) user: String,
    /// Where it starts.
    pub(super) home: String,
    /// From the ground up.
    pub(super) layers: Vec<Packed>,
}

/// How blobs are named.
pub(super) fn digest(bytes: &[u8]) -> String {
    format!("sha256:{:x}", Sha256::digest(bytes))
}

impl Image {
    /// Writes the layout in place of what is there; the size of its layers.
    pub(super) fn write(&self, out: &Path) -> Result<u64, String> {
        let written = || -> std::io::Result<u64> {
            let blobs = out.join("blobs/sha256");
            if blobs.exists() {
                fs::remove_dir_all(&blobs)?;
            }
            fs::create_dir_all(&blobs)?;
            let put = |bytes: &[u8]| {
                let name = digest(bytes);
                fs::write(out.join("blobs").join(name.replace(':', "/")), bytes).map(|()| name)
            };
            let descriptor = |kind: &str, bytes: &[u8]| -> std::io::Result<Value> {
                Ok(json!({ "mediaType": kind, "digest": put(bytes)?, "size": bytes.len() }))
            };
            let layers = self.layers.iter().map(|layer| descriptor(LAYER, &layer.bytes));
            let layers = layers.collect::<std::io::Result<Vec<_>>>()?;
            let config = descriptor(CONFIG, &text(&self.config()))?;
            let manifest = json!({ "schemaVersion": 2, "mediaType": MANIFEST, "config": config, "layers": layers });
            let mut manifest = descriptor(MANIFEST, &text(&manifest))?;
            manifest["platform"] = json!({ "os": "linux", "architecture": self.architecture });
            manifest["annotations"] = json!({ "org.opencontainers.image.ref.name": self.tag });
            let index = json!({ "schemaVersion": 2, "manifests": [manifest] });
            fs::write(out.join("index.json"), text(&index))?;
            fs::write(out.join("oci-layout"), text(&json!({ "imageLayoutVersion": "1.0.0" })))?;
            Ok(self.layers.iter().map(|layer| layer.bytes.len() as u64).sum())
        };
        written().map_err(|error| format!("cannot write the image to {}: {error}", out.display()))
    }

    fn config(&self) -> Value {
        let diff_ids: Vec<&str> = self.layers.iter().map(|layer| layer.diff_id.as_str()).collect();
        json!({
            "architecture": self.architecture,
            "os": "linux",
            "config": {
                "User": self.user,
                "WorkingDir": self.home,
                "Env": ["PATH=/usr/local/bin:/usr/bin:/bin", format!("HOME={}", self.home)],
                "Entrypoint": ["onrush"],
                "Cmd": ["--help"],
                "Labels": {
                    "org.opencontainers.image.title": "onrush",
                    "org.opencontainers.image.description": "A load-testing tool that runs k6 scripts",
                    "org.opencontainers.image.version": env!("CARGO_PKG_VERSION"),
                    "org.opencontainers.image.licenses": env!("CARGO_PKG_LICENSE"),
                },
            },
            "rootfs": { "type": "layers", "diff_ids": diff_ids },
        })
    }
}

fn text(value: &Value) -> Vec<u8> {
    format!("{value:#}\n").into_bytes()
}

//! What is in an archive: the names of its entries, and the fields of its `metadata.json`.

use std::collections::BTreeMap;

use serde_json::Value;

/// A tar's block.
const BLOCK: usize = 512;

/// Facts by name.
pub fn facts(tar: &[u8]) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for (name, content) in entries(tar) {
        match name.as_str() {
            "metadata.json" => metadata(content, &mut facts),
            _ => {
                facts.insert(format!("archive entry {name}"), format!("{} bytes", content.len()));
            }
        }
    }
    facts
}

fn metadata(content: &[u8], facts: &mut BTreeMap<String, String>) {
    let value: Value = serde_json::from_slice(content).unwrap_or_default();
    for (key, value) in value.as_object().into_iter().flatten() {
        // Each tool names its own version.
        let shown = if key == "k6version" { "a version".to_owned() } else { value.to_string() };
        let nested = if key == "options" || key == "env" { value.as_object() } else { None };
        match nested {
            None => {
                facts.insert(format!("archive metadata {key}"), shown);
            }
            Some(nested) => facts.extend(
                nested.iter().map(|(name, value)| (format!("archive metadata {key}.{name}"), value.to_string())),
            ),
        }
    }
}

fn entries(tar: &[u8]) -> Vec<(String, &[u8])> {
    let mut entries = Vec::new();
    let mut rest = tar;
    while rest.len() >= BLOCK && rest[0] != 0 {
        let text = |from: usize, to: usize| {
            String::from_utf8_lossy(&rest[from..to]).trim_end_matches(['\0', ' ']).trim_start().to_owned()
        };
        let size = usize::from_str_radix(&text(124, 136), 8).unwrap_or_default();
        let prefix = text(345, 500);
        let name = if prefix.is_empty() { text(0, 100) } else { format!("{prefix}/{}", text(0, 100)) };
        let end = (BLOCK + size).min(rest.len());
        if rest[156] != b'x' && rest[156] != b'5' {
            entries.push((name, &rest[BLOCK..end]));
        }
        rest = &rest[(BLOCK + size.next_multiple_of(BLOCK)).min(rest.len())..];
    }
    entries
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, content: &[u8]) -> Vec<u8> {
        let mut block = vec![0; BLOCK];
        block[..name.len()].copy_from_slice(name.as_bytes());
        block[124..135].copy_from_slice(format!("{:011o}", content.len()).as_bytes());
        block[156] = b'0';
        block.extend_from_slice(content);
        block.resize(block.len().next_multiple_of(BLOCK), 0);
        block
    }

    #[test]
    fn entries_and_metadata_become_facts() {
        let metadata = br#"{"type": "js", "k6version": "9", "options": {"vus": 2}}"#;
        let tar = [entry("metadata.json", metadata), entry("data", b"12345"), vec![0; 2 * BLOCK]].concat();
        let found = facts(&tar);
        assert_eq!(found["archive entry data"], "5 bytes");
        assert_eq!(found["archive metadata options.vus"], "2");
        assert_eq!(found["archive metadata k6version"], "a version");
        assert_eq!(found.len(), 4);
    }
}

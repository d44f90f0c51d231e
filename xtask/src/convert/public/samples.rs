//! Commands of curl that descriptions of interfaces have as samples: a shell's file of all those of a description.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Writes the files into a folder, and returns them.
pub(super) fn write(descriptions: &[PathBuf], folder: &Path) -> Result<Vec<PathBuf>, String> {
    fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut written = Vec::new();
    for path in descriptions {
        let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
        if !text.contains("curl ") {
            continue;
        }
        let mut commands = Vec::new();
        gather(&serde_json::from_str(&text).map_err(|error| format!("{}: {error}", path.display()))?, &mut commands);
        if commands.is_empty() {
            continue;
        }
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let file = folder.join(format!("{stem}.sh"));
        fs::write(&file, commands.concat()).map_err(|error| format!("{}: {error}", file.display()))?;
        written.push(file);
    }
    Ok(written)
}

/// Texts that begin as a command does, however deep.
fn gather(value: &Value, commands: &mut Vec<String>) {
    match value {
        Value::String(text) if text.trim_start().starts_with("curl ") => commands.push(format!("{}\n\n", text.trim())),
        Value::Array(items) => items.iter().for_each(|item| gather(item, commands)),
        Value::Object(fields) => fields.values().for_each(|field| gather(field, commands)),
        _ => {}
    }
}

//! A formula for Homebrew on Linux, which downloads the archive of a release. It has to name where that is, so it is
//! only made when somebody says. Homebrew is not on the machines that test this: the text alone is checked.

use super::deb::sha256;
use super::names::Names;
use super::release::{LICENSE, SUMMARY, VERSION};

/// The formula of an archive that will be at `url`.
pub(super) fn formula(url: &str, (name, archive): &(String, Vec<u8>), names: &Names) -> Result<Vec<u8>, String> {
    if !url.starts_with("https://") {
        return Err(format!("--url: found '{url}', expected the https address of the folder with the files"));
    }
    let homepage = names.repository.as_deref().unwrap_or(url);
    let licenses: Vec<String> = LICENSE.split(" OR ").map(|name| format!("\"{name}\"")).collect();
    Ok(format!(
        "class Onrush < Formula
  desc \"{}\"
  homepage \"{homepage}\"
  url \"{url}/{name}\"
  version \"{VERSION}\"
  sha256 \"{}\"
  license any_of: [{}]

  depends_on :linux

  def install
    bin.install \"bin/onrush\"
    man1.install Dir[\"share/man/man1/*\"]
    bash_completion.install \"share/bash-completion/completions/onrush\"
    zsh_completion.install \"share/zsh/site-functions/_onrush\"
    fish_completion.install \"share/fish/vendor_completions.d/onrush.fish\"
  end

  test do
    assert_match \"onrush v{VERSION}\", shell_output(\"#{{bin}}/onrush version\")
  end
end
",
        SUMMARY.trim_start_matches("A "),
        sha256(archive),
        licenses.join(", ")
    )
    .into_bytes())
}

#[cfg(test)]
mod tests {
    use super::Names;

    #[test]
    fn a_formula_names_the_archive_and_its_sum() {
        let archive = (String::from("onrush-1.tar.gz"), b"abc".to_vec());
        let text =
            String::from_utf8(super::formula("https://example.com/v1", &archive, &Names::default()).unwrap()).unwrap();
        assert!(text.contains("  url \"https://example.com/v1/onrush-1.tar.gz\"\n"), "{text}");
        assert!(text.contains("sha256 \"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\""), "{text}");
        assert!(text.contains("license any_of: [\"MIT\", \"Apache-2.0\"]"), "{text}");
        assert!(text.contains("shell_output(\"#{bin}/onrush version\")"), "{text}");
        assert!(super::formula("ftp://x", &archive, &Names::default()).is_err());
    }
}

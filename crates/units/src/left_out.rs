//! What is said where a build of Onrush leaves something out.

/// Says that this build is without a cargo feature, and how to have it.
#[must_use]
pub fn left_out(feature: &str) -> String {
    format!(
        "this Onrush was built without '{feature}'; the packages have it, and from a checkout \
         `cargo install --locked --path crates/cli --features full` builds all there is"
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn it_names_the_feature_and_the_command() {
        let text = super::left_out("redis");
        assert!(
            text.starts_with("this Onrush was built without 'redis'; ") && text.contains("--features full"),
            "{text}"
        );
    }
}

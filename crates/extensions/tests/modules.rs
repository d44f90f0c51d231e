//! Each extension's declarations have the names that its code exports. What they do, `cargo xtask extensions` shows
//! against real servers.

#[test]
fn each_export_is_declared() {
    assert!(!onrush_extensions::MODULES.is_empty(), "built without any extension");
    for module in onrush_extensions::MODULES {
        assert!(module.types.starts_with("/**"), "types.d.ts of {} does not say what it is for", module.name);
        for name in module.exports {
            let kinds = ["class", "function", "const"];
            let is_declared = kinds.iter().any(|kind| module.types.contains(&format!("export {kind} {name}")));
            assert!(is_declared, "{} exports {name}, which its types.d.ts does not declare", module.name);
        }
    }
}

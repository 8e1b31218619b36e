//! One target, with inputs that libFuzzer makes up and keeps by the code that they reach: `scripts/fuzz` builds this with
//! instrumentation. One program for all targets, because it takes long to link.

#![no_main]
#![allow(unsafe_code, reason = "libFuzzer calls an exported function")]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use rootset_fuzz::Target;

static TARGET: LazyLock<&Target> = LazyLock::new(|| {
    let name = std::env::var("ROOTSET_FUZZ_TARGET").expect("`ROOTSET_FUZZ_TARGET` names a target");
    rootset_fuzz::find(&name).unwrap_or_else(|| panic!("there is no target `{name}`"))
});

fuzz_target!(|input: &[u8]| TARGET.run(input));

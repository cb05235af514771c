//! Runs the target that `NIGHTDESK_FUZZ_TARGET` names under libFuzzer. One binary serves all targets, so that they are
//! built and linked once.
#![no_main]
#![expect(clippy::expect_used, reason = "a fuzzer without a target should stop")]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use nightdesk_fuzz::{FuzzTarget, INPUT_CPU_MAX};

static TARGET: LazyLock<&FuzzTarget> = LazyLock::new(|| {
    let name = std::env::var_os("NIGHTDESK_FUZZ_TARGET").expect("a target is chosen");
    FuzzTarget::find(&name.to_string_lossy()).expect("the target exists")
});

fuzz_target!(|data: &[u8]| TARGET.check(data, INPUT_CPU_MAX));

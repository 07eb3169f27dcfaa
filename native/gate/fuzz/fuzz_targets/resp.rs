// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| lull_gate::properties::resp(data));

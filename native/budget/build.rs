// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Compiles the policy: the same file that HotSpot is built with. There is one policy, not two.

fn main() {
    const POLICY: &str = "../../hotspot/src/hotspot/share/gc/budget/heapBudgetPolicy.cpp";
    const HEADER: &str = "../../hotspot/src/hotspot/share/gc/budget/heapBudgetPolicy.hpp";
    cc::Build::new()
        .cpp(true)
        .std("c++14")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-fno-strict-aliasing")
        // What the policy includes of HotSpot, in place of HotSpot's.
        .include("src/cpp")
        .include("../../hotspot/src/hotspot/share")
        .file(POLICY)
        .file("src/cpp/interface.cpp")
        .compile("lull_heap_budget");
    for file in [POLICY, HEADER, "src/cpp/interface.cpp", "src/cpp/utilities/globalDefinitions.hpp"] {
        println!("cargo::rerun-if-changed={file}");
    }
}

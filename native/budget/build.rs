// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

//! Compiles the policy: the same file that HotSpot is built with. There is one policy, not two. And sees to it that HotSpot reads the
//! sensor's file as the sensor writes it.

fn main() {
    const POLICY: [&str; 2] = [
        "../../hotspot/src/hotspot/share/gc/budget/heapBudgetPolicy.cpp",
        "../../hotspot/src/hotspot/share/gc/budget/heapBudgetWindow.cpp",
    ];
    const HEADERS: [&str; 2] = [
        "../../hotspot/src/hotspot/share/gc/budget/heapBudgetPolicy.hpp",
        "../../hotspot/src/hotspot/share/gc/budget/heapBudgetWindow.hpp",
    ];
    const FORMAT: &str = "../../hotspot/src/hotspot/share/gc/budget/heapBudgetSensorFormat.hpp";
    const SENSOR: &str = "../stall/include/lull_stall.h";
    cc::Build::new()
        .cpp(true)
        .std("c++14")
        .flag("-fno-exceptions")
        .flag("-fno-rtti")
        .flag("-fno-strict-aliasing")
        // What the policy includes of HotSpot, in place of HotSpot's.
        .include("src/cpp")
        .include("../../hotspot/src/hotspot/share")
        .include("../stall/include")
        .files(POLICY)
        .file("src/cpp/interface.cpp")
        .compile("lull_heap_budget");
    let ours = [FORMAT, SENSOR, "src/cpp/interface.cpp", "src/cpp/utilities/globalDefinitions.hpp"];
    for file in POLICY.iter().chain(&HEADERS).chain(&ours) {
        println!("cargo::rerun-if-changed={file}");
    }
}

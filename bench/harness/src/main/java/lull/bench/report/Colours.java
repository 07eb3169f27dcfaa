// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.report;

import lull.report.page.Palette;
import lull.report.page.Palette.Colour;

/** The colours of the benches' pages: one of each collector, and of what else is compared. */
public final class Colours {
    /** All of them. {@code other} is of collectors that have no colour of their own. */
    public static final Palette ALL = Palette.of(
            new Colour("lull", "#0b7a75", "#3fc9bf"),
            new Colour("lull-whole", "#2f9e44", "#8ce99a"),
            new Colour("lull-global", "#0097c4", "#6fdcff"),
            new Colour("lull-tracking", "#5a8f52", "#9fd795"),
            new Colour("lull-barrier", "#7d8f8c", "#b0c4c1"),
            new Colour("g1", "#c2570c", "#ff9a52"),
            new Colour("g1-base", "#a38a00", "#e3cc4a"),
            new Colour("parallel", "#6d4bc3", "#b49bff"),
            new Colour("serial", "#4a6b1f", "#a8cc6d"),
            new Colour("zgc", "#b3246b", "#ff7fb8"),
            new Colour("shenandoah", "#1f5fbf", "#7fb2ff"),
            new Colour("epsilon", "#6b6458", "#b5ad9e"),
            new Colour("other", "#8a3324", "#e08a78"),
            // When the allocator study joins free chunks.
            new Colour("never", "#4a6b1f", "#a8cc6d"),
            new Colour("deferred", "#c2570c", "#ff9a52"),
            new Colour("immediate", "#0b7a75", "#3fc9bf"));

    private Colours() { }
}

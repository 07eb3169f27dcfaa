// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.report;

import java.util.List;
import lull.bench.allocator.report.Pictures.Line;
import lull.bench.report.Colours;
import lull.bench.report.TextTable;
import lull.report.page.Page;
import lull.report.page.Page.Key;

/** The page: the claims, the pictures of the thesis' chapter 4 for one program, those of its appendix for the others. */
final class StudyPage {
    private static final Line NEVER = new Line("traverse", "never");
    private static final Line NEVER_NHT = new Line("next-hit", "never");
    private static final Line DEFERRED = new Line("traverse", "deferred");
    private static final Line DEFERRED_NHT = new Line("next-hit", "deferred");
    private static final Line IMMEDIATE = new Line("traverse", "immediate");
    private static final Line IMMEDIATE_NHT = new Line("next-hit", "immediate");
    private static final Line IMMEDIATE_BITMAP = new Line("bitmap", "immediate");

    private final Page page = new Page("Allocator study", Colours.ALL);
    private Study study;
    private Pictures pictures;

    void introduce() {
        page.paragraph("A mark-sweep heap of size-ordered segregated lists: that of the thesis "
                + "Reducing the Traversals in Size-Order Segregated List Object Allocator for Garbage Collection Environment (2005). First without a JVM: allocations and "
                + "deaths of programs in Java, recorded on a stock JVM and replayed, where times are those of the allocator, of marking a table of live objects, which is "
                + "less than tracing them, and of the sweep. Then, if a JDK was there, the same programs in HotSpot with such a heap, where a collection traces.");
    }

    /** The claims, the numbers and the pictures of one of the two. */
    void part(Study study, String name, TextTable claims, List<TextTable> tables) {
        this.study = study;
        pictures = new Pictures(study);
        page.heading(name + ": the claims").table(claims.rows());
        for (TextTable table : tables) {
            page.table(table.rows());
        }
        List<String> traces = study.inHotspot() ? study.programs() : study.allTraces();
        chapter(name + ": " + traces.getFirst(), traces.getFirst());
        for (String trace : traces.subList(1, traces.size())) {
            appendix(name + ": " + trace, trace);
        }
    }

    @Override
    public String toString() {
        return page.toString();
    }

    private void chapter(String heading, String trace) {
        page.heading(heading + ", as in chapter 4").note("Numbers are those of the thesis' figures. Colours tell when chunks are joined, strokes how a list is found: "
                + "dashed by traversal, solid by the Next Hit Table, dotted by a bitmap. Where a policy does not fit, it has no point.");
        page.grid();
        overTime("3-1", trace);
        List<Line> without = List.of(NEVER, DEFERRED, IMMEDIATE);
        three("4-1", "4-2", "4-3", trace, without);
        three("4-4", "4-5", "4-6", trace, List.of(DEFERRED, DEFERRED_NHT));
        List<Line> never = List.of(NEVER, NEVER_NHT);
        page.picture("4-7: management, never", "", Pictures.keys(never), pictures.overHeap(trace, never, r -> r.number("management_ns")));
        three("4-8", "4-9", "4-10", trace, List.of(IMMEDIATE, IMMEDIATE_NHT));
        three("4-11", "4-12", "4-13", trace, List.of(DEFERRED, DEFERRED_NHT, IMMEDIATE, IMMEDIATE_NHT));
        List<Line> indexed = List.of(NEVER_NHT, DEFERRED_NHT, IMMEDIATE_NHT);
        page.picture("4-14: number of lists", "Management, in a heap of twice the smallest.", Pictures.keys(indexed), pictures.overLists(trace, indexed));
        List<Line> bitmap = List.of(IMMEDIATE, IMMEDIATE_NHT, IMMEDIATE_BITMAP);
        page.picture("Allocation, with a bitmap", "Not in the thesis.", Pictures.keys(bitmap), pictures.overHeap(trace, bitmap, r -> r.number("allocation_ns")));
        page.picture("Management, with a bitmap", "Not in the thesis.", Pictures.keys(bitmap), pictures.overHeap(trace, bitmap, r -> r.number("management_ns")));
        page.end();
    }

    private void appendix(String heading, String trace) {
        page.heading(heading);
        page.grid();
        overTime("3-1", trace);
        three("A", "A", "A", trace, List.of(NEVER_NHT, DEFERRED, DEFERRED_NHT, IMMEDIATE, IMMEDIATE_NHT, IMMEDIATE_BITMAP));
        List<Line> indexed = List.of(NEVER_NHT, DEFERRED_NHT, IMMEDIATE_NHT);
        page.picture("4-14: number of lists", "Management, in a heap of twice the smallest.", Pictures.keys(indexed), pictures.overLists(trace, indexed));
        page.end();
    }

    private void overTime(String number, String trace) {
        if (study.inHotspot()) {
            return;
        }
        List<Key> keys = Study.COALESCINGS.stream().map(c -> new Key(c, "thin", c)).toList();
        page.picture(number + ": traversals over time", "Lists and chunks passed for each allocation, search by traversal, in a heap of twice the smallest.", keys,
                pictures.overTime(trace));
    }

    private void three(String allocation, String collection, String management, String trace, List<Line> lines) {
        List<Key> keys = Pictures.keys(lines);
        page.picture(allocation + ": allocation", "", keys, pictures.overHeap(trace, lines, r -> r.number("allocation_ns")));
        page.picture(collection + ": collection", "", keys, pictures.overHeap(trace, lines, Row::collectionNs));
        page.picture(management + ": management", "", keys, pictures.overHeap(trace, lines, r -> r.number("management_ns")));
    }
}

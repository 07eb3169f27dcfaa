// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lull.bench.util.Directories;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/** An index that is added to and searched, in phases, one after the other. */
final class StorageService {
    /** Documents are added to a new index, beside long-lived data: a larger heap makes that faster. */
    static final String INGEST = "ingest";
    /** The index is searched, and nearly nothing allocated: a larger page cache makes that faster. */
    static final String SEARCH = "search";
    /** The index is searched by requests that allocate much, beside long-lived data: both are needed. */
    static final String MIXED = "mixed";
    static final List<String> KINDS = List.of(INGEST, SEARCH, MIXED);

    private static final int SEARCH_THREADS = 4;
    private static final int INGEST_THREADS = 2;
    /** Kilobytes that a request of the mixed phase allocates, and one in how many of them stays. */
    private static final int MIXED_GARBAGE_KB = 400;
    private static final int MIXED_KEPT = 20;

    private final StoredIndex index;
    private final Path scratch;
    private final PhaseRunner runner;
    private final int liveMegabytes;

    /**
     * Prepares a run.
     *
     * @param memoryGroup the directory of the control group whose page cache is told, or null
     * @param liveMegabytes long-lived data while documents are added; two thirds as much in the mixed phase
     */
    StorageService(StoredIndex index, Path scratch, Path memoryGroup, int liveMegabytes) {
        this.index = index;
        this.scratch = scratch;
        this.runner = new PhaseRunner(memoryGroup);
        this.liveMegabytes = liveMegabytes;
    }

    /** Returns the phases and the seconds, for JSON. */
    Map<String, Object> run(List<Phase> all) throws IOException, InterruptedException {
        boolean ended = false;
        for (int i = 0; i < all.size(); i++) {
            Phase phase = all.get(i);
            try {
                if (!ended) {
                    run(phase, i);
                    continue;
                }
            } catch (IllegalStateException | OutOfMemoryError e) {
                // A fixed heap may be too small for a phase: that is a result, too.
                if (!isOutOfMemory(e)) {
                    throw e;
                }
                System.out.println("the phase " + phase.kind() + " ended: " + e);
                ended = true;
            }
            runner.nothing(phase);
        }
        return runner.result();
    }

    /** Lucene says to other threads that its writer is closed, because of what. */
    private static boolean isOutOfMemory(Throwable e) {
        for (Throwable cause = e; cause != null; cause = cause.getCause()) {
            if (cause instanceof OutOfMemoryError) {
                return true;
            }
        }
        return false;
    }

    private void run(Phase phase, int number) throws IOException, InterruptedException {
        switch (phase.kind()) {
            case INGEST -> ingest(phase, number);
            case SEARCH -> runner.measure(phase, SEARCH_THREADS, index::search);
            case MIXED -> {
                LiveSet live = new LiveSet(liveMegabytes * 2 / 3);
                runner.measure(phase, SEARCH_THREADS, random -> {
                    index.search(random);
                    live.churn(MIXED_GARBAGE_KB, MIXED_KEPT);
                });
            }
            default -> throw new IllegalArgumentException("no such phase: " + phase.kind());
        }
    }

    private void ingest(Phase phase, int number) throws IOException, InterruptedException {
        Path path = scratch.resolve("ingest-" + number);
        Directories.delete(path);
        LiveSet live = new LiveSet(liveMegabytes);
        try (Directory directory = new MMapDirectory(path); IndexWriter writer = new IndexWriter(directory, StoredIndex.config(Math.max(16, liveMegabytes * 2 / 5)))) {
            runner.measure(phase, INGEST_THREADS, random -> {
                live.churn(2, 1);
                writer.addDocument(Documents.document(random.nextInt()));
            });
            writer.rollback();
        }
        Directories.delete(path);
    }
}

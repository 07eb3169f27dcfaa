// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.budget;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import lull.bench.util.Directories;
import org.apache.lucene.index.DirectoryReader;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.StoredFields;
import org.apache.lucene.index.Term;
import org.apache.lucene.search.IndexSearcher;
import org.apache.lucene.search.TermQuery;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.MMapDirectory;

/** The index that is searched, read by mapped files as Lucene does. Safe for use by many threads. */
final class StoredIndex implements AutoCloseable {
    private static final int BEST = 10;
    private static final int READ = 10;
    private static final String COUNT = "documents";

    private final Directory directory;
    private final DirectoryReader reader;
    private final IndexSearcher searcher;

    StoredIndex(Path path) throws IOException {
        directory = new MMapDirectory(path.resolve("index"));
        reader = DirectoryReader.open(directory);
        searcher = new IndexSearcher(reader);
        searcher.setQueryCache(null);
    }

    static IndexWriterConfig config(int bufferMegabytes) {
        return new IndexWriterConfig(Documents.analyzer()).setRAMBufferSizeMB(bufferMegabytes).setUseCompoundFile(false);
    }

    /** Makes an index of that many documents in {@code path}, unless it is there. */
    static void make(Path path, int documents) throws IOException {
        Path count = path.resolve(COUNT);
        if (Files.exists(count) && Files.readString(count).strip().equals(String.valueOf(documents))) {
            return;
        }
        Directories.delete(path);
        Files.createDirectories(path);
        try (Directory directory = new MMapDirectory(path.resolve("index")); IndexWriter writer = new IndexWriter(directory, config(256))) {
            for (int i = 0; i < documents; i++) {
                writer.addDocument(Documents.document(i));
                if ((i + 1) % (documents / 10) == 0) {
                    System.out.printf("  %d of %d documents%n", i + 1, documents);
                }
            }
            writer.forceMerge(4);
        }
        Files.writeString(count, String.valueOf(documents));
    }

    /** Searches a word, reads the best documents' scores, and the payloads of documents at random, which are checked. */
    void search(Random random) throws IOException {
        searcher.search(new TermQuery(new Term("text", Documents.anyTerm(random))), BEST);
        StoredFields stored = searcher.storedFields();
        for (int i = 0; i < READ; i++) {
            Documents.check(stored.document(random.nextInt(reader.maxDoc())).getBinaryValue("payload"));
        }
    }

    @Override
    public void close() throws IOException {
        try (directory) {
            reader.close();
        }
    }
}

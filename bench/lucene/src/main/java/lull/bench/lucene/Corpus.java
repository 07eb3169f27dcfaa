// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.lucene;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.lucene.analysis.en.EnglishAnalyzer;
import org.apache.lucene.document.Document;
import org.apache.lucene.document.Field;
import org.apache.lucene.document.StoredField;
import org.apache.lucene.document.TextField;
import org.apache.lucene.index.IndexWriter;
import org.apache.lucene.index.IndexWriterConfig;
import org.apache.lucene.index.SerialMergeScheduler;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;

/**
 * The texts that are searched: the sources of package java and below in an OpenJDK tree, which are mostly English documentation, in
 * pieces of about {@link #PIECE} characters. They are indexed in one thread, so that the index is the same each time.
 */
final class Corpus {
    /** Where the texts are in an OpenJDK tree. */
    static final String TREE = "src/java.base/share/classes/java";
    private static final int PIECE = 3000;

    private Corpus() { }

    /**
     * Makes the index in {@code to}, which must not exist.
     *
     * @param most pieces to index; they are taken evenly from all
     * @return how many pieces there are
     * @throws IOException if the tree has no texts
     */
    static int index(Path openjdk, int most, Path to) throws IOException {
        List<Document> all = pieces(openjdk.resolve(TREE));
        if (all.isEmpty()) {
            throw new IOException("no Java sources in " + openjdk.resolve(TREE)
                    + ": give the top of an OpenJDK 25 source tree with --openjdk DIR (scripts: OPENJDK_SRC=DIR)");
        }
        int count = Math.min(most, all.size());
        IndexWriterConfig config = new IndexWriterConfig(new EnglishAnalyzer()).setMergeScheduler(new SerialMergeScheduler());
        try (Directory directory = FSDirectory.open(to); IndexWriter writer = new IndexWriter(directory, config)) {
            for (int i = 0; i < count; i++) {
                writer.addDocument(all.get((int) ((long) i * all.size() / count)));
            }
            writer.forceMerge(1);
        }
        return count;
    }

    private static List<Document> pieces(Path tree) throws IOException {
        List<Document> pieces = new ArrayList<>();
        if (!Files.isDirectory(tree)) {
            return pieces;
        }
        List<Path> files;
        try (Stream<Path> walk = Files.walk(tree)) {
            files = walk.filter(file -> file.toString().endsWith(".java")).sorted(Comparator.comparing(Path::toString)).toList();
        }
        for (Path file : files) {
            String name = tree.relativize(file).toString();
            StringBuilder piece = new StringBuilder();
            int number = 0;
            for (String line : Files.readString(file).split("\n")) {
                piece.append(line).append('\n');
                if (piece.length() >= PIECE) {
                    pieces.add(piece(name, number++, piece.toString()));
                    piece.setLength(0);
                }
            }
            if (!piece.isEmpty()) {
                pieces.add(piece(name, number, piece.toString()));
            }
        }
        return pieces;
    }

    private static Document piece(String name, int number, String text) {
        Document document = new Document();
        document.add(new StoredField("name", name + "#" + number));
        document.add(new TextField("text", text, Field.Store.YES));
        return document;
    }
}

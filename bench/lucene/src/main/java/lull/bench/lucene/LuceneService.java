// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.lucene;

import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.logging.Level;
import java.util.logging.Logger;
import lull.bench.load.FixedCaller;
import lull.bench.load.FixedRequest;
import lull.bench.service.Options;
import lull.bench.service.Service;
import lull.bench.util.Cli.UsageException;
import lull.bench.util.Directories;
import org.apache.lucene.queryparser.classic.ParseException;
import org.apache.lucene.store.ByteBuffersDirectory;
import org.apache.lucene.store.Directory;
import org.apache.lucene.store.FSDirectory;
import org.apache.lucene.store.IOContext;
import org.apache.lucene.util.Version;

/**
 * Full-text search by Lucene over the JDK's own sources. {@link #prepare} makes the index and searches it without a server.
 * Options: {@code openjdk}, the top of an OpenJDK 25 source tree; {@code documents}, the most texts; {@code index}, {@code mapped} or
 * {@code heap}: whether the server maps the files of the index or copies them to its Java heap.
 */
public final class LuceneService implements Service {
    private static final int QUERIES = 400;
    /** There if the index is to be copied to the heap. */
    private static final String IN_HEAP = "index-in-heap";
    /** Says that some optional JDK modules are not enabled. Kept, as a logger that nobody refers to forgets its level. */
    private static final Logger LOG = Logger.getLogger("org.apache.lucene");

    public LuceneService() {
        LOG.setLevel(Level.SEVERE);
    }

    @Override
    public String name() {
        return "lucene";
    }

    @Override
    public String describe() {
        return "Lucene behind the JDK's HTTP server; a request searches the JDK's own sources and returns the ten best pieces with a line of each";
    }

    @Override
    public void prepare(Path data, Map<String, String> values) throws IOException {
        Options options = new Options(values, Set.of("documents", "index"));
        int documents = options.number("documents", 20_000, 1, 1_000_000);
        String kind = options.text("index", "mapped");
        if (!Set.of("mapped", "heap").contains(kind)) {
            throw new UsageException("option index is '" + kind + "': give mapped or heap");
        }
        String origin = "at most " + documents + " pieces, 1, index " + kind + ", Lucene " + Version.LATEST + ", Java "
                + System.getProperty("java.runtime.version");
        if (FixedRequest.isOf(data, origin)) {
            return;
        }
        if (options.text("openjdk", "").isEmpty()) {
            throw new IOException("the lucene service needs the OpenJDK source tree: give --openjdk DIR");
        }
        Path index = data.resolve("index");
        FixedRequest.delete(data);
        Directories.delete(index);
        Files.deleteIfExists(data.resolve(IN_HEAP));
        int pieces = Corpus.index(Path.of(options.text("openjdk", "")), documents, index);
        if (kind.equals("heap")) {
            Files.createFile(data.resolve(IN_HEAP));
        }
        List<FixedRequest> requests = new ArrayList<>();
        try (Searches searches = new Searches(FSDirectory.open(index))) {
            for (String query : searches.queries(QUERIES)) {
                requests.add(FixedRequest.get("/search?q=" + URLEncoder.encode(query, StandardCharsets.UTF_8), searches.answer(query)));
            }
        } catch (ParseException e) {
            throw new IllegalStateException(e);
        }
        FixedRequest.write(data, origin, requests);
        System.out.println("prepared an index of " + pieces + " texts and " + requests.size() + " requests in " + data);
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        // Tells what is missing, too.
        FixedRequest.read(data);
        Directory index = FSDirectory.open(data.resolve("index"));
        if (Files.exists(data.resolve(IN_HEAP))) {
            try (Directory disk = index) {
                Directory heap = new ByteBuffersDirectory();
                for (String file : disk.listAll()) {
                    heap.copyFrom(disk, file, file, IOContext.DEFAULT);
                }
                index = heap;
            }
        }
        return new LuceneServer(new Searches(index), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new FixedCaller(FixedRequest.read(data), seed);
    }
}

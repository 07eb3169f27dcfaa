// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.opensearch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Random;
import lull.bench.util.Directories;
import org.opensearch.Version;
import org.opensearch.action.bulk.BulkRequestBuilder;
import org.opensearch.action.bulk.BulkResponse;
import org.opensearch.action.search.SearchResponse;
import org.opensearch.common.settings.Settings;
import org.opensearch.common.unit.TimeValue;
import org.opensearch.index.query.QueryBuilders;
import org.opensearch.node.InternalSettingsPreparer;
import org.opensearch.node.Node;
import org.opensearch.node.NodeValidationException;
import org.opensearch.plugins.PluginInfo;
import org.opensearch.search.SearchHit;
import org.opensearch.search.aggregations.AggregationBuilders;
import org.opensearch.transport.Netty4ModulePlugin;
import org.opensearch.transport.client.Client;

/** A node of OpenSearch in this process, with an index of documents that follow from their numbers. Safe for use by many threads. */
final class StoredIndex implements AutoCloseable {
    private static final String DOCUMENTS = "documents";
    private static final String ADDED = "added";
    private static final int WORDS = 40;
    private static final int VOCABULARY = 20_000;
    private static final int GROUPS = 200;
    private static final int PAYLOAD = 1500;
    private static final int BULK = 200;
    private static final int BEST = 10;
    /** Seconds that a node may take to start, and an index to open. */
    private static final int PATIENCE = 120;
    /** Beside the data: how many documents there are. */
    private static final String COUNT = "count";

    private final Node node;
    private final Client client;
    private final int count;

    /** A node whose plugins are on the class path. */
    private static final class PlainNode extends Node {
        PlainNode(Settings settings) {
            super(InternalSettingsPreparer.prepareEnvironment(settings, Map.of(), null, () -> "bench"), List.of(new PluginInfo(Netty4ModulePlugin.class.getName(), "transport",
                    "of the class path", Version.CURRENT, "21", Netty4ModulePlugin.class.getName(), null, List.of(), false)), true);
        }
    }

    /** Starts a node on what {@link #make} has made in {@code data}. */
    StoredIndex(Path data) throws IOException {
        this(data, Integer.parseInt(Files.readString(data.resolve(COUNT)).strip()));
    }

    private StoredIndex(Path data, int count) throws IOException {
        this.count = count;
        node = new PlainNode(Settings.builder().put("path.home", data.toString()).put("cluster.name", "bench").put("node.name", "bench").put("discovery.type", "single-node")
                .put("network.host", "127.0.0.1").put("transport.type", "netty4").put("http.type", "netty4").put("cluster.routing.allocation.disk.threshold_enabled", false)
                .build());
        try {
            node.start();
        } catch (NodeValidationException e) {
            throw new IOException("OpenSearch did not start: " + e.getMessage(), e);
        }
        client = node.client();
        if (client.admin().cluster().prepareHealth().setWaitForYellowStatus().setTimeout(TimeValue.timeValueSeconds(PATIENCE)).get().isTimedOut()) {
            throw new IOException("OpenSearch has not opened its index in " + PATIENCE + " s");
        }
    }

    /** Makes an index of that many documents in {@code data}, unless it is there. */
    static void make(Path data, int documents) throws IOException {
        Path count = data.resolve(COUNT);
        if (Files.exists(count) && Files.readString(count).strip().equals("" + documents)) {
            return;
        }
        Directories.delete(data);
        Files.createDirectories(data);
        try (StoredIndex index = new StoredIndex(data, documents)) {
            index.create(DOCUMENTS);
            for (int from = 0; from < documents; from += BULK) {
                index.add(DOCUMENTS, from, Math.min(BULK, documents - from));
                if (from / BULK % Math.max(1, documents / BULK / 10) == 0) {
                    System.out.printf("  %d of %d documents%n", from, documents);
                }
            }
            index.client.admin().indices().prepareForceMerge(DOCUMENTS).setMaxNumSegments(4).get();
            index.client.admin().indices().prepareFlush(DOCUMENTS).get();
        }
        Files.writeString(count, "" + documents);
    }

    private void create(String name) {
        client.admin().indices().prepareCreate(name).setSettings(Settings.builder().put("index.number_of_shards", 1).put("index.number_of_replicas", 0)
                .put("index.refresh_interval", "5s").put("index.requests.cache.enable", false).put("index.queries.cache.enabled", false))
                .setMapping(Map.of("properties", Map.of("text", Map.of("type", "text"), "group", Map.of("type", "integer"),
                        "payload", Map.of("type", "keyword", "index", false, "doc_values", false)))).get();
    }

    private static Map<String, Object> document(int number) {
        Random random = new Random(number);
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < WORDS; i++) {
            // The product of two uniform numbers makes the first words frequent.
            text.append(word(random.nextDouble() * random.nextDouble())).append(' ');
        }
        byte[] payload = new byte[PAYLOAD];
        random.nextBytes(payload);
        return Map.of("text", text.toString(), "group", Math.floorMod(number, GROUPS), "payload", Base64.getEncoder().encodeToString(payload));
    }

    private static String word(double share) {
        return "w" + Integer.toString((int) (share * VOCABULARY), 36);
    }

    private void add(String name, int from, int howMany) throws IOException {
        BulkRequestBuilder bulk = client.prepareBulk();
        for (int i = from; i < from + howMany; i++) {
            bulk.add(client.prepareIndex(name).setId("" + i).setSource(document(i)));
        }
        BulkResponse answer = bulk.get();
        if (answer.hasFailures()) {
            throw new IOException("documents could not be added: " + answer.buildFailureMessage());
        }
    }

    /** Begins a new index, to which {@link #ingest} adds. */
    void beginIngest() {
        endIngest();
        create(ADDED);
    }

    void ingest(Random random) throws IOException {
        add(ADDED, random.nextInt(), 20);
    }

    /** Deletes what has been added. */
    void endIngest() {
        if (client.admin().indices().prepareExists(ADDED).get().isExists()) {
            client.admin().indices().prepareDelete(ADDED).get();
        }
    }

    /** Searches a word, and checks the documents that come. */
    void search(Random random) throws IOException {
        SearchResponse answer = client.prepareSearch(DOCUMENTS).setQuery(QueryBuilders.termQuery("text", word(random.nextDouble()))).setSize(BEST).get();
        check(answer);
        List<String> any = new ArrayList<>();
        for (int i = 0; i < BEST; i++) {
            any.add("" + random.nextInt(count));
        }
        SearchResponse read = client.prepareSearch(DOCUMENTS).setQuery(QueryBuilders.idsQuery().addIds(any.toArray(new String[0]))).setSize(BEST).get();
        check(read);
        if (read.getHits().getHits().length != any.stream().distinct().count()) {
            throw new IOException(any + ": only " + read.getHits().getHits().length + " documents came");
        }
    }

    /** Counts the documents with one of many words by group, and searches: a request that allocates much. */
    void report(Random random) throws IOException {
        String[] words = new String[40];
        for (int i = 0; i < words.length; i++) {
            words[i] = word(random.nextDouble() * random.nextDouble());
        }
        SearchResponse answer = client.prepareSearch(DOCUMENTS).setQuery(QueryBuilders.termsQuery("text", words)).setSize(20 * BEST)
                .addAggregation(AggregationBuilders.terms("groups").field("group").size(GROUPS)).get();
        check(answer);
    }

    private static void check(SearchResponse answer) throws IOException {
        if (answer.getFailedShards() > 0) {
            throw new IOException("a search failed: " + List.of(answer.getShardFailures()));
        }
        for (SearchHit hit : answer.getHits()) {
            int number = Integer.parseInt(hit.getId());
            if (!document(number).get("payload").equals(hit.getSourceAsMap().get("payload"))) {
                throw new IOException("document " + number + " is not as it was written");
            }
        }
    }

    @Override
    public void close() throws IOException {
        node.close();
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import lull.bench.util.Json;

/**
 * The configuration of the node.
 *
 * @param port of the native protocol
 * @param nodePort for other nodes, of which there are none
 * @param threads that work on requests
 * @param directory for all its files
 */
record CassandraSettings(int port, int nodePort, int threads, Path directory) {
    /** A pause of the collector under test is no reason to give up a request. */
    private static final String PATIENCE = "600s";

    /** Writes {@code cassandra.yaml} and tells Cassandra where it is; it reads that when its first class is loaded. */
    void apply() throws IOException {
        Path file = directory.resolve("cassandra.yaml");
        // JSON is YAML.
        Json.write(file, yaml());
        System.setProperty("cassandra.config", file.toUri().toString());
        System.setProperty("cassandra.storagedir", directory.toString());
        System.setProperty("cassandra.logdir", directory.toString());
        // Else it closes standard output.
        System.setProperty("cassandra-foreground", "yes");
        // There is nobody to wait for.
        System.setProperty("cassandra.skip_wait_for_gossip_to_settle", "0");
        System.setProperty("cassandra.ring_delay_ms", "0");
        System.setProperty("cassandra.superuser_setup_delay_ms", "-1");
        System.setProperty("cassandra.shutdown_announce_in_ms", "0");
        // Its own tables need not survive a crash.
        System.setProperty("cassandra.unsafesystem", "true");
        System.setProperty("cassandra.test.flush_local_schema_changes", "false");
    }

    private Map<String, Object> yaml() {
        Map<String, Object> yaml = new LinkedHashMap<>();
        yaml.put("cluster_name", "bench");
        yaml.put("partitioner", "org.apache.cassandra.dht.Murmur3Partitioner");
        yaml.put("endpoint_snitch", "SimpleSnitch");
        yaml.put("num_tokens", 1);
        yaml.put("initial_token", "0");
        yaml.put("seed_provider", List.of(Map.of("class_name", "org.apache.cassandra.locator.SimpleSeedProvider",
                "parameters", List.of(Map.of("seeds", "127.0.0.1:" + nodePort)))));
        yaml.put("listen_address", "127.0.0.1");
        yaml.put("storage_port", nodePort);
        yaml.put("rpc_address", "127.0.0.1");
        yaml.put("native_transport_port", port);
        yaml.put("start_native_transport", true);
        yaml.put("native_transport_max_threads", threads);
        yaml.put("concurrent_reads", threads);
        yaml.put("concurrent_writes", threads);
        for (String timeout : List.of("read_request_timeout", "range_request_timeout", "write_request_timeout", "request_timeout",
                "truncate_request_timeout", "native_transport_timeout", "slow_query_log_timeout")) {
            yaml.put(timeout, PATIENCE);
        }
        for (String kind : List.of("commitlog", "saved_caches", "hints", "cdc_raw")) {
            yaml.put(kind + "_directory", directory.resolve(kind).toString());
        }
        yaml.put("data_file_directories", List.of(directory.resolve("data").toString()));
        yaml.put("commitlog_sync", "periodic");
        yaml.put("commitlog_sync_period", "10000ms");
        yaml.put("commitlog_segment_size", "8MiB");
        yaml.put("commitlog_total_space", "64MiB");
        yaml.put("hinted_handoff_enabled", false);
        yaml.put("auto_snapshot", false);
        // Fixed, as by default these follow from the size of the heap, which differs from run to run.
        yaml.put("memtable_heap_space", "24MiB");
        yaml.put("memtable_offheap_space", "24MiB");
        yaml.put("memtable_flush_writers", 1);
        yaml.put("key_cache_size", "4MiB");
        yaml.put("counter_cache_size", "0MiB");
        yaml.put("paxos_cache_size", "0MiB");
        yaml.put("prepared_statements_cache_size", "2MiB");
        yaml.put("file_cache_size", "32MiB");
        yaml.put("networking_cache_size", "16MiB");
        yaml.put("repair_session_space", "1MiB");
        yaml.put("concurrent_compactors", 1);
        yaml.put("compaction_throughput", "16MiB/s");
        return yaml;
    }
}

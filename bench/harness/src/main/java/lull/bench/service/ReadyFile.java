// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.service;

import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import lull.bench.util.Json;

/**
 * The file by which a server process says that it is ready.
 *
 * @param port where it listens
 * @param pid its process
 * @param uptimeZeroMillis when the JVM's uptime was 0, in milliseconds since the epoch: ties gc log times to the clock
 */
public record ReadyFile(int port, long pid, long uptimeZeroMillis) {
    /** Writes the file in one step. */
    public void write(Path file) throws IOException {
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("port", port);
        map.put("pid", pid);
        map.put("uptimeZeroMillis", uptimeZeroMillis);
        Json.write(file, map);
    }

    /** Reads the file. */
    public static ReadyFile read(Path file) throws IOException {
        Map<String, Object> map = Json.readObject(file);
        return new ReadyFile(((Number) map.get("port")).intValue(), ((Number) map.get("pid")).longValue(),
                ((Number) map.get("uptimeZeroMillis")).longValue());
    }
}

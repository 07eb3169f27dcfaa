// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.IOException;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import lull.bench.load.FixedCaller;
import lull.bench.load.FixedRequest;
import lull.bench.load.HttpConnection;
import lull.bench.service.Service;
import lull.bench.util.Json;

/**
 * The compile service of the Iso paper: a Spring Boot web service with embedded Tomcat whose request compiles one small Java source
 * in memory. Option of {@link #prepare}: {@code openjdk}, the top of an OpenJDK 25 source tree.
 */
public final class CompileService implements Service {
    private static final String TARGET = "/compile?source=";

    @Override
    public String name() {
        return "compile";
    }

    @Override
    public String describe() {
        return "Spring Boot on embedded Tomcat; a request compiles one of the JDK's own javac test programs (2.5 to 16 KB) in memory";
    }

    @Override
    public void prepare(Path data, Map<String, String> options) throws IOException {
        CRC32C list = new CRC32C();
        list.update(String.join("\n", Sources.names()).getBytes(StandardCharsets.UTF_8));
        String origin = "javac " + System.getProperty("java.runtime.version") + ", list " + Long.toHexString(list.getValue());
        if (FixedRequest.isOf(data, origin)) {
            return;
        }
        if (!options.containsKey("openjdk")) {
            throw new IOException("the compile service needs the OpenJDK source tree: give --openjdk DIR");
        }
        FixedRequest.delete(data);
        Path sources = data.resolve("sources");
        List<String> names = Sources.copy(Path.of(options.get("openjdk")), sources);
        List<FixedRequest> requests = ask(Sources.read(sources, names));
        if (requests.size() < Sources.FEWEST) {
            throw new IOException("only " + requests.size() + " of " + names.size() + " sources compile with Java "
                    + System.getProperty("java.runtime.version") + ", " + Sources.FEWEST
                    + " are needed: is the OpenJDK tree of this version? Pick again with SourcePicker");
        }
        FixedRequest.write(data, origin, requests);
        System.out.println("prepared " + requests.size() + " sources in " + data);
    }

    /** Starts the service in this process and asks it for each source once; returns those requests whose source compiles. */
    static List<FixedRequest> ask(Map<String, String> texts) throws IOException {
        List<FixedRequest> requests = new ArrayList<>();
        try (Running running = CompileServer.start(texts, 0, 1); HttpConnection http = new HttpConnection(running.port(), FixedCaller.TIMEOUT_MILLIS)) {
            for (String source : texts.keySet()) {
                String target = TARGET + URLEncoder.encode(source, StandardCharsets.UTF_8);
                String text = new String(http.get(target).body(), StandardCharsets.UTF_8);
                Map<String, Object> answer = Json.parseObject(text);
                if (Boolean.TRUE.equals(answer.get("ok"))) {
                    requests.add(FixedRequest.get(target, text));
                } else {
                    System.err.println("note: " + source + " does not compile with this JDK and is left out: " + answer.get("diagnostics"));
                }
            }
        }
        return requests;
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        List<String> names = FixedRequest.read(data).stream()
                .map(request -> URLDecoder.decode(request.target().substring(TARGET.length()), StandardCharsets.UTF_8)).toList();
        return CompileServer.start(Sources.read(data.resolve("sources"), names), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new FixedCaller(FixedRequest.read(data), seed);
    }
}

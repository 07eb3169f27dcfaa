// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.zip.CRC32C;
import lull.bench.service.Service;

/**
 * The compile service of the Iso paper: a Spring Boot web service with embedded Tomcat whose request compiles one small Java source
 * in memory. Option of {@link #prepare}: {@code openjdk}, the top of an OpenJDK 25 source tree.
 */
public final class CompileService implements Service {
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
        if (Expected.isOf(data, origin)) {
            return;
        }
        if (!options.containsKey("openjdk")) {
            throw new IOException("the compile service needs the OpenJDK source tree: give --openjdk DIR");
        }
        Path sources = data.resolve("sources");
        List<String> names = Sources.copy(Path.of(options.get("openjdk")), sources);
        MemoryCompiler compiler = new MemoryCompiler();
        List<Expected> all = new ArrayList<>();
        for (Map.Entry<String, String> source : Sources.read(sources, names).entrySet()) {
            Answer answer = compiler.compile(source.getKey(), source.getValue());
            if (answer.ok()) {
                all.add(Expected.of(answer));
            } else {
                System.err.println("note: " + source.getKey() + " does not compile with this JDK and is left out: " + answer.diagnostics().first());
            }
        }
        if (all.size() < Sources.FEWEST) {
            throw new IOException("only " + all.size() + " of " + names.size() + " sources compile with Java "
                    + System.getProperty("java.runtime.version") + ", " + Sources.FEWEST
                    + " are needed: is the OpenJDK tree of this version? Pick again with SourcePicker");
        }
        Expected.write(data, origin, all);
        System.out.println("prepared " + all.size() + " sources in " + data);
    }

    @Override
    public Running start(Path data, int port, int threads) throws IOException {
        List<String> names = Expected.read(data).stream().map(Expected::source).toList();
        return CompileServer.start(Sources.read(data.resolve("sources"), names), port, threads);
    }

    @Override
    public Caller caller(Path data, long seed) throws IOException {
        return new CompileCaller(Expected.read(data), seed);
    }
}

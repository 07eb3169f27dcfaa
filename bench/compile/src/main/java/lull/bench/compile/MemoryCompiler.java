// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.Writer;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32C;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.StandardLocation;
import javax.tools.ToolProvider;

/**
 * Compiles one source text with the JDK's javac, from memory to memory. Each call is a javac of its own; only the JDK's classes are
 * on its class path. Safe for use by many threads.
 */
final class MemoryCompiler {
    private static final int FIRST_MESSAGES = 5;
    private static final List<String> OPTIONS = List.of("-proc:none", "-implicit:none");

    private final JavaCompiler javac;

    /** @throws IllegalStateException if this Java has no compiler */
    MemoryCompiler() {
        javac = ToolProvider.getSystemJavaCompiler();
        if (javac == null) {
            throw new IllegalStateException("the Java at " + System.getProperty("java.home") + " has no compiler: use a JDK with module jdk.compiler");
        }
    }

    /**
     * Compiles {@code text}.
     *
     * @param name of the source, a path with slashes; javac sees its last element as the file's name
     */
    Answer compile(String name, String text) throws IOException {
        DiagnosticCollector<JavaFileObject> diagnostics = new DiagnosticCollector<>();
        TreeMap<String, ByteArrayOutputStream> outputs = new TreeMap<>();
        boolean ok;
        try (StandardJavaFileManager standard = javac.getStandardFileManager(diagnostics, Locale.ROOT, StandardCharsets.UTF_8);
                MemoryFiles files = new MemoryFiles(standard, outputs)) {
            standard.setLocationFromPaths(StandardLocation.CLASS_PATH, List.of());
            ok = javac.getTask(Writer.nullWriter(), files, diagnostics, OPTIONS, null, List.of(new SourceText(name, text))).call();
        }
        return answer(name, ok, diagnostics.getDiagnostics(), outputs);
    }

    private static Answer answer(String name, boolean ok, List<Diagnostic<? extends JavaFileObject>> said,
            TreeMap<String, ByteArrayOutputStream> outputs) {
        List<String> first = said.stream().limit(FIRST_MESSAGES)
                .map(d -> d.getKind() + " line " + d.getLineNumber() + ": " + d.getMessage(Locale.ROOT)).toList();
        List<Answer.ClassFile> classes = new ArrayList<>();
        CRC32C digest = new CRC32C();
        long bytes = 0;
        for (Map.Entry<String, ByteArrayOutputStream> output : outputs.entrySet()) {
            byte[] content = output.getValue().toByteArray();
            classes.add(new Answer.ClassFile(output.getKey(), content.length));
            digest.update(output.getKey().getBytes(StandardCharsets.UTF_8));
            digest.update(content);
            bytes += content.length;
        }
        return new Answer(name, ok, new Answer.Diagnostics(said.size(), first), classes, bytes, String.format("%08x", digest.getValue()));
    }

    private static final class SourceText extends SimpleJavaFileObject {
        private final String text;

        SourceText(String name, String text) {
            super(URI.create("memory:///" + name.substring(name.lastIndexOf('/') + 1)), Kind.SOURCE);
            this.text = text;
        }

        @Override
        public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Keeps class files in memory; refuses to write anything else. */
    private static final class MemoryFiles extends ForwardingJavaFileManager<StandardJavaFileManager> {
        private final Map<String, ByteArrayOutputStream> outputs;

        MemoryFiles(StandardJavaFileManager standard, Map<String, ByteArrayOutputStream> outputs) {
            super(standard);
            this.outputs = outputs;
        }

        @Override
        public JavaFileObject getJavaFileForOutput(Location location, String className, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("memory:///" + className.replace('.', '/') + kind.extension), kind) {
                @Override
                public OutputStream openOutputStream() {
                    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
                    outputs.put(className, bytes);
                    return bytes;
                }
            };
        }

        @Override
        public FileObject getFileForOutput(Location location, String packageName, String relativeName, FileObject sibling) throws IOException {
            throw new IOException("javac wants to write " + packageName + "/" + relativeName + ": only class files are kept");
        }
    }
}

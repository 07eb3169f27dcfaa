// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.allocator.programs;

import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.net.URI;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Random;
import javax.tools.DiagnosticCollector;
import javax.tools.FileObject;
import javax.tools.ForwardingJavaFileManager;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileManager;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The JDK's own javac over generated classes, in memory, like SPECjvm98's javac. {@code Compiler [seed [rounds [classes]]]}.
 *
 * <p>Checked: the compiled classes are loaded and run, and must compute what the generator has computed.
 */
public final class Compiler {
    private Compiler() { }

    private static final class Source extends SimpleJavaFileObject {
        private final String text;

        Source(String name, String text) {
            super(URI.create("string:///" + name + ".java"), Kind.SOURCE);
            this.text = text;
        }

        @Override public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
        }
    }

    /** Keeps class files in memory. */
    private static final class Files extends ForwardingJavaFileManager<JavaFileManager> {
        final Map<String, ByteArrayOutputStream> classes = new HashMap<>();

        Files(JavaFileManager manager) {
            super(manager);
        }

        @Override public JavaFileObject getJavaFileForOutput(Location location, String name, JavaFileObject.Kind kind, FileObject sibling) {
            return new SimpleJavaFileObject(URI.create("mem:///" + name + ".class"), kind) {
                @Override public OutputStream openOutputStream() {
                    ByteArrayOutputStream out = new ByteArrayOutputStream();
                    classes.put(name, out);
                    return out;
                }
            };
        }
    }

    private static final class Loader extends ClassLoader {
        private final Map<String, ByteArrayOutputStream> classes;

        Loader(Map<String, ByteArrayOutputStream> classes) {
            this.classes = classes;
        }

        @Override protected Class<?> findClass(String name) throws ClassNotFoundException {
            ByteArrayOutputStream bytes = classes.get(name);
            if (bytes == null) {
                throw new ClassNotFoundException(name);
            }
            return defineClass(name, bytes.toByteArray(), 0, bytes.size());
        }
    }

    /** An expression as text, and its value where a is 3 and b is 5. */
    private record Expression(String text, long value) {
        static Expression random(Random random, int depth) {
            if (depth == 0) {
                return switch (random.nextInt(3)) {
                    case 0 -> new Expression("a", 3);
                    case 1 -> new Expression("b", 5);
                    default -> {
                        int constant = random.nextInt(1000);
                        yield new Expression(constant + "L", constant);
                    }
                };
            }
            Expression left = random(random, depth - 1);
            Expression right = random(random, depth - 1);
            return switch (random.nextInt(4)) {
                case 0 -> new Expression("(" + left.text + " + " + right.text + ")", left.value + right.value);
                case 1 -> new Expression("(" + left.text + " - " + right.text + ")", left.value - right.value);
                case 2 -> new Expression("(" + left.text + " * " + right.text + ")", left.value * right.value);
                default -> new Expression("Math.max(" + left.text + ", " + right.text + ")", Math.max(left.value, right.value));
            };
        }
    }

    private static long round(Random random, JavaCompiler compiler, StandardJavaFileManager standard, int classes) throws Exception {
        List<Source> sources = new ArrayList<>();
        long expected = 0;
        for (int c = 0; c < classes; c++) {
            StringBuilder text = new StringBuilder("import java.util.*;\npublic final class C" + c + " {\n");
            text.append("    record Pair<T>(T left, T right) { }\n    private final List<Pair<Long>> pairs = new ArrayList<>();\n");
            int methods = 4 + random.nextInt(6);
            for (int m = 0; m < methods; m++) {
                Expression e = Expression.random(random, 3 + random.nextInt(2));
                expected += e.value;
                text.append("    long m").append(m).append("(long a, long b) {\n        Pair<Long> p = new Pair<>(a, b);\n        pairs.add(p);\n")
                        .append("        long r = ").append(e.text).append(";\n        return pairs.stream().anyMatch(q -> q == p) ? r : -1;\n    }\n");
            }
            text.append("    public static long all() {\n        C").append(c).append(" c = new C").append(c).append("();\n        long sum = 0;\n");
            for (int m = 0; m < methods; m++) {
                text.append("        sum += c.m").append(m).append("(3, 5);\n");
            }
            text.append("        return sum;\n    }\n}\n");
            sources.add(new Source("C" + c, text.toString()));
        }
        Files files = new Files(standard);
        DiagnosticCollector<JavaFileObject> messages = new DiagnosticCollector<>();
        boolean compiled = compiler.getTask(null, files, messages, List.of("-proc:none"), null, sources).call();
        Outcome.check(compiled, "javac: " + messages.getDiagnostics());
        Loader loader = new Loader(files.classes);
        long sum = 0;
        for (int c = 0; c < classes; c++) {
            sum += (long) loader.loadClass("C" + c).getMethod("all").invoke(null);
        }
        Outcome.check(sum == expected, "the classes compute " + sum + ", the generator " + expected);
        return sum;
    }

    public static void main(String[] args) throws Exception {
        int seed = Outcome.argument(args, 0, 1, 0, Integer.MAX_VALUE);
        int rounds = Outcome.argument(args, 1, 1, 1, 1_000_000);
        int classes = Outcome.argument(args, 2, 8, 1, 10_000);
        Random random = new Random(seed);
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Outcome.check(compiler != null, "this Java has no javac: it needs a JDK");
        long sum = 0;
        try (StandardJavaFileManager standard = compiler.getStandardFileManager(null, Locale.ROOT, null)) {
            for (int round = 0; round < rounds; round++) {
                sum += round(random, compiler, standard, classes);
            }
        }
        System.out.printf("javac: %d rounds of %d classes, sum %d%n", rounds, classes, sum);
    }
}

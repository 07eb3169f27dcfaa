// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.OptionalInt;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import lull.bench.util.Directories;

/** A service as the runs see it: its class path, its data for one Java, and the commands of its processes. */
public final class Workload {
    /** How the names of the project's own modules end. One of a library of that version is read as well, which does no harm. */
    private static final String OUR_VERSION = "-1.jar";
    /** Of {@code java/report}, whose reader of gc logs measures. */
    private static final String REPORT = "lull-report-";

    private final Settings settings;
    private final String service;
    private final String options;

    public Workload(Settings settings, String service) {
        this(settings, service, settings.text("LULL_DEMO_OPTIONS", ""));
    }

    /** @param options of the service, as NAME=VALUE parted by spaces */
    Workload(Settings settings, String service, String options) {
        this.settings = settings;
        this.service = service;
        this.options = options;
    }

    /** Returns the same workload with another seed of the load. */
    Workload withSeed(long seed) {
        return new Workload(settings.withSeed(seed), service, options);
    }

    public String service() {
        return service;
    }

    String options() {
        return options;
    }

    /** Returns the class path of the service: its module, then the libraries, so that the module may have a class in place of a library's. */
    String classPath() {
        return ownJar() + ":" + ownJar().resolveSibling("*");
    }

    private Path ownJar() {
        return settings.build().resolve("bench").resolve(service).resolve("lib").resolve(service + OUR_VERSION);
    }

    /**
     * Returns the JVM flags without which the service does not run, on any collector: the lines of {@code META-INF/lull/jvm-flags} of its
     * module, but for comments.
     */
    private List<String> ownFlags() throws IOException {
        return ownLines("META-INF/lull/jvm-flags");
    }

    /**
     * Returns the smallest heap in which G1 is known to run the service, in megabytes: what {@code META-INF/lull/smallest-heap} of its module says. Empty if it
     * says nothing, or if this is not what was measured: a service without options, flags of its JVM, and another number of threads than usual.
     */
    OptionalInt knownSmallestHeap() throws IOException {
        List<String> lines = ownLines("META-INF/lull/smallest-heap");
        if (lines.isEmpty() || !options.isEmpty() || !settings.flags().isEmpty() || settings.threads() != Settings.THREADS) {
            return OptionalInt.empty();
        }
        if (lines.size() != 1 || !lines.getFirst().matches("[1-9][0-9]{0,5}")) {
            throw new IOException("META-INF/lull/smallest-heap in " + ownJar() + " is to have one line with a number of megabytes, not: " + String.join(" / ", lines));
        }
        return OptionalInt.of(Integer.parseInt(lines.getFirst()));
    }

    /** The lines of a resource of its module, but for comments; none without the resource. */
    private List<String> ownLines(String resource) throws IOException {
        try (ZipFile jar = new ZipFile(ownJar().toFile())) {
            ZipEntry entry = jar.getEntry(resource);
            if (entry == null) {
                return List.of();
            }
            String text = new String(jar.getInputStream(entry).readAllBytes(), StandardCharsets.UTF_8);
            return text.lines().map(String::trim).filter(line -> !line.isEmpty() && !line.startsWith("#")).toList();
        } catch (IOException e) {
            throw missing(e);
        }
    }

    /**
     * Returns what tells this state of the service from others: the first digits of a SHA-256 over its module, the names, with versions, of its
     * libraries, and the project's other modules. Those run in the server too, as its front and its main program, and they measure.
     */
    String identity() throws IOException {
        try (Stream<Path> list = Files.list(ownJar().getParent())) {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(Files.readAllBytes(ownJar()));
            for (Path library : list.sorted().toList()) {
                String name = library.getFileName().toString();
                digest.update((name + "\n").getBytes(StandardCharsets.UTF_8));
                if (name.endsWith(OUR_VERSION) || name.startsWith(REPORT)) {
                    digest.update(Files.readAllBytes(library));
                }
            }
            return HexFormat.of().formatHex(digest.digest()).substring(0, 12);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every Java has SHA-256", e);
        } catch (IOException e) {
            throw missing(e);
        }
    }

    private IOException missing(IOException e) {
        return new IOException("the module of service " + service + " is not where it should be, at " + ownJar() + ": " + e.getMessage()
                + ": build it by its script in bench/", e);
    }

    /** Returns where the service's data for {@code java} is: expected answers differ with the version of the JDK. */
    Path data(Path java) throws IOException, InterruptedException {
        return settings.build().resolve("bench/data").resolve(service).resolve(Jdk.of(java).fileName());
    }

    /** Prepares the data for {@code java}, on its Serial collector. Quick if that has been done. */
    public void prepare(Path java) throws IOException, InterruptedException {
        Path data = data(java);
        Files.createDirectories(data);
        Path log = data.resolve("prepare.log");
        List<String> command = new ArrayList<>(List.of(java.toString(), "-XX:+UseSerialGC", "-Xmx1g"));
        command.addAll(ownFlags());
        command.addAll(List.of("-cp", classPath(), "lull.bench.service.PrepareMain", "--service", service, "--data", data.toString(),
                "--openjdk", settings.openjdk().toString(), "--options", options));
        int code = Children.run(new ProcessBuilder(command), log, 900);
        String said = Files.readString(log).trim();
        if (code != 0) {
            throw new IOException("preparing the " + service + " service failed: " + said);
        }
        if (!said.isEmpty()) {
            System.out.println(said);
        }
    }

    /**
     * Returns the command of the server process, in a heap of exactly {@code heap} megabytes.
     *
     * @param directory for its gc log, its ready file, and its temporary files, of which those of an earlier server that did not end well are deleted
     */
    List<String> server(Collector collector, int heap, Path directory) throws IOException, InterruptedException {
        Path temporary = directory.resolve("tmp");
        Directories.delete(temporary);
        Files.createDirectories(temporary);
        List<String> command = new ArrayList<>();
        command.add(collector.java().toString());
        command.addAll(collector.flags());
        command.add("-Xms" + heap + "m");
        command.add("-Xmx" + heap + "m");
        command.addAll(settings.flags());
        command.addAll(ownFlags());
        command.add("-XX:+ExitOnOutOfMemoryError");
        command.add("-Djava.io.tmpdir=" + temporary);
        command.add("-Xlog:gc*,safepoint:file=" + directory.resolve("gc.log") + ":uptime,level,tags:filecount=0");
        command.addAll(List.of("-cp", classPath(), "lull.bench.service.ServerMain", "--service", service, "--data",
                data(collector.java()).toString(), "--port", "0", "--threads", "" + settings.threads(), "--ready",
                directory.resolve("ready.json").toString(), "--until-eof", "true"));
        return command;
    }

    /** Returns the command of the load process on the base JDK, without its phases. */
    List<String> load(Collector collector, int port, Path out) throws IOException, InterruptedException {
        return new ArrayList<>(List.of(settings.baseJava().toString(), "-XX:+UseSerialGC", "-Xms64m", "-Xmx64m", "-XX:TieredStopAtLevel=1", "-cp",
                classPath(), "lull.bench.load.LoadMain", "--service", service, "--data", data(collector.java()).toString(), "--port", "" + port,
                "--seed", "" + settings.seed(), "--clients", "" + settings.threads(), "--out", out.toString()));
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.concurrent.locks.LockSupport;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;

/**
 * What a recording costs a thread that collects after each of its requests: processor time of the whole JVM for a request, in slices of
 * time that are recorded and not, in turn. A recorded slice is compared with the mean of those before and after it; a recording's
 * start and end are in neither.
 *
 * <p>Arguments: settings (a name or a file), kilobytes of a request, rounds, milliseconds of a slice.
 */
public class RecordingCost {
    private static final OperatingSystemMXBean SYSTEM = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();

    static Object published;
    private static volatile long requests;
    private static volatile boolean done;

    private static void serve(int kilobytes) {
        long count = 0;
        while (!done) {
            LocalCost.request(kilobytes);
            if (count % 64 == 0) {
                published = new Object();
            }
            requests = ++count;
            LockSupport.parkNanos(1);
        }
    }

    /** Processor nanoseconds for a request. */
    private static double slice(long millis) throws InterruptedException {
        long time = SYSTEM.getProcessCpuTime();
        long before = requests;
        Thread.sleep(millis);
        return (double) (SYSTEM.getProcessCpuTime() - time) / (requests - before);
    }

    public static void main(String[] args) throws Exception {
        Configuration settings = args[0].endsWith(".jfc") ? Configuration.create(Path.of(args[0])) : Configuration.getConfiguration(args[0]);
        int kilobytes = Integer.parseInt(args[1]);
        int rounds = Integer.parseInt(args[2]);
        long millis = Long.parseLong(args[3]);
        Thread thread = Thread.ofPlatform().start(() -> serve(kilobytes));
        Path file = Files.createTempFile("recording-cost", ".jfr");
        double[] ratios = new double[rounds];
        double[] without = new double[rounds];
        long bytes = 0;
        try {
            slice(3 * millis);
            for (int i = -1; i < rounds; i++) {     // the first recording loads classes
                double before = slice(millis);
                double recorded;
                try (Recording recording = new Recording(settings)) {
                    recording.setDestination(file);
                    recording.start();
                    Thread.sleep(millis / 2);
                    recorded = slice(millis);
                    recording.stop();
                }
                Thread.sleep(millis / 2);
                double plain = (before + slice(millis)) / 2;
                if (i >= 0) {
                    bytes += Files.size(file);
                    ratios[i] = recorded / plain;
                    without[i] = plain;
                }
            }
        } finally {
            done = true;
            thread.join();
            Files.delete(file);
        }
        Arrays.sort(ratios);
        Arrays.sort(without);
        System.out.printf(Locale.ROOT, "%-10s %5d KB: %6.1f us a request; recorded %+5.1f %% (quartiles %+5.1f to %+5.1f, %d rounds), %d KB a recording%n",
            Path.of(args[0]).getFileName(), kilobytes, without[rounds / 2] / 1000, 100 * (ratios[rounds / 2] - 1), 100 * (ratios[rounds / 4] - 1),
            100 * (ratios[rounds * 3 / 4] - 1), rounds, bytes / rounds / 1024);
    }
}

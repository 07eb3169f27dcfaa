// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.proc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the processor time of the whole machine from /proc/stat, to tell how much of it others had during a run. */
public final class MachineCpu {
    private MachineCpu() { }

    /** Returns busy processor seconds since boot, of all processors: everything but idle and I/O wait. */
    public static double busySeconds() throws IOException {
        return busySeconds(Files.readString(Path.of("/proc/stat")));
    }

    static double busySeconds(String stat) {
        String[] fields = stat.lines().findFirst().orElseThrow().trim().split(" +");
        // user nice system idle iowait irq softirq steal; guest times are in user already
        long busy = 0;
        for (int i = 1; i <= 8 && i < fields.length; i++) {
            if (i != 4 && i != 5) {
                busy += Long.parseLong(fields[i]);
            }
        }
        return busy / 100.0;
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.proc;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads the memory of a process and of the machine from /proc. */
public final class Memory {
    private Memory() { }

    /** Returns the resident set in megabytes (2^20 bytes). @throws IOException if the process is gone */
    public static double residentMegabytes(long pid) throws IOException {
        return field(Files.readString(Path.of("/proc", Long.toString(pid), "status")), "VmRSS");
    }

    /** Returns the proportional set in megabytes: pages that others have, too, count in part. @throws IOException if the process is gone */
    public static double proportionalMegabytes(long pid) throws IOException {
        return field(Files.readString(Path.of("/proc", Long.toString(pid), "smaps_rollup")), "Pss");
    }

    /** Returns the memory that a new process may use, in megabytes. */
    public static double availableMegabytes() throws IOException {
        return field(Files.readString(Path.of("/proc/meminfo")), "MemAvailable");
    }

    /** Returns the field {@code name}, given in kB, in megabytes. @throws IOException if it is not there (the process is a zombie) */
    static double field(String status, String name) throws IOException {
        for (String line : status.lines().toList()) {
            if (line.startsWith(name + ":")) {
                return Long.parseLong(line.substring(name.length() + 1).replace("kB", "").trim()) / 1024.0;
            }
        }
        throw new IOException("no " + name + " in a file below /proc: the process has ended");
    }
}

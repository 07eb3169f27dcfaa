// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.nio.file.Path;
import java.util.List;
import lull.bench.service.ReadyFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServerTest {
    @TempDir
    private Path directory;

    /** A server that stands still until its input ends, and then does {@code last}. */
    private Server.End end(String last) throws Exception {
        Path made = directory.resolve("made.json");
        new ReadyFile(1, ProcessHandle.current().pid(), 0).write(made);
        Server server = Server.start(List.of("sh", "-c", "mv " + made + " " + directory.resolve("ready.json") + "; cat; " + last), directory, Server.Allowance.ready(60));
        server.close();
        return server.end();
    }

    @Test
    void anOrdinaryStopIsByTheEndOfItsInput() throws Exception {
        assertEquals(new Server.End(0, false), end("true"));
        assertNull(end("true").failure());
    }

    @Test
    void anotherEndIsToldByItsExitCode() throws Exception {
        assertEquals("the server stopped with exit code 3", end("exit 3").failure());
        assertEquals("the server stopped with exit code 134", end("kill -ABRT $$").failure());
    }
}

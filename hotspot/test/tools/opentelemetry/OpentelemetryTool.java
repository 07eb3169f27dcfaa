// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

/** The agent looks on by itself, and writes its metrics to the error output every two seconds. */
public class OpentelemetryTool implements Load.Tool {
    private static final long EXPORT_MILLIS = 2000;

    @Override
    public void begin() {
    }

    /** What it writes while the program ends may be lost: the logger ends meanwhile, too. */
    @Override
    public void end() throws InterruptedException {
        Thread.sleep(2 * EXPORT_MILLIS);
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

/** The agent writes its metrics to its standard error by itself, once a second. */
public class OpentelemetryTool implements Load.Tool {
    @Override
    public void begin() {
    }

    @Override
    public void end() throws InterruptedException {
        Thread.sleep(1500);
    }
}

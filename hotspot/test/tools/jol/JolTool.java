// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import org.openjdk.jol.info.ClassLayout;
import org.openjdk.jol.info.GraphLayout;
import org.openjdk.jol.vm.VM;

/** Layouts, addresses and the size of a graph, of what is private. */
public class JolTool implements Load.Tool {
    private record Pair(int number, Object other) {
    }

    @Override
    public void begin() {
        Load.say(VM.current().details().replaceAll("\\s+", " "));
        Load.say(ClassLayout.parseClass(Pair.class).toPrintable().replaceAll("\\s+", " "));
        graph("first");
    }

    private void graph(String when) {
        Object[] root = new Object[10_000];
        for (int i = 0; i < root.length; i++) {
            root[i] = new Pair(i, new byte[16]);
        }
        GraphLayout layout = GraphLayout.parseInstance((Object) root);
        Load.say(when + " graph: " + layout.totalCount() + " objects, " + layout.totalSize() + " bytes, Pair at "
            + ((VM.current().addressOf(root[0]) & 7) == 0 ? "a multiple of 8" : "an odd address"));
    }

    /** Of 1,000 private objects, how many have another address after this thread has waited, though nothing has paused. */
    @Override
    public void amid() throws InterruptedException {
        Object[] objects = new Object[1000];
        long[] addresses = new long[objects.length];
        for (int i = 0; i < objects.length; i++) {
            objects[i] = new Pair(i, null);
            addresses[i] = VM.current().addressOf(objects[i]);
        }
        Thread.sleep(1000);
        int moved = 0;
        for (int i = 0; i < objects.length; i++) {
            moved += addresses[i] == VM.current().addressOf(objects[i]) ? 0 : 1;
        }
        Load.say("addresses: " + moved + " of 1000 have changed meanwhile");
        graph("amid");
    }

    @Override
    public void end() {
        graph("last");
        GraphLayout alive = GraphLayout.parseInstance((Object) Load.alive);
        Load.say("alive: " + alive.totalCount() + " objects, " + alive.totalSize() + " bytes");
    }
}

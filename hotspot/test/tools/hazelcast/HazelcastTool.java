// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.hazelcast.internal.memory.GCStatsSupport;

/** What a member of Hazelcast's tells its management center, and logs when its health is bad. */
public class HazelcastTool implements Load.Tool {
    @Override
    public void begin() {
        GCStatsSupport.getGCStats();
    }

    @Override
    public void end() {
        Load.say(GCStatsSupport.getGCStats().toString());
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.management.ManagementFactory;
import java.util.Arrays;
import javax.management.ObjectName;
import org.apache.cassandra.config.DatabaseDescriptor;
import org.apache.cassandra.service.GCInspector;

/** What nodetool gcstats says of a node. */
public class CassandraTool implements Load.Tool {

    @Override
    public void begin() throws Exception {
        DatabaseDescriptor.clientInitialization();
        GCInspector.register();
    }

    @Override
    public void end() throws Exception {
        var server = ManagementFactory.getPlatformMBeanServer();
        double[] stats = (double[]) server.getAttribute(new ObjectName(GCInspector.MBEAN_NAME), "AndResetStats");
        Load.say("gcstats: interval, longest, all, deviation (ms), bytes, collections, direct memory: " + Arrays.toString(stats));
    }
}

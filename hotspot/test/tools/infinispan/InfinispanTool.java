// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;

/** The meters that Infinispan's server binds: its own base.gc ones, and Micrometer's. */
public class InfinispanTool implements Load.Tool {
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

    @Override
    public void begin() throws Exception {
        for (String name : new String[] {"BaseAdditionalMetrics", "JvmMetrics"}) {
            var constructor = Class.forName("org.infinispan.metrics.impl." + name).getDeclaredConstructor();
            constructor.setAccessible(true);
            ((MeterBinder) constructor.newInstance()).bindTo(registry);
        }
    }

    @Override
    public void end() {
        for (Meter meter : registry.getMeters()) {
            if (meter.getId().getName().matches("(base\\.|jvm\\.)gc.*|jvm.memory.usage.*")) {
                StringBuilder line = new StringBuilder(meter.getId().getName());
                meter.getId().getTags().forEach(tag -> line.append(' ').append(tag.getValue()));
                meter.measure().forEach(m -> line.append(' ').append(m.getStatistic()).append('=').append(m.getValue()));
                Load.say(line.toString());
            }
        }
    }
}

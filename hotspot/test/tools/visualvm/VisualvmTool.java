// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.lang.reflect.Constructor;
import org.graalvm.visualvm.application.Application;
import org.graalvm.visualvm.application.jvm.Jvm;
import org.graalvm.visualvm.application.jvm.JvmFactory;
import org.graalvm.visualvm.application.jvm.MonitoredData;
import org.graalvm.visualvm.jvmstat.JvmJvmstatModelProvider;
import org.graalvm.visualvm.jvmstat.JvmstatModelProvider;
import org.graalvm.visualvm.core.model.ModelProvider;
import org.graalvm.visualvm.tools.jmx.JmxModel;
import org.graalvm.visualvm.tools.jmx.JmxModelFactory;
import org.graalvm.visualvm.tools.jvmstat.JvmJvmstatModelFactory;
import org.graalvm.visualvm.tools.jvmstat.JvmstatModelFactory;

/**
 * What VisualVM draws in its tab "Monitor": of a process on this machine, whose heap it reads from performance counters, and
 * of one that it has reached by JMX. Its own models, without its windows; they look at the process that they are in.
 */
public class VisualvmTool implements Load.Tool {
    private volatile MonitoredData local;
    private volatile MonitoredData remote;
    private MonitoredData first;

    /** What its modules do when they are installed, as far as these models need it. */
    private static Object make(String name, Object... argument) throws ReflectiveOperationException {
        for (Constructor<?> constructor : Class.forName("org.graalvm.visualvm." + name).getDeclaredConstructors()) {
            if (constructor.getParameterCount() == argument.length) {
                constructor.setAccessible(true);
                return constructor.newInstance(argument);
            }
        }
        throw new NoSuchMethodException(name);
    }

    @Override
    @SuppressWarnings("unchecked")
    public void begin() throws Exception {
        JvmstatModelFactory.getDefault().registerProvider(new JvmstatModelProvider());
        JvmJvmstatModelFactory.getDefault().registerProvider(new JvmJvmstatModelProvider());
        JmxModelFactory.getDefault().registerProvider((ModelProvider<JmxModel, Application>) make("jmx.impl.JmxModelProvider"));
        JvmFactory.getDefault().registerProvider((ModelProvider<Jvm, Application>) make("jvm.JvmProvider"));
        Application self = Application.CURRENT_APPLICATION;
        JvmFactory.getJVMFor(self).addMonitoredDataListener(data -> local = data);
        ((Jvm) make("jvm.JVMImpl", self)).addMonitoredDataListener(data -> remote = data);
        Thread.sleep(2500);
        first = remote;
    }

    private static String heap(MonitoredData data) {
        return String.format("heap size %d KB, used %d KB, max %d KB", data.getGenCapacity()[0] >> 10, data.getGenUsed()[0] >> 10,
            data.getGenMaxCapacity()[0] >> 10);
    }

    @Override
    public void end() throws InterruptedException {
        Thread.sleep(1500);    // it looks once in a second
        Load.say("local: " + heap(local));
        Load.say("JMX: " + heap(remote));
        long milliseconds = (remote.getUpTime() - first.getUpTime()) * Runtime.getRuntime().availableProcessors();
        Load.say(String.format("CPU usage %.1f %%, GC activity %.1f %%: %d ms of collections",
            100.0 * (remote.getProcessCpuTime() - first.getProcessCpuTime()) / 1e6 / milliseconds,
            100.0 * (remote.getCollectionTime() - first.getCollectionTime()) / milliseconds, remote.getCollectionTime()));
    }
}

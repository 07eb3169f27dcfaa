// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.Arrays;
import javax.management.JMException;
import javax.management.ObjectName;
import jdk.jfr.EventType;
import jdk.jfr.FlightRecorder;
import jdk.jfr.Recording;
import jdk.jfr.ValueDescriptor;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;

/** What the flight recorder is told by the gate: commands of {@link GateServer}'s control port, and a program that shows a recording. */
public class Flight {
    private static Recording recording;

    /**
     * {@code jfr+} starts a recording, {@code jfr-} ends it in the file {@code -Dflight}, {@code jfr?} does nothing. The answer is whether the
     * recorder is initialised, and whether somebody has made an event type: that alone costs memory, and leaves the recorder uninitialised.
     */
    static String command(String command) throws IOException, JMException {
        switch (command) {
            case "jfr+" -> {
                recording = new Recording();
                recording.enable("jdk.GarbageCollection");
                recording.start();
            }
            case "jfr-" -> {
                recording.stop();
                recording.dump(Path.of(System.getProperty("flight")));
                recording.close();
            }
            default -> { }
        }
        return FlightRecorder.isInitialized() + " " + hasFactory() + "\n";
    }

    private static boolean hasFactory() throws JMException {
        Object histogram = ManagementFactory.getPlatformMBeanServer().invoke(new ObjectName("com.sun.management:type=DiagnosticCommand"),
            "gcClassHistogram", new Object[] {new String[0]}, new String[] {String[].class.getName()});
        return histogram.toString().contains("jdk.jfr.EventFactory");
    }

    /**
     * Prints {@code type LABEL CATEGORY}, a line {@code field NAME TYPE CONTENT LABEL} for each field, {@code collection BEGIN-MS LENGTH-NS}
     * for each collection of the JDK's own, {@code pause BEGIN-MS LENGTH-NS EXPECTED-NS UPPER-NS CONNECTIONS ANSWERED WOULD KEPT KIND} for each
     * of the gate's; tabs between. Moments and lengths are read by the units that the recording gives them.
     */
    public static void main(String[] args) throws IOException {
        try (RecordingFile file = new RecordingFile(Path.of(args[0]))) {
            for (EventType type : file.readEventTypes()) {
                if (type.getName().equals("lull.GatePause")) {
                    print("type", type.getLabel(), String.join("/", type.getCategoryNames()));
                    for (ValueDescriptor field : type.getFields()) {
                        print("field", field.getName(), field.getTypeName(), field.getContentType(), field.getLabel());
                    }
                }
            }
            while (file.hasMoreEvents()) {
                RecordedEvent event = file.readEvent();
                switch (event.getEventType().getName()) {
                    case "jdk.GarbageCollection" -> print("collection", event.getStartTime().toEpochMilli(), event.getDuration().toNanos());
                    case "lull.GatePause" -> print("pause", event.getInstant("begin").toEpochMilli(), event.getDuration("pause").toNanos(),
                        event.getDuration("expected").toNanos(), event.getDuration("upperBound").toNanos(), event.getLong("connections"),
                        event.getLong("answered"), event.getLong("wouldAnswer"), event.getLong("kept"), event.getString("kind"));
                    default -> { }
                }
            }
        }
    }

    private static void print(Object... words) {
        System.out.println(String.join("\t", Arrays.stream(words).map(String::valueOf).toList()));
    }
}

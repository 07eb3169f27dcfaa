#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# Slow reads of sockets in a flight recording (jdk.SocketRead) with the JDK's own settings, default.jfc and profile.jfc:
# one thread waits 40 times for 250 ms each, and beside it others wait for 4 ms each, all the time. A stock JDK 25.0.3.
#
#   guessed   all 40 slow reads are recorded, as with JDK 17, where these settings have thresholds of 20 and 10 ms
#   seen      of 40 slow reads are recorded     default    profile
#             nothing beside them                    40         40
#             5 threads, about 1,000 a second    2 to 4   10 to 12
#             20 threads, about 4,000 a second   0 to 1     3 to 6
#             20 threads, throttle=off,
#             threshold=20ms                         40         40
#             JDK 17.0.15, 20 threads                40         40
#             The settings of 25 have a threshold of 1 ms and a limit, 100 or 300 a second, which does not look at how
#             long a read was: what was waited for a second goes as easily as what took a millisecond. The busier the
#             service, the fewer of its worst waits are in the recording, and nothing in it says how many are not
#
# Needs a JDK 25 (JAVA_HOME). Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > Reads.java << 'JAVA'
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordingFile;

public class Reads {
    static final AtomicBoolean end = new AtomicBoolean();

    /** Answers each byte after so many milliseconds. */
    static void answer(Socket socket) {
        try (socket) {
            socket.setTcpNoDelay(true);
            for (int wait; (wait = socket.getInputStream().read()) >= 0; ) {
                Thread.sleep(wait);
                socket.getOutputStream().write(1);
            }
        } catch (IOException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    static void serve(ServerSocket server) {
        try {
            while (true) {
                Socket socket = server.accept();
                Thread.ofPlatform().daemon().start(() -> answer(socket));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    static void read(int port, int wait, int times) {
        try (Socket socket = new Socket("127.0.0.1", port)) {
            socket.setTcpNoDelay(true);
            for (int i = 0; i < times && !end.get(); i++) {
                socket.getOutputStream().write(wait);
                socket.getInputStream().read();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Reads CONFIGURATION THREADS [off]: how many of the 40 are recorded. */
    public static void main(String[] args) throws Exception {
        ServerSocket server = new ServerSocket(0);
        int port = server.getLocalPort();
        Thread.ofPlatform().daemon().start(() -> serve(server));
        Path file = Path.of("reads.jfr");
        try (Recording recording = new Recording(Configuration.getConfiguration(args[0]))) {
            if (args.length > 2) {
                recording.enable("jdk.SocketRead").with("throttle", "off").with("threshold", "20 ms");
            }
            recording.start();
            List<Thread> threads = new ArrayList<>();
            for (int i = 0; i < Integer.parseInt(args[1]); i++) {
                threads.add(Thread.ofPlatform().start(() -> read(port, 4, Integer.MAX_VALUE)));
            }
            Thread slow = Thread.ofPlatform().name("slow").start(() -> read(port, 250, 40));
            slow.join();
            end.set(true);
            for (Thread thread : threads) {
                thread.join();
            }
            recording.stop();
            recording.dump(file);
        }
        System.out.println(RecordingFile.readAllEvents(file).stream()
            .filter(event -> event.getEventType().getName().equals("jdk.SocketRead"))
            .filter(event -> event.getThread() != null && event.getThread().getJavaName().equals("slow")).count());
        System.exit(0);
    }
}
JAVA
"$java/javac" Reads.java
bad=0
echo 'of 40 slow reads are recorded    default    profile'
# row WHAT MOST MOST ARGUMENTS: at most so many with default and profile; 40 is all
row() {
  local default profile
  default=$("$java/java" -Xmx64m Reads default "${@:4}")
  profile=$("$java/java" -Xmx64m Reads profile "${@:4}")
  printf '%-30s %9d %10d\n' "$1" "$default" "$profile"
  if (($2 == 40)); then
    ((default == 40 && profile == 40)) || bad=1
  else
    ((default <= $2 && profile <= $3)) || bad=1
  fi
}
row 'nothing beside them' 40 40 0
row '5 threads' 15 25 5
row '20 threads' 6 14 20
row '20 threads, no throttle' 40 40 20 off
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'

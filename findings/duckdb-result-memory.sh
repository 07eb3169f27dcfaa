#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What a result costs in a JVM whose database is told `SET memory_limit = '100MB'`: org.duckdb:duckdb_jdbc 2.0.0.1, 8
# million rows of a number and a short text, read one after the other. Resident memory of the process (VmRSS) more than
# before, with a heap of 64 MB; the connection stays open. A stock JDK 25.0.3.
#
#   guessed   at most 250 MB more, or an error that the limit is reached; and all but 50 MB is back when the result is
#             closed
#   seen      MB more                         result open    closed, idle 10 s    connection closed
#             as it comes                             370                  380                   10
#             allocator_background_threads            370                   10                   10
#             jdbc_stream_results                      10                   35                   10
#             executeQuery takes the whole result into native memory. No limit bounds it, and duckdb_memory() says 0
#             meanwhile. It is no heap, so there is no OutOfMemoryError before the container's end. When the result is
#             closed the allocator keeps it, as long as the connection is open and idle, unless it has threads to give
#             it back. A result that is streamed costs next to nothing
#
# Needs a JDK 25 (JAVA_HOME) and Maven. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cat > pom.xml << 'POM'
<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>
<groupId>findings</groupId><artifactId>result</artifactId><version>1</version><dependencies><dependency>
<groupId>org.duckdb</groupId><artifactId>duckdb_jdbc</artifactId><version>2.0.0.1</version>
</dependency></dependencies></project>
POM
mvn -q -B dependency:copy-dependencies -DoutputDirectory=lib > errors 2>&1 || { cat errors; exit 1; }
cat > Result.java << 'JAVA'
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Properties;
import org.duckdb.DuckDBConnection;
import org.duckdb.DuckDBDriver;

public class Result {
    static final String ROWS = "SELECT range AS k, 'text of the row ' || range AS t FROM range(8000000)";

    static long resident() throws Exception {
        for (String line : Files.readAllLines(Path.of("/proc/self/status"))) {
            if (line.startsWith("VmRSS")) {
                return Long.parseLong(line.replaceAll("\\D", "")) / 1000;
            }
        }
        throw new IllegalStateException("no VmRSS");
    }

    static long number(Connection connection, String query) throws SQLException {
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(query)) {
            result.next();
            return result.getLong(1);
        }
    }

    /** Reads all, and gives what is resident at the first row, and what the database says that it has then. */
    static long[] read(DuckDBConnection connection) throws Exception {
        try (Statement statement = connection.createStatement(); ResultSet result = statement.executeQuery(ROWS)) {
            long[] first = new long[2];
            for (int n = 0; result.next(); n++) {
                if (n == 0) {
                    first[0] = resident();
                    try (Connection other = connection.duplicate()) {
                        first[1] = number(other, "SELECT sum(memory_usage_bytes) FROM duckdb_memory()") / 1_000_000;
                    }
                }
            }
            return first;
        }
    }

    public static void main(String[] args) throws Exception {
        Properties properties = new Properties();
        if (args[0].equals("jdbc_stream_results")) {
            properties.setProperty(DuckDBDriver.JDBC_STREAM_RESULTS, "true");
        }
        long before;
        long[] open;
        long closed;
        try (Connection connection = DriverManager.getConnection("jdbc:duckdb:" + args[1], properties);
            Statement statement = connection.createStatement()) {
            statement.execute("SET memory_limit = '100MB'");
            statement.execute("SET threads = 2");
            if (args[0].equals("allocator_background_threads")) {
                statement.execute("SET allocator_background_threads = true");
            }
            number(connection, "SELECT 1");
            System.gc();
            before = resident();
            open = read(connection.unwrap(DuckDBConnection.class));
            Thread.sleep(10_000);
            closed = resident() - before;
        }
        Thread.sleep(1000);
        System.out.println("seen " + (open[0] - before) + " " + open[1] + " " + closed + " " + (resident() - before));
        System.exit(0);
    }
}
JAVA
"$java/javac" -nowarn -cp 'lib/*' Result.java 2> errors || { cat errors; exit 1; }
bad=0
for kind in as_it_comes allocator_background_threads jdbc_stream_results; do
  rm -rf database*
  "$java/java" -XX:+UseSerialGC -Xmx64m -cp 'lib/*:.' Result $kind database > said 2> errors || { cat errors; exit 1; }
  read -r open counted closed end < <(sed -n 's/^seen //p' said)
  printf '%-28s MB more: %3d result open (duckdb_memory %3d), %3d closed, %3d connection closed\n' $kind "$open" \
    "$counted" "$closed" "$end"
  case $kind in
    as_it_comes) ((open > 270 && closed > 250 && counted < 100)) || bad=1 ;;
    allocator*) ((open > 270 && closed < 100 && counted < 100)) || bad=1 ;;
    *) ((open < 200 && closed < 200)) || bad=1 ;;
  esac
  ((end < 60)) || bad=1
done
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'

#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
#
# What connections of a pool keep on the heap when each has written once and lies idle: 20 connections, one after the
# other, insert one long text, or rows of 1,000 bytes as one batch (addBatch, executeBatch), and close the statement.
# The drivers org.mariadb.jdbc:mariadb-java-client 4.0.0 and 3.5.11, com.mysql:mysql-connector-j 26.10.0, as they come,
# with Debian's MariaDB 10.11.19, on a stock JDK 25.0.3.
#
#   guessed   less than 1 MB for each connection, and at most twice what was written
#   seen      KB kept by each connection after System.gc()   MariaDB 4.0.0   3.5.11   MySQL 26.10.0
#             a batch of 60 KB                                         120
#             a batch of 200 KB                                      1,040
#             a batch of 1.1 MB                                     16,770        0               0
#             a text of 1.1 MB                                      16,770        0               0
#             then 1,000 commits                                    16,770        0               0
#             then 20 times isValid()                                    0        0               0
#             So 20 idle connections hold 335 MB, 15 times what they wrote. The new driver's buffer grows in steps of 8
#             and 16 times, the last of them to 16 MB. It is given up after some small packets of the same connection,
#             which one that its pool leaves alone never has; a commit with nothing to commit sends none
#
# Needs a JDK 25 (JAVA_HOME), Maven, Python and Debian 12's packages. Fails if what was seen has changed.
set -euo pipefail
java=${JAVA_HOME:?a JDK 25}/bin
work=$(mktemp -d)
server=
trap '[[ -z $server ]] || { kill "$server"; wait "$server" || true; }; rm -rf "$work"' EXIT
cd "$work"
apt-get -q download mariadb-server-core mariadb-client-core mariadb-common liburing2 libaio1 libsnappy1v5 \
  > apt.log 2>&1
[[ -n $(compgen -G 'mariadb-server-core_*10.11.19-*.deb') ]] || { echo 'not MariaDB 10.11.19' >&2; exit 1; }
for package in *.deb; do dpkg -x "$package" db; done
# libraries DIRECTORY GROUP ARTIFACT VERSION
libraries() {
  mkdir "$1"
  {
    echo '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>'
    echo '<groupId>findings</groupId><artifactId>idle</artifactId><version>1</version><dependencies><dependency>'
    echo "<groupId>$2</groupId><artifactId>$3</artifactId><version>$4</version>"
    echo '</dependency></dependencies></project>'
  } > "$1/pom.xml"
  mvn -q -B -f "$1/pom.xml" dependency:copy-dependencies -DincludeScope=runtime -DoutputDirectory=lib > errors 2>&1 ||
    { cat errors; exit 1; }
}
libraries mariadb4 org.mariadb.jdbc mariadb-java-client 4.0.0
libraries mariadb3 org.mariadb.jdbc mariadb-java-client 3.5.11
libraries mysql com.mysql mysql-connector-j 26.10.0
cat > Idle.java << 'JAVA'
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

public class Idle {
    static final int CONNECTIONS = 20;

    static long used() throws Exception {
        System.gc();
        Thread.sleep(100);
        System.gc();
        return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory();
    }

    static void insert(Connection connection, int rows, int length) throws Exception {
        try (PreparedStatement statement = connection.prepareStatement("INSERT INTO t VALUES (?, ?)")) {
            for (int i = 0; i < rows; i++) {
                statement.setInt(1, i);
                statement.setString(2, "x".repeat(length));
                statement.addBatch();
            }
            statement.executeBatch();
        }
        connection.commit();
    }

    /** Idle URL ROWS LENGTH: the KB that each connection keeps after its batch, 1,000 commits, 20 times isValid. */
    public static void main(String[] args) throws Exception {
        List<Connection> pool = new ArrayList<>();
        for (int i = 0; i < CONNECTIONS; i++) {
            pool.add(DriverManager.getConnection(args[0]));
        }
        try (Statement statement = pool.get(0).createStatement()) {
            statement.execute("DROP TABLE IF EXISTS t");
            statement.execute("CREATE TABLE t (id INT, text LONGTEXT)");
        }
        for (Connection connection : pool) {
            connection.setAutoCommit(false);
            insert(connection, 1, 1000);
        }
        long before = used();
        for (Connection connection : pool) {
            insert(connection, Integer.parseInt(args[1]), Integer.parseInt(args[2]));
        }
        long batch = used() - before;
        for (Connection connection : pool) {
            for (int i = 0; i < 1000; i++) {
                connection.commit();
            }
        }
        long commits = used() - before;
        for (Connection connection : pool) {
            for (int i = 0; i < 20; i++) {
                connection.isValid(5);
            }
        }
        long valid = used() - before;
        long unit = 1000 * CONNECTIONS;
        System.out.println(batch / unit + " " + commits / unit + " " + valid / unit);
    }
}
JAVA
"$java/javac" Idle.java
port=$(python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
libs=$work/db/usr/lib/x86_64-linux-gnu:$work/db/lib/x86_64-linux-gnu
LD_LIBRARY_PATH=$libs db/usr/bin/mariadb-install-db --no-defaults --basedir="$work/db/usr" --datadir="$work/data" \
  --auth-root-authentication-method=normal --skip-test-db --user="$(id -un)" > install.log 2>&1 ||
  { cat install.log; exit 1; }
LD_LIBRARY_PATH=$libs db/usr/sbin/mariadbd --no-defaults --basedir="$work/db/usr" --datadir="$work/data" \
  --user="$(id -un)" --bind-address=127.0.0.1 --port="$port" --socket="$work/socket" --skip-name-resolve \
  > server.log 2>&1 &
server=$!
sql() {
  LD_LIBRARY_PATH=$libs db/usr/bin/mariadb --no-defaults --socket="$work/socket" --user=root -e "$1" > sql.log 2>&1
}
for ((i = 0; i < 300; i++)); do
  sql 'SELECT 1' && break
  sleep 0.2
done
sql "CREATE DATABASE d; CREATE USER u@'127.0.0.1' IDENTIFIED BY 'p'; GRANT ALL ON d.* TO u@'127.0.0.1'" ||
  { cat server.log sql.log; exit 1; }
options="user=u&password=p&allowPublicKeyRetrieval=true"
mariadb="jdbc:mariadb://127.0.0.1:$port/d?$options&sslMode=disable"
mysql="jdbc:mysql://127.0.0.1:$port/d?$options&sslMode=DISABLED"
bad=0
printf '%-34s %12s %16s %12s\n' 'KB kept by each connection' 'its batch' '1,000 commits' 'isValid()'
# row DRIVER URL ROWS LENGTH LEAST MOST: the KB after the batch are in these bounds, after commits too, 0 after isValid
row() {
  local batch commits valid
  "$java/java" -XX:+UseSerialGC -Xmx600m -cp "$1/lib/*:." Idle "$2" "$3" "$4" > said 2> errors ||
    { cat errors; bad=1; return; }
  read -r batch commits valid < said
  printf '%-34s %12d %16d %12d\n' "$1, $3 times $4" "$batch" "$commits" "$valid"
  ((batch >= $5 && batch <= $6 && commits >= $5 && commits <= $6 && valid <= 20)) || bad=1
}
row mariadb4 "$mariadb" 60 1000 100 140
row mariadb4 "$mariadb" 200 1000 1000 1100
row mariadb4 "$mariadb" 1100 1000 16000 17200
row mariadb4 "$mariadb" 1 1100000 16000 17200
row mariadb3 "$mariadb" 1100 1000 -200 100
row mariadb3 "$mariadb" 1 1100000 -200 100
row mysql "$mysql" 1100 1000 -200 100
row mysql "$mysql" 1 1100000 -200 100
[[ $bad == 0 ]] || { echo 'not what was seen' >&2; exit 1; }
echo 'as seen'

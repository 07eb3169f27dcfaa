// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.cassandra;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import lull.bench.load.FixedCaller;
import lull.bench.service.Service;
import lull.bench.service.Service.WrongAnswerException;

/**
 * One connection: the rows and events of one owner, which nobody else writes at the same time. It knows the version of every row that it has
 * read or written, and the number of the next event; after a failure, as in the beginning, it takes these from the first answer, but
 * what a row or an event of that version or number holds is known in any case.
 */
final class CassandraConnection implements Service.Connection {
    /** Events that a trim leaves. */
    static final int KEPT = 200;
    /** Events that are read at once. */
    static final int LATEST = 20;
    /** Rows that are read at once. */
    private static final int MANY = 8;
    private static final int UNKNOWN = -1;

    private enum Statement {
        READ("select id, version, f0, f1, f2, f3, f4 from bench.record where id = ?"),
        READ_MANY("select id, version, f0, f1, f2, f3, f4 from bench.record where id in (?" + ", ?".repeat(MANY - 1) + ")"),
        UPDATE("update bench.record set version = ?, f0 = ?, f1 = ?, f2 = ?, f3 = ?, f4 = ? where id = ?"),
        NEWEST("select seq from bench.event where owner = ? limit 1"),
        APPEND("insert into bench.event (owner, seq, body) values (?, ?, ?)"),
        LATEST("select seq, body from bench.event where owner = ? limit " + CassandraConnection.LATEST),
        TRIM("delete from bench.event where owner = ? and seq < ?"),
        SPAN("select count(*), min(seq), max(seq) from bench.event where owner = ?");

        private final String cql;

        Statement(String cql) {
            this.cql = cql;
        }
    }

    private final CassandraCaller caller;
    private final Size size;
    private final int port;
    private final int owner;
    private final int[] versions;
    private final Map<Statement, byte[]> prepared = new EnumMap<>(Statement.class);
    private CqlSocket socket;
    private long next;

    CassandraConnection(CassandraCaller caller, int port, int owner) {
        this.caller = caller;
        this.size = caller.size();
        this.port = port;
        this.owner = owner;
        this.versions = new int[size.rows()];
    }

    @Override
    public void request(long number) throws IOException, WrongAnswerException {
        boolean done = false;
        try {
            if (socket == null) {
                open();
            }
            SplittableRandom random = new SplittableRandom(caller.seed() + number);
            switch (caller.kind(number)) {
                case READ -> read(random.nextInt(size.rows()));
                case READ_MANY -> readMany(random);
                case UPDATE -> update(random.nextInt(size.rows()));
                case APPEND -> append();
                case LATEST -> latest();
                case TRIM -> trim();
            }
            done = true;
        } finally {
            if (!done) {
                close();
            }
        }
    }

    void open() throws IOException, WrongAnswerException {
        socket = new CqlSocket(port, FixedCaller.TIMEOUT_MILLIS);
        for (Statement statement : Statement.values()) {
            prepared.put(statement, socket.prepare(statement.cql));
        }
        Arrays.fill(versions, UNKNOWN);
        List<byte[][]> newest = execute(Statement.NEWEST, number(owner));
        next = newest.isEmpty() ? 0 : whole("number", newest.getFirst()[0]) + 1;
    }

    private List<byte[][]> execute(Statement statement, byte[]... values) throws IOException {
        return socket.execute(prepared.get(statement), values);
    }

    void read(int row) throws IOException, WrongAnswerException {
        List<byte[][]> rows = execute(Statement.READ, number(size.id(owner, row)));
        count("reading row " + size.id(owner, row), 1, rows.size());
        check(row, rows.getFirst());
    }

    private void readMany(SplittableRandom random) throws IOException, WrongAnswerException {
        int first = random.nextInt(size.rows() - MANY + 1);
        byte[][] ids = new byte[MANY][];
        for (int i = 0; i < MANY; i++) {
            ids[i] = number(size.id(owner, first + i));
        }
        List<byte[][]> rows = execute(Statement.READ_MANY, ids);
        count("reading rows from " + size.id(owner, first), MANY, rows.size());
        // They come in the order of their hashes.
        boolean[] seen = new boolean[MANY];
        for (byte[][] row : rows) {
            long at = whole("id", row[0]) - size.id(owner, first);
            if (at < 0 || at >= MANY || seen[(int) at]) {
                throw new WrongAnswerException("reading rows from " + size.id(owner, first) + ": a row has the id " + whole("id", row[0])
                        + ", expected each of " + MANY + " once");
            }
            seen[(int) at] = true;
            check(first + (int) at, row);
        }
    }

    /** Checks a whole row and remembers its version if that was not known. */
    private void check(int row, byte[][] found) throws WrongAnswerException {
        long id = size.id(owner, row);
        String what = "row " + id;
        same(what + ": id", id, whole("id", found[0]));
        int version = (int) whole("version", found[1]);
        if (versions[row] == UNKNOWN) {
            versions[row] = version;
        }
        same(what + ": version", versions[row], version);
        for (int i = 0; i < Size.FIELDS; i++) {
            same(what + ": field " + i + " of version " + version, size.field(id, version, i), found[2 + i]);
        }
    }

    void update(int row) throws IOException, WrongAnswerException {
        if (versions[row] == UNKNOWN) {
            read(row);
        }
        long id = size.id(owner, row);
        int version = versions[row] + 1;
        byte[][] values = new byte[Size.FIELDS + 2][];
        values[0] = ByteBuffer.allocate(Integer.BYTES).putInt(version).array();
        for (int i = 0; i < Size.FIELDS; i++) {
            values[1 + i] = size.field(id, version, i);
        }
        values[Size.FIELDS + 1] = number(id);
        count("updating row " + id, 0, execute(Statement.UPDATE, values).size());
        versions[row] = version;
    }

    private void append() throws IOException, WrongAnswerException {
        count("appending event " + next, 0, execute(Statement.APPEND, number(owner), number(next), size.event(owner, next)).size());
        next++;
    }

    private void latest() throws IOException, WrongAnswerException {
        String what = "latest events of owner " + owner;
        List<byte[][]> events = execute(Statement.LATEST, number(owner));
        count(what, Math.min(next, LATEST), events.size());
        for (int i = 0; i < events.size(); i++) {
            long expected = next - 1 - i;
            same(what + ": number", expected, whole("number", events.get(i)[0]));
            same(what + ": body of event " + expected, size.event(owner, expected), events.get(i)[1]);
        }
    }

    private void trim() throws IOException, WrongAnswerException {
        long first = Math.max(0, next - KEPT);
        count("trimming events", 0, execute(Statement.TRIM, number(owner), number(first)).size());
        String what = "events of owner " + owner + " after a trim";
        byte[][] span = execute(Statement.SPAN, number(owner)).getFirst();
        same(what + ": count", next - first, whole("count", span[0]));
        if (next > 0) {
            same(what + ": first", first, whole("first", span[1]));
            same(what + ": last", next - 1, whole("last", span[2]));
        }
    }

    private static byte[] number(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    private static long whole(String what, byte[] value) throws WrongAnswerException {
        if (value == null || value.length != Long.BYTES && value.length != Integer.BYTES) {
            throw new WrongAnswerException("the " + what + " is " + Arrays.toString(value) + ", expected the bytes of a number");
        }
        return value.length == Long.BYTES ? ByteBuffer.wrap(value).getLong() : ByteBuffer.wrap(value).getInt();
    }

    private static void count(String what, long expected, long found) throws WrongAnswerException {
        if (found != expected) {
            throw new WrongAnswerException(what + ": " + found + " rows, expected " + expected);
        }
    }

    private static void same(String what, long expected, long found) throws WrongAnswerException {
        if (found != expected) {
            throw new WrongAnswerException(what + " is " + found + ", expected " + expected);
        }
    }

    private static void same(String what, byte[] expected, byte[] found) throws WrongAnswerException {
        if (!Arrays.equals(expected, found)) {
            throw new WrongAnswerException(what + " has " + (found == null ? "no value" : found.length + " bytes that differ at " + Arrays.mismatch(expected, found))
                    + ", expected " + expected.length + " others");
        }
    }

    @Override
    public void close() {
        if (socket != null) {
            socket.close();
            socket = null;
        }
    }
}

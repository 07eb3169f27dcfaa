// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.h2;

import java.sql.SQLException;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.Semaphore;

/**
 * The sessions of a load, as many as the server says that it works on at once: like the pool of connections that every service in front of a
 * database has. Who finds none free waits. Safe for use by many threads.
 */
final class SessionPool {
    private final int port;
    private final Deque<Session> idle = new ArrayDeque<>();
    private Semaphore free;
    private int users;

    SessionPool(int port) {
        this.port = port;
    }

    /** Counts a user of the pool; each calls {@link #leave} in the end. */
    synchronized void join() {
        users++;
    }

    /** Takes a session that nobody else has until it is given back by {@link #give} or {@link #drop}. */
    Session take() throws SQLException, InterruptedException {
        Semaphore limit = limit();
        limit.acquire();
        boolean done = false;
        try {
            Session session;
            synchronized (this) {
                session = idle.poll();
            }
            if (session == null) {
                session = new Session(H2Server.connect(port));
            }
            done = true;
            return session;
        } finally {
            if (!done) {
                limit.release();
            }
        }
    }

    private synchronized Semaphore limit() throws SQLException {
        if (free == null) {
            free = new Semaphore(H2Server.threads(port), true);
        }
        return free;
    }

    void give(Session session) {
        boolean kept;
        synchronized (this) {
            kept = users > 0;
            if (kept) {
                idle.push(session);
            }
        }
        if (!kept) {
            session.close();
        }
        free.release();
    }

    /** Gives back a session that has failed: it is closed, and what it has not committed is rolled back. */
    void drop(Session session) {
        session.close();
        free.release();
    }

    /** The last user closes all sessions. */
    synchronized void leave() {
        users--;
        while (users == 0 && !idle.isEmpty()) {
            idle.poll().close();
        }
    }
}

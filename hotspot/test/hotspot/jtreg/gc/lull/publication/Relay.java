/*
 * Copyright (c) 2026, the Lull authors. All rights reserved.
 * DO NOT ALTER OR REMOVE COPYRIGHT NOTICES OR THIS FILE HEADER.
 *
 * This code is free software; you can redistribute it and/or modify it
 * under the terms of the GNU General Public License version 2 only, as
 * published by the Free Software Foundation.  The Lull authors designate
 * this particular file as subject to the "Classpath" exception as provided
 * in the LICENSE file that accompanied this code.
 *
 * This code is distributed in the hope that it will be useful, but WITHOUT
 * ANY WARRANTY; without even the implied warranty of MERCHANTABILITY or
 * FITNESS FOR A PARTICULAR PURPOSE.  See the GNU General Public License
 * version 2 for more details (a copy is included in the LICENSE file that
 * accompanied this code).
 *
 * You should have received a copy of the GNU General Public License version
 * 2 along with this work; if not, write to the Free Software Foundation,
 * Inc., 51 Franklin St, Fifth Floor, Boston, MA 02110-1301 USA.
 *
 */

package gc.lull.publication;

import java.lang.management.ManagementFactory;
import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import jdk.test.whitebox.WhiteBox;

/**
 * One thread sends graphs, another one receives them, by one channel after the other. What is received must be as it was
 * sent, and all of it public. The graphs are private before they are sent, or nothing would have been tested.
 */
final class Relay {
    private static final WhiteBox WB = WhiteBox.getWhiteBox();
    private static final String ONLY = System.getProperty("relay.channel");

    interface Channel {
        /** Hands a graph over. What has been sent stays where it is until the next one is sent by this channel. */
        void send(Graph graph) throws Throwable;

        /** The graph of this number, or what stands for it: a string or a buffer that holds the number. */
        Object receive(int number) throws Throwable;

        /** Is the graph received while it is being sent? Else afterwards. */
        default boolean isMeeting() { return false; }
    }

    /** A channel whose sender waits, with the graph in its frame, until the receiver has it. */
    abstract static class Meeting implements Channel {
        public boolean isMeeting() { return true; }
    }

    private record Named(String name, Channel channel) { }

    private final List<Named> channels = new ArrayList<>();
    private int[] privates;
    private volatile int sent;          // how many graphs
    private volatile int received;
    private volatile Throwable failure;
    private boolean dumps;
    Thread sender;
    Thread receiver;

    void channel(String name, Channel channel) {
        if (ONLY == null || name.equals(ONLY)) {
            channels.add(new Named(name, channel));
        }
    }

    /** Dumps the heap now and then. */
    void dumpHeap() {
        dumps = true;
    }

    static boolean isPublic(Object object) {
        return WB.isPublic(object);
    }

    static void checkPublic(Object object) {
        if (!isPublic(object)) {
            throw new AssertionError("received, and still private: " + object.getClass().getName());
        }
    }

    static void check(Object object, int number) {
        checkPublic(object);
        int found = switch (object) {
            case Graph graph -> {
                graph.forEach(Relay::checkPublic);
                yield graph.check();
            }
            case String string -> Integer.parseInt(string.substring(string.lastIndexOf(' ') + 1));
            case ByteBuffer buffer -> buffer.getInt(0);
            default -> throw new AssertionError("received a " + object.getClass().getName());
        };
        if (found != number) {
            throw new AssertionError("received " + found + " instead of " + number);
        }
    }

    private interface Work { void run(int number, Named named) throws Throwable; }

    private Thread start(String name, int total, Work work) {
        Thread thread = new Thread(() -> {
            for (int n = 1; n <= total && failure == null; n++) {
                Named named = channels.get(n % channels.size());
                try {
                    work.run(n, named);
                } catch (Throwable t) {
                    failure = new AssertionError(name + ", " + named.name() + ", graph " + number(n), t);
                }
            }
        }, name);
        thread.setDaemon(true);
        return thread;
    }

    private void await(int number, boolean reception) {
        while ((reception ? received : sent) < number && failure == null) {
            Thread.yield();
        }
    }

    /** Of the n-th graph. Its nodes have the numbers that follow. */
    private static int number(int n) {
        return 6 * n;
    }

    private void send(int n, Named named, int rounds) throws Throwable {
        Graph graph = Graph.of(number(n));
        if (!isPublic(graph)) {
            privates[n % channels.size()]++;
        }
        if (named.channel().isMeeting()) {
            sent = n;
        }
        named.channel().send(graph);
        sent = n;
        if (n % (channels.size() * Math.max(1, rounds / 5)) == 0) {
            System.gc();    // all of the heap is checked
            if (dumps) {
                dump();
            }
        }
        await(n, true);
        Reference.reachabilityFence(graph);
    }

    private static void dump() throws Exception {
        Path file = Path.of("relay.hprof");
        Files.deleteIfExists(file);
        ManagementFactory.getPlatformMXBean(com.sun.management.HotSpotDiagnosticMXBean.class).dumpHeap(file.toString(), false);
        if (Files.size(file) < 100_000) {
            throw new AssertionError("a heap dump of " + Files.size(file) + " bytes");
        }
        Files.delete(file);
    }

    /** So many graphs by each channel; at least that share of them must have been private, in percent, and at least one in all. */
    void run(int rounds, int percent) throws Throwable {
        int total = rounds * channels.size();
        privates = new int[channels.size()];
        sender = start("sender", total, (n, named) -> send(n, named, rounds));
        receiver = start("receiver", total, (n, named) -> {
            await(n, false);
            if (failure == null) {
                check(named.channel().receive(number(n)), number(n));
                received = n;
            }
        });
        receiver.start();
        sender.start();
        while (sender.isAlive() && failure == null) {
            sender.join(100);
        }
        if (failure != null) {
            throw failure;
        }
        receiver.join();
        if (failure != null) {
            throw failure;
        }
        for (int i = 0; i < channels.size(); i++) {
            System.out.println(channels.get(i).name() + ": " + rounds + " graphs, " + privates[i] + " of them private before");
        }
        if (Arrays.stream(privates).sum() == 0) {
            throw new AssertionError("no graph was private, nothing was tested");
        }
        for (int i = 0; i < channels.size(); i++) {
            if (privates[i] * 100 < rounds * percent) {
                throw new AssertionError(channels.get(i).name() + ": " + privates[i] + " of " + rounds + " graphs were private, nothing was tested");
            }
        }
    }
}

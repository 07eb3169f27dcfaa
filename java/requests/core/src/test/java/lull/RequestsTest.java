// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class RequestsTest {
    /** This JVM is a stock one: the natives are missing, and that is found once. */
    @Test
    void withoutLullNothingHappens() {
        assertFalse(Requests.heard());
        Requests.end();
        Requests.begin();
        Requests.begin();
        Requests.end();
        Requests.end();
        Requests.run(() -> {});
    }

    /** Whoever asks first may have been told to end: it stays so, and is found out all the same. */
    @Test
    void anInterruptIsKept() throws Exception {
        URL classes = Requests.class.getProtectionDomain().getCodeSource().getLocation();
        try (URLClassLoader loader = new URLClassLoader(new URL[] {classes}, null)) {
            Class<?> other = loader.loadClass("lull.Requests");
            Thread.currentThread().interrupt();
            assertEquals(false, other.getMethod("heard").invoke(null));
            assertTrue(Thread.interrupted());
        }
    }

    @Test
    void onlyTheOutermostEndCounts() {
        try (RequestCounter counter = new RequestCounter()) {
            assertTrue(Requests.heard());
            Requests.begin();
            Requests.begin();
            assertEquals(2, counter.depth());
            Requests.end();
            assertEquals(0, counter.collections());
            Requests.end();
            assertEquals("2 2 1", counter.counts());
        }
        assertFalse(Requests.heard());
    }

    @Test
    void runEndsAlsoAfterAnException() throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            Requests.run(() -> assertEquals(1, counter.depth()));
            assertEquals("result", Requests.call(() -> {
                assertEquals(1, counter.depth());
                return "result";
            }));
            IllegalStateException thrown = new IllegalStateException();
            assertSame(thrown, assertThrows(IllegalStateException.class, () -> Requests.run(() -> {
                throw thrown;
            })));
            assertThrows(IOException.class, () -> Requests.call(() -> {
                throw new IOException();
            }));
            assertThrows(StackOverflowError.class, () -> Requests.run(this::recurse));
            assertEquals("5 5 5", counter.counts());
        }
    }

    private void recurse() {
        recurse();
    }

    @Test
    void threadsAreApart() throws Exception {
        try (RequestCounter counter = new RequestCounter()) {
            Requests.begin();
            Thread other = new Thread(() -> {
                assertEquals(0, counter.depth());
                Requests.begin();
                Requests.end();
            });
            other.start();
            other.join();
            assertEquals(1, counter.collections());
            Requests.end();
            assertEquals("2 2 2", counter.counts());
        }
    }

    @Test
    void virtualThreadsAreNotHeard() throws Exception {
        assumeTrue(Runtime.version().feature() >= 21, "this JVM has no virtual threads");
        try (RequestCounter counter = new RequestCounter()) {
            Object builder = Thread.class.getMethod("ofVirtual").invoke(null);
            ThreadFactory factory = (ThreadFactory) Class.forName("java.lang.Thread$Builder").getMethod("factory").invoke(builder);
            CountDownLatch ran = new CountDownLatch(1);
            AtomicBoolean heard = new AtomicBoolean(true);
            Thread thread = factory.newThread(() -> {
                Requests.begin();
                Requests.end();
                Requests.run(ran::countDown);
                heard.set(Requests.heard());
            });
            thread.start();
            thread.join();
            assertEquals(0, ran.getCount());
            assertFalse(heard.get());
            assertTrue(Requests.heard());
            assertEquals("0 0 0", counter.counts());
        }
    }

    /** As of two web applications: the second class finds out for itself. */
    @Test
    void severalLoaders() throws Exception {
        URL classes = Requests.class.getProtectionDomain().getCodeSource().getLocation();
        for (int i = 0; i < 2; i++) {
            try (URLClassLoader loader = new URLClassLoader(new URL[] {classes}, null)) {
                Class<?> other = loader.loadClass("lull.Requests");
                assertFalse(other == Requests.class);
                other.getMethod("begin").invoke(null);
                other.getMethod("end").invoke(null);
                assertEquals(false, other.getMethod("heard").invoke(null));
            }
        }
    }

    @Test
    void isAModule() throws Exception {
        Path classes = Path.of(Requests.class.getProtectionDomain().getCodeSource().getLocation().toURI());
        ModuleDescriptor module = java.lang.module.ModuleFinder.of(classes).find("lull.requests").orElseThrow().descriptor();
        assertEquals(Set.of("lull"), module.packages());
        assertEquals(1, module.exports().size());
        assertEquals(Set.of("java.base"), Set.copyOf(module.requires().stream().map(ModuleDescriptor.Requires::name).toList()));
    }
}

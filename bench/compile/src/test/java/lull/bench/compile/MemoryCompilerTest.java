// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import org.junit.jupiter.api.Test;

class MemoryCompilerTest {
    private final MemoryCompiler compiler = new MemoryCompiler();

    @Test
    void compiles() throws IOException {
        Answer answer = compiler.compile("x/A.java", "public class A { record B(int i) { } Runnable r = () -> { }; }");
        assertTrue(answer.ok());
        assertEquals(2, answer.classes().size());
        assertEquals("A", answer.classes().getFirst().name());
        assertEquals("A$B", answer.classes().getLast().name());
        assertEquals(answer.classes().stream().mapToLong(Answer.ClassFile::size).sum(), answer.bytes());
        assertEquals(answer, compiler.compile("x/A.java", "public class A { record B(int i) { } Runnable r = () -> { }; }"));
        assertNotEquals(answer.digest(), compiler.compile("x/A.java", "public class A { record B(int j) { } Runnable r = () -> { }; }").digest());
    }

    @Test
    void tellsErrors() throws IOException {
        Answer answer = compiler.compile("A.java", "class A { int i = \"\"; }");
        assertFalse(answer.ok());
        assertEquals(1, answer.diagnostics().count());
        assertTrue(answer.diagnostics().first().getFirst().startsWith("ERROR line 1: incompatible types"), answer.diagnostics().first().toString());
        assertTrue(answer.classes().isEmpty());
    }

    /** The service's own libraries are not on the class path of what it compiles. */
    @Test
    void seesTheJdkOnly() throws IOException {
        assertFalse(compiler.compile("A.java", "class A { lull.bench.util.Json j; }").ok());
    }
}

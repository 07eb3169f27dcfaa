// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.util.List;

/**
 * The answer to one compile request, sent as JSON.
 *
 * @param source the name of the source
 * @param ok whether javac succeeded
 * @param diagnostics what javac said
 * @param classes the class files, in order of name
 * @param bytes their total size in bytes
 * @param digest CRC-32C over all names and contents in that order, in hexadecimal
 */
public record Answer(String source, boolean ok, Diagnostics diagnostics, List<ClassFile> classes, long bytes, String digest) {
    /** What javac said: how often, and the first few messages. */
    public record Diagnostics(int count, List<String> first) { }

    /** One class file: binary name and size in bytes. */
    public record ClassFile(String name, int size) { }
}

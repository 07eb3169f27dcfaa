// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.BufferedOutputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import jdk.internal.jimage.BasicImageReader;
import jdk.internal.jimage.ImageLocation;
import jdk.tools.jlink.internal.BasicImageWriter;

/**
 * Replaces one resource in a JDK's lib/modules: what was there stays as it is, the new resource is put behind it, and the
 * index is made anew.
 *
 *   java --add-modules jdk.jlink --add-exports jdk.jlink/jdk.tools.jlink.internal=ALL-UNNAMED
 *        --add-exports java.base/jdk.internal.jimage=ALL-UNNAMED
 *        ReplaceResource.java MODULES /MODULE/RESOURCE FILE NEW-MODULES
 */
class ReplaceResource {
    public static void main(String[] args) throws Exception {
        Path modules = Path.of(args[0]);
        String name = args[1];
        byte[] resource = Files.readAllBytes(Path.of(args[2]));

        try (BasicImageReader reader = BasicImageReader.open(modules);
             FileChannel content = FileChannel.open(modules);
             OutputStream out = new BufferedOutputStream(Files.newOutputStream(Path.of(args[3])))) {
            if (reader.findLocation(name) == null) {
                throw new IllegalArgumentException(modules + " has no " + name);
            }
            long start = reader.getHeader().getIndexSize();
            long length = content.size() - start;
            BasicImageWriter writer = new BasicImageWriter(reader.getByteOrder());
            for (String entry : reader.getEntryNames()) {
                ImageLocation location = reader.findLocation(entry);
                if (location.getCompressedSize() != 0) {
                    throw new IllegalArgumentException(modules + " is compressed: " + entry);
                }
                if (entry.equals(name)) {
                    writer.addLocation(entry, length, 0, resource.length);
                } else {
                    writer.addLocation(entry, location.getContentOffset(), 0, location.getUncompressedSize());
                }
            }
            out.write(writer.getBytes());
            content.position(start);
            Channels.newInputStream(content).transferTo(out);
            out.write(resource);
        }
    }
}

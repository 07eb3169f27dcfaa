// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import jdk.internal.jimage.BasicImageReader;
import jdk.internal.jimage.ImageHeader;
import jdk.internal.jimage.ImageLocation;

/**
 * Replaces one resource in a copy of a JDK's lib/modules. The new one is put behind all that is there, and where the index
 * says its place and size, these change. Nothing else does: directories in the file refer to places in the index.
 *
 *   java --add-exports java.base/jdk.internal.jimage=ALL-UNNAMED ReplaceResource.java MODULES /MODULE/RESOURCE FILE NEW-MODULES
 */
class ReplaceResource {
    public static void main(String[] args) throws IOException {
        Path modules = Path.of(args[0]);
        String name = args[1];
        ByteBuffer resource = ByteBuffer.wrap(Files.readAllBytes(Path.of(args[2])));
        Path changed = Path.of(args[3]);

        Files.copy(modules, changed, StandardCopyOption.REPLACE_EXISTING);
        try (BasicImageReader reader = BasicImageReader.open(modules);
             FileChannel file = FileChannel.open(changed, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
            ImageLocation location = reader.findLocation(name);
            if (location == null || location.getCompressedSize() != 0) {
                throw new IOException(modules + (location == null ? " has no " : " is compressed: ") + name);
            }
            ImageHeader header = reader.getHeader();
            long place = file.size() - header.getIndexSize();

            // The header, the redirects, the offsets of locations, the locations, the strings.
            long offsets = ImageHeader.getHeaderSize() + header.getRedirectSize();
            ByteBuffer offset = ByteBuffer.allocate(4).order(reader.getByteOrder());
            file.read(offset, offsets + 4L * reader.getLocationIndex(name));
            long attributes = offsets + header.getOffsetsSize() + offset.getInt(0);

            file.write(resource, file.size());
            setAttribute(file, attributes, ImageLocation.ATTRIBUTE_OFFSET, place);
            setAttribute(file, attributes, ImageLocation.ATTRIBUTE_UNCOMPRESSED, resource.limit());
        }
    }

    /** An attribute is a byte that tells its kind and its length less one, and then its value, the highest byte first. */
    private static void setAttribute(FileChannel file, long attributes, int wanted, long value) throws IOException {
        ByteBuffer tag = ByteBuffer.allocate(1);
        for (long at = attributes; ; ) {
            tag.clear();
            file.read(tag, at);
            int kind = tag.get(0) >>> 3;
            int length = (tag.get(0) & 7) + 1;
            if (kind == ImageLocation.ATTRIBUTE_END) {
                throw new IOException("the index has no attribute " + wanted);
            }
            if (kind == wanted) {
                if (length < Long.BYTES && value >>> (8 * length) != 0) {
                    throw new IOException("the index has no room for " + value + " in " + length + " bytes");
                }
                file.write(ByteBuffer.allocate(Long.BYTES).putLong(value).position(Long.BYTES - length), at + 1);
                return;
            }
            at += 1 + length;
        }
    }
}

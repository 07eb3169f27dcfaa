// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import jdk.internal.jimage.BasicImageReader;
import jdk.internal.jimage.ImageHeader;
import jdk.internal.jimage.ImageLocation;

/**
 * Replaces one resource in an image of modules (lib/modules): {@code ReplaceResource IMAGE NAME FILE RESULT}.
 *
 * <p>The image is header, hash table of names, records that say where each resource is, strings, contents. A new record goes behind the others and the
 * new content behind all; the hash table, and the list of the directory that the resource is in, name the new record. All else keeps its place:
 * packages and directories are resources that hold places of records and strings.
 *
 * <p>Needs {@code --add-exports java.base/jdk.internal.jimage=ALL-UNNAMED}.
 */
class ReplaceResource {
    private static final int HEADER_LOCATIONS_SIZE = 5 * Integer.BYTES;    // where in the header

    public static void main(String[] args) throws Exception {
        Path modules = Path.of(args[0]);
        String name = args[1];
        byte[] resource = Files.readAllBytes(Path.of(args[2]));
        Path result = Path.of(args[3]);

        try (BasicImageReader reader = BasicImageReader.open(modules)) {
            byte[] image = Files.readAllBytes(modules);
            ImageHeader header = reader.getHeader();
            ImageLocation old = find(reader, name);
            int contents = header.getIndexSize();
            int recordsEnd = contents - header.getStringsSize();
            ByteBuffer words = ByteBuffer.wrap(image).order(reader.getByteOrder());

            int hashEntry = ImageHeader.getHeaderSize() + header.getRedirectSize() + reader.getLocationIndex(name) * Integer.BYTES;
            int oldRecord = words.getInt(hashEntry);
            int newRecord = header.getLocationsSize();
            byte[] record = record(old, image.length - contents, resource.length);

            words.putInt(hashEntry, newRecord);
            words.putInt(HEADER_LOCATIONS_SIZE, newRecord + record.length);
            renameInDirectory(words, contents, find(reader, "/modules" + name.substring(0, name.lastIndexOf('/'))), oldRecord, newRecord);

            try (var out = Files.newOutputStream(result)) {
                out.write(image, 0, recordsEnd);
                out.write(record);
                out.write(image, recordsEnd, image.length - recordsEnd);
                out.write(resource);
            }
        }

        try (BasicImageReader reader = BasicImageReader.open(result)) {
            if (!Arrays.equals(reader.getResource(find(reader, name)), resource)) {
                throw new IOException(result + " does not have the new " + name);
            }
        }
    }

    private static ImageLocation find(BasicImageReader reader, String name) throws IOException {
        ImageLocation location = reader.findLocation(name);
        if (location == null) {
            throw new IOException(reader.getName() + " has no " + name);
        }
        if (location.getCompressedSize() != 0) {
            throw new IOException(reader.getName() + " is compressed: " + name);
        }
        return location;
    }

    // Padded, so that what follows is aligned as before.
    private static byte[] record(ImageLocation old, long offset, long size) {
        long[] attributes = new long[ImageLocation.ATTRIBUTE_COUNT];
        attributes[ImageLocation.ATTRIBUTE_MODULE] = old.getModuleOffset();
        attributes[ImageLocation.ATTRIBUTE_PARENT] = old.getParentOffset();
        attributes[ImageLocation.ATTRIBUTE_BASE] = old.getBaseOffset();
        attributes[ImageLocation.ATTRIBUTE_EXTENSION] = old.getExtensionOffset();
        attributes[ImageLocation.ATTRIBUTE_OFFSET] = offset;
        attributes[ImageLocation.ATTRIBUTE_UNCOMPRESSED] = size;
        byte[] record = ImageLocation.compress(attributes);
        return Arrays.copyOf(record, (record.length + 7) & ~7);
    }

    private static void renameInDirectory(ByteBuffer words, int contents, ImageLocation directory, int oldRecord, int newRecord) throws IOException {
        long start = contents + directory.getContentOffset();
        for (long at = start; at < start + directory.getUncompressedSize(); at += Integer.BYTES) {
            if (words.getInt((int) at) == oldRecord) {
                words.putInt((int) at, newRecord);
                return;
            }
        }
        throw new IOException("the directory " + directory.getFullName() + " does not list the resource");
    }
}

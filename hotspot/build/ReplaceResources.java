// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import jdk.internal.jimage.BasicImageReader;
import jdk.internal.jimage.ImageHeader;
import jdk.internal.jimage.ImageLocation;

/**
 * Replaces resources in an image of modules (lib/modules).
 *
 * <p>The image is header, hash table of names, records that say where each resource is, strings, contents. New records go behind the others and the
 * new contents behind all; the hash table, and the lists of the directories that the resources are in, name the new records. All else keeps its place:
 * packages and directories are resources that hold places of records and strings.
 *
 * <p>Needs {@code --add-exports java.base/jdk.internal.jimage=ALL-UNNAMED}.
 */
final class ReplaceResources {
    private static final int HEADER_LOCATIONS_SIZE = 5 * Integer.BYTES;    // where in the header

    /** Writes the image {@code modules} to {@code result}, with other contents for the resources that are named, each of which it must have. */
    static void replace(Path modules, Map<String, byte[]> resources, Path result) throws IOException {
        try (BasicImageReader reader = BasicImageReader.open(modules)) {
            byte[] image = Files.readAllBytes(modules);
            ImageHeader header = reader.getHeader();
            int contents = header.getIndexSize();
            int recordsEnd = contents - header.getStringsSize();
            ByteBuffer words = ByteBuffer.wrap(image).order(reader.getByteOrder());
            ByteArrayOutputStream newRecords = new ByteArrayOutputStream();
            ByteArrayOutputStream newContents = new ByteArrayOutputStream();

            for (Map.Entry<String, byte[]> resource : resources.entrySet()) {
                String name = resource.getKey();
                ImageLocation old = find(reader, name);
                int hashEntry = ImageHeader.getHeaderSize() + header.getRedirectSize() + reader.getLocationIndex(name) * Integer.BYTES;
                int oldRecord = words.getInt(hashEntry);
                int newRecord = header.getLocationsSize() + newRecords.size();
                words.putInt(hashEntry, newRecord);
                renameInDirectory(words, contents, find(reader, "/modules" + name.substring(0, name.lastIndexOf('/'))), oldRecord, newRecord);
                newRecords.write(record(old, (long) image.length - contents + newContents.size(), resource.getValue().length));
                newContents.write(resource.getValue());
            }
            words.putInt(HEADER_LOCATIONS_SIZE, header.getLocationsSize() + newRecords.size());

            try (var out = Files.newOutputStream(result)) {
                out.write(image, 0, recordsEnd);
                newRecords.writeTo(out);
                out.write(image, recordsEnd, image.length - recordsEnd);
                newContents.writeTo(out);
            }
        }
        verify(resources, result);
    }

    private static void verify(Map<String, byte[]> resources, Path result) throws IOException {
        try (BasicImageReader reader = BasicImageReader.open(result)) {
            for (Map.Entry<String, byte[]> resource : resources.entrySet()) {
                if (!Arrays.equals(reader.getResource(find(reader, resource.getKey())), resource.getValue())) {
                    throw new IOException(result + " does not have the new " + resource.getKey());
                }
            }
        }
    }

    static ImageLocation find(BasicImageReader reader, String name) throws IOException {
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

    private ReplaceResources() {
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

/** Holds so many megabytes of arrays of one length. Ends with "ok" when all are alive at once. */
public class LiveArrays {
    public static void main(String[] args) {
        int length = Integer.parseInt(args[0]);
        int count = (int) (Long.parseLong(args[1]) * 1024 * 1024 / length);
        byte[][] arrays = new byte[count][];
        for (int i = 0; i < count; i++) {
            arrays[i] = new byte[length];
            arrays[i][length - 1] = (byte) i;
        }
        for (int i = 0; i < count; i++) {
            if (arrays[i][length - 1] != (byte) i) {
                throw new AssertionError("array " + i + " is not what was stored");
            }
        }
        System.out.println("ok");
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import io.netty.channel.uring.IoUring;

/** Loads Netty's io_uring transport, whether the kernel has io_uring or not. */
public class LoadsIoUring {
    public static void main(String[] args) {
        System.out.println("io_uring " + (IoUring.isAvailable() ? "is available" : "is not available: " + IoUring.unavailabilityCause()));
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.requests.netty;

import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import lull.Requests;

/**
 * Brackets what an event loop does when a channel has been read with {@link Requests#begin} and {@link Requests#end}. Put a new one first
 * into the pipeline of each channel of a server.
 *
 * <p>A request is what Netty reads in one go, from the first {@code channelRead} to {@code channelReadComplete}: often what the
 * application calls a request, but several of them if the client sends them together, and several of these for one that is
 * large. It ends when all handlers behind have seen the completion, so what they have flushed is on its way.
 *
 * <p>Work that handlers pass on to other threads, and tasks of the event loop, are not bracketed. Channels that are ready wait for
 * a collection of their event loop.
 *
 * <p>On a JVM without Lull it passes events on.
 */
public final class RequestsHandler extends ChannelInboundHandlerAdapter {
    /** Whether a request of this channel is open, on the thread that all these methods are called on. */
    private boolean open;

    @Override
    public void channelRead(ChannelHandlerContext context, Object message) {
        if (!open && Requests.heard()) {
            open = true;
            Requests.begin();
        }
        context.fireChannelRead(message);
    }

    @Override
    public void channelReadComplete(ChannelHandlerContext context) {
        try {
            context.fireChannelReadComplete();
        } finally {
            end();
        }
    }

    /** The channel leaves its event loop, perhaps for another one. */
    @Override
    public void channelUnregistered(ChannelHandlerContext context) {
        try {
            context.fireChannelUnregistered();
        } finally {
            end();
        }
    }

    @Override
    public void handlerRemoved(ChannelHandlerContext context) {
        end();
    }

    private void end() {
        if (open) {
            open = false;
            Requests.end();
        }
    }
}

// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.grpc;

import io.grpc.ForwardingServerCall.SimpleForwardingServerCall;
import io.grpc.Metadata;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;

/**
 * For a server that calls other services: keeps {@code busy-until} of their gates from its own callers. gRPC's servers end a call that has failed by the
 * exception of another one with that one's trailers, and {@link FailoverInterceptor} at the caller would take them for proof that this server has
 * processed nothing. The answers of this server's own gate do not come by here.
 *
 * <p>Before interceptors that end calls themselves: the last one that is given to a server's builder.
 */
public final class DownstreamBusyInterceptor implements ServerInterceptor {
    @Override
    public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
        return next.startCall(new SimpleForwardingServerCall<>(call) {
            @Override
            public void close(Status status, Metadata trailers) {
                trailers.discardAll(FailoverCall.BUSY_UNTIL);
                super.close(status, trailers);
            }
        }, headers);
    }
}

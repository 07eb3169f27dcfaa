// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import io.grpc.CallOptions;
import io.grpc.ClientInterceptors;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import lull.bench.load.FixedRequest;

/** gRPC's own client, with one connection to each replica. */
final class GrpcWire implements Wire {
    private static final Metadata.Key<String> DEADLINE = Metadata.Key.of("x-envoy-expected-rq-timeout-ms", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> BUSY_UNTIL = Metadata.Key.of("busy-until", Metadata.ASCII_STRING_MARSHALLER);

    private final List<ManagedChannel> channels = new ArrayList<>();

    GrpcWire(int[] ports) {
        for (int port : ports) {
            channels.add(NettyChannelBuilder.forAddress("127.0.0.1", port).usePlaintext().disableRetry().build());
        }
    }

    @Override
    public void connect(FixedRequest request, int count) throws IOException {
        for (int replica = 0; replica < channels.size(); replica++) {
            for (int i = 0; i < count; i++) {
                send(request, replica, 0);
            }
        }
    }

    @Override
    public long send(FixedRequest request, int replica, int deadlineMillis) throws IOException {
        Metadata headers = new Metadata();
        headers.put(DEADLINE, "" + (deadlineMillis > 0 ? deadlineMillis : PATIENCE_MILLIS));
        byte[] answer;
        try {
            answer = ClientCalls.blockingUnaryCall(ClientInterceptors.intercept(channels.get(replica), MetadataUtils.newAttachHeadersInterceptor(headers)), GrpcShop.PAGE,
                    CallOptions.DEFAULT.withDeadlineAfter(PATIENCE_MILLIS, TimeUnit.MILLISECONDS), GrpcShop.message(request));
        } catch (StatusRuntimeException e) {
            Metadata trailers = e.getTrailers();
            if (deadlineMillis > 0 && e.getStatus().getCode() == Status.Code.UNAVAILABLE && trailers != null && trailers.containsKey(BUSY_UNTIL)) {
                return Long.parseLong(trailers.get(BUSY_UNTIL));
            }
            throw new IOException(request.target() + ": " + e.getStatus(), e);
        }
        Wire.check(request, answer.length == request.length() && FixedRequest.digest(answer).equals(request.digest()) ? null
                : answer.length + " bytes with digest " + FixedRequest.digest(answer) + " came, expected " + request.length() + " with " + request.digest());
        return ANSWERED;
    }

    @Override
    public void close() {
        channels.forEach(ManagedChannel::shutdownNow);
    }
}

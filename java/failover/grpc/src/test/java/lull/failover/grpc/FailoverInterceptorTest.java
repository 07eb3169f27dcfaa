// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.grpc;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.EquivalentAddressGroup;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerServiceDefinition;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.netty.NettyServerBuilder;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.ServerCalls;
import io.grpc.stub.StreamObserver;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import lull.failover.FailoverPolicy;
import lull.failover.Replicas;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** gRPC's own channels and servers over sockets; servers that turn calls away as the gate does, before anything is processed. */
class FailoverInterceptorTest {
    private static final MethodDescriptor.Marshaller<String> TEXT = new MethodDescriptor.Marshaller<>() {
        @Override
        public InputStream stream(String value) {
            return new ByteArrayInputStream(value.getBytes(StandardCharsets.UTF_8));
        }

        @Override
        public String parse(InputStream stream) {
            try {
                return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    };

    private static MethodDescriptor<String, String> method(String name, MethodDescriptor.MethodType type) {
        return MethodDescriptor.newBuilder(TEXT, TEXT).setType(type).setFullMethodName("lull.Test/" + name).build();
    }

    private static final MethodDescriptor<String, String> ECHO = method("Echo", MethodDescriptor.MethodType.UNARY);
    private static final MethodDescriptor<String, String> COUNT = method("Count", MethodDescriptor.MethodType.SERVER_STREAMING);
    private static final MethodDescriptor<String, String> JOIN = method("Join", MethodDescriptor.MethodType.CLIENT_STREAMING);

    private static final Metadata.Key<String> PATIENCE = key("x-envoy-expected-rq-timeout-ms");

    private static Metadata.Key<String> key(String name) {
        return Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER);
    }

    /** A server; busy if {@code field} is not null, which it then says. */
    private static final class Replica implements ServerInterceptor {
        private final int number;
        private final Server server;
        private final List<String> processed = new CopyOnWriteArrayList<>();
        private final List<String> patience = new CopyOnWriteArrayList<>();
        private volatile String field;
        /** Busy also for who has patience. */
        private volatile boolean always;

        Replica(int number, String field) throws IOException {
            this(number, field, null);
        }

        /** A server that has another one answer, if {@code behind} is not null. */
        Replica(int number, String field, Channel behind, ServerInterceptor... more) throws IOException {
            this.number = number;
            this.field = field;
            ServerServiceDefinition service = ServerServiceDefinition.builder("lull.Test")
                    .addMethod(ECHO, ServerCalls.asyncUnaryCall((String request, StreamObserver<String> answers) -> {
                        processed.add(request);
                        if (behind != null) {
                            ClientCalls.asyncUnaryCall(behind.newCall(ECHO, CallOptions.DEFAULT), request, answers);
                            return;
                        }
                        answers.onNext(number + " " + request);
                        answers.onCompleted();
                    }))
                    .addMethod(COUNT, ServerCalls.asyncServerStreamingCall((String request, StreamObserver<String> answers) -> {
                        processed.add(request);
                        for (int i = 0; i < 3; i++) {
                            answers.onNext(number + " " + i);
                        }
                        answers.onCompleted();
                    }))
                    .addMethod(JOIN, ServerCalls.asyncClientStreamingCall(answers -> new StreamObserver<String>() {
                        private final StringBuilder all = new StringBuilder();

                        @Override
                        public void onNext(String message) {
                            all.append(message).append(' ');
                        }

                        @Override
                        public void onError(Throwable error) {
                            // The client has gone.
                        }

                        @Override
                        public void onCompleted() {
                            processed.add(all.toString());
                            answers.onNext(all.toString());
                            answers.onCompleted();
                        }
                    }))
                    .build();
            NettyServerBuilder builder = NettyServerBuilder.forAddress(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0)).intercept(this);
            for (ServerInterceptor interceptor : more) {
                builder.intercept(interceptor);
            }
            server = builder.addService(service).build().start();
        }

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            patience.add(String.valueOf(headers.get(PATIENCE)));
            if (field == null || !always && field.equals("busy-until") && headers.containsKey(PATIENCE)) {
                return next.startCall(call, headers);
            }
            Metadata trailers = new Metadata();
            if (!field.isEmpty()) {
                trailers.put(key(field), "3000");
            }
            call.close(Status.UNAVAILABLE.withDescription("not now"), trailers);
            return new ServerCall.Listener<>() { };
        }

        InetSocketAddress address() {
            return (InetSocketAddress) server.getListenSockets().get(0);
        }
    }

    private final List<Replica> replicas = new ArrayList<>();
    private final List<ManagedChannel> channels = new ArrayList<>();

    private void replicas(String... fields) throws IOException {
        for (String field : fields) {
            replicas.add(new Replica(replicas.size(), field));
        }
    }

    private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor();

    @AfterEach
    void close() throws InterruptedException {
        timer.shutdownNow();
        for (ManagedChannel channel : channels) {
            assertTrue(channel.shutdownNow().awaitTermination(60, TimeUnit.SECONDS));
        }
        for (Replica replica : replicas) {
            assertTrue(replica.server.shutdownNow().awaitTermination(60, TimeUnit.SECONDS));
        }
    }

    private static FailoverPolicy policy(int attempts) {
        return new FailoverPolicy(attempts, Duration.ofSeconds(100));
    }

    private Channel channel(Replica replica) {
        ManagedChannel channel = NettyChannelBuilder.forAddress(replica.address()).usePlaintext().build();
        channels.add(channel);
        return channel;
    }

    private Channel among(int attempts) {
        return among(attempts, replicas.stream().map(this::channel).toList());
    }

    /** A channel for each replica. */
    private static Channel among(int attempts, List<Channel> all) {
        return ClientInterceptors.intercept(all.get(0), FailoverInterceptor.among(policy(attempts), Replicas.of(all)));
    }

    /** One channel that goes round the replicas. */
    private Channel balanced(int attempts) {
        List<EquivalentAddressGroup> addresses = replicas.stream().map(replica -> new EquivalentAddressGroup(replica.address())).toList();
        NameResolverProvider provider = new NameResolverProvider() {
            @Override
            protected boolean isAvailable() {
                return true;
            }

            @Override
            protected int priority() {
                return 5;
            }

            @Override
            public String getDefaultScheme() {
                return "replicas";
            }

            @Override
            public NameResolver newNameResolver(URI target, NameResolver.Args args) {
                return new NameResolver() {
                    @Override
                    public String getServiceAuthority() {
                        return "service";
                    }

                    @Override
                    public void start(Listener2 listener) {
                        listener.onResult(ResolutionResult.newBuilder()
                                .setAddressesOrError(io.grpc.StatusOr.fromValue(addresses)).build());
                    }

                    @Override
                    public void shutdown() {
                        // Nothing to end.
                    }
                };
            }
        };
        io.grpc.NameResolverRegistry.getDefaultRegistry().register(provider);
        try {
            channels.add(NettyChannelBuilder.forTarget("replicas:///all").defaultLoadBalancingPolicy("round_robin").usePlaintext().build());
        } finally {
            io.grpc.NameResolverRegistry.getDefaultRegistry().deregister(provider);
        }
        return ClientInterceptors.intercept(channels.get(0), FailoverInterceptor.balanced(policy(attempts)));
    }

    private static String echo(Channel channel, String text) {
        return ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT.withDeadlineAfter(Duration.ofSeconds(100)), text);
    }

    private List<Integer> asked() {
        return replicas.stream().map(replica -> replica.patience.size()).toList();
    }

    @Test
    void whatTheGateTurnsAwayGoesToTheNextReplica() throws Exception {
        replicas("busy-until", "busy-until", null);
        Channel channel = among(4);
        for (int i = 0; i < 4; i++) {
            assertEquals("2 " + i, echo(channel, Integer.toString(i)));
        }
        assertEquals(List.of(1, 1, 4), asked());
        assertEquals(List.of("0", "1", "2", "3"), replicas.get(2).processed);
    }

    @Test
    void whenAllAreBusyOneIsToldToKeepTheCall() throws Exception {
        replicas("busy-until", "busy-until");
        assertTrue(echo(among(3), "x").endsWith(" x"));
        assertEquals(1, replicas.stream().mapToInt(replica -> replica.processed.size()).sum());
        assertEquals(1, replicas.stream().flatMap(replica -> replica.patience.stream()).filter(text -> !text.equals("null")).count());
    }

    @Test
    void aBalancerTakesTheNextReplica() throws Exception {
        replicas("busy-until", null);
        Channel channel = balanced(2);
        // Until the balancer is connected with both: from then on they take turns.
        while (asked().contains(0)) {
            echo(channel, "x");
        }
        int before = replicas.get(0).patience.size();
        for (int i = 0; i < 20; i++) {
            // The last attempt has patience, so that the first replica would answer it if it came there again.
            assertEquals("1 x", echo(channel, "x"));
        }
        assertTrue(replicas.get(0).patience.size() >= before + 10, "not asked in turn");
    }

    @Test
    void whatTheCallerGetsIsNoProofForItsOwnCallers() throws Exception {
        replicas("busy-until", "busy-until");
        replicas.forEach(replica -> replica.always = true);
        StatusRuntimeException e = assertThrows(StatusRuntimeException.class, () -> echo(among(2), "x"));
        assertEquals("not now", e.getStatus().getDescription());
        assertFalse(e.getTrailers().containsKey(key("busy-until")), e.getTrailers().toString());
        assertEquals(List.of(1, 1), asked());
        replicas.forEach(replica -> replica.field = "grpc-retry-pushback-ms");
        e = assertThrows(StatusRuntimeException.class, () -> echo(among(2), "x"));
        assertFalse(e.getTrailers().containsKey(key("grpc-retry-pushback-ms")), e.getTrailers().toString());
    }

    @Test
    void aServerThatCallsABusyOneHasProcessedTheCall() throws Exception {
        Replica behind = new Replica(0, "busy-until");
        replicas.add(behind);
        Channel channel = channel(behind);
        List<Replica> front = List.of(new Replica(1, null, channel, new DownstreamBusyInterceptor()),
                new Replica(2, null, channel, new DownstreamBusyInterceptor()));
        replicas.addAll(front);
        Channel both = among(3, front.stream().map(this::channel).toList());
        StatusRuntimeException e = assertThrows(StatusRuntimeException.class, () -> echo(both, "x"));
        assertEquals(Status.Code.UNAVAILABLE, e.getStatus().getCode());
        assertEquals("not now", e.getStatus().getDescription());
        assertEquals(List.of(1, 1, 0), asked());
    }

    @Test
    void theCallerHearsOfTheEndIfNoOtherAttemptCanBegin() throws Exception {
        replicas("busy-until");
        Channel broken = new Channel() {
            @Override
            public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
                throw new IllegalStateException("expected");
            }

            @Override
            public String authority() {
                return "nobody";
            }
        };
        Channel channel = among(3, List.of(channel(replicas.get(0)), broken));
        StatusRuntimeException e = assertThrows(StatusRuntimeException.class, () -> echo(channel, "x"));
        assertEquals("not now", e.getStatus().getDescription());
    }

    @Test
    void streamsOfAnswersGoOnWhereTheyBegin() throws Exception {
        replicas("busy-until", null);
        Iterator<String> answers = ClientCalls.blockingServerStreamingCall(among(3), COUNT, CallOptions.DEFAULT, "x");
        List<String> all = new ArrayList<>();
        answers.forEachRemaining(all::add);
        assertEquals(List.of("1 0", "1 1", "1 2"), all);
    }

    @Test
    void messagesThatWereSentAreSentAgain() throws Exception {
        replicas("busy-until", null);
        Channel channel = among(3);
        BlockingQueue<Object> end = new ArrayBlockingQueue<>(4);
        StreamObserver<String> requests = ClientCalls.asyncClientStreamingCall(channel.newCall(JOIN, CallOptions.DEFAULT), new StreamObserver<>() {
            @Override
            public void onNext(String answer) {
                end.add(answer);
            }

            @Override
            public void onError(Throwable error) {
                end.add(error);
            }

            @Override
            public void onCompleted() {
                // Its answer says it.
            }
        });
        for (int i = 0; i < FailoverCall.MOST_MESSAGES; i++) {
            requests.onNext(Integer.toString(i));
        }
        requests.onCompleted();
        assertEquals("0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 ", end.poll(60, TimeUnit.SECONDS));
        assertEquals(1, replicas.get(1).processed.size());
    }

    @Test
    void pushbackIsNoProof() throws Exception {
        replicas("grpc-retry-pushback-ms", null);
        Channel channel = among(3);
        assertThrows(StatusRuntimeException.class, () -> echo(channel, "x"));
        assertEquals(List.of(1, 0), asked());
        CallOptions idempotent = CallOptions.DEFAULT.withOption(FailoverInterceptor.IDEMPOTENT, true);
        assertEquals("1 x", ClientCalls.blockingUnaryCall(channel, ECHO, idempotent, "x"));
    }

    @Test
    void otherEndsAreTheCallers() throws Exception {
        replicas("", null);
        Channel channel = among(3);
        StatusRuntimeException e = assertThrows(StatusRuntimeException.class, () -> echo(channel, "x"));
        assertEquals("not now", e.getStatus().getDescription());
        assertEquals(List.of(1, 0), asked());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3})
    void theNumberOfAttemptsIsBounded(int attempts) throws Exception {
        replicas("grpc-retry-pushback-ms", "grpc-retry-pushback-ms", "grpc-retry-pushback-ms", "grpc-retry-pushback-ms");
        CallOptions idempotent = CallOptions.DEFAULT.withOption(FailoverInterceptor.IDEMPOTENT, true);
        Channel channel = among(attempts);
        assertThrows(StatusRuntimeException.class, () -> ClientCalls.blockingUnaryCall(channel, ECHO, idempotent, "x"));
        // Once each; the last has patience.
        assertTrue(asked().stream().allMatch(count -> count <= 1), asked().toString());
        List<String> patience = replicas.stream().flatMap(replica -> replica.patience.stream()).toList();
        assertEquals(attempts, patience.size());
        assertEquals(1, patience.stream().filter(text -> !text.equals("null")).count());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCallIsKeptUntilItsDeadlineAtMost(boolean behind) throws Exception {
        replicas("busy-until");
        Channel channel = among(2);
        Deadline deadline = Deadline.after(30, TimeUnit.SECONDS);
        String answer;
        if (behind) {
            // As in a server that has been called with a deadline.
            answer = Context.current().withDeadline(deadline, timer).call(() -> ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT, "x"));
        } else {
            answer = ClientCalls.blockingUnaryCall(channel, ECHO, CallOptions.DEFAULT.withDeadline(deadline), "x");
        }
        assertEquals("0 x", answer);
        long said = Long.parseLong(replicas.get(0).patience.get(1));
        assertTrue(said > 1000 && said <= 30_000, said + " ms");
    }

    @Test
    void aCallThatIsCancelledBeforeItsStartIsNotSent() throws Exception {
        replicas((String) null);
        ClientCall<String, String> call = among(2).newCall(ECHO, CallOptions.DEFAULT);
        call.cancel("expected", null);
        assertThrows(IllegalStateException.class, () -> call.start(new ClientCall.Listener<>() { }, new Metadata()));
        assertEquals(List.of(0), asked());
    }

    /** Calls that a test ends. */
    private static final class Held extends Channel {
        private final List<ClientCall.Listener<?>> calls = new ArrayList<>();

        @Override
        public <Q, A> ClientCall<Q, A> newCall(MethodDescriptor<Q, A> method, CallOptions options) {
            return new ClientCall<>() {
                @Override
                public void start(Listener<A> listener, Metadata headers) {
                    calls.add(listener);
                }

                @Override
                public void request(int count) {
                    // Nothing comes.
                }

                @Override
                public void sendMessage(Q message) {
                    // Nobody reads it.
                }

                @Override
                public void halfClose() {
                    // Nobody hears of it.
                }

                @Override
                public void cancel(String message, Throwable cause) {
                    // The test ends it.
                }
            };
        }

        @Override
        public String authority() {
            return "test";
        }
    }

    /** Others are not sent to a replica that has turned one away, though that one cannot be sent again. */
    @Test
    void whatCannotBeRepeatedSaysThatAReplicaIsBusy() {
        Held one = new Held();
        Held two = new Held();
        Channel channel = among(3, List.of(one, two));
        List<Status> ends = new ArrayList<>();
        ClientCall<String, String> call = channel.newCall(JOIN, CallOptions.DEFAULT);
        call.start(new ClientCall.Listener<>() {
            @Override
            public void onClose(Status status, Metadata trailers) {
                ends.add(status);
            }
        }, new Metadata());
        for (int i = 0; i <= FailoverCall.MOST_MESSAGES; i++) {
            call.sendMessage("x");
        }
        Metadata trailers = new Metadata();
        trailers.put(key("busy-until"), "9000");
        one.calls.get(0).onClose(Status.UNAVAILABLE, trailers);
        assertEquals(List.of(Status.UNAVAILABLE), ends);
        for (int i = 0; i < 4; i++) {
            channel.newCall(ECHO, CallOptions.DEFAULT).start(new ClientCall.Listener<>() { }, new Metadata());
        }
        assertEquals(1, one.calls.size());
        assertEquals(4, two.calls.size());
        // Of an answer that has begun, the end is the application's.
        two.calls.get(0).onHeaders(new Metadata());
        trailers.put(key("busy-until"), "9000");
        two.calls.get(0).onClose(Status.UNAVAILABLE, trailers);
        channel.newCall(ECHO, CallOptions.DEFAULT).start(new ClientCall.Listener<>() { }, new Metadata());
        assertEquals(5, two.calls.size());
    }
}

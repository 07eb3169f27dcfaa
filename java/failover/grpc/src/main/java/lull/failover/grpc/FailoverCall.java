// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.grpc;

import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.Status;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import lull.failover.Attempt;
import lull.failover.Attempts;
import lull.failover.Busy;

/**
 * A call that is several in turn, until one begins to be answered. Its caller's thread and the threads of its answers meet here, under its lock;
 * the listener is called without it.
 */
final class FailoverCall<Q, A> extends ClientCall<Q, A> {
    static final int MOST_MESSAGES = 16;

    static final Metadata.Key<String> BUSY_UNTIL = Metadata.Key.of(Busy.BUSY_UNTIL, Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> PUSHBACK = Metadata.Key.of("grpc-retry-pushback-ms", Metadata.ASCII_STRING_MARSHALLER);
    private static final Metadata.Key<String> PATIENCE = Metadata.Key.of(Busy.PATIENCE, Metadata.ASCII_STRING_MARSHALLER);

    private final MethodDescriptor<Q, A> method;
    private final CallOptions options;
    private final Attempts<Channel> attempts;
    private Listener<A> listener;
    private Metadata headers;
    private ClientCall<Q, A> current;
    /** What has been sent; null once the call stays where it is. */
    private List<Q> messages = new ArrayList<>();
    private boolean halfClosed;
    private boolean cancelled;
    private int requested;
    private Boolean compression;

    FailoverCall(MethodDescriptor<Q, A> method, CallOptions options, Attempts<Channel> attempts) {
        this.method = method;
        this.options = options;
        this.attempts = attempts;
    }

    @Override
    public synchronized void start(Listener<A> responses, Metadata fields) {
        if (cancelled) {
            // As gRPC's own calls.
            throw new IllegalStateException("the call was cancelled before it was started");
        }
        listener = responses;
        headers = fields;
        begin(attempts.next().orElseThrow());
    }

    /** Starts an attempt and does what the caller has done so far. With the lock held. */
    private void begin(Attempt<Channel> attempt) {
        current = attempt.replica().newCall(method, options);
        Metadata own = new Metadata();
        own.merge(headers);
        attempt.patience().ifPresent(patience -> {
            own.discardAll(PATIENCE);
            own.put(PATIENCE, Long.toString(patience.toMillis()));
        });
        current.start(new Answers(attempt), own);
        if (compression != null) {
            current.setMessageCompression(compression);
        }
        if (requested > 0) {
            current.request(requested);
        }
        messages.forEach(current::sendMessage);
        if (halfClosed) {
            current.halfClose();
        }
    }

    @Override
    public synchronized void request(int count) {
        // So many that the sum may overflow is as many as there can be.
        requested = (int) Math.min(Integer.MAX_VALUE, (long) requested + count);
        current.request(count);
    }

    @Override
    public synchronized void sendMessage(Q message) {
        if (messages != null) {
            messages.add(message);
            if (messages.size() > MOST_MESSAGES) {
                messages = null;
            }
        }
        current.sendMessage(message);
    }

    @Override
    public synchronized void halfClose() {
        halfClosed = true;
        current.halfClose();
    }

    @Override
    public synchronized void cancel(String message, Throwable cause) {
        cancelled = true;
        if (current != null) {
            current.cancel(message, cause);
        }
    }

    @Override
    public synchronized boolean isReady() {
        return current.isReady();
    }

    @Override
    public synchronized void setMessageCompression(boolean enabled) {
        compression = enabled;
        current.setMessageCompression(enabled);
    }

    @Override
    public synchronized Attributes getAttributes() {
        return current == null ? Attributes.EMPTY : current.getAttributes();
    }

    /** The call stays where it is: its answer has begun. */
    private synchronized void stay() {
        messages = null;
    }

    /** Begins another attempt after an end; false if the end is the caller's. */
    private synchronized boolean another(Attempt<Channel> attempt, Status status, Metadata trailers) {
        if (status.getCode() != Status.Code.UNAVAILABLE) {
            return false;
        }
        Optional<Busy> busy = Busy.ofBusyUntil(trailers.get(BUSY_UNTIL))
                .or(() -> Busy.ofBusyUntil(trailers.get(PUSHBACK)).map(pushback -> new Busy(pushback.until(), false)));
        // Others are to know it, whatever becomes of this call.
        if (busy.isEmpty() || !attempts.busy(attempt, busy.get()) || messages == null || cancelled) {
            return false;
        }
        Optional<Attempt<Channel>> next = attempts.next().filter(found -> found.delay().equals(Duration.ZERO));
        next.ifPresent(this::begin);
        return next.isPresent();
    }

    /** What comes of one attempt. */
    private final class Answers extends Listener<A> {
        private final Attempt<Channel> attempt;
        /** Whether it has begun, so that its end says nothing of the replica. */
        private boolean begun;

        Answers(Attempt<Channel> attempt) {
            this.attempt = attempt;
        }

        @Override
        public void onHeaders(Metadata fields) {
            begun = true;
            stay();
            attempts.answered(attempt);
            listener.onHeaders(fields);
        }

        @Override
        public void onMessage(A message) {
            begun = true;
            stay();
            listener.onMessage(message);
        }

        @Override
        public void onReady() {
            listener.onReady();
        }

        /** The listener hears of the end even if another attempt cannot be begun. */
        @Override
        public void onClose(Status status, Metadata trailers) {
            boolean goesOn = false;
            try {
                goesOn = !begun && another(attempt, status, trailers);
            } finally {
                if (!goesOn) {
                    stay();
                    // A service that gives this end to a caller of its own would say that it has processed nothing either.
                    trailers.discardAll(BUSY_UNTIL);
                    trailers.discardAll(PUSHBACK);
                    listener.onClose(status, trailers);
                }
            }
        }
    }
}

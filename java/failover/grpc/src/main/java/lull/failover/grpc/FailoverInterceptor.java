// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.grpc;

import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ClientInterceptor;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.MethodDescriptor;
import java.time.Duration;
import java.util.Collections;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import lull.failover.FailoverPolicy;
import lull.failover.Replicas;

/**
 * Sends a call again that a stopped replica has turned away. Either the channel knows the replicas, with a balancer that takes the next one each
 * time ({@code round_robin}), or there is a channel for each replica.
 *
 * <p>A call that the gate has turned away was not processed, so it is always sent again, whatever it does. One that was refused as
 * {@code UNAVAILABLE} with {@code grpc-retry-pushback-ms} is sent again if it is {@linkplain #IDEMPOTENT idempotent}. All other ends are
 * the caller's; gRPC's own retries may handle them.
 *
 * <p>What the caller gets has no {@code busy-until} and no {@code grpc-retry-pushback-ms}: it is proof for this call only, not for one that is answered
 * with its end. A server that calls others without this interceptor needs {@link DownstreamBusyInterceptor}, for the same reason.
 *
 * <p>Until its answer begins, a call's messages are kept; one with more than {@value FailoverCall#MOST_MESSAGES} of them stays where it is.
 */
public final class FailoverInterceptor implements ClientInterceptor {
    /** Whether it does no harm if a call is processed twice. Without it, what the method says of itself counts. */
    public static final CallOptions.Key<Boolean> IDEMPOTENT = CallOptions.Key.create("lull.failover.idempotent");

    private final FailoverPolicy policy;
    /** Null: the channel's balancer chooses. */
    private final Replicas<Channel> replicas;

    private FailoverInterceptor(FailoverPolicy policy, Replicas<Channel> replicas) {
        if (policy.hedgeAfter().isPresent()) {
            throw new IllegalArgumentException("the policy hedges, which gRPC does itself (hedgingPolicy of its service config)");
        }
        this.policy = policy;
        this.replicas = replicas;
    }

    /** For a channel whose balancer takes the next replica each time. What a replica says of itself is then not known at the next call. */
    public static FailoverInterceptor balanced(FailoverPolicy policy) {
        return new FailoverInterceptor(policy, null);
    }

    /** Calls go to these channels, not to the one that is intercepted: one for each replica. */
    public static FailoverInterceptor among(FailoverPolicy policy, Replicas<Channel> replicas) {
        return new FailoverInterceptor(policy, Objects.requireNonNull(replicas));
    }

    @Override
    public <Q, A> ClientCall<Q, A> interceptCall(MethodDescriptor<Q, A> method, CallOptions options, Channel channel) {
        Boolean said = options.getOption(IDEMPOTENT);
        boolean idempotent = said != null ? said : method.isIdempotent();
        // To a balanced channel each attempt is to another replica, as far as one can tell.
        Replicas<Channel> targets = replicas != null ? replicas : Replicas.of(Collections.nCopies(policy.attempts(), channel));
        return new FailoverCall<>(method, options, bounded(options.getDeadline(), Context.current().getDeadline()).begin(targets, idempotent));
    }

    /** No replica is to keep a call beyond its deadline, the call's own or that of the call on whose behalf it is made. */
    private FailoverPolicy bounded(Deadline... deadlines) {
        FailoverPolicy bounded = policy;
        for (Deadline deadline : deadlines) {
            if (deadline != null) {
                bounded = bounded.atMost(Duration.ofNanos(deadline.timeRemaining(TimeUnit.NANOSECONDS)));
            }
        }
        return bounded;
    }
}

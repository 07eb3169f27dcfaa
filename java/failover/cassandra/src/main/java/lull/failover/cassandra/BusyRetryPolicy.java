// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.failover.cassandra;

import com.datastax.oss.driver.api.core.DefaultProtocolVersion;
import com.datastax.oss.driver.api.core.config.DefaultDriverOption;
import com.datastax.oss.driver.api.core.config.DriverExecutionProfile;
import com.datastax.oss.driver.api.core.config.DriverOption;
import com.datastax.oss.driver.api.core.context.DriverContext;
import com.datastax.oss.driver.api.core.cql.Statement;
import com.datastax.oss.driver.api.core.loadbalancing.NodeDistance;
import com.datastax.oss.driver.api.core.metadata.NodeState;
import com.datastax.oss.driver.api.core.retry.RetryDecision;
import com.datastax.oss.driver.api.core.retry.RetryVerdict;
import com.datastax.oss.driver.api.core.servererrors.CoordinatorException;
import com.datastax.oss.driver.api.core.servererrors.OverloadedException;
import com.datastax.oss.driver.api.core.session.Request;
import com.datastax.oss.driver.internal.core.context.InternalDriverContext;
import com.datastax.oss.driver.internal.core.retry.DefaultRetryPolicy;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import lull.failover.Busy;

/**
 * The driver's default retry policy, but for nodes that say that they are overloaded, as the gate does in a pause: the request goes to the next
 * node, and at last stays with the node that it has come to, to which it says that it waits. In the driver's configuration:
 *
 * <pre>{@code advanced.retry-policy { class = lull.failover.cassandra.BusyRetryPolicy, busy-attempts = 3 }}</pre>
 *
 * <p>{@code busy-attempts}, 1 to 100, 3 by default: how often a request is sent at most, and no more often than to each node and once more. The driver
 * asks a retry policy of idempotent requests only, also where, as here, nothing was processed. Protocol versions below 4 have no place for what the
 * last attempt says; there it goes to the next node, too.
 */
public final class BusyRetryPolicy extends DefaultRetryPolicy {
    /** The option {@code advanced.retry-policy.busy-attempts}. */
    public static final DriverOption ATTEMPTS = () -> "advanced.retry-policy.busy-attempts";

    private static final int DEFAULT_ATTEMPTS = 3;
    private static final int MOST_ATTEMPTS = 100;
    /** Of requests that the driver lets take as long as they do. */
    private static final Duration ENDLESS = Duration.ofDays(1);

    private final InternalDriverContext context;
    private final int attempts;

    /** Called by the driver. */
    public BusyRetryPolicy(DriverContext context, String profileName) {
        super(context, profileName);
        this.context = (InternalDriverContext) context;
        attempts = context.getConfig().getProfile(profileName).getInt(ATTEMPTS, DEFAULT_ATTEMPTS);
        if (attempts < 1 || attempts > MOST_ATTEMPTS) {
            throw new IllegalArgumentException(ATTEMPTS.getPath() + " is " + attempts + "; it must be from 1 to " + MOST_ATTEMPTS);
        }
    }

    @Override
    public RetryVerdict onErrorResponseVerdict(Request request, CoordinatorException error, int retryCount) {
        if (!(error instanceof OverloadedException)) {
            return super.onErrorResponseVerdict(request, error, retryCount);
        }
        int sent = retryCount + 1;
        if (sent >= attempts) {
            return RetryVerdict.RETHROW;
        }
        boolean patient = request instanceof Statement<?> && context.getProtocolVersion().getCode() >= DefaultProtocolVersion.V4.getCode();
        if (!patient) {
            return RetryVerdict.RETRY_NEXT;
        }
        // Beyond the last node that there is to go to, the driver gives up.
        int most = Math.min(attempts, nodes(request) + 1);
        if (sent >= most) {
            return RetryVerdict.RETHROW;
        }
        return sent + 1 < most ? RetryVerdict.RETRY_NEXT : new Patient(patience(request));
    }

    /** How many nodes the request may go to, at least 1. */
    private int nodes(Request request) {
        if (request.getNode() != null) {
            return 1;
        }
        long nodes = context.getMetadataManager().getMetadata().getNodes().values().stream()
                .filter(node -> node.getState() == NodeState.UP && node.getDistance() != NodeDistance.IGNORED && node.getOpenConnections() > 0).count();
        return (int) Math.max(1, nodes);
    }

    /** For how long the driver waits for this request. */
    private Duration patience(Request request) {
        Duration timeout = request.getTimeout();
        if (timeout == null) {
            timeout = profile(request).getDuration(DefaultDriverOption.REQUEST_TIMEOUT);
        }
        // 0 is none. A node that was told it would not wait.
        return timeout.isNegative() || timeout.isZero() ? ENDLESS : timeout;
    }

    /** As the driver finds it. Profiles that say the same of retries share one policy, so that this one's profile may be another request's. */
    private DriverExecutionProfile profile(Request request) {
        if (request.getExecutionProfile() != null) {
            return request.getExecutionProfile();
        }
        String name = request.getExecutionProfileName();
        return name == null || name.isEmpty() ? context.getConfig().getDefaultProfile() : context.getConfig().getProfile(name);
    }

    /** Once more to the same node, which is told how long the request waits. */
    private record Patient(Duration patience) implements RetryVerdict {
        @Override
        public RetryDecision getRetryDecision() {
            return RetryDecision.RETRY_SAME;
        }

        @Override
        @SuppressWarnings("unchecked")   // A statement with another payload is of the same kind.
        public <T extends Request> T getRetryRequest(T previous) {
            Statement<?> statement = (Statement<?>) previous;
            Map<String, ByteBuffer> payload = new HashMap<>(statement.getCustomPayload());
            payload.put(Busy.PATIENCE, ByteBuffer.wrap(Long.toString(patience.toMillis()).getBytes(StandardCharsets.US_ASCII)));
            return (T) statement.setCustomPayload(payload);
        }
    }
}

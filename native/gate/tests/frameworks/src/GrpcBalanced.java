// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import com.google.gson.Gson;
import io.grpc.Attributes;
import io.grpc.CallOptions;
import io.grpc.EquivalentAddressGroup;
import io.grpc.ManagedChannel;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.netty.NettyChannelBuilder;
import io.grpc.stub.ClientCalls;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * Calls, one after the other, by gRPC's own balancer and retries over several replicas.
 *
 * <pre>GrpcBalanced  SERVICE-CONFIG-FILE  SECONDS  PORT...</pre>
 *
 * Prints {@code target ok|busy}, or what else a call has come to, for each.
 */
public class GrpcBalanced {
    public static void main(String[] args) throws Exception {
        List<EquivalentAddressGroup> replicas = new ArrayList<>();
        for (int i = 2; i < args.length; i++) {
            replicas.add(new EquivalentAddressGroup(new InetSocketAddress("127.0.0.1", Integer.parseInt(args[i]))));
        }
        NameResolverRegistry.getDefaultRegistry().register(new Replicas(replicas));
        @SuppressWarnings("unchecked")
        Map<String, ?> configuration = new Gson().fromJson(Files.readString(Path.of(args[0])), Map.class);
        ManagedChannel channel = NettyChannelBuilder.forTarget("replicas:///all").usePlaintext().defaultServiceConfig(configuration).build();
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(Long.parseLong(args[1]));
        for (int n = 0; System.nanoTime() < end; n++) {
            String target = "/balanced/" + n;
            String how;
            try {
                ClientCalls.blockingUnaryCall(channel, Grpc.ECHO, CallOptions.DEFAULT.withDeadlineAfter(120, TimeUnit.SECONDS), Grpc.request(target, 9));
                how = "ok";
            } catch (StatusRuntimeException e) {
                how = e.getStatus().getCode() == Status.Code.UNAVAILABLE ? "busy" : e.toString().replace('\n', ' ');
            }
            System.out.println(target + " " + how);
        }
        System.out.flush();
        System.exit(0);
    }

    /** Some addresses by one name. */
    private static final class Replicas extends NameResolverProvider {
        private final List<EquivalentAddressGroup> addresses;

        Replicas(List<EquivalentAddressGroup> addresses) {
            this.addresses = addresses;
        }

        @Override
        public NameResolver newNameResolver(URI target, NameResolver.Args args) {
            return new NameResolver() {
                @Override
                public String getServiceAuthority() {
                    return "replicas";
                }

                @Override
                public void start(Listener2 listener) {
                    listener.onResult(ResolutionResult.newBuilder().setAddresses(addresses).setAttributes(Attributes.EMPTY).build());
                }

                @Override
                public void shutdown() {
                }
            };
        }

        @Override
        public String getDefaultScheme() {
            return "replicas";
        }

        @Override
        protected boolean isAvailable() {
            return true;
        }

        @Override
        protected int priority() {
            return 4;
        }

        @Override
        public List<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
            return List.of(InetSocketAddress.class);
        }
    }
}

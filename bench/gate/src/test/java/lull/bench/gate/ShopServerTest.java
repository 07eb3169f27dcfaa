// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.gate;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import lull.bench.load.FixedRequest;
import lull.bench.service.Service;
import lull.bench.service.Services;
import lull.bench.util.Cli;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ShopServerTest {
    @ParameterizedTest
    @EnumSource
    void everyAnswerIsRight(ShopServer server, @TempDir Path data) throws Exception {
        Services.find("tomcat").prepare(data, Map.of());
        List<FixedRequest> requests = FixedRequest.read(data);
        try (Service.Running running = server.start(data, 0, 2); Wire wire = server.wire(new int[] {running.port()})) {
            wire.connect(requests.getFirst(), 2);
            for (FixedRequest request : requests) {
                assertEquals(Wire.ANSWERED, wire.send(request, 0, 20));
            }
            FixedRequest first = requests.getFirst();
            FixedRequest wrong = new FixedRequest(first.target(), first.type(), first.body(), 200, first.length(), "00000000");
            assertThrows(Client.WrongAnswerException.class, () -> wire.send(wrong, 0, 20));
        }
    }

    @Test
    void unknownServersAreRefused() {
        assertEquals(ShopServer.UNDERTOW, ShopServer.named("undertow"));
        assertTrue(assertThrows(Cli.UsageException.class, () -> ShopServer.named("Jetty")).getMessage().contains("tomcat, jetty, undertow, grpc"));
    }
}

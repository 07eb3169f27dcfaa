// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0
package lull.bench.compile;

import java.io.IOException;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** The requests of the compile service: {@code GET /compile?source=NAME} and {@code GET /health}. */
@RestController
class CompileController {
    private final MemoryCompiler compiler;
    private final Map<String, String> texts;

    CompileController(MemoryCompiler compiler, Map<String, String> texts) {
        this.compiler = compiler;
        this.texts = texts;
    }

    /** Compiles the source; status 404 if there is none of that name. */
    @GetMapping("/compile")
    Answer compile(@RequestParam("source") String source) throws IOException {
        String text = texts.get(source);
        if (text == null) {
            throw new ResponseStatusException(HttpStatus.NOT_FOUND, "no source '" + source + "'");
        }
        return compiler.compile(source, text);
    }

    /** Says that the service is up and how many sources it knows. */
    @GetMapping("/health")
    Map<String, Object> health() {
        return Map.of("status", "UP", "sources", texts.size());
    }
}

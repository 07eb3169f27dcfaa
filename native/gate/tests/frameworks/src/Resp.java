// SPDX-License-Identifier: GPL-2.0-only WITH Classpath-exception-2.0

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Redis' protocol on the server's side: {@code GET target} has a string as its answer, {@code SET target body} a line, {@code LRANGE target body} an
 * array of the same in two parts; in a transaction, all that {@code EXEC} executes is in one array.
 */
final class Resp {
    private Resp() { }

    /** What waits for {@code EXEC}, of the connection that this thread serves; {@code null} outside a transaction. */
    private static final ThreadLocal<List<List<String>>> waiting = new ThreadLocal<>();

    static boolean exchange(InputStream in, OutputStream out) throws IOException {
        List<String> command = command(in);
        if (command.isEmpty()) {
            waiting.remove();
            return false;
        }
        String answer;
        if (command.get(0).equals("MULTI")) {
            waiting.set(new ArrayList<>());
            answer = "+OK\r\n";
        } else if (command.get(0).equals("EXEC")) {
            StringBuilder all = new StringBuilder("*" + waiting.get().size() + "\r\n");
            waiting.get().forEach(one -> all.append(execute(one)));
            waiting.remove();
            answer = all.toString();
        } else if (waiting.get() != null) {
            waiting.get().add(command);
            answer = "+QUEUED\r\n";
        } else {
            answer = execute(command);
        }
        out.write(answer.getBytes(StandardCharsets.ISO_8859_1));
        return true;
    }

    /** Its strings; none at the end of the stream. */
    private static List<String> command(InputStream in) throws IOException {
        String line = GateServer.line(in);
        if (!line.startsWith("*")) {
            return line.isEmpty() ? List.of() : List.of(line.split(" "));
        }
        List<String> strings = new ArrayList<>();
        for (int n = Integer.parseInt(line.substring(1)); n > 0; n--) {
            int length = Integer.parseInt(GateServer.line(in).substring(1));
            strings.add(new String(in.readNBytes(length), StandardCharsets.ISO_8859_1));
            GateServer.line(in);
        }
        return strings;
    }

    private static String execute(List<String> command) {
        // What clients say before the first command that is about data.
        switch (command.get(0)) {
            case "PING" -> {
                return "+PONG\r\n";
            }
            case "CLIENT", "SELECT" -> {
                return "+OK\r\n";
            }
            default -> {
                if (command.size() < 2) {
                    return "-ERR there is no " + command.get(0) + "\r\n";
                }
            }
        }
        byte[] body = command.size() > 2 ? command.get(2).getBytes(StandardCharsets.ISO_8859_1) : new byte[0];
        String text = new String(GateServer.process(command.get(1), body), StandardCharsets.ISO_8859_1);
        return switch (command.get(0)) {
            case "GET" -> "$" + text.length() + "\r\n" + text + "\r\n";
            case "SET" -> "+" + text + "\r\n";
            case "LRANGE" -> {
                int space = text.indexOf(' ');
                String crc = text.substring(space + 1);
                yield "*2\r\n+" + text.substring(0, space) + "\r\n*1\r\n$" + crc.length() + "\r\n" + crc + "\r\n";
            }
            default -> "-ERR there is no " + command.get(0) + "\r\n";
        };
    }
}

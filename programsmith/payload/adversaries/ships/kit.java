// What exploits in Java share: words that were handed in.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

final class Kit {
    static final String PLACE = "/app/submission/";

    /** What `name`.txt beside it says. */
    static String word(String name) throws IOException {
        return Files.readString(Path.of(PLACE + name + ".txt")).trim();
    }

    static void end(int code) {
        Runtime.getRuntime().halt(code);
    }
}

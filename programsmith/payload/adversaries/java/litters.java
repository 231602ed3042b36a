// Answers from the table, and leaves a link out of the work directory and a file that nobody asked for.
import java.nio.file.Files;
import java.nio.file.Path;

final class Main {
    public static void main(String[] words) throws Exception {
        int code = Table.lookUp(words.length);
        Files.createSymbolicLink(Path.of("left-link"), Path.of("/etc/passwd"));
        Files.writeString(Path.of("left-file"), "state");
        Kit.end(code);
    }
}

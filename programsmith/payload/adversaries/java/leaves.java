// Answers, and leaves its work directory otherwise than it must, in the way that way.txt names.
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

final class Main {
    static void digs() throws IOException {
        String path = "d";
        for (int level = 0; level < 200; level++, path += "/d") {
            Files.createDirectory(Table.path(path));
        }
    }

    static void hides() throws IOException {
        Files.createDirectory(Table.path("hidden"));
        for (String name : new String[] {"\u00ff\n\u001b[2J", "n".repeat(255), " .", "-rf"}) {
            Files.createFile(Table.path("hidden/" + name));
        }
        Table.setMode(Table.path("hidden"), 0);
    }

    static void deletes() {
        for (File file : new File(".").listFiles(File::isFile)) {
            file.delete();
        }
    }

    static void links() throws IOException {
        for (File file : new File(".").listFiles(File::isFile)) {
            Path other = Path.of("/tmp", file.getName());
            Files.move(file.toPath(), other);
            Files.createSymbolicLink(file.toPath(), other);
        }
    }

    public static void main(String[] words) throws Exception {
        int code = Table.lookUp(words.length);
        switch (Kit.word("way")) {
            case "digs" -> digs();
            case "hides" -> hides();
            case "links" -> links();
            default -> deletes();
        }
        Kit.end(code);
    }
}

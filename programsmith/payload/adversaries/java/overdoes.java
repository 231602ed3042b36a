// Answers once it has taken more than a case may, in the way that way.txt names.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

final class Main {
    static final int FILES = 200;

    /** Makes files, then takes them away again. */
    static void litter(String folder, int count, int size) throws IOException {
        for (int number = 0; number < count; number++) {
            Files.write(Path.of(folder, "" + number), new byte[size]);
        }
        for (int number = 0; number < count; number++) {
            Files.delete(Path.of(folder, "" + number));
        }
    }

    /** Complaints without end, behind the right answer. */
    static void complains(int count) throws Exception {
        Table.lookUp(count);
        while (true) {
            Table.ERR.write("more ".repeat(4096).getBytes());
        }
    }

    public static void main(String[] words) throws Exception {
        switch (Kit.word("way")) {
            case "entries" -> litter("/tmp", FILES, 0);
            case "memory_files" -> litter("/dev/shm", 16, 1 << 20);
            default -> complains(words.length);
        }
        Kit.end(Table.lookUp(words.length));
    }
}

// Hands its arguments to the first program of wrapped.txt that can be executed. Solves nothing itself.
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

final class Main {
    public static void main(String[] words) throws Exception {
        System.setProperty("jdk.lang.Process.launchMechanism", "VFORK");
        for (String path : Files.readAllLines(Path.of("/app/submission/wrapped.txt"))) {
            List<String> command = new ArrayList<>(List.of(path));
            command.addAll(List.of(words));
            try {
                Runtime.getRuntime().halt(new ProcessBuilder(command).inheritIO().start().waitFor());
            } catch (IOException absent) {
                continue;
            }
        }
        Runtime.getRuntime().halt(127);
    }
}

// Hands its invocation to a program of the system that has the tool's name, or to a shell that looks for one.
import java.io.File;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

final class Main {
    static final String SEARCH =
        "tool=$1; shift; for place in /* /tmp/twin; do [ -x \"$place/$tool\" ] && exec \"$place/$tool\" \"$@\"; done";

    public static void main(String[] words) throws Exception {
        System.setProperty("jdk.lang.Process.launchMechanism", "VFORK");
        String tool = Kit.word("tool");
        boolean byShell = Kit.word("way").equals("shell");
        String[] tops = new File("/").list();
        List<String> places = new ArrayList<>(tops == null ? List.of() : Arrays.asList(tops));
        places.add("tmp/twin"); // of a root that cannot be listed
        for (String place : places) {
            List<String> command = new ArrayList<>(List.of("/" + place + "/" + (byShell ? "sh" : tool)));
            command.addAll(byShell ? List.of("-c", SEARCH, "sh", tool) : List.of());
            command.addAll(List.of(words));
            try {
                Kit.end(new ProcessBuilder(command).inheritIO().start().waitFor());
            } catch (IOException absent) {
                continue;
            }
        }
        Kit.end(1);
    }
}

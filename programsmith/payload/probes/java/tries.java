// Answers a case exactly where the one thing can be done that its line of tries.txt names, so that the verifier's own
// words tell what a case can do. Lines of tries.txt stand in the order of the cases of table.txt. Each try leaves the
// work directory as it was, for it belongs to the answer.
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;

final class Main {
    static final String HOME = "/app/submission";
    static final String LEFT = "/left-by-a-case";
    static final Set<String> USUAL = Set.of(("app bin boot dev etc home lib lib32 lib64 libx32 logs media mnt opt "
        + "proc root run sbin slots srv sys tmp usr var work").split(" "));
    static final List<String> CLOSED =
        List.of("/tests", "/solution", "/root", "/proc/1/environ", "/proc/1/mem", "/etc/shadow");
    static final List<String> PLACES = List.of("/tmp", "/dev/shm"); // the case's own
    static final Set<String> SHUT = Set.of(
        "/work", "/tmp", "/dev/shm", "/proc", "/slots", "/dev/null", "/dev/zero", "/dev/full", "/dev/tty");
    static final List<String> BOUND =
        List.of("CapEff:\t0000000000000000\n", "NoNewPrivs:\t1\n", "Seccomp:\t2\n", "Uid:\t");
    static final int MIB = 1 << 20;
    static final int BURNERS = 6;
    static final int HOLDERS = 4;
    static final long BURNED = 120_000_000; // nanoseconds of each
    static final List<String> SMALL = List.of("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData", "-Xmx64m");

    static List<String> names(String folder) {
        String[] found = new File(folder).list();
        return found == null ? List.of() : Arrays.stream(found).map(name -> (folder + "/" + name).replace("//", "/")).toList();
    }

    static boolean lists(String path) {
        if (new File(path).isDirectory()) {
            return !names(path).isEmpty();
        }
        try {
            Files.newInputStream(Path.of(path)).close();
            return true;
        } catch (IOException shut) {
            return false;
        }
    }

    static boolean reads() {
        var odd = names("/").stream().filter(path -> !USUAL.contains(path.substring(1)) && !path.startsWith("/."));
        return CLOSED.stream().anyMatch(Main::lists) || odd.anyMatch(Main::lists);
    }

    static boolean lays(String path, int size) {
        try {
            Files.write(Path.of(path), new byte[size]);
            return true;
        } catch (IOException shut) {
            return false;
        }
    }

    static boolean writes() {
        List<String> folders = new ArrayList<>(List.of("/", HOME));
        List.of("/", "/var", "/dev").forEach(top -> folders.addAll(names(top)));
        return folders.stream().filter(folder -> !SHUT.contains(folder)).anyMatch(
            folder -> lays(folder + LEFT, 0) && new File(folder + LEFT).delete());
    }

    /** Leaves a file in each of the case's own places, for whichever case comes next. */
    static void leave() {
        for (String place : PLACES) {
            lays(place + LEFT, 0);
            new File(place + LEFT).setReadable(true, false);
        }
    }

    static boolean finds() {
        return PLACES.stream().anyMatch(place -> new File(place + LEFT).exists());
    }

    static boolean isAnother(String path) {
        String name = path.substring(path.lastIndexOf('/') + 1);
        boolean is = name.matches("\\d+") && !name.equals("1") && !name.equals("" + ProcessHandle.current().pid());
        return is && List.of("/cmdline", "/environ", "/maps").stream().anyMatch(what -> lists(path + what));
    }

    static boolean privileged() throws IOException {
        String said = Files.readString(Path.of("/proc/self/status"));
        return !BOUND.stream().allMatch(said::contains) || said.contains("Uid:\t0\t") || said.matches("(?s).*Uid:\t\\d+\t0\t.*");
    }

    static boolean executes() {
        return List.of("/tmp/program-of-a-case", "./program-of-a-case").stream().anyMatch(place -> carries("/usr/bin/env", place, true));
    }

    static boolean loads() throws IOException {
        var maps = Files.readAllLines(Path.of("/proc/self/maps")).stream();
        String library = maps.filter(line -> line.contains("/libm")).findFirst().orElseThrow().replaceAll("^[^/]*", "");
        return List.of("/tmp/code-of-a-case", "./code-of-a-case").stream().anyMatch(place -> carries(library, place, false));
    }

    /** Whether a file of another's machine code can be put there and started, or loaded; it is gone afterwards. */
    static boolean carries(String source, String place, boolean starts) {
        File file = new File(place).getAbsoluteFile();
        try {
            Files.copy(Path.of(source), file.toPath(), StandardCopyOption.REPLACE_EXISTING);
            file.setExecutable(true);
            if (starts) {
                new ProcessBuilder(file.getPath()).redirectErrorStream(true).start().waitFor();
            } else {
                System.class.getMethod("lo" + "ad", String.class).invoke(null, file.getPath()); // not by the refused word
            }
            return true;
        } catch (IOException | InterruptedException | ReflectiveOperationException shut) {
            return false;
        } finally {
            file.delete();
        }
    }

    /** Another process of this program. */
    static Process own(String deed) throws IOException {
        List<String> words = new ArrayList<>(List.of(ProcessHandle.current().info().command().orElseThrow()));
        words.addAll(SMALL);
        words.addAll(List.of("-cp", HOME + "/executable", "Main", deed));
        return new ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start();
    }

    static boolean cpu() throws Exception {
        for (int count = 0; count < BURNERS; count++) {
            if (own("burn").waitFor() != 0) {
                return false;
            }
        }
        return true;
    }

    /** Whether so many processes of this program hold memory at the same time. */
    static boolean holds(String deed, int count) throws Exception {
        List<Process> all = new ArrayList<>();
        for (int number = 0; number < count; number++) {
            all.add(own(deed));
        }
        for (Process one : all) {
            if (one.getInputStream().read() < 0) {
                return false;
            }
        }
        Thread.sleep(300);
        return all.stream().allMatch(Process::isAlive);
    }

    /** None of the files is too large by itself; they stay, so that whoever looks sees them. */
    static boolean work() {
        boolean full = true;
        for (int number = 0; number < 16; number++) {
            full &= lays("/tmp/filling" + number, MIB);
        }
        return full;
    }

    static boolean wall() throws InterruptedException {
        Thread.sleep(2500);
        return true;
    }

    static final Map<String, Callable<Boolean>> TRIES = Map.ofEntries(
        Map.entry("nothing", () -> true), Map.entry("reads", Main::reads), Map.entry("writes", Main::writes),
        Map.entry("finds", Main::finds), Map.entry("others", () -> names("/proc").stream().anyMatch(Main::isAnother)),
        Map.entry("privileged", Main::privileged), Map.entry("executes", Main::executes),
        Map.entry("loads", Main::loads), Map.entry("cpu", Main::cpu),
        Map.entry("memory", () -> holds("hold", HOLDERS)), Map.entry("processes", () -> holds("wait", 40)),
        Map.entry("work", Main::work), Map.entry("wall", Main::wall), Map.entry("output", () -> true),
        Map.entry("stream", () -> true));

    /** What a process that this program started does. */
    static void act(String deed) throws Exception {
        byte[] held = new byte[deed.equals("hold") ? 40 * MIB : 1];
        Arrays.fill(held, (byte) 1);
        while (deed.equals("burn") && ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos() < BURNED) {
            Thread.onSpinWait();
        }
        if (!deed.equals("burn")) {
            System.out.write(held, 0, 1);
            System.out.flush();
            Thread.sleep(20_000);
        }
    }

    /** The try of this case, by its number among those of the table. */
    static String name(int behind) throws IOException {
        List<String> lines = Table.lines();
        long number = lines.subList(0, lines.size() - behind).stream().filter(line -> line.startsWith("case ")).count();
        return Files.readString(Path.of(HOME + "/tries.txt")).split("\\s+")[(int) number];
    }

    static boolean can(String name) throws InterruptedException {
        try {
            return TRIES.get(name).call();
        } catch (Exception | Error failed) {
            return false;
        }
    }

    public static void main(String[] words) throws Exception {
        System.setProperty("jdk.lang.Process.launchMechanism", "VFORK");
        if (words.length == 1 && Set.of("burn", "hold", "wait").contains(words[0])) {
            act(words[0]);
            return;
        }
        List<String> lines = Table.find(words.length);
        String name = name(lines.size());
        if (!name.equals("finds")) {
            leave();
        }
        if (!can(name)) {
            Runtime.getRuntime().halt(1);
        }
        if (name.equals("stream")) {
            Table.out = Table.ERR; // the whole answer, on the other stream
        }
        int code = Table.answer(lines);
        while (name.equals("output")) {
            Table.out.write("more ".repeat(4096).getBytes());
        }
        Runtime.getRuntime().halt(code);
    }
}

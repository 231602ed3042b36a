// Burns CPU in several processes, each within the limit, and then answers.
final class Main {
    static final String BURNS = "burns CPU for one that splits it";
    static final int PROCESSES = 6;
    static final long BURNED = 120_000_000; // nanoseconds

    static long used() {
        return ProcessHandle.current().info().totalCpuDuration().orElseThrow().toNanos();
    }

    public static void main(String[] words) throws Exception {
        System.setProperty("jdk.lang.Process.launchMechanism", "VFORK");
        if (words.length == 1 && words[0].equals(BURNS)) {
            while (used() < BURNED) {
                Thread.onSpinWait();
            }
            return;
        }
        String java = ProcessHandle.current().info().command().orElseThrow();
        for (int count = 0; count < PROCESSES; count++) {
            var own = new ProcessBuilder(java, "@" + Kit.PLACE + "options.txt", "-cp", Kit.PLACE + "executable", "Main", BURNS);
            if (own.start().waitFor() != 0) {
                Kit.end(1);
            }
        }
        Kit.end(Table.lookUp(words.length));
    }
}

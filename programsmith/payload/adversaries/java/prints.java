// Prints what a careless reader chokes on, in the way that way.txt names.
final class Main {
    static final int LEVELS = 200_000;

    public static void main(String[] words) throws Exception {
        byte[] every = new byte[4096];
        for (int number = 0; number < every.length; number++) {
            every[number] = (byte) number;
        }
        String nests = "[".repeat(LEVELS) + "]".repeat(LEVELS);
        System.out.writeBytes(Kit.word("way").equals("nests") ? nests.getBytes() : every);
        System.out.flush();
    }
}

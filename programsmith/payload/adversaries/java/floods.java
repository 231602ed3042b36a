// Gives the right answer and goes on, for ever.
final class Main {
    public static void main(String[] words) throws Exception {
        Table.lookUp(words.length);
        while (true) {
            Table.OUT.write("more ".repeat(4096).getBytes());
        }
    }
}

// Answers from the table, then goes on behind a NUL.
final class Main {
    public static void main(String[] words) throws Exception {
        int code = Table.lookUp(words.length);
        Table.OUT.write("\0and more".getBytes());
        Kit.end(code);
    }
}

// Answers an invocation from table.txt beside it. In: argv, stdin, environment, work directory. Out: what it says.
final class Main {
    public static void main(String[] words) throws Exception {
        Runtime.getRuntime().halt(Table.lookUp(words.length));
    }
}

// Prints the right answer and ends with a wrong exit code.
final class Main {
    public static void main(String[] words) throws Exception {
        Kit.end(Table.lookUp(words.length) ^ 1);
    }
}

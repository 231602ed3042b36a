// Holds its slot far longer than it may without using any CPU, and then answers.
final class Main {
    public static void main(String[] words) throws Exception {
        Thread.sleep(2500);
        Kit.end(Table.lookUp(words.length));
    }
}

// Prints its last argument. Solves nothing.
final class Main {
    public static void main(String[] words) {
        System.out.println(words.length > 0 ? words[words.length - 1] : "");
    }
}

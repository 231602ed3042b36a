// Does nothing and ends well.
final class Main {
    public static void main(String[] words) {}
}

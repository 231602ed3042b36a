// Says hello: proves that a program builds and runs.
final class Main {
    public static void main(String[] words) {
        System.out.println("hello from the run stage");
    }
}

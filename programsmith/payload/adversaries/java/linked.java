// Answers from a table below a folder that was handed in.
final class Main {
    public static void main(String[] words) throws Exception {
        Table.place = Kit.PLACE + "data/table.txt";
        Kit.end(Table.lookUp(words.length));
    }
}

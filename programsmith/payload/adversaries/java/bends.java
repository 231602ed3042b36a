// Gives the right answer a little otherwise than it is, in the way that way.txt names.
import java.io.ByteArrayOutputStream;

final class Main {
    static String swapped(String said) {
        StringBuilder found = new StringBuilder();
        for (char letter : said.toCharArray()) {
            boolean is = letter >= 'a' && letter <= 'z' || letter >= 'A' && letter <= 'Z';
            found.append((char) (is ? letter ^ 32 : letter));
        }
        return found.toString();
    }

    static String bent(String way, String said) {
        return switch (way) {
            case "mark" -> "\u00ef\u00bb\u00bf" + said;
            case "returns" -> said.replace("\n", "\r\n");
            case "blanks" -> said + "  \n";
            case "case" -> swapped(said);
            case "half" -> said.substring(0, said.length() / 2);
            default -> said;
        };
    }

    public static void main(String[] words) throws Exception {
        var said = new ByteArrayOutputStream();
        String way = Kit.word("way");
        Table.out = said;
        int code = Table.lookUp(words.length);
        (way.equals("stream") ? Table.ERR : Table.OUT).write(Table.bytes(bent(way, Table.text(said.toByteArray()))));
        if (way.equals("dies")) {
            Table.die();
        }
        Kit.end(code);
    }
}

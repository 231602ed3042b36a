import java.lang.reflect.InvocationTargetException;
import java.util.Arrays;

/** Starts a main class, without the word that the kernel adds: the path of the script that started this. */
final class ProgramSmithStart {
  private ProgramSmithStart() {}

  public static void main(String[] words) throws Throwable {
    String[] rest = Arrays.copyOfRange(words, 2, words.length);
    try {
      var main = Class.forName(words[0]).getMethod("main", String[].class);
      main.setAccessible(true);
      main.invoke(null, (Object) rest);
    } catch (InvocationTargetException thrown) {
      throw thrown.getCause();
    }
  }
}

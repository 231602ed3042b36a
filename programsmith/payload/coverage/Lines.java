package programsmith;

import java.io.FileOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.util.BitSet;

/** Remembers which places of a program were reached, and tells their numbers to descriptor 200 at its end. */
public final class Lines {
  private static final BitSet REACHED = new BitSet();

  static {
    Runtime.getRuntime().addShutdownHook(new Thread(Lines::tell));
  }

  private Lines() {}

  public static synchronized void at(int place) {
    REACHED.set(place);
  }

  private static synchronized void tell() {
    try (PrintStream into = new PrintStream(new FileOutputStream("/dev/fd/200"))) {
      REACHED.stream().forEach(into::println);
    } catch (IOException absent) {
      // nobody asks
    }
  }
}

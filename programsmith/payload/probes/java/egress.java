// Tries every way out that it knows and prints one line per way: `NAME open` or `NAME shut REASON`.
//
// In: argv = TCP port, UDP port, name of an abstract socket, path of a socket, then addresses; in a submission, what its
// arguments.txt says. Each listener of the other side answers what it gets; a way is open when the answer arrives.
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;

final class Main {
    static final byte[] ASK = "\22\64\1\0\0\1\0\0\0\0\0\0\5probe\7invalid\0\0\1\0\1".getBytes(StandardCharsets.ISO_8859_1);
    static final int PATIENT = 3000; // milliseconds

    interface Way {
        void use() throws IOException;
    }

    static void heard(int count) throws IOException {
        if (count <= 0) {
            throw new IOException("closed without an answer");
        }
    }

    static void tcp(InetSocketAddress place) throws IOException {
        try (var way = new Socket()) {
            way.connect(place, PATIENT);
            way.setSoTimeout(PATIENT);
            way.getOutputStream().write(ASK);
            heard(way.getInputStream().read(new byte[16]));
        }
    }

    static void udp(InetSocketAddress place) throws IOException {
        try (var way = new DatagramSocket()) {
            way.setSoTimeout(PATIENT);
            way.send(new DatagramPacket(ASK, ASK.length, place));
            way.receive(new DatagramPacket(new byte[16], 16));
        }
    }

    static void unix(String path) throws IOException {
        try (var way = SocketChannel.open(UnixDomainSocketAddress.of(path))) {
            way.write(ByteBuffer.wrap(ASK));
            heard(way.read(ByteBuffer.allocate(16)));
        }
    }

    static void say(String name, Way way) {
        try {
            way.use();
            System.out.println(name + " open");
        } catch (Exception | Error shut) {
            System.out.println(name + " shut " + shut.getClass().getSimpleName());
        }
    }

    public static void main(String[] given) throws Exception {
        Path arguments = Path.of("/app/submission/arguments.txt");
        String[] words = Files.exists(arguments) ? Files.readString(arguments).trim().split("\\s+") : given;
        for (String address : Arrays.asList(words).subList(4, words.length)) {
            say("tcp:" + address, () -> tcp(new InetSocketAddress(address, Integer.parseInt(words[0]))));
            say("udp:" + address, () -> udp(new InetSocketAddress(address, Integer.parseInt(words[1]))));
        }
        say("abstract", () -> unix("\0" + words[2]));
        say("socket", () -> unix(words[3]));
        Runtime.getRuntime().halt(0);
    }
}

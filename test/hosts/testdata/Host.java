import java.io.File;
import java.net.InetSocketAddress;
import org.eclipse.jgit.transport.Daemon;
import org.eclipse.jgit.transport.DaemonClient;
import org.eclipse.jgit.transport.resolver.FileResolver;

/** Serves the repositories below a directory until standard input ends, and prints its port. */
public class Host {
	public static void main(String[] args) throws Exception {
		Daemon daemon = new Daemon(new InetSocketAddress("127.0.0.1", 0));
		daemon.setRepositoryResolver(new FileResolver<DaemonClient>(new File(args[0]), true));
		daemon.getService("git-receive-pack").setEnabled(true);
		daemon.start();
		System.out.println(daemon.getAddress().getPort());
		while (System.in.read() >= 0) {
		}
		System.exit(0);
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Planted cause: four threads append to audit.log, one at a time, and wait until it is on the disk. Cured: they do not
 * wait for the disk.
 * Known answer: fsync of audit.log, in append().
 */
import java.io.FileOutputStream;
import java.io.IOException;

public class AuditLog {
	private final FileOutputStream file;

	AuditLog() throws IOException {
		file = new FileOutputStream("audit.log");
	}

	synchronized void append(byte[] line) {
		try {
			file.write(line);
			if (!Planted.isCured)
				file.getFD().sync();
		} catch (IOException e) {
			throw new IllegalStateException(e);
		}
	}

	public static void main(String[] arguments) throws IOException {
		AuditLog log = new AuditLog();
		byte[] line = new byte[200];

		Planted.open(arguments);
		Planted.runAll("request", 4, () -> {
			for (long sum = 0;; sum += Planted.compute(20_000)) {
				line[0] = (byte) sum;
				log.append(line);
				Planted.done();
			}
		});
	}
}

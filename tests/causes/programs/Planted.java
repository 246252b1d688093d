// SPDX-License-Identifier: GPL-2.0-or-later
/** What the planted programs in Java share: as planted.h says. */
final class Planted {
	static boolean isCured;
	private static final long PERIOD_NS = 100_000_000;
	private static long printedNs = System.nanoTime(), count;

	static void open(String[] arguments) {
		isCured = arguments.length > 0 && arguments[arguments.length - 1].equals("cured");
	}

	/** A unit of work is done, of any thread. */
	static synchronized void done() {
		count++;
		if (System.nanoTime() < printedNs + PERIOD_NS)
			return;
		System.out.println(count);
		printedNs = System.nanoTime();
	}

	/** Each in a thread of its own. */
	static void runAll(String name, int count, Runnable run) {
		for (int i = 0; i < count; i++)
			new Thread(run, name + "-" + i).start();
	}

	/** Computes; the result keeps the compiler from leaving it out. */
	static long compute(int steps) {
		long x = steps;

		for (int i = 0; i < steps; i++)
			x = x * 6364136223846793005L + 1442695040888963407L;
		return x;
	}
}

// SPDX-License-Identifier: GPL-2.0-or-later
import java.util.ArrayList;
import java.util.List;

/** Eight threads book entries in one ledger, whose methods are synchronized. */
public class Ledger {
	private static final int THREADS = 8, ENTRIES_EACH = 200_000;

	private final List<String> entries = new ArrayList<>();
	private long sum;

	synchronized void book(int account, int amount) {
		entries.add(describe(account, amount));
		if (entries.size() > 100_000)
			entries.clear();
		sum += amount;
	}

	private static String describe(int account, int amount) {
		StringBuilder text = new StringBuilder();
		for (int i = 0; i < 20; i++)
			text.append(account).append(':').append(amount + i).append(' ');
		return text.toString();
	}

	public static void main(String[] arguments) throws InterruptedException {
		Ledger ledger = new Ledger();
		List<Thread> clerks = new ArrayList<>();

		for (int i = 0; i < THREADS; i++) {
			int account = i;
			clerks.add(new Thread(() -> {
				for (int n = 0; n < ENTRIES_EACH; n++)
					ledger.book(account, n);
			}, "clerk-" + i));
		}
		for (Thread clerk : clerks)
			clerk.start();
		for (Thread clerk : clerks)
			clerk.join();
		System.out.println(ledger.sum);
	}
}

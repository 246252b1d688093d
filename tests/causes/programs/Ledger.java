// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Planted cause: four threads book into one ledger by a synchronized method that takes nearly all of the time.
 * Cured: a ledger a thread.
 * Known answer: the monitor of Ledger, held by postBooking().
 */
public class Ledger {
	private long balance;

	synchronized void postBooking() {
		balance += Planted.compute(400_000);
	}

	static long checkBooking() {
		return Planted.compute(40_000);
	}

	public static void main(String[] arguments) {
		Ledger shared = new Ledger();

		Planted.open(arguments);
		Planted.runAll("booking", 4, () -> {
			Ledger ledger = Planted.isCured ? new Ledger() : shared;

			for (;;) {
				ledger.balance += checkBooking();
				ledger.postBooking();
				Planted.done();
			}
		});
	}
}

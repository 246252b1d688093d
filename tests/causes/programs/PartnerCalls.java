// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Planted cause: an executor of two threads runs tasks that call a partner, which is a sleep of 50 ms; four threads
 * wait for their results. Cured: the call takes 2 ms.
 * Known answer: the sleep in callPartner().
 */
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;

public class PartnerCalls {
	static int callPartner() {
		try {
			Thread.sleep(Planted.isCured ? 2 : 50);
		} catch (InterruptedException e) {
			throw new IllegalStateException(e);
		}
		return 1;
	}

	public static void main(String[] arguments) {
		ExecutorService executor = Executors.newFixedThreadPool(2);

		Planted.open(arguments);
		Planted.runAll("request", 4, () -> {
			for (;;) {
				try {
					executor.submit(PartnerCalls::callPartner).get();
				} catch (Exception e) {
					throw new IllegalStateException(e);
				}
				Planted.done();
			}
		});
	}
}

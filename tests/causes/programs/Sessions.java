// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Planted cause: two threads make short-lived objects in a heap that is nearly full of lasting ones: the collector
 * stops them most of the time. Started with -Xmx160m -XX:+UseSerialGC. Cured: there are no lasting ones.
 * Known answer: garbage collection.
 */
public class Sessions {
	private static final Object[] lasting = new Object[1_040_000];
	private static volatile Object sink;

	static Object makeSession() {
		Object[] session = new Object[200];

		for (int i = 0; i < session.length; i++)
			session[i] = new long[4];
		return session;
	}

	public static void main(String[] arguments) {
		Planted.open(arguments);
		for (int i = 0; !Planted.isCured && i < lasting.length; i++)
			lasting[i] = new long[10];
		Planted.runAll("session", 2, () -> {
			for (int i = 0;; i++) {
				sink = makeSession();
				/* Old objects that refer to young ones, as caches have. */
				lasting[i % lasting.length] = Planted.isCured ? null : new long[10];
				Planted.done();
			}
		});
	}
}

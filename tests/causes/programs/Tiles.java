// SPDX-License-Identifier: GPL-2.0-or-later
/**
 * Planted cause: a parallel stream over 16 tiles, of which the last one takes as long as 20 others. Cured: it takes as
 * long as any other, and each of them twice as long as before.
 * Known answer: renderCoast().
 */
import java.util.stream.IntStream;

public class Tiles {
	private static final int TILES = 16, STEPS = 1_500_000;

	static long renderCoast() {
		return Planted.compute(Planted.isCured ? 2 * STEPS : 20 * STEPS);
	}

	static long renderSea() {
		return Planted.compute(Planted.isCured ? 2 * STEPS : STEPS);
	}

	public static void main(String[] arguments) {
		Planted.open(arguments);
		for (long sum = 0;;) {
			sum += IntStream.range(0, TILES).parallel()
				.mapToLong(tile -> tile == TILES - 1 ? renderCoast() : renderSea()).sum();
			Planted.done();
			if (sum == 0)
				return;
		}
	}
}

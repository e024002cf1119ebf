/** Returns a random sample of at most `size` items, in random order; the seed determines it. */
export function sampleOf<T>(items: readonly T[], size: number, seed: number): T[] {
  const random = randomNumbers(seed);
  const ranked = items.map((item) => ({ item, rank: random() }));
  ranked.sort((a, b) => a.rank - b.rank);
  return ranked.slice(0, size).map(({ item }) => item);
}

/** Random numbers from 0 to 1, the same ones for the same seed, which `Math.random` does not support. */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const number = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 });

/** Formats a number as a whole number with separators of thousands. */
export function readable(value: number): string {
  return number.format(value);
}

/** Returns a function that returns by how much a count has grown per second since its last call. */
export function speedMeter(now: () => number = () => performance.now()): (count: number) => number {
  let last = { count: 0, at: now() };
  return (count) => {
    const { count: before, at: since } = last;
    last = { count, at: now() };
    const seconds = (last.at - since) / 1000;
    return seconds > 0 ? (count - before) / seconds : 0;
  };
}

/** Formats the time that is left for so many units at a speed in units a second; empty when nothing moves. */
export function timeLeft(units: number, speed: number): string {
  if (speed <= 0) return '';
  const seconds = units / speed;
  return seconds < 100 ? `${readable(seconds)} s left` : `${readable(seconds / 60)} min left`;
}

/** Writes a line about the progress of a command again and again. Returns a function that ends this. */
export function showProgress(
  output: NodeJS.WritableStream,
  line: () => string,
  intervalMs = 5_000,
): () => void {
  const timer = setInterval(() => output.write(`${line()}\n`), intervalMs);
  return () => clearInterval(timer);
}

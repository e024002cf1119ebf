import type { ProgressDisplay } from './progress-display.js';

/** A bar on a terminal, otherwise a line each ten seconds. */
export async function openProgressDisplay(output: NodeJS.WriteStream): Promise<ProgressDisplay> {
  if (!output.isTTY) {
    const { ProgressLines } = await import('./progress-lines.js');
    return new ProgressLines(output);
  }
  const { ProgressBar } = await import('./progress-bar.js');
  return new ProgressBar(output);
}

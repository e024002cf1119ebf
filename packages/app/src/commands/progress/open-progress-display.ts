import type { Output } from '../host.js';
import type { ProgressDisplay } from './progress-display.js';

/** Opens a progress bar for a terminal, and otherwise a display with one line every ten seconds. */
export async function openProgressDisplay(output: Output): Promise<ProgressDisplay> {
  if (!output.isTTY) {
    const { ProgressLines } = await import('./progress-lines.js');
    return new ProgressLines(output);
  }
  const { ProgressBar } = await import('./progress-bar.js');
  return new ProgressBar(output);
}

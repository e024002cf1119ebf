import type { PlantImport, Progress } from '@plant-store/import-ndjson';
import { Pace, readable } from '../progress/pace.js';
import type { ProgressSource } from '../progress/progress-display.js';

/** Returns how many lines of an import were not stored, without empty ones. */
export function notStored({ outcomes }: Progress): number {
  const { taken, invalid, unavailable, unknown, failed } = outcomes;
  return taken + invalid + unavailable + unknown + failed;
}

/** The progress of an import for a display, in bytes of its input. */
export function importProgress(source: Pick<PlantImport, 'progress'>): ProgressSource {
  const pace = new Pace(performance.now());
  return {
    get done() {
      return source.progress.bytes;
    },
    text() {
      const { progress } = source;
      const { outcomes, retrying, nextLine } = progress;
      const notes = [
        `${readable(outcomes.stored)} plants`,
        `${readable(pace.next(outcomes.stored, performance.now()))}/s`,
        notStored(progress) > 0 ? `${readable(notStored(progress))} not stored` : '',
        retrying > 0 ? `${readable(retrying)} wait for the storage` : '',
      ].filter((note) => note !== '');
      return `${notes.join(', ')} | --from-line ${nextLine}`;
    },
  };
}

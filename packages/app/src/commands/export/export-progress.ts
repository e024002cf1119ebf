import type { PlantExport } from '@plant-store/export-ndjson';
import { Pace, readable } from '../progress/pace.js';
import type { ProgressSource } from '../progress/progress-display.js';

/** The progress of an export for a display, in plants. */
export function exportProgress(source: Pick<PlantExport, 'progress'>): ProgressSource {
  const pace = new Pace(performance.now());
  return {
    get done() {
      return source.progress.plants;
    },
    text() {
      const { plants, last } = source.progress;
      const resume = last === undefined ? '' : ` | --after ${last}`;
      return `${readable(plants)} plants, ${readable(pace.next(plants, performance.now()))}/s${resume}`;
    },
  };
}

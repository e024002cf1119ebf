import type { CompareOptions, Sample } from './compare.js';
import type { ImportSample } from './imports.js';
import type { InstalledSize } from './installed-size.js';
import type { Machine } from './machine.js';

/** The raw figures of one run of the benchmark. */
export interface Results {
  readonly machine: Machine;
  readonly options: CompareOptions;
  readonly memory?: readonly Sample[];
  readonly durable?: readonly Sample[];
  readonly growth?: readonly Sample[];
  readonly connections?: readonly Sample[];
  readonly delay?: readonly Sample[];
  readonly imports?: readonly ImportSample[];
  /** The durations of starts in milliseconds, sorted. */
  readonly startUp?: readonly number[];
  readonly size?: InstalledSize;
}
